// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Views and accesses through them.

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{shape does not match the type of the result, '!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>'}}
  %v = make_tensor_view %p, shape = [%i, 32], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{strides does not match the type of the result, '!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>'}}
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 2] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{expected the type of the dynamic sizes, got 0 types}}
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tensor_view<?x64xf32, strides=[?,1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{expected a tensor_view}}
  %v = make_tensor_view %p, shape = [8], strides = [1] : tile<f32>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.make_tensor_view' op base must point to elements of the result, '!cuda_tile.tile<ptr<f16>>', got '!cuda_tile.tile<ptr<f32>>'}}
  %v = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<8xf16, strides=[1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.make_tensor_view' op needs one operand for each of 1 dynamic dimensions, got 0}}
  %v = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.make_tensor_view' op needs one operand for each of 1 dynamic strides, got 0}}
  %v = "cuda_tile.make_tensor_view"(%p, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> !cuda_tile.tensor_view<?xf32, strides=[?]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.make_tensor_view' op dynamic dimensions and strides must have one type, got '!cuda_tile.tile<i32>' and '!cuda_tile.tile<i64>'}}
  %v = "cuda_tile.make_tensor_view"(%p, %i, %l) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tensor_view<?xf32, strides=[?]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{expected a partition_view, got '!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>'}}
  %pv = make_partition_view %v : tensor_view<?x64xf32, strides=[?,1]>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{expected a strided_view, got '!cuda_tile.partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>'}}
  %pv = make_strided_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{expected a gather_scatter_view, got '!cuda_tile.partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>'}}
  %pv = make_gather_scatter_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{'cuda_tile.make_partition_view' op operand must have the tensor view type of the result, '!cuda_tile.tensor_view<8xf32, strides=[1]>', got '!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>'}}
  %pv = "cuda_tile.make_partition_view"(%v) : (!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>) -> !cuda_tile.partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.get_index_space_shape' op needs one result for each of 2 dimensions, got 1}}
  %d = "cuda_tile.get_index_space_shape"(%pv) : (!cuda_tile.partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>) -> !cuda_tile.tile<i32>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{'cuda_tile.get_tensor_shape' op results must have one type, got ('!cuda_tile.tile<i32>', '!cuda_tile.tile<i64>')}}
  %d:2 = "cuda_tile.get_tensor_shape"(%v) : (!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>) -> (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>)
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  // expected-error @+1 {{'cuda_tile.get_index_space_shape' op operand #0 must be partition, strided or gather/scatter view, but got '!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>'}}
  %d:2 = get_index_space_shape %v : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op needs one index for each of 2 dimensions, got 1}}
  %x, %t = load_view_tko weak %pv[%i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op indices must have one type, got '!cuda_tile.tile<i32>' and '!cuda_tile.tile<i64>'}}
  %x, %t = load_view_tko weak %pv[%i, %l] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32>, tile<i64> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %n = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op index 0 must be a rank-0 tile, got '!cuda_tile.tile<8xi32>'}}
  %x, %t = load_view_tko weak %pv[%n, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<8xi32>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op tile must be '!cuda_tile.tile<8x16xf32>', as the view says, got '!cuda_tile.tile<16x16xf32>'}}
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op inbounds needs one value for each of 2 dimensions, got 1}}
  %x, %t = load_view_tko weak %pv[%i, %i] inbounds = [true] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op memory ordering must be one of weak, relaxed, acquire, got release}}
  %x, %t = load_view_tko release device %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{expected one index type, or one for each of 2 indices, got 3}}
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32>, tile<i32>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %gv = make_gather_scatter_view %v : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
  %n = iota : tile<4xi32>
  %w = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op index 0, along sparse_dim, must be a tile of 4 integers, got '!cuda_tile.tile<8xi32>'}}
  %x, %t = load_view_tko weak %gv[%w, %i] : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<4x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %gv = make_gather_scatter_view %v : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
  %n = iota : tile<4xi32>
  %w = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op index 0, along sparse_dim, must be a tile of 4 integers, got '!cuda_tile.tile<i32>'}}
  %x, %t = load_view_tko weak %gv[%i, %n] : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<i32>, tile<4xi32> -> tile<4x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.load_view_tko' op takes no view of a multicast pointer; use the multimem operations}}
  %y, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.store_view_tko' op memory ordering must be one of weak, relaxed, release, got acquire}}
  %u = store_view_tko acquire device %x, %pv[%i, %i] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x = constant <f32: 1.0> : tile<8xf32>
  // expected-error @+1 {{'cuda_tile.store_view_tko' op tile must be '!cuda_tile.tile<8x16xf32>', as the view says, got '!cuda_tile.tile<8xf32>'}}
  %u = store_view_tko weak %x, %pv[%i, %i] : tile<8xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.store_view_tko' op takes no view of a multicast pointer; use the multimem operations}}
  %t = store_view_tko weak %x, %pv[%i, %i] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' op memory ordering must be one of relaxed, got acquire}}
  %u = atomic_red_view_tko acquire device %pv[%i, %i], addf, %x : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' op memory scope must be tl_blk or device, got sys}}
  %u = atomic_red_view_tko relaxed sys %pv[%i, %i], addf, %x : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' op mode must not be xchg, as there is no result}}
  %u = atomic_red_view_tko relaxed device %pv[%i, %i], xchg, %x : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' op mode add needs elements of i32 or i64, got 'f32'}}
  %u = atomic_red_view_tko relaxed device %pv[%i, %i], add, %x : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %gv = make_gather_scatter_view %v : gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>
  %n = iota : tile<4xi32>
  %w = iota : tile<8xi32>
  %x = constant <f32: 1.0> : tile<4x16xf32>
  // expected-error @+1 {{'cuda_tile.atomic_red_view_tko' op needs a partition or strided view, got '!cuda_tile.gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>'}}
  %u = atomic_red_view_tko relaxed device %gv[%n, %i], addf, %x : tile<4x16xf32>, gather_scatter_view<tile=(4x16), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op needs a view of a multicast pointer, got '!cuda_tile.partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>'}}
  %x, %t = multimem_load_reduce_view_tko relaxed sys %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  %sv = make_strided_view %v : strided_view<tile=(8x16), traversal_strides=[4,4], tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op needs a partition view, got '!cuda_tile.strided_view<tile=(8x16), traversal_strides=[4,4], tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>'}}
  %y, %t = multimem_load_reduce_view_tko relaxed sys %sv[%i, %i] : strided_view<tile=(8x16), traversal_strides=[4,4], tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op memory ordering must be one of weak, relaxed, acquire, got release}}
  %y, %t = multimem_load_reduce_view_tko release sys %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op reduction min needs elements of an integer type, f16 or bf16, got 'f32'}}
  %y, %t = multimem_load_reduce_view_tko relaxed sys %pv[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<min>} : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op reduction xor needs elements of an integer type, got 'f32'}}
  %y, %t = multimem_load_reduce_view_tko relaxed sys %pv[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<xor>} : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<i8, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<i8, <multicast>>>, tile<i32> -> tensor_view<?x64xi8, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xi8, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <i8: 1> : tile<8x16xi8>
  // expected-error @+1 {{'cuda_tile.multimem_reduce_view_tko' op needs elements of i32, i64, f16, bf16, f32 or f64, got 'i8'}}
  %t = multimem_reduce_view_tko relaxed sys %pv, %x[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xi8, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xi8>, tile<i32> -> token
  return
}

