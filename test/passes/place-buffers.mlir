// RUN: tile-opt --place-buffers --split-input-file %s | FileCheck %s

// A conversion between layouts goes through a buffer.

#rows = #tile_gpu.layout<[warp 4:1, reg 4, lane 4:8], [lane 8:1, reg 8]>
#columns = #tile_gpu.layout<[lane 32:1, reg 2], [warp 4:1, reg 16]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @conversion
  gpu.func @conversion(%p: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK: %[[X:.*]] = arith.constant
    %x = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16, #rows>
    // CHECK-NEXT: %[[B:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x64xf16
    // CHECK-NEXT: tile_gpu.local_store %[[X]], %[[B]]
    // CHECK-NEXT: %[[Y:.*]] = tile_gpu.local_load %[[B]]
    // CHECK-NEXT: arith.addf %[[Y]], %[[Y]]
    %y = tile_gpu.convert_layout %x : !tile_gpu.tile<64x64xf16, #rows> -> !tile_gpu.tile<64x64xf16, #columns>
    %z = arith.addf %y, %y : !tile_gpu.tile<64x64xf16, #columns>
    gpu.return
  }
}

// -----

// Where every warp keeps its elements, its lanes wait for each other only.

#rows = #tile_gpu.layout<[warp 4:1, reg 4, lane 4:8], [lane 8:1, reg 8]>
#pairs = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 8, lane 4:1, reg 2]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @within_warps
  gpu.func @within_warps(%n: index) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK: %[[X:.*]] = arith.constant
    %x = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16, #pairs>
    // CHECK-NEXT: %[[B:.*]] = tile_gpu.alloc per_warp : !tile_gpu.buffer<64x64xf16
    // CHECK-NEXT: tile_gpu.local_store %[[X]], %[[B]]
    // CHECK-NEXT: tile_gpu.warp_barrier
    // CHECK-NEXT: tile_gpu.local_load %[[B]]
    %y = tile_gpu.convert_layout %x : !tile_gpu.tile<64x64xf16, #pairs> -> !tile_gpu.tile<64x64xf16, #rows>
    // CHECK-NEXT: scf.for
    scf.for %i = %n to %n step %n {
      // In the next round, when they have read what is there.
      // CHECK-NEXT: tile_gpu.alloc per_warp
      // CHECK-NEXT: tile_gpu.warp_barrier
      // CHECK-NEXT: tile_gpu.local_store
      %z = tile_gpu.convert_layout %x : !tile_gpu.tile<64x64xf16, #pairs> -> !tile_gpu.tile<64x64xf16, #rows>
    }
    gpu.return
  }

  // Eight warps hold this tile twice: one of two writes it, and both read it.
  // CHECK-LABEL: gpu.func @copies
  gpu.func @copies() kernel attributes {tile_gpu.num_warps = 8 : i32} {
    // CHECK: tile_gpu.alloc :
    // CHECK-NOT: warp_barrier
    %x = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16, #pairs>
    %y = tile_gpu.convert_layout %x : !tile_gpu.tile<64x64xf16, #pairs> -> !tile_gpu.tile<64x64xf16, #rows>
    gpu.return
  }
}

// -----

// Where every thread keeps its elements, only their registers change: no buffer.

#reduced = #tile_gpu.layout<[warp 4:1, lane 8:4]>
#spread = #tile_gpu.layout<[warp 4:1, lane 8:4]>
#two = #tile_gpu.layout<[lane 32:1], [reg 4]>
#three = #tile_gpu.layout<[lane 32:1], [reg 2, reg 2]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @registers_only
  // CHECK-NOT: tile_gpu.alloc
  // CHECK: tile_gpu.convert_layout
  gpu.func @registers_only() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<32x4xf32, #two>
    %y = tile_gpu.convert_layout %x : !tile_gpu.tile<32x4xf32, #two> -> !tile_gpu.tile<32x4xf32, #three>
    gpu.return
  }
}

// -----

// An operand of a product that is computed, not loaded, is stored; the buffer stands for it.

#rows = #tile_gpu.layout<[warp 4:1, reg 4, lane 4:8], [lane 8:1, reg 8]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @operand
  gpu.func @operand(%i: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK: %[[X:.*]] = arith.constant
    %x = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16, #rows>
    // CHECK-NEXT: %[[B:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x64xf16, swizzle = 128>
    // CHECK-NEXT: tile_gpu.local_store %[[X]], %[[B]]
    %b = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16, #rows> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
    // CHECK-NEXT: tile_gpu.local_load %[[B]]
    %y = tile_gpu.local_load %b : !tile_gpu.buffer<64x64xf16, swizzle = 128> -> !tile_gpu.tile<64x64xf16, #rows>
    gpu.return
  }
}

// -----

// An atomic runs once for each element; where several threads need the result, or where a value is
// read with an ordering, it passes through scratch. A result that nobody uses needs none.

#one = #tile_gpu.layout<[lane 32:1]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @scratch
  // CHECK-SAME: (%[[A:.*]]: i64, %[[V:.*]]: i32)
  gpu.func @scratch(%a: i64, %v: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK-NEXT: %[[B:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi32>
    // CHECK-NEXT: %[[OLD:.*]] = tile_gpu.atomic_rmw <add> %[[A]], %[[V]] scratch %[[B]]
    %old = tile_gpu.atomic_rmw <add> %a, %v ordering <relaxed> scope <device> : i64, i32 -> i32
    // CHECK: %[[C:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi32>
    // CHECK-NEXT: tile_gpu.gather %[[A]] scratch %[[C]]
    %x = tile_gpu.gather %a contiguity 1 alignment 4 ordering <acquire> scope <device> : i64 -> i32
    // CHECK-NOT: tile_gpu.alloc
    // CHECK: tile_gpu.atomic_rmw <add> %[[A]], %{{.*}} ordering
    %s = arith.addi %old, %x : i32
    %unused = tile_gpu.atomic_rmw <add> %a, %s ordering <relaxed> scope <device> : i64, i32 -> i32
    gpu.return
  }
  // Each of the 128 threads owns an element: nobody else needs it.
  // CHECK-LABEL: gpu.func @owned
  // CHECK-NOT: tile_gpu.alloc
  gpu.func @owned() kernel attributes {tile_gpu.num_warps = 1 : i32} {
    %a = arith.constant dense<0> : !tile_gpu.tile<32xi64, #one>
    %v = arith.constant dense<1> : !tile_gpu.tile<32xi32, #one>
    %old = tile_gpu.atomic_rmw <add> %a, %v ordering <relaxed> scope <device> : !tile_gpu.tile<32xi64, #one>, !tile_gpu.tile<32xi32, #one> -> !tile_gpu.tile<32xi32, #one>
    %s = arith.addi %old, %v : !tile_gpu.tile<32xi32, #one>
    gpu.return
  }
}
