// RUN: tile-opt --specialize-warps %s | FileCheck %s

// A tile as large as the product's result comes through the ring, in rounds after those of the operands:
// as many columns a round as the buffers of a stage hold.

!acc = !tile_gpu.tile<128x128xf32>
!half = !tile_gpu.tile<128x128xf16>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @residual
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[Q:[^:]*]]: !llvm.ptr<1>, %[[R:[^:]*]]: !llvm.ptr<1>, %[[Z:[^:]*]]: i64, %[[S:[^:]*]]: i64
    gpu.func @residual(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: %[[FULL:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64, stages = [[STAGES:.*]]>
      // CHECK: %[[EMPTY:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64, stages = [[STAGES]]>
      // CHECK: %[[A:.*]] = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = [[STAGES]]>
      // CHECK: %[[B:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x128xf16, swizzle = 128, stages = [[STAGES]]>
      // CHECK: %[[MAP:.*]] = tile_gpu.tensor_map %[[R]] sizes[%[[S]], %[[S]]] {{.*}} : !tile_gpu.tensor_map<128x64xf16, swizzle = 128>
      // CHECK: producer {
      // CHECK: %[[END:.*]]:2 = scf.for
      // CHECK: scf.yield
      // CHECK: %[[FREE:.*]] = tile_gpu.stage %[[EMPTY]][%[[END]]#0]
      // CHECK: %[[BEFORE:.*]] = arith.xori %[[END]]#1,
      // CHECK: tile_gpu.mbarrier_wait %[[FREE]], %[[BEFORE]]
      // CHECK: %[[THERE:.*]] = tile_gpu.stage %[[FULL]][%[[END]]#0]
      // CHECK: tile_gpu.mbarrier_expect %[[THERE]], %c32768_i32
      // CHECK: %[[SA:.*]] = tile_gpu.stage %[[A]][%[[END]]#0]
      // CHECK: %[[PA:.*]] = tile_gpu.as_panels %[[SA]] : !tile_gpu.buffer<128x64xf16, swizzle = 128> -> !tile_gpu.buffer<128x64xf16, swizzle = 128>
      // CHECK: tile_gpu.tma_load %[[MAP]][%[[Z]], %[[Z]]], %[[PA]], %[[THERE]]
      // CHECK: %[[SB:.*]] = tile_gpu.stage %[[B]][%[[END]]#0]
      // CHECK: %[[PB:.*]] = tile_gpu.as_panels %[[SB]] : !tile_gpu.buffer<64x128xf16, swizzle = 128> -> !tile_gpu.buffer<128x64xf16, swizzle = 128>
      // CHECK: %[[RIGHT:.*]] = arith.addi %[[Z]], %c64_i64
      // CHECK: tile_gpu.tma_load %[[MAP]][%[[Z]], %[[RIGHT]]], %[[PB]], %[[THERE]]
      // CHECK: } consumers {
      // Nobody asks for it twice.
      // CHECK-NOT: tile_gpu.prefetch
      // A row is few registers: it is loaded while operands are on their way.
      // CHECK: %[[BIAS:.*]] = tile_gpu.load %[[R]]{{.*}} : !tile_gpu.tile<1x128xf16>
      // CHECK: %[[AT:.*]]:3 = scf.for
      %x = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %xa = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %xb = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %xa : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %xb : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      // CHECK: %[[TAKEN:.*]] = tile_gpu.take_tile %{{.*}}, %{{.*}} full %[[F:.*]], %[[F]] parity %[[AT]]#2, %[[AT]]#2 empty %[[E:.*]], %[[E]] : !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<128x128xf16>
      // CHECK: tile_gpu.cast <extf> %[[TAKEN]]
      %t = tile_gpu.load %r[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !half
      %wide = tile_gpu.cast <extf> %t : !half -> !acc
      %sum = arith.addf %x, %wide : !acc
      %row = tile_gpu.load %r[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<1x128xf16>
      %all = tile_gpu.broadcast %row : !tile_gpu.tile<1x128xf16> -> !half
      %wide2 = tile_gpu.cast <extf> %all : !half -> !acc
      %sum2 = arith.addf %sum, %wide2 : !acc
      %h = tile_gpu.cast <truncf> %sum2 : !acc -> !half
      // CHECK: tile_gpu.tma_store
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !half
      gpu.return
    }

    // What else sees the tile would see rows of operands that a source has overwritten, or comes too
    // late to give a stage back.
    // CHECK-LABEL: gpu.func @seen
    // CHECK-NOT: take_tile
    gpu.func @seen(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %x = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %xa = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %xb = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %xa : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %xb : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      %t = tile_gpu.load %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      %sum = arith.addf %x, %t : !acc
      tile_gpu.print "%f", %sum : !acc
      tile_gpu.store %sum, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !acc
      gpu.return
    }

    // Boxes are filled with zeros, not with other paddings.
    // CHECK-LABEL: gpu.func @padded
    // CHECK-NOT: take_tile
    gpu.func @padded(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %x = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %xa = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %xb = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %xa : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %xb : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      %t = tile_gpu.load %q[%z, %z] sizes [%s, %s] strides [%s, %one] padding <nan> alignment 16 in_bounds [false, false] : !acc
      %sum = arith.addf %x, %t : !acc
      tile_gpu.store %sum, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !acc
      gpu.return
    }
  }
}
