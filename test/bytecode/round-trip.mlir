// RUN: tile-translate --mlir-to-tilebc --bytecode-version=13.1 %s | tile-translate --tilebc-to-mlir - | FileCheck %s
// RUN: tile-translate --mlir-to-tilebc --bytecode-version=13.5 %s | tile-translate --tilebc-to-mlir - | FileCheck %s
// RUN: tile-translate --mlir-to-tilebc %s | tile-translate --tilebc-to-mlir --mlir-print-debuginfo - | FileCheck %s --check-prefix=DEBUG

// Text to bytecode and back: the module is called @kernels, plain locations get a debug scope.

// CHECK: cuda_tile.module @kernels {
cuda_tile.module @m {
  // CHECK: global @g alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
  global @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>

  // CHECK: entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}>
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}> {
    // CHECK: get_global @g : tile<ptr<f32>>
    %g = get_global @g : tile<ptr<f32>>
    // CHECK: [[ASSUME:%.*]] = assume div_by<16>, %arg0 : tile<ptr<f32>>
    %a = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: make_tensor_view [[ASSUME]], shape = [%arg1], strides = [1]
    %v = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    // CHECK: partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %pv = make_partition_view %v : partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    // CHECK: [[TILE:%.*]], [[TOKEN:%.*]] = load_view_tko weak
    %x, %t = load_view_tko weak %pv[%n] : partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    // CHECK: reduce [[TILE]] dim=0 identities=[0xFF800000 : f32]
    %r = reduce %x dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32>
    (%e: tile<f32>, %acc: tile<f32>) {
      // CHECK: maxf {{.*}} propagate_nan : tile<f32>
      %m = maxf %e, %acc propagate_nan : tile<f32>
      yield %m : tile<f32>
    }
    // CHECK: [[SQUARE:%.*]] = fpowf
    // DEBUG: = fpowf {{.*}} loc([[POW:#loc[0-9]*]])
    %s = pow %r, %r : tile<f32> loc("k.py":7:9)
    // CHECK: store_ptr_tko weak %arg0, [[SQUARE]] token=[[TOKEN]]
    %u = store_ptr_tko weak %p, %s token=%t : tile<ptr<f32>>, tile<f32> -> token
    return
  } loc("k.py":1:1)
}

// DEBUG: [[SOURCE:#loc[0-9]*]] = loc("k.py":7:9)
// DEBUG: di_subprogram<file = {{.*}}, line = 1, name = "k", linkageName = "k"
// DEBUG: [[POW]] = #cuda_tile.di_loc<[[SOURCE]] in