// -----

entry @k(%q: tile<ptr<i16, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<i16, <multicast>>>, tile<i32> -> tensor_view<?x64xi16, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xi16, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <i16: 1> : tile<8x16xi16>
  // expected-error @+1 {{'cuda_tile.multimem_store_view_tko' op needs elements of i32, i64, f16, bf16, f32 or f64, got 'i16'}}
  %t = multimem_store_view_tko weak %pv, %x[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xi16, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xi16>, tile<i32> -> token
  return
}

// -----

entry @k(%q: tile<ptr<tf32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<tf32, <multicast>>>, tile<i32> -> tensor_view<?x64xtf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xtf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <tf32: 1.0> : tile<8x16xtf32>
  // expected-error @+1 {{'cuda_tile.multimem_load_reduce_view_tko' op needs elements of i32, i64, f16, bf16, f32 or f64, got 'tf32'}}
  %y, %t = multimem_load_reduce_view_tko relaxed sys %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xtf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<8x16xtf32>, token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_reduce_view_tko' op memory ordering must be one of relaxed, release, got acquire}}
  %t = multimem_reduce_view_tko acquire sys %pv, %x[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32> -> token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_reduce_view_tko' op reduction max needs elements of an integer type, got 'f32'}}
  %t = multimem_reduce_view_tko relaxed sys %pv, %x[%i, %i] attributes {reduction = #cuda_tile.multimem_reduction_kind<max>} : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32> -> token
  return
}

// -----

entry @k(%q: tile<ptr<f32, <multicast>>>, %i: tile<i32>) {
  %v = make_tensor_view %q, shape = [%i, 64], strides = [%i, 1] : tile<ptr<f32, <multicast>>>, tile<i32> -> tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>
  %x = constant <f32: 1.0> : tile<8x16xf32>
  // expected-error @+1 {{'cuda_tile.multimem_store_view_tko' op memory ordering must be one of weak, relaxed, release, got acquire}}
  %t = multimem_store_view_tko acquire sys %pv, %x[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1], #cuda_tile.ptr_attr<multicast>>>, tile<8x16xf32>, tile<i32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %i: tile<i32>, %l: tile<i64>) {
  %v = make_tensor_view %p, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
  %pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>
  %x, %t = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
  // expected-error @+1 {{'cuda_tile.multimem_store_view_tko' op needs a view of a multicast pointer, got '!cuda_tile.partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>'}}
  %u = multimem_store_view_tko weak %pv, %x[%i, %i] : partition_view<tile=(8x16), tensor_view<?x64xf32, strides=[?,1]>>, tile<8x16xf32>, tile<i32> -> token
  return
}
