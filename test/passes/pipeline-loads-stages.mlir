// RUN: tile-opt --pass-pipeline='builtin.module(pipeline-loads,cse,place-buffers,allocate-shared-memory)' --split-input-file %s | FileCheck %s

// A ring has as many stages as there is room for beside what else lives as long as the loop. sm_80 has
// 166912 bytes; a round takes 65536.

!q = !tile_gpu.buffer<64x256xf16, swizzle = 128>
!k = !tile_gpu.buffer<256x128xf16, order = [1, 0], swizzle = 128>
#rows = #tile_gpu.layout<[warp 4:1, reg 16], [lane 32:1, reg 8]>
#columns = #tile_gpu.layout<[lane 32:1, reg 8], [warp 4:1, reg 32]>
#acc = #tile_gpu.layout<[warp 4:1, lane 8:4, reg 2], [reg 16, lane 4:1, reg 2]>
!acc = !tile_gpu.tile<64x128xf32, #acc>
!small = !tile_gpu.tile<64x64xf32, #tile_gpu.layout<[warp 4:1, lane 8:4, reg 2], [reg 8, lane 4:1, reg 2]>>

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // 32768 bytes live through the loop: two stages, one round ahead.
    // CHECK-LABEL: gpu.func @beside_a_tile
    // CHECK-SAME: tile_gpu.shared_bytes = 163840
    gpu.func @beside_a_tile(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16, #rows>
      %q = tile_gpu.to_shared %x : !tile_gpu.tile<64x256xf16, #rows> -> !q
      // CHECK: tile_gpu.alloc {{.*}} order = [1, 0], swizzle = 128, stages = 2>
      // CHECK: tile_gpu.async_commit
      // CHECK-NOT: tile_gpu.async_commit
      // CHECK: scf.for
      // CHECK-NEXT: tile_gpu.async_wait 0
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!acc) : i32 {
        %at = arith.extui %i : i32 to i64
        %y = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<256x128xf16, #columns>
        %k = tile_gpu.to_shared %y : !tile_gpu.tile<256x128xf16, #columns> -> !k
        %d = tile_gpu.dot %q, %k, %a instruction <mma_sync> : !q, !k, !acc
        scf.yield %d : !acc
      }
      tile_gpu.store %r, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      gpu.return
    }

    // 65536 bytes live through it: one stage, filled in the round itself, by way of registers.
    // CHECK-LABEL: gpu.func @beside_two_tiles
    // CHECK-SAME: tile_gpu.shared_bytes = 131072
    // CHECK-NOT: tile_gpu.async
    // CHECK: scf.for
    // CHECK-NOT: tile_gpu.async
    // CHECK: tile_gpu.local_store
    // CHECK: tile_gpu.dot
    gpu.func @beside_two_tiles(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16, #rows>
      %q = tile_gpu.to_shared %x : !tile_gpu.tile<64x256xf16, #rows> -> !q
      %w = tile_gpu.load %p[%s, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16, #rows>
      %t = tile_gpu.to_shared %w : !tile_gpu.tile<64x256xf16, #rows> -> !q
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!acc) : i32 {
        %at = arith.extui %i : i32 to i64
        %y = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<256x128xf16, #columns>
        %k = tile_gpu.to_shared %y : !tile_gpu.tile<256x128xf16, #columns> -> !k
        %d = tile_gpu.dot %q, %k, %a instruction <mma_sync> : !q, !k, !acc
        %e = tile_gpu.dot %t, %k, %d instruction <mma_sync> : !q, !k, !acc
        scf.yield %e : !acc
      }
      tile_gpu.store %r, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      gpu.return
    }

    // What lives before the loop only takes no room from the ring; nor does what passes through shared
    // memory after it: three stages of 32768 bytes beside 32768.
    // CHECK-LABEL: gpu.func @one_after_another
    // CHECK-SAME: tile_gpu.shared_bytes = 131072
    // CHECK: stages = 3>
    gpu.func @one_after_another(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !small
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16, #rows>
      %q = tile_gpu.to_shared %x : !tile_gpu.tile<64x256xf16, #rows> -> !q
      %w = tile_gpu.load %p[%s, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<256x128xf16, #columns>
      %t = tile_gpu.to_shared %w : !tile_gpu.tile<256x128xf16, #columns> -> !k
      %first = arith.constant dense<0.0> : !acc
      %c = tile_gpu.dot %q, %t, %first instruction <mma_sync> : !q, !k, !acc
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!small) : i32 {
        %at = arith.extui %i : i32 to i64
        %y = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<256x64xf16, #tile_gpu.layout<[lane 32:1, reg 8], [warp 4:1, reg 16]>>
        %k = tile_gpu.to_shared %y : !tile_gpu.tile<256x64xf16, #tile_gpu.layout<[lane 32:1, reg 8], [warp 4:1, reg 16]>> -> !tile_gpu.buffer<256x64xf16, order = [1, 0], swizzle = 128>
        %d = tile_gpu.dot %q, %k, %a instruction <mma_sync> : !q, !tile_gpu.buffer<256x64xf16, order = [1, 0], swizzle = 128>, !small
        scf.yield %d : !small
      }
      tile_gpu.store %r, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !small
      %out = tile_gpu.convert_layout %c : !acc -> !tile_gpu.tile<64x128xf32, #tile_gpu.layout<[warp 4:1, reg 16], [lane 32:1, reg 4]>>
      tile_gpu.store %out, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf32, #tile_gpu.layout<[warp 4:1, reg 16], [lane 32:1, reg 4]>>
      gpu.return
    }
  }
}

// -----

// A product that stays in flight needs a third stage; where that does not fit, the product is done in
// its round, and two will do. sm_90 has 232448 bytes; 65536 stay, a round takes as much.

!q = !tile_gpu.buffer<128x256xf16, swizzle = 128>
!k = !tile_gpu.buffer<256x128xf16, order = [1, 0], swizzle = 128>
#rows = #tile_gpu.layout<[warp 4:1, reg 32], [lane 32:1, reg 8]>
#columns = #tile_gpu.layout<[lane 32:1, reg 8], [warp 4:1, reg 32]>
!acc = !tile_gpu.tile<128x128xf32, #tile_gpu.layout<[reg 2, warp 4:1, reg 2, lane 8:4], [reg 16, lane 4:1, reg 2]>>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @in_flight
    // CHECK: stages = 2>
    // CHECK: scf.for
    // CHECK-NEXT: tile_gpu.async_wait 0
    // CHECK-NOT: in_flight
    // CHECK-NOT: dot_wait
    // CHECK: scf.yield
    // CHECK: dot_wait 0
    gpu.func @in_flight(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x256xf16, #rows>
      %q = tile_gpu.to_shared %x : !tile_gpu.tile<128x256xf16, #rows> -> !q
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (!acc) : i32 {
        %at = arith.extui %i : i32 to i64
        %y = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<256x128xf16, #columns>
        %k = tile_gpu.to_shared %y : !tile_gpu.tile<256x128xf16, #columns> -> !k
        %d = tile_gpu.dot %q, %k, %a in_flight instruction <wgmma> : !q, !k, !acc
        tile_gpu.dot_wait 1
        scf.yield %d : !acc
      }
      %done = tile_gpu.dot_wait 0, %r : !acc
      tile_gpu.store %done, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      gpu.return
    }
  }
}
