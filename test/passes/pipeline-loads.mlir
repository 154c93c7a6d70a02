// RUN: tile-opt --pass-pipeline='builtin.module(stage-operands,pipeline-loads)' --split-input-file %s | FileCheck %s
// RUN: tile-opt --pass-pipeline='builtin.module(stage-operands,pipeline-loads{ahead=3})' --split-input-file %s | FileCheck %s --check-prefix=AHEAD

// The loads of a loop's operands become asynchronous copies into a ring of three stages, two rounds
// ahead of their use.

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @matmul
    // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[Z:.*]]: i64, %[[S:.*]]: i64, %[[N:.*]]: i32)
    // AHEAD-LABEL: gpu.func @matmul
    gpu.func @matmul(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c32 = arith.constant 32 : i64
      // CHECK: %[[ACC:.*]] = arith.constant dense<0.000000e+00>
      %acc = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[RA:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x32xf16, swizzle = 64, stages = 3>
      // CHECK: %[[RB:.*]] = tile_gpu.alloc : !tile_gpu.buffer<32x64xf16, swizzle = 128, stages = 3>
      // AHEAD: tile_gpu.alloc : !tile_gpu.buffer<64x32xf16, swizzle = 64, stages = 4>
      // The stages may still be in use.
      // CHECK-NEXT: tile_gpu.barrier
      // Rounds 0 and 1, each if it exists: a group for each.
      // CHECK: %[[ROUND0:.*]] = arith.cmpi slt
      // CHECK: tile_gpu.async_load {{.*}} if %[[ROUND0]]
      // CHECK: tile_gpu.async_load {{.*}} if %[[ROUND0]]
      // CHECK-NEXT: tile_gpu.async_commit
      // CHECK: %[[ROUND1:.*]] = arith.cmpi slt
      // CHECK: tile_gpu.async_load {{.*}} if %[[ROUND1]]
      // CHECK: tile_gpu.async_commit
      // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[ACC]], %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}})
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        // One group may be in flight: round i has arrived. The barrier shows it to all threads, and
        // nobody reads round i-1 any more.
        // CHECK-NEXT: tile_gpu.async_wait 1
        // CHECK-NEXT: tile_gpu.barrier
        // AHEAD: tile_gpu.async_wait 2
        // CHECK: %[[FILL:.*]] = tile_gpu.stage %[[RA]][%[[WRITE]]]
        // CHECK: tile_gpu.async_load {{.*}}, %[[FILL]] if
        // CHECK: tile_gpu.async_commit
        // CHECK: %[[SA:.*]] = tile_gpu.stage %[[RA]][%[[READ]]]
        // CHECK: %[[SB:.*]] = tile_gpu.stage %[[RB]][%[[READ]]]
        %k64 = arith.extui %k : i32 to i64
        %at = arith.muli %k64, %c32 : i64
        %x = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xf16>
        %y = tile_gpu.load %p[%at, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xf16>
        // CHECK-NOT: tile_gpu.load
        // CHECK: %[[D:.*]] = tile_gpu.dot %[[SA]], %[[SB]], %[[A]]
        %d = tile_gpu.dot %x, %y, %a : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
        // CHECK: scf.yield %[[D]], %{{.*}}, %{{.*}}
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// What cannot be copied ahead stays: a load at a place that the loop computes as it goes, one whose
// rows are not aligned to four bytes, one that pads with something else than zero.

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @not_ahead
    // CHECK-NOT: async_load
    gpu.func @not_ahead(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %acc = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: scf.for
      %r, %e = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc, %at = %z) -> (!tile_gpu.tile<64x64xf32>, i64) : i32 {
        %x = tile_gpu.load %p[%z, %at] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xf16>
        %y = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 2 in_bounds [false, false] : !tile_gpu.tile<32x64xf16>
        %d = tile_gpu.dot %x, %y, %a : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
        %v = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] padding <nan> alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xf16>
        %f = tile_gpu.dot %x, %v, %d : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
        %next = arith.addi %at, %s : i64
        scf.yield %f, %next : !tile_gpu.tile<64x64xf32>, i64
      }
      gpu.return
    }
  }
}

// -----

// A load that may see a write is copied ahead of its round if no round before it writes.

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @seen
    // CHECK-NOT: async_load
    // CHECK: scf.for
    // CHECK: tile_gpu.load {{.*}} ordered
    // CHECK: tile_gpu.store
    gpu.func @seen(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %acc = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      scf.for %k = %c0 to %n step %c1 : i32 {
        %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] ordered : !tile_gpu.tile<64x64xf16>
        %b = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %b, %b, %acc : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        %h = tile_gpu.cast <truncf> %d : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xf16>
        tile_gpu.store %h, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        scf.yield
      }
      gpu.return
    }

    // CHECK-LABEL: gpu.func @written_before
    // CHECK: tile_gpu.async_load
    // CHECK: scf.for
    gpu.func @written_before(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %acc = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] ordered : !tile_gpu.tile<64x64xf16>
        %b = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %b, %b, %a : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Where a producer's ring has taken the memory of a multiprocessor, other operands have none.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @no_room
    // CHECK-NOT: async_load
    // CHECK: scf.for
    // CHECK: tile_gpu.load
    // CHECK-NOT: async_load
    // CHECK: gpu.return
    gpu.func @no_room(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %acc = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %ring = tile_gpu.alloc : !tile_gpu.buffer<128x128xf16, swizzle = 128, stages = 7>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %acc) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %other = tile_gpu.stage %ring[%k] : !tile_gpu.buffer<128x128xf16, swizzle = 128, stages = 7> -> !tile_gpu.buffer<128x128xf16, swizzle = 128>
        %b = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %b, %b, %a : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}
