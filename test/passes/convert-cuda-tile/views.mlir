// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// A view is no value: what it says of the tensor goes into the loads and stores through it.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @load_store
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i32, %[[I:.*]]: i32)
  entry @load_store(%p: tile<ptr<f16>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, %i: tile<i32>) {
    // Extents and strides are unsigned.
    // CHECK-DAG: %[[ROWS:.*]] = arith.extui %[[M]] : i32 to i64
    // CHECK-DAG: %[[COLUMNS:.*]] = arith.extui %[[N]] : i32 to i64
    // CHECK-DAG: %[[PITCH:.*]] = arith.extui %[[S]] : i32 to i64
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
    %t = make_tensor_view %p, shape = [%m, %n], strides = [%s, 1]
      : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %v = make_partition_view %t
      : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x?xf16, strides=[?,1]>>
    // CHECK: %[[INDEX:.*]] = arith.extui %[[I]] : i32 to i64
    // CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i64
    // CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[INDEX]], %[[EIGHT]] : i64
    // CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
    // Nothing is known of the address: only the element's own alignment counts.
    // CHECK: %[[X:.*]] = tile_gpu.load %[[P]][%[[ROW]], %[[COLUMN]]]
    // CHECK-SAME: sizes[%[[ROWS]], %[[COLUMNS]]] strides[%[[PITCH]], %[[ONE]]]
    // CHECK-SAME: padding <neg_inf> alignment 2 in_bounds [false, false] : !tile_gpu.tile<8x16xf16>
    %x, %t0 = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x16), padding_value = neg_inf,
      tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<8x16xf16>, token
    // CHECK: tile_gpu.store %[[X]], %[[P]][
    // CHECK-SAME: alignment 2 in_bounds [true, false] : !tile_gpu.tile<8x16xf16>
    %t1 = store_view_tko weak %x, %v[%i, %i] inbounds = [true, false] : tile<8x16xf16>,
      partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x?xf16, strides=[?,1]>>,
      tile<i32> -> token
    return
  }

  // Promises give the alignment: of the address, of the pitch in bytes, of a tile's start. The
  // extent and start along the contiguous dimension give groups that lie inside or outside as a
  // whole; an extent that is a multiple of the tile means that every tile lies inside.
  // CHECK-LABEL: gpu.func @promises
  entry @promises(%p0: tile<ptr<f16>>, %m: tile<i32>, %n0: tile<i32>, %s0: tile<i32>, %i: tile<i32>) {
    %p = assume div_by<16>, %p0 : tile<ptr<f16>>
    %n = assume div_by<8>, %n0 : tile<i32>
    %s = assume div_by<8>, %s0 : tile<i32>
    %t = make_tensor_view %p, shape = [%m, %n], strides = [%s, 1]
      : tile<i32> -> tensor_view<?x?xf16, strides=[?,1]>
    %v = make_partition_view %t : partition_view<tile=(8x16), tensor_view<?x?xf16, strides=[?,1]>>
    // CHECK: tile_gpu.load {{.*}} alignment 16 extent_multiple 8 in_bounds [false, false]
    %x, %t0 = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x16),
      tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<8x16xf16>, token
    %w = make_partition_view %t : partition_view<tile=(16x8), tensor_view<?x?xf16, strides=[?,1]>>
    // CHECK: tile_gpu.load {{.*}} alignment 16 extent_multiple 8 in_bounds [false, true]
    %y, %t1 = load_view_tko weak %w[%i, %i] : partition_view<tile=(16x8),
      tensor_view<?x?xf16, strides=[?,1]>>, tile<i32> -> tile<16x8xf16>, token
    return
  }

  // A promise about the view's address counts as well; static extents speak for themselves.
  // CHECK-LABEL: gpu.func @static
  entry @static(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t0 = make_tensor_view %p, shape = [64, 48], strides = [48, 1] : tensor_view<64x48xf32, strides=[48,1]>
    %t = assume div_by<128>, %t0 : tensor_view<64x48xf32, strides=[48,1]>
    %v = make_partition_view %t : partition_view<tile=(16x32), tensor_view<64x48xf32, strides=[48,1]>>
    // The pitch, 192 bytes, limits the alignment; the second tile of a row sticks out.
    // CHECK: tile_gpu.load {{.*}} alignment 64 extent_multiple 16 in_bounds [true, false]
    %x, %t1 = load_view_tko weak %v[%i, %i] : partition_view<tile=(16x32),
      tensor_view<64x48xf32, strides=[48,1]>>, tile<i32> -> tile<16x32xf32>, token
    return
  }

  // Dimensions of size 1 move into the address.
  // CHECK-LABEL: gpu.func @unit_dimension
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[B:.*]]: i32)
  entry @unit_dimension(%p: tile<ptr<f32>>, %b: tile<i32>) {
    %t = make_tensor_view %p, shape = [4, 16, 16], strides = [256, 16, 1]
      : tensor_view<4x16x16xf32, strides=[256,16,1]>
    %v = make_partition_view %t
      : partition_view<tile=(1x8x16), tensor_view<4x16x16xf32, strides=[256,16,1]>>
    // CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][%{{.*}}]
    // CHECK-SAME: !llvm.array<4 x i8>
    // CHECK-NEXT: %[[X:.*]] = tile_gpu.load %[[Q]][%{{.*}}, %{{.*}}] {{.*}} : !tile_gpu.tile<8x16xf32>
    // CHECK-NEXT: tile_gpu.reshape %[[X]] : !tile_gpu.tile<8x16xf32> -> !tile_gpu.tile<1x8x16xf32>
    %x, %t0 = load_view_tko weak %v[%b, %b, %b] : partition_view<tile=(1x8x16),
      tensor_view<4x16x16xf32, strides=[256,16,1]>>, tile<i32> -> tile<1x8x16xf32>, token
    return
  }

  // Dimensions of the tile may be those of the tensor in another order: here it is contiguous along
  // its first.
  // CHECK-LABEL: gpu.func @transposed
  entry @transposed(%p: tile<ptr<f32>>, %i: tile<i32>) {
    // CHECK-DAG: %[[PITCH:.*]] = arith.constant 32 : i64
    // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
    %t = make_tensor_view %p, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
    %v = make_partition_view %t
      : partition_view<tile=(8x16), tensor_view<64x32xf32, strides=[32,1]>, dim_map=[1, 0]>
    // CHECK: tile_gpu.load {{.*}} strides[%[[ONE]], %{{.*}}] {{.*}} in_bounds [true, true] : !tile_gpu.tile<8x16xf32>
    %x, %t0 = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x16),
      tensor_view<64x32xf32, strides=[32,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x16xf32>, token
    return
  }

  // CHECK-LABEL: gpu.func @ordered
  entry @ordered(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(16), tensor_view<64xf32, strides=[1]>>
    // CHECK: %[[X:.*]] = tile_gpu.load {{.*}} ordering <acquire> scope <device> : !tile_gpu.tile<16xf32>
    %x, %t0 = load_view_tko acquire device %v[%i]
      : partition_view<tile=(16), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
    // CHECK: tile_gpu.store %[[X]], {{.*}} ordering <release> scope <system>
    %t1 = store_view_tko release sys %x, %v[%i]
      : tile<16xf32>, partition_view<tile=(16), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
    // CHECK: tile_gpu.atomic_red <addf> %[[X]], {{.*}} scope <block>
    %t2 = atomic_red_view_tko relaxed tl_blk %v[%i], addf, %x
      : tile<16xf32>, partition_view<tile=(16), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
    return
  }

  // CHECK-LABEL: gpu.func @index_space
  // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[N:.*]]: i32)
  entry @index_space(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // CHECK: %[[SIZE:.*]] = arith.extui %[[N]] : i32 to i64
    %t = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %v = make_partition_view %t : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
    // CHECK: %[[UP:.*]] = arith.constant 15 : i64
    // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[SIZE]], %[[UP]]
    // CHECK: %[[COUNT:.*]] = arith.divui %[[SUM]], %{{.*}} : i64
    // CHECK-NEXT: arith.trunci %[[COUNT]] : i64 to i32
    %0 = get_index_space_shape %v : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>> -> tile<i32>
    // CHECK: arith.trunci %[[SIZE]] : i64 to i32
    %1 = get_tensor_shape %t : tensor_view<?xf32, strides=[1]> -> tile<i32>
    return
  }
}
