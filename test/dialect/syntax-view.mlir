// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Views and accesses through them: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @make(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32, <multicast>>>) {
  entry @make(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32, <multicast>>>) {
    // CHECK-NEXT: %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    // CHECK-NEXT: %tview_0 = make_tensor_view %arg0, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf32, strides=[64,1]>
    %tview_0 = make_tensor_view %arg0, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf32, strides=[64,1]>
    // CHECK-NEXT: %tview_1 = make_tensor_view %arg0, shape = [], strides = [] : tensor_view<f32>
    %tview_1 = make_tensor_view %arg0, shape = [], strides = [] : tensor_view<f32>
    // CHECK-NEXT: %tview_2 = make_tensor_view %arg2, shape = [%arg1], strides = [1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    %tview_2 = make_tensor_view %arg2, shape = [%arg1], strides = [1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    // CHECK-NEXT: %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
    %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
    // CHECK-NEXT: %pview_3 = make_partition_view %tview : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
    %pview_3 = make_partition_view %tview : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>
    // CHECK-NEXT: %sview = make_strided_view %tview : strided_view<tile=(8x16), traversal_strides=[4,3], padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>
    %sview = make_strided_view %tview : strided_view<tile=(8x16), traversal_strides=[4,3], padding_value = zero, tensor_view<?x64xf32, strides=[?,1]>>
    // CHECK-NEXT: %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x16), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
    %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x16), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
    // CHECK-NEXT: %0:2 = get_index_space_shape %pview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>> -> tile<i64>
    %0:2 = get_index_space_shape %pview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>> -> tile<i64>
    // CHECK-NEXT: %1:2 = get_tensor_shape %tview : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>
    %1:2 = get_tensor_shape %tview : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @access(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i64>) {
  entry @access(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<i64>) {
    // CHECK-NEXT: %0 = make_token : token
    %0 = make_token : token
    // CHECK-NEXT: %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    // CHECK-NEXT: %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
    %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
    // CHECK-NEXT: %tile, %result_token = load_view_tko weak %pview[%arg1, %arg1] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %tile, %result_token = load_view_tko weak %pview[%arg1, %arg1] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    // CHECK-NEXT: %tile_0, %result_token_1 = load_view_tko acquire device %pview[%arg1, %arg1] token = %0 optimization_hints = <default = {allow_tma = false, latency = 4}> inbounds = [true, false] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %tile_0, %result_token_1 = load_view_tko acquire device %pview[%arg1, %arg1] token = %0 optimization_hints = <default = {allow_tma = false, latency = 4}> inbounds = [true, false] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    // CHECK-NEXT: %1 = store_view_tko weak %tile, %pview[%arg2, %arg2] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i64> -> token
    %1 = store_view_tko weak %tile, %pview[%arg2, %arg2] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i64> -> token
    // CHECK-NEXT: %2 = store_view_tko release sys %tile, %pview[%arg1, %arg1] token = %0 inbounds = [true, true] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
    %2 = store_view_tko release sys %tile, %pview[%arg1, %arg1] token = %0 inbounds = [true, true] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
    // CHECK-NEXT: %3 = atomic_red_view_tko relaxed device %pview[%arg1, %arg1], addf, %tile token = %0 inbounds = [true, true] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
    %3 = atomic_red_view_tko relaxed device %pview[%arg1, %arg1], addf, %tile token = %0 inbounds = [true, true] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
    // CHECK-NEXT: %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
    %gsview = make_gather_scatter_view %tview : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
    // CHECK-NEXT: %4 = iota : tile<4xi64>
    %4 = iota : tile<4xi64>
    // CHECK-NEXT: %tile_2, %result_token_3 = load_view_tko weak %gsview[%4, %arg1] : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi64>, tile<i32> -> tile<4x16xf32>, token
    %tile_2, %result_token_3 = load_view_tko weak %gsview[%4, %arg1] : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi64>, tile<i32> -> tile<4x16xf32>, token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @multimem(%arg0: tile<ptr<f32, <multicast>>>, %arg1: tile<i32>) {
  entry @multimem(%arg0: tile<ptr<f32, <multicast>>>, %arg1: tile<i32>) {
    // CHECK-NEXT: %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
    %tview = make_tensor_view %arg0, shape = [%arg1, 64], strides = [%arg1, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
    // CHECK-NEXT: %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
    %pview = make_partition_view %tview : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
    // CHECK-NEXT: %reduced_values, %result_token = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
    %reduced_values, %result_token = multimem_load_reduce_view_tko relaxed sys %pview[%arg1, %arg1] inbounds = [true, false] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
    // CHECK-NEXT: %0 = multimem_reduce_view_tko release sys %pview, %reduced_values[%arg1, %arg1] token = %result_token : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32>, token -> token
    %0 = multimem_reduce_view_tko release sys %pview, %reduced_values[%arg1, %arg1] token = %result_token : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32>, token -> token
    // CHECK-NEXT: %1 = multimem_store_view_tko weak %pview, %reduced_values[%arg1, %arg1] inbounds = [true, true] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32> -> token
    %1 = multimem_store_view_tko weak %pview, %reduced_values[%arg1, %arg1] inbounds = [true, true] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32> -> token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @multimem_integers(%arg0: tile<ptr<i32, <multicast>>>, %arg1: tile<i32>) {
  entry @multimem_integers(%arg0: tile<ptr<i32, <multicast>>>, %arg1: tile<i32>) {
    // CHECK-NEXT: %tview = make_tensor_view %arg0, shape = [%arg1], strides = [1] : tile<ptr<i32, <multicast>>>, tile<i32> -> tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    %tview = make_tensor_view %arg0, shape = [%arg1], strides = [1] : tile<ptr<i32, <multicast>>>, tile<i32> -> tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>
    // CHECK-NEXT: %pview = make_partition_view %tview : partition_view<tile=(8), tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
    %pview = make_partition_view %tview : partition_view<tile=(8), tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>
    // CHECK-NEXT: %reduced_values, %result_token = multimem_load_reduce_view_tko relaxed sys %pview[%arg1] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(8), tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xi32>, token
    %reduced_values, %result_token = multimem_load_reduce_view_tko relaxed sys %pview[%arg1] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(8), tensor_view<?xi32, strides=[1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8xi32>, token
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
