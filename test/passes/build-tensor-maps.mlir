// RUN: tile-opt --build-tensor-maps %s | FileCheck %s

// A block looks for its maps in a table, by the values that they follow from. If they are not there it
// makes each in a line of shared memory that goes to its place in global memory. In an entry of the
// table others find them from then on; a slot of the pool is given back when no copy uses it any more.

!map = !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
!ring = !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @loads
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[M:.*]]: i32, %[[N:.*]]: i64)
  gpu.func @loads(%p: !llvm.ptr<1>, %m32: i32, %n: i64) kernel {
    %one = arith.constant 1 : i64
    %m = arith.extsi %m32 : i32 to i64
    // CHECK: %[[LINES:.*]] = tile_gpu.alloc : !tile_gpu.buffer<16xi64, stages = 2>
    // CHECK: %[[ADDRESS:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64>
    // The key has each value once, without constants, and what was extended in 32 bits.
    // CHECK: %[[SLOT:.*]], %[[STATE:.*]] = tile_gpu.acquire_map_slot 2 key(%[[P]], %[[M]], %[[N]] : !llvm.ptr<1>, i32, i64) scratch %[[ADDRESS]]
    // CHECK: %[[FOUND:.*]] = arith.cmpi eq, %[[STATE]], %{{.*}} : i32
    // CHECK: %[[LINE:.*]] = tile_gpu.stage %[[LINES]][%{{.*}}]
    // CHECK: tile_gpu.tensor_map {{.*}} slot %[[SLOT]] scratch %[[LINE]] unless %[[FOUND]]
    %a = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %one] : !map
    // CHECK: %[[NEXT:.*]] = tile_gpu.stage %[[LINES]][%{{.*}}]
    // CHECK: %[[BYTES:.*]] = arith.constant 128 : i64
    // CHECK: %[[PLACE:.*]] = arith.addi %[[SLOT]], %[[BYTES]]
    // CHECK: tile_gpu.tensor_map {{.*}} slot %[[PLACE]] scratch %[[NEXT]] unless %[[FOUND]]
    %b = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %one] : !map
    // The maps are made before anybody uses them.
    // CHECK: tile_gpu.barrier
    // CHECK: %[[CLAIMED:.*]] = arith.cmpi eq, %[[STATE]],
    // CHECK-NEXT: scf.if %[[CLAIMED]]
    // CHECK-NEXT: tile_gpu.publish_map_slot 2 key(%[[P]], %[[M]], %[[N]] : !llvm.ptr<1>, i32, i64) slot %[[SLOT]]
    // CHECK: tile_gpu.specialize
    // CHECK: } consumers {
    tile_gpu.specialize producer {
    } consumers {
      // Consumers waited for all loads: nothing else to wait for.
      // CHECK-NOT: tma_store_wait
    }
    // CHECK: }
    // What was found is read again: it takes no registers in between.
    // CHECK-NEXT: %[[TAKEN:.*]], %[[NOW:.*]] = tile_gpu.read_map_slot %[[ADDRESS]]
    // CHECK: %[[POOLED:.*]] = arith.cmpi eq, %[[NOW]],
    // CHECK-NEXT: scf.if %[[POOLED]]
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.release_map_slot 2 slot %[[TAKEN]]
    gpu.return
  }

  // Stores read their map until they are complete. That matters in the pool alone, since entries of the
  // table stay.
  // CHECK-LABEL: gpu.func @stores
  gpu.func @stores(%p: !llvm.ptr<1>, %n: i64, %t: !tile_gpu.tile<64x64xf16>) kernel {
    %one = arith.constant 1 : i64
    %r = tile_gpu.alloc : !ring
    %m = tile_gpu.tensor_map %p sizes[%n, %n] strides[%n, %one] : !map
    tile_gpu.specialize producer {
    } consumers {
      // CHECK: tile_gpu.tma_store
      // CHECK-NOT: tile_gpu.tma_store_wait
      tile_gpu.tma_store %t, %m[%n, %n] through %r : !tile_gpu.tile<64x64xf16>, !map, !ring
    }
    // CHECK: scf.if
    // CHECK-NEXT: tile_gpu.tma_store_wait complete
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.release_map_slot 1
    gpu.return
  }

  // Maps that the launcher made are parameters: nothing to build.
  // CHECK-LABEL: gpu.func @from_the_launcher
  // CHECK-NOT: acquire_map_slot
  gpu.func @from_the_launcher(%m: !map) kernel {
    // CHECK: gpu.return
    gpu.return
  }
}
