// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// A load that an index outside the index space skips needs no branch: `tile_gpu.load` gives padding
// there. It must not be taken to lie inside, though, even where the tiles divide the tensor.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @guarded
  entry @guarded(%p: tile<ptr<f16>>, %n: tile<i32>, %i: tile<i32>, %j: tile<i32>) {
    %m = assume div_by<16>, %n : tile<i32>
    %t = make_tensor_view %p, shape = [%m, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>
    %size:2 = get_index_space_shape %v : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>> -> tile<i32>
    %inside = cmpi less_than %i, %size#0, unsigned : tile<i32> -> tile<i1>
    %padding = constant <f16: 0.0> : tile<16x64xf16>
    // CHECK-NOT: scf.if
    // CHECK: tile_gpu.load {{.*}} padding <zero> {{.*}} in_bounds [false, true]
    %x = if %inside -> (tile<16x64xf16>) {
      %y, %t0 = load_view_tko weak %v[%i, %j] : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
      yield %y : tile<16x64xf16>
    } else {
      yield %padding : tile<16x64xf16>
    }
    // CHECK: tile_gpu.store {{.*}} in_bounds [true, true]
    %w = make_partition_view %t : partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>
    %t1 = store_view_tko weak %x, %w[%i, %j] : tile<16x64xf16>, partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }

  // Not so if the branch gives something else than padding,
  // CHECK-LABEL: gpu.func @other_value
  // CHECK: scf.if
  entry @other_value(%p: tile<ptr<f16>>, %n: tile<i32>, %i: tile<i32>, %j: tile<i32>) {
    %t = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>
    %size:2 = get_index_space_shape %v : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>> -> tile<i32>
    %inside = cmpi less_than %i, %size#0, unsigned : tile<i32> -> tile<i1>
    %padding = constant <f16: -0.0> : tile<16x64xf16>
    %x = if %inside -> (tile<16x64xf16>) {
      %y, %t0 = load_view_tko weak %v[%i, %j] : partition_view<tile=(16x64), padding_value = zero, tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
      yield %y : tile<16x64xf16>
    } else {
      yield %padding : tile<16x64xf16>
    }
    %w = make_partition_view %t : partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>
    %t1 = store_view_tko weak %x, %w[%i, %j] : tile<16x64xf16>, partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }

  // if the condition is about another index,
  // CHECK-LABEL: gpu.func @other_index
  // CHECK: scf.if
  entry @other_index(%p: tile<ptr<f16>>, %n: tile<i32>, %i: tile<i32>, %j: tile<i32>) {
    %t = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>
    %size:2 = get_index_space_shape %v : partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>> -> tile<i32>
    %inside = cmpi less_than %j, %size#0, unsigned : tile<i32> -> tile<i1>
    %padding = constant <f16: 0.0> : tile<16x64xf16>
    %x = if %inside -> (tile<16x64xf16>) {
      %y, %t0 = load_view_tko weak %v[%i, %j] : partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
      yield %y : tile<16x64xf16>
    } else {
      yield %padding : tile<16x64xf16>
    }
    %t1 = store_view_tko weak %x, %v[%i, %j] : tile<16x64xf16>, partition_view<tile=(16x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }

  // or if the dimension has size 1: it becomes part of the address, which is not checked.
  // CHECK-LABEL: gpu.func @one_row
  // CHECK: scf.if
  entry @one_row(%p: tile<ptr<f16>>, %n: tile<i32>, %i: tile<i32>, %j: tile<i32>) {
    %t = make_tensor_view %p, shape = [%n, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(1x64), tensor_view<?x64xf16, strides=[64,1]>>
    %size:2 = get_index_space_shape %v : partition_view<tile=(1x64), tensor_view<?x64xf16, strides=[64,1]>> -> tile<i32>
    %inside = cmpi less_than %i, %size#0, unsigned : tile<i32> -> tile<i1>
    %padding = constant <f16: 0.0> : tile<1x64xf16>
    %x = if %inside -> (tile<1x64xf16>) {
      %y, %t0 = load_view_tko weak %v[%i, %j] : partition_view<tile=(1x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> tile<1x64xf16>, token
      yield %y : tile<1x64xf16>
    } else {
      yield %padding : tile<1x64xf16>
    }
    %t1 = store_view_tko weak %x, %v[%i, %j] : tile<1x64xf16>, partition_view<tile=(1x64), tensor_view<?x64xf16, strides=[64,1]>>, tile<i32> -> token
    return
  }
}
