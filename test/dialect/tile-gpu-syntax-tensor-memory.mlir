// RUN: tile-opt %s | tile-opt - | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt - | FileCheck %s

// Tensor memory accesses, the barriers that they complete, and warps with different work.

!box = !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
!stage = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!ring = !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 2>
!barrier = !tile_gpu.buffer<1xi64>
!barriers = !tile_gpu.buffer<1xi64, stages = 4>

// CHECK-LABEL: func.func @maps
func.func @maps(%p: !llvm.ptr<1>, %m: i64, %n: i64, %address: !barrier, %line: !tile_gpu.buffer<16xi64>) {
  // CHECK: tile_gpu.tensor_map %{{.*}} sizes[%[[M:.*]], %[[N:.*]]] strides[%[[N]], %[[M]]] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
  %0 = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %m] : !box
  // CHECK: tile_gpu.prefetch_map %{{.*}} : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
  tile_gpu.prefetch_map %0 : !box
  // CHECK: %[[SLOT:.*]], %{{.*}} = tile_gpu.acquire_map_slot 3 key(%{{.*}}, %[[M]] : !llvm.ptr<1>, i64) scratch %{{.*}} : !tile_gpu.buffer<1xi64>
  %slot, %state = tile_gpu.acquire_map_slot 3 key(%p, %m : !llvm.ptr<1>, i64) scratch %address : !barrier
  // CHECK: tile_gpu.tensor_map %{{.*}} sizes[%[[M]], %[[N]]] strides[%[[N]], %[[M]]] rows %[[M]] slot %[[SLOT]] scratch %{{.*}} : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<16xi64>
  %1 = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %m] rows %m slot %slot scratch %line : !box, !tile_gpu.buffer<16xi64>
  // CHECK: tile_gpu.tensor_map {{.*}} slot %[[SLOT]] scratch %{{.*}} unless %{{.*}} : !tile_gpu.tensor_map
  %found = arith.constant true
  %2 = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %m] slot %slot scratch %line unless %found : !box, !tile_gpu.buffer<16xi64>
  // CHECK: tile_gpu.publish_map_slot 3 key(%{{.*}}, %[[M]] : !llvm.ptr<1>, i64) slot %[[SLOT]]
  tile_gpu.publish_map_slot 3 key(%p, %m : !llvm.ptr<1>, i64) slot %slot
  // CHECK: %{{.*}}, %{{.*}} = tile_gpu.read_map_slot %{{.*}} : !tile_gpu.buffer<1xi64>
  %again, %now = tile_gpu.read_map_slot %address : !barrier
  // CHECK: tile_gpu.release_map_slot 3 slot %[[SLOT]]
  tile_gpu.release_map_slot 3 slot %slot
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%map: !box, %i: i64, %s: i32, %stage: !stage, %full: !barrier, %ring: !ring,
                  %t: !tile_gpu.tile<256x64xf16>) {
  // CHECK: tile_gpu.tma_load %{{.*}}[%[[I:.*]], %[[I]]], %{{.*}}, %{{.*}} : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  tile_gpu.tma_load %map[%i, %i], %stage, %full : !box, !stage, !barrier
  // CHECK: tile_gpu.tma_load %{{.*}}[%[[I]], %[[I]]], %{{.*}}, %{{.*}} policy %[[I]] half %{{.*}} : !tile_gpu.tensor_map
  tile_gpu.tma_load %map[%i, %i], %stage, %full policy %i half %s : !box, !stage, !barrier
  // CHECK: tile_gpu.zero_rows %{{.*}} from %[[I]] : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 2>
  tile_gpu.zero_rows %ring from %i : !ring
  // CHECK: tile_gpu.tma_store %{{.*}}, %{{.*}}[%[[I]], %[[I]]] through %{{.*}} : !tile_gpu.tile<256x64xf16>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 2>
  tile_gpu.tma_store %t, %map[%i, %i] through %ring : !tile_gpu.tile<256x64xf16>, !box, !ring
  // CHECK: tile_gpu.tma_store_wait
  tile_gpu.tma_store_wait
  // CHECK: tile_gpu.tma_store_wait complete
  tile_gpu.tma_store_wait complete
  return
}

