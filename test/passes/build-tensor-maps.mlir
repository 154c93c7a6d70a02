// RUN: tile-opt --build-tensor-maps %s | FileCheck %s

// A block takes a slot in global memory for its maps, makes each in a line of shared memory that goes
// to its place in the slot, and gives the slot back when no copy uses it any more.

!map = !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
!ring = !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @loads
  gpu.func @loads(%p: !llvm.ptr<1>, %n: i64) kernel {
    %one = arith.constant 1 : i64
    // CHECK: %[[LINES:.*]] = tile_gpu.alloc : !tile_gpu.buffer<16xi64, stages = 2>
    // CHECK: %[[ADDRESS:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64>
    // CHECK: %[[SLOT:.*]] = tile_gpu.acquire_map_slot 2 scratch %[[ADDRESS]]
    // CHECK: %[[LINE:.*]] = tile_gpu.stage %[[LINES]][%{{.*}}]
    // CHECK: tile_gpu.tensor_map {{.*}} slot %[[SLOT]] scratch %[[LINE]]
    %a = tile_gpu.tensor_map %p sizes[%n, %n] strides[%n, %one] : !map
    // CHECK: %[[NEXT:.*]] = tile_gpu.stage %[[LINES]][%{{.*}}]
    // CHECK: %[[BYTES:.*]] = arith.constant 128 : i64
    // CHECK: %[[PLACE:.*]] = arith.addi %[[SLOT]], %[[BYTES]]
    // CHECK: tile_gpu.tensor_map {{.*}} slot %[[PLACE]] scratch %[[NEXT]]
    %b = tile_gpu.tensor_map %p sizes[%n, %n] strides[%one, %n] : !map
    // The maps are made before anybody uses them.
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.specialize
    // CHECK: } consumers {
    tile_gpu.specialize producer {
    } consumers {
      // Consumers waited for all loads: nothing else to wait for.
      // CHECK-NOT: tma_store_wait
    }
    // CHECK: }
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.release_map_slot 2 slot %[[SLOT]]
    gpu.return
  }

  // Stores read their map until they are complete.
  // CHECK-LABEL: gpu.func @stores
  gpu.func @stores(%p: !llvm.ptr<1>, %n: i64, %t: !tile_gpu.tile<64x64xf16>) kernel {
    %one = arith.constant 1 : i64
    %r = tile_gpu.alloc : !ring
    %m = tile_gpu.tensor_map %p sizes[%n, %n] strides[%n, %one] : !map
    tile_gpu.specialize producer {
    } consumers {
      // CHECK: tile_gpu.tma_store
      tile_gpu.tma_store %t, %m[%n, %n] through %r : !tile_gpu.tile<64x64xf16>, !map, !ring
      // CHECK-NEXT: tile_gpu.tma_store_wait complete
      // CHECK-NEXT: }
    }
    // CHECK: tile_gpu.release_map_slot 1
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
