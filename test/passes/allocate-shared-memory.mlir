// RUN: tile-opt --allocate-shared-memory --split-input-file --verify-diagnostics %s | FileCheck %s

#l = #tile_gpu.layout<[reg 8, warp 4:1, lane 32:1]>
gpu.module @kernels {
  // Lives that do not overlap share memory; 4096 bytes serve both.
  // CHECK-LABEL: gpu.func @one_after_another
  // CHECK-SAME: tile_gpu.shared_bytes = 4096
  gpu.func @one_after_another() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<1024xf32, #l>
    // CHECK: tile_gpu.alloc offset 0
    %a = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %x, %a : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    %y = tile_gpu.local_load %a : !tile_gpu.buffer<1024xf32> -> !tile_gpu.tile<1024xf32, #l>
    // CHECK: tile_gpu.alloc offset 0
    %b = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %y, %b : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @at_once
  // CHECK-SAME: tile_gpu.shared_bytes = 8192
  gpu.func @at_once() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<1024xf32, #l>
    // CHECK: tile_gpu.alloc offset 0
    %a = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %x, %a : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    // CHECK: tile_gpu.alloc offset 4096
    %b = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %x, %b : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    %y = tile_gpu.local_load %a : !tile_gpu.buffer<1024xf32> -> !tile_gpu.tile<1024xf32, #l>
    gpu.return
  }

  // A buffer made outside a loop and used inside lives through all its rounds, so that one made
  // inside, whose life in a round is over when the other is read, must lie elsewhere.
  // CHECK-LABEL: gpu.func @around_a_loop
  // CHECK-SAME: tile_gpu.shared_bytes = 8192
  gpu.func @around_a_loop(%n: index) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<1024xf32, #l>
    // CHECK: %[[A:.*]] = tile_gpu.alloc offset [[FIRST:[0-9]+]]
    %a = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %x, %a : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    scf.for %i = %n to %n step %n {
      // CHECK: scf.for
      // CHECK-NOT: tile_gpu.alloc offset [[FIRST]] :
      // CHECK: tile_gpu.alloc offset
      %b = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
      %y = tile_gpu.local_load %a : !tile_gpu.buffer<1024xf32> -> !tile_gpu.tile<1024xf32, #l>
      tile_gpu.local_store %y, %b : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    }
    gpu.return
  }

  // Swizzled buffers start at multiples of the address bits that the swizzle reads: 1024 bytes for
  // 128. The stages of a ring follow each other.
  // CHECK-LABEL: gpu.func @alignment
  // CHECK-SAME: tile_gpu.shared_bytes = 25088
  gpu.func @alignment(%i: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK-DAG: tile_gpu.alloc offset 0 : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 3>
    %ring = tile_gpu.alloc : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 3>
    // CHECK-DAG: tile_gpu.alloc offset 24576 : !tile_gpu.buffer<128xf32>
    %small = tile_gpu.alloc : !tile_gpu.buffer<128xf32>
    %s = tile_gpu.stage %ring[%i] : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 3> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
    %x = tile_gpu.local_load %small : !tile_gpu.buffer<128xf32> -> !tile_gpu.tile<128xf32, #tile_gpu.layout<[warp 4:1, lane 32:1]>>
    %y = tile_gpu.local_load %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> -> !tile_gpu.tile<64x64xf16, #tile_gpu.layout<[warp 4:1, reg 16], [lane 32:1, reg 2]>>
    tile_gpu.local_store %x, %small : !tile_gpu.tile<128xf32, #tile_gpu.layout<[warp 4:1, lane 32:1]>>, !tile_gpu.buffer<128xf32>
    gpu.return
  }

  // Specialised warps run side by side: what one side uses lives as long as both run. With two sets of
  // consumers, each has its own copy of a buffer made among them.
  // CHECK-LABEL: gpu.func @specialised
  // CHECK-SAME: tile_gpu.shared_bytes = 16384
  gpu.func @specialised(%i: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<1024xf32, #l>
    %ring = tile_gpu.alloc : !tile_gpu.buffer<1024xf32, stages = 2>
    tile_gpu.specialize replicas 2 producer {
      %s = tile_gpu.stage %ring[%i] : !tile_gpu.buffer<1024xf32, stages = 2> -> !tile_gpu.buffer<1024xf32>
      %y = tile_gpu.local_load %s : !tile_gpu.buffer<1024xf32> -> !tile_gpu.tile<1024xf32, #l>
    } consumers {
      %a = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
      tile_gpu.local_store %x, %a : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    }
    // CHECK: tile_gpu.alloc offset 0 : !tile_gpu.buffer<1024xf32>
    %after = tile_gpu.alloc : !tile_gpu.buffer<1024xf32>
    tile_gpu.local_store %x, %after : !tile_gpu.tile<1024xf32, #l>, !tile_gpu.buffer<1024xf32>
    gpu.return
  }
}