// CHECK-LABEL: func.func @barriers
func.func @barriers(%all: !barriers, %one: !barrier, %parity: i32, %n: i32, %c: i1) {
  // CHECK: tile_gpu.mbarrier_init %{{.*}}, %{{.*}} : !tile_gpu.buffer<1xi64, stages = 4>
  tile_gpu.mbarrier_init %all, %n : !barriers
  // CHECK: tile_gpu.mbarrier_ready
  tile_gpu.mbarrier_ready
  // CHECK: tile_gpu.mbarrier_expect %{{.*}}, %{{.*}} : !tile_gpu.buffer<1xi64>
  tile_gpu.mbarrier_expect %one, %n : !barrier
  // CHECK: tile_gpu.mbarrier_wait %{{.*}}, %{{.*}} : !tile_gpu.buffer<1xi64>
  tile_gpu.mbarrier_wait %one, %parity : !barrier
  // CHECK: tile_gpu.first_lane %{{.*}} : i32
  %first = tile_gpu.first_lane %n : i32
  // CHECK: tile_gpu.mbarrier_arrive %{{.*}} : !tile_gpu.buffer<1xi64>
  tile_gpu.mbarrier_arrive %one : !barrier
  // CHECK: tile_gpu.mbarrier_arrive %{{.*}} if %{{.*}} {cluster} : !tile_gpu.buffer<1xi64>
  tile_gpu.mbarrier_arrive %one if %c {cluster} : !barrier
  // CHECK: tile_gpu.cluster_barrier
  tile_gpu.cluster_barrier
  // CHECK: tile_gpu.exit_if %{{.*}}
  tile_gpu.exit_if %c
  return
}

// CHECK-LABEL: func.func @warps
func.func @warps(%c: i1) {
  // CHECK: tile_gpu.specialize producer {
  // CHECK-NEXT: } consumers {
  // CHECK-NEXT: }
  tile_gpu.specialize producer {
  } consumers {
  }
  // CHECK: tile_gpu.specialize registers [40, 232] replicas 2 producer {
  // CHECK: } consumers {
  tile_gpu.specialize registers [40, 232] replicas 2 producer {
    tile_gpu.barrier
  } consumers {
    // CHECK: tile_gpu.replica
    %r = tile_gpu.replica
    // CHECK: tile_gpu.take_turn
    tile_gpu.take_turn
    // CHECK: tile_gpu.pass_turn
    tile_gpu.pass_turn
    // CHECK: tile_gpu.pass_turn if %{{.*}}
    tile_gpu.pass_turn if %c
  }
  return
}

// CHECK-LABEL: func.func @taken
func.func @taken(%stage: !stage, %f: !barrier, %e: !barrier, %x: i32) {
  // CHECK: tile_gpu.as_panels %{{.*}} : !tile_gpu.buffer<128x64xf16, swizzle = 128> -> !tile_gpu.buffer<64x64xf32, swizzle = 128>
  %p = tile_gpu.as_panels %stage : !stage -> !tile_gpu.buffer<64x64xf32, swizzle = 128>
  // CHECK: tile_gpu.take_tile %[[P:.*]], %[[P]] full %[[F:.*]], %[[F]] parity %[[X:.*]], %[[X]] empty %[[E:.*]], %[[E]] : !tile_gpu.buffer<64x64xf32, swizzle = 128>, {{.*}} -> !tile_gpu.tile<64x128xf32>
  %t = tile_gpu.take_tile %p, %p full %f, %f parity %x, %x empty %e, %e
    : !tile_gpu.buffer<64x64xf32, swizzle = 128>, !tile_gpu.buffer<64x64xf32, swizzle = 128> full !barrier, !barrier empty !barrier, !barrier -> !tile_gpu.tile<64x128xf32>
  // CHECK: tile_gpu.take_tile %{{.*}} full %{{.*}} parity %{{.*}} empty %{{.*}} cluster : {{.*}} -> !tile_gpu.tile<64x64xf32>
  %u = tile_gpu.take_tile %p full %f parity %x empty %e cluster
    : !tile_gpu.buffer<64x64xf32, swizzle = 128> full !barrier empty !barrier -> !tile_gpu.tile<64x64xf32>
  return
}
