// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Modules, entries and globals: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: global @visible <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  global @visible <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  // CHECK-NEXT: global @aligned alignment = 16 <i8: 0> : tile<64xi8>
  global @aligned alignment = 16 <i8: 0> : tile<64xi8>
  // CHECK-NEXT: global private constant @table <i32: [7, 8]> : tile<2xi32>
  global private constant @table <i32: [7, 8]> : tile<2xi32>
  // CHECK-NEXT: entry @empty() {
  entry @empty() {
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @parameters(%arg0: tile<ptr<f16>>, %arg1: tile<i64>, %arg2: tile<f8E4M3FN>, %arg3: tile<i4>) {
  entry @parameters(%arg0: tile<ptr<f16>>, %arg1: tile<i64>, %arg2: tile<f8E4M3FN>, %arg3: tile<i4>) {
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @hints() optimization_hints=<default = {num_cta_in_cga = 1}, sm_90 = {num_worker_warps_per_cta = 8, occupancy = 2}> {
  entry @hints() optimization_hints=<default = {num_cta_in_cga = 1}, sm_90 = {num_worker_warps_per_cta = 8, occupancy = 2}> {
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @uses() {
  entry @uses() {
    // CHECK-NEXT: %0 = get_global @visible : tile<ptr<f32>>
    %0 = get_global @visible : tile<ptr<f32>>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