// -----

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @too_much() kernel {
      // expected-error @+1 {{kernel 'too_much' needs 262144 bytes of shared memory, sm_80 has 166912; use smaller tiles, or fewer at a time}}
      %a = tile_gpu.alloc : !tile_gpu.buffer<256x256xf32>
      gpu.return
    }
  }
}

// -----

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @too_deep(%c: !tile_gpu.tile<128x256xf32, #tile_gpu.layout<[warp 4:1, reg 32], [reg 8, lane 32:1]>>) kernel {
      %a = tile_gpu.alloc : !tile_gpu.buffer<128x512xf16, swizzle = 128>
      %b = tile_gpu.alloc : !tile_gpu.buffer<512x256xf16, swizzle = 128>
      // expected-error @+1 {{kernel 'too_deep' needs 393216 bytes of shared memory, sm_90a has 232448; 393216 of them hold the operands of a product of 128x256x512; a product of 128x256x256 fits}}
      %d = tile_gpu.dot %a, %b, %c instruction <wgmma> : !tile_gpu.buffer<128x512xf16, swizzle = 128>, !tile_gpu.buffer<512x256xf16, swizzle = 128>, !tile_gpu.tile<128x256xf32, #tile_gpu.layout<[warp 4:1, reg 32], [reg 8, lane 32:1]>>
      gpu.return
    }
  }
}

// -----

// Rows of 128 bytes are short enough: then the larger side shrinks. One operand is in registers.

#l = #tile_gpu.layout<[warp 4:1, reg 32], [reg 2, lane 32:1]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @too_wide(%a: !tile_gpu.tile<128x64xf16, #l>, %c: !tile_gpu.tile<128x2048xf32, #tile_gpu.layout<[warp 4:1, reg 32], [reg 64, lane 32:1]>>) kernel {
      %b = tile_gpu.alloc : !tile_gpu.buffer<64x2048xf16, swizzle = 128>
      // expected-error @+1 {{needs 262144 bytes of shared memory, sm_80 has 166912; 262144 of them hold the operands of a product of 128x2048x64; a product of 128x1024x64 fits}}
      %d = tile_gpu.dot %a, %b, %c instruction <mma_sync> : !tile_gpu.tile<128x64xf16, #l>, !tile_gpu.buffer<64x2048xf16, swizzle = 128>, !tile_gpu.tile<128x2048xf32, #tile_gpu.layout<[warp 4:1, reg 32], [reg 64, lane 32:1]>>
      gpu.return
    }
  }
}

// -----

// With several products, the places of what is held at once, the largest first; what lives at another
// time is not among it.

!q = !tile_gpu.buffer<128x256xf16, swizzle = 128>
!k = !tile_gpu.buffer<256x128xf16, swizzle = 128>
!acc = !tile_gpu.tile<128x128xf32, #tile_gpu.layout<[warp 4:1, reg 32], [reg 4, lane 32:1]>>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @two_products(%c: !acc) kernel {
      %before = tile_gpu.alloc : !tile_gpu.buffer<128x128xf32>
      tile_gpu.local_store %c, %before : !acc, !tile_gpu.buffer<128x128xf32>
      %a = tile_gpu.alloc : !q
      // expected-error-re @+1 {{kernel 'two_products' needs 196608 bytes of shared memory, sm_80 has 166912; at once it holds 131072 for {{[^,]*}}.mlir:{{[0-9]+}}:12, 65536 for {{[^,]*}}.mlir:{{[0-9]+}}:12; use smaller tiles, or fewer at a time}}
      %b = tile_gpu.alloc : !tile_gpu.buffer<256x128xf16, swizzle = 128, stages = 2>
      %zero = arith.constant 0 : i32
      %one = tile_gpu.stage %b[%zero] : !tile_gpu.buffer<256x128xf16, swizzle = 128, stages = 2> -> !k
      %d = tile_gpu.dot %a, %one, %c instruction <mma_sync> : !q, !k, !acc
      %e = tile_gpu.dot %a, %one, %d instruction <mma_sync> : !q, !k, !acc
      gpu.return
    }
  }
}
