// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Memory operations through pointers: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @tokens() {
  entry @tokens() {
    // CHECK-NEXT: %0 = make_token : token
    %0 = make_token : token
    // CHECK-NEXT: %1 = make_token : token
    %1 = make_token : token
    // CHECK-NEXT: %2 = join_tokens %0, %1 : token
    %2 = join_tokens %0, %1 : token
    // CHECK-NEXT: %3 = gdc_launch_dependents_tko -> token
    %3 = gdc_launch_dependents_tko -> token
    // CHECK-NEXT: %4 = gdc_launch_dependents_tko token = %3 -> token
    %4 = gdc_launch_dependents_tko token = %3 -> token
    // CHECK-NEXT: %5 = gdc_wait_tko token = %4 -> token
    %5 = gdc_wait_tko token = %4 -> token
    // CHECK-NEXT: %6 = memory_fence_alias_tko %5
    %6 = memory_fence_alias_tko %5
    // CHECK-NEXT: %7 = alloca num_elem = 64, alignment = 4 : tile<ptr<f32>>
    %7 = alloca num_elem = 64, alignment = 4 : tile<ptr<f32>>
    // CHECK-NEXT: %8 = alloca num_elem = 64, alignment = 128 global : tile<ptr<f32>>
    %8 = alloca num_elem = 64, alignment = 128 global : tile<ptr<f32>>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @accesses(%arg0: tile<ptr<f32>>, %arg1: tile<i1>, %arg2: tile<f32>) {
  entry @accesses(%arg0: tile<ptr<f32>>, %arg1: tile<i1>, %arg2: tile<f32>) {
    // CHECK-NEXT: %0 = make_token : token
    %0 = make_token : token
    // CHECK-NEXT: %result, %result_token = load_ptr_tko weak %arg0 : tile<ptr<f32>> -> tile<f32>, token
    %result, %result_token = load_ptr_tko weak %arg0 : tile<ptr<f32>> -> tile<f32>, token
    // CHECK-NEXT: %result_0, %result_token_1 = load_ptr_tko relaxed tl_blk %arg0, %arg1 : tile<ptr<f32>>, tile<i1> -> tile<f32>, token
    %result_0, %result_token_1 = load_ptr_tko relaxed tl_blk %arg0, %arg1 : tile<ptr<f32>>, tile<i1> -> tile<f32>, token
    // CHECK-NEXT: %result_2, %result_token_3 = load_ptr_tko weak %arg0, %arg2 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %result_2, %result_token_3 = load_ptr_tko weak %arg0, %arg2 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // CHECK-NEXT: %result_4, %result_token_5 = load_ptr_tko acquire sys %arg0, %arg1, %arg2 token=%0 optimization_hints = <sm_90 = {latency = 4}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    %result_4, %result_token_5 = load_ptr_tko acquire sys %arg0, %arg1, %arg2 token=%0 optimization_hints = <sm_90 = {latency = 4}> : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    // CHECK-NEXT: %1 = store_ptr_tko weak %arg0, %arg2 : tile<ptr<f32>>, tile<f32> -> token
    %1 = store_ptr_tko weak %arg0, %arg2 : tile<ptr<f32>>, tile<f32> -> token
    // CHECK-NEXT: %2 = store_ptr_tko release device %arg0, %arg2, %arg1 token=%1 optimization_hints = <default = {latency = 2}> : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    %2 = store_ptr_tko release device %arg0, %arg2, %arg1 token=%1 optimization_hints = <default = {latency = 2}> : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @atomics(%arg0: tile<ptr<f32>>, %arg1: tile<f32>, %arg2: tile<i1>, %arg3: tile<ptr<i32>>, %arg4: tile<i32>) {
  entry @atomics(%arg0: tile<ptr<f32>>, %arg1: tile<f32>, %arg2: tile<i1>, %arg3: tile<ptr<i32>>, %arg4: tile<i32>) {
    // CHECK-NEXT: %0 = make_token : token
    %0 = make_token : token
    // CHECK-NEXT: %result, %result_token = atomic_cas_tko acq_rel device %arg0, %arg1, %arg1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %result, %result_token = atomic_cas_tko acq_rel device %arg0, %arg1, %arg1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // CHECK-NEXT: %result_0, %result_token_1 = atomic_cas_tko relaxed tl_blk %arg0, %arg1, %arg1, %arg2 token=%0 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
    %result_0, %result_token_1 = atomic_cas_tko relaxed tl_blk %arg0, %arg1, %arg1, %arg2 token=%0 : tile<ptr<f32>>, tile<f32>, tile<i1> -> tile<f32>, token
    // CHECK-NEXT: %result_2, %result_token_3 = atomic_rmw_tko relaxed device %arg0, addf, %arg1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %result_2, %result_token_3 = atomic_rmw_tko relaxed device %arg0, addf, %arg1 : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    // CHECK-NEXT: %result_4, %result_token_5 = atomic_rmw_tko acquire sys %arg3, umax, %arg4, %arg2 token=%0 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %result_4, %result_token_5 = atomic_rmw_tko acquire sys %arg3, umax, %arg4, %arg2 token=%0 : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
