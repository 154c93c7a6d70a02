// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Types, and which of them a module may use.

entry @k() {
  // expected-error @+1 {{tile dimension 0 must be positive, got 0}}
  %0 = ub.poison : !cuda_tile.tile<0xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile of shape [33554432] has more than 16777216 elements}}
  %0 = ub.poison : !cuda_tile.tile<33554432xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile of shape [65536, 512] has more than 16777216 elements}}
  %0 = ub.poison : !cuda_tile.tile<65536x512xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile element type must be an integer (i1, i4, i8, i16, i32, i64), a float (f16, bf16, f32, f64, tf32, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN) or a pointer, got 'index'}}
  %0 = ub.poison : !cuda_tile.tile<4xindex>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile element type must be an integer}}
  %0 = ub.poison : !cuda_tile.tile<4xtile<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{a tile of f4E2M1FN must have an even number of elements, got shape []}}
  %0 = ub.poison : !cuda_tile.tile<f4E2M1FN>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{pointee type must be a number type other than i4, got 'i4'}}
  %0 = ub.poison : !cuda_tile.ptr<i4>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{pointee type must be a number type other than i4, got '!cuda_tile.ptr<f32>'}}
  %0 = ub.poison : !cuda_tile.ptr<ptr<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tensor view element type must be a number type other than i4, got 'i4'}}
  %0 = ub.poison : !cuda_tile.tensor_view<4xi4, strides=[1]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tensor view of rank 2 needs as many strides, got 1}}
  %0 = ub.poison : !cuda_tile.tensor_view<4x4xf32, strides=[1]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tensor view dimension 0 must be positive or ?, got 0}}
  %0 = ub.poison : !cuda_tile.tensor_view<0xf32, strides=[1]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tensor view stride 0 must be positive or ?, got 0}}
  %0 = ub.poison : !cuda_tile.tensor_view<4xf32, strides=[0]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tensor view stride 0 must be positive or ?, got -1}}
  %0 = ub.poison : !cuda_tile.tensor_view<4xf32, strides=[-1]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile of rank 1 does not match tensor view of rank 2}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8), tensor_view<4x4xf32, strides=[4,1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile dimension 1 must be positive, got 0}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8x0), tensor_view<4x4xf32, strides=[4,1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{a view needs a tile of rank 1 or more}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(), tensor_view<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile of shape [65536, 512] has more than 16777216 elements}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(65536x512), tensor_view<4x4xf32, strides=[4,1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{tile dimension 4294967296 does not fit in 32 bits}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(4294967296), tensor_view<4xf32, strides=[1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{dim_map needs one entry for each of 2 dimensions, got [0]}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8x8), tensor_view<4x4xf32, strides=[4,1]>, dim_map=[0]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{dim_map must be a permutation of 0 to 1, got [1, 1]}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8x8), tensor_view<4x4xf32, strides=[4,1]>, dim_map=[1, 1]>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{padding value nan needs float elements, got 'i32'}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8), padding_value = nan, tensor_view<4xi32, strides=[1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{a tile of f4E2M1FN must have an even number of elements, got shape [1]}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(1), tensor_view<4xf4E2M1FN, strides=[1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a tensor_view, got '!cuda_tile.tile<f32>'}}
  %0 = ub.poison : !cuda_tile.partition_view<tile=(8), tile<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{traversal_strides needs one entry for each of 1 dimensions, got [1, 1]}}
  %0 = ub.poison : !cuda_tile.strided_view<tile=(8), traversal_strides=[1,1], tensor_view<4xf32, strides=[1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{traversal stride 0 must be positive, got 0}}
  %0 = ub.poison : !cuda_tile.strided_view<tile=(8), traversal_strides=[0], tensor_view<4xf32, strides=[1]>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{sparse_dim must be in [0, 1), got 1}}
  %0 = ub.poison : !cuda_tile.gather_scatter_view<tile=(8), tensor_view<4xf32, strides=[1]>, sparse_dim=1>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{sparse_dim must be in [0, 1), got -1}}
  %0 = ub.poison : !cuda_tile.gather_scatter_view<tile=(8), tensor_view<4xf32, strides=[1]>, sparse_dim=-1>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{unknown cuda_tile type 'vector'}}
  %0 = ub.poison : !cuda_tile.vector<4xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a type, got 'vec'}}
  %0 = iota : vec<4xi32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.iota' op dimension 0 of '!cuda_tile.tile<12xi32>' must be a power of two, got 12; mark the module 'cuda_tile.extended' to allow it}}
  %0 = iota : tile<12xi32>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>) {
  %v = make_tensor_view %p, shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>
  // expected-error @+1 {{'cuda_tile.make_partition_view' op dimension 1 of '!cuda_tile.partition_view<tile=(8x3), tensor_view<8x8xf32, strides=[8,1]>>' must be a power of two, got 3; mark the module 'cuda_tile.extended' to allow it}}
  %w = make_partition_view %v : partition_view<tile=(8x3), tensor_view<8x8xf32, strides=[8,1]>>
  return
}

// -----

// expected-error @+1 {{'cuda_tile.global' op dimension 0 of '!cuda_tile.tile<3xf32>' must be a power of two, got 3}}
global @g <f32: 0.0> : tile<3xf32>

// -----

// An extended module may have any dimensions.
cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k() {
    %0 = iota : tile<12xi32>
    return
  }
}
