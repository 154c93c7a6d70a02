// RUN: tile-opt --pass-pipeline='builtin.module(split-tile{budget=64 rows=8 columns=8},canonicalize,cse)' --split-input-file --verify-diagnostics %s | FileCheck %s

// A tile of 128 elements, where 64 fit: two slices of 4 rows. The last rows may lie outside both
// tensors. The loop ends where there is nothing more to store; what is loaded outside is padding.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @elementwise
  entry @elementwise(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>) {
    // CHECK-DAG: %[[PAD:.*]] = constant <f32: 0x7FC00000> : tile<4x16xf32>
    // CHECK-DAG: %[[TWO:.*]] = constant <i32: 2> : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    // CHECK: %[[A:.*]] = make_tensor_view %arg0
    %a = make_tensor_view %p, shape = [%m, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    // CHECK: %[[B:.*]] = make_tensor_view %arg1
    %b = make_tensor_view %q, shape = [%n, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    %av = make_partition_view %a : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x16xf32, strides=[16,1]>>
    %bv = make_partition_view %b : partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[16,1]>>
    // CHECK: %[[BV:.*]] = make_partition_view %[[B]] : partition_view<tile=(4x16), tensor_view
    // CHECK: %[[FIRST:.*]] = muli %blockId_x, %[[TWO]]
    // CHECK: %[[COUNT:.*]]:2 = get_index_space_shape %[[BV]]
    // CHECK: %[[LEFT:.*]] = subi %[[COUNT]]#0, %[[FIRST]]
    // CHECK: %[[SLICES:.*]] = mini %[[LEFT]], %[[TWO]] unsigned
    // CHECK: %[[AV:.*]] = make_partition_view %[[A]] : partition_view<tile=(4x16), padding_value = nan, tensor_view
    // CHECK: %[[THERE:.*]]:2 = get_index_space_shape %[[AV]]
    // CHECK: for %[[S:.*]] in (%{{.*}} to %[[SLICES]], step %{{.*}}) : tile<i32> {
    // CHECK:   %[[I:.*]] = addi %[[FIRST]], %[[S]]
    // CHECK:   %[[INSIDE:.*]] = cmpi less_than %[[I]], %[[THERE]]#0, unsigned
    // CHECK:   %[[X:.*]] = if %[[INSIDE]] -> (tile<4x16xf32>) {
    // CHECK:     %[[L:.*]], %{{.*}} = load_view_tko weak %[[AV]][%[[I]], %blockId_y] :
    // CHECK:     yield %[[L]]
    // CHECK:   } else {
    // CHECK:     yield %[[PAD]]
    // CHECK:   }
    // CHECK:   %[[E:.*]] = exp %[[X]] : tile<4x16xf32>
    // CHECK:   store_view_tko weak %[[E]], %[[BV]][%[[I]], %blockId_y] : tile<4x16xf32>
    // CHECK: }
    %t, %t0 = load_view_tko weak %av[%x, %y] : partition_view<tile=(8x16), padding_value = nan, tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> tile<8x16xf32>, token
    %e = exp %t : tile<8x16xf32>
    // expected-remark @+1 {{the tiles of this kernel take 128 registers (a block has 64 for its largest tile), and are computed in 2 slices, one after another}}
    %t1 = store_view_tko weak %e, %bv[%x, %y] : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Loads and stores of one tensor are inside at the same time, and the tokens order each slice.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @in_place
  entry @in_place(%p: tile<ptr<f32>>, %m: tile<i32>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %a = make_tensor_view %p, shape = [%m, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    %av = make_partition_view %a : partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[16,1]>>
    // CHECK: for
    // CHECK-NOT: if
    // CHECK: %[[T:.*]], %[[TOKEN:.*]] = load_view_tko
    // CHECK: %[[E:.*]] = exp %[[T]] : tile<4x16xf32>
    // CHECK: store_view_tko weak %[[E]], {{.*}} token = %[[TOKEN]]
    %t, %t0 = load_view_tko weak %av[%x, %y] : partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> tile<8x16xf32>, token
    %e = exp %t : tile<8x16xf32>
    // expected-remark @+1 {{in 2 slices}}
    %t1 = store_view_tko weak %e, %av[%x, %y] token = %t0 : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Nothing is outside where the size is a multiple of the tile, or promised to hold it.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @inside
  entry @inside(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>) {
    // CHECK-DAG: %[[FOUR:.*]] = constant <i32: 4>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %a = make_tensor_view %p, shape = [%n, 16], strides = [16, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    %b = make_tensor_view %q, shape = [160, 16], strides = [16, 1] : tensor_view<160x16xf32, strides=[16,1]>
    %av = make_partition_view %a : partition_view<tile=(16x16), tensor_view<?x16xf32, strides=[16,1]>>
    %bv = make_partition_view %b : partition_view<tile=(16x16), tensor_view<160x16xf32, strides=[16,1]>>
    // CHECK: for %{{.*}} in (%{{.*}} to %[[FOUR]], step
    // CHECK-NOT: if
    // CHECK: load_view_tko {{.*}} inbounds = [true, false] : partition_view<tile=(4x16)
    // CHECK: store_view_tko
    %t, %t0 = load_view_tko weak %av[%x, %y] inbounds = [true, false] : partition_view<tile=(16x16), tensor_view<?x16xf32, strides=[16,1]>>, tile<i32> -> tile<16x16xf32>, token
    // expected-remark @+1 {{in 4 slices}}
    %t1 = store_view_tko weak %t, %bv[%x, %y] : tile<16x16xf32>, partition_view<tile=(16x16), tensor_view<160x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}

// -----

// An index of 8 bits would wrap; one of a tensor of 64-bit size may need 64 bits.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @index_types
  entry @index_types(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %i: tile<i8>, %j: tile<i32>, %n: tile<i64>) {
    %a = make_tensor_view %p, shape = [512], strides = [1] : tensor_view<512xf32, strides=[1]>
    %b = make_tensor_view %q, shape = [%n], strides = [1] : tile<i64> -> tensor_view<?xf32, strides=[1]>
    %av = make_partition_view %a : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>
    %bv = make_partition_view %b : partition_view<tile=(128), tensor_view<?xf32, strides=[1]>>
    // CHECK: %[[J:.*]] = exti %arg3 unsigned : tile<i32> -> tile<i64>
    // CHECK: muli %[[J]], %{{.*}} : tile<i64>
    // CHECK: get_index_space_shape {{.*}} -> tile<i64>
    // CHECK: %[[MOST:.*]] = mini {{.*}} unsigned : tile<i64>
    // CHECK: trunci %[[MOST]] : tile<i64> -> tile<i32>
    // CHECK: %[[I:.*]] = exti %arg2 unsigned : tile<i8> -> tile<i32>
    // CHECK: muli %[[I]], %{{.*}} : tile<i32>
    // CHECK: for
    %t, %t0 = load_view_tko weak %av[%i] : partition_view<tile=(128), tensor_view<512xf32, strides=[1]>>, tile<i8> -> tile<128xf32>, token
    // expected-remark @+1 {{in 2 slices}}
    %t1 = store_view_tko weak %t, %bv[%j] : tile<128xf32>, partition_view<tile=(128), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// -----

// Tiles that lie 6 apart become tiles that lie gcd(6, 8) = 2 apart: index * 3 + slice * 4.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @strided
  entry @strided(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %i: tile<i32>) {
    // CHECK-DAG: %[[THREE:.*]] = constant <i32: 3>
    // CHECK-DAG: %[[FOUR:.*]] = constant <i32: 4>
    %a = make_tensor_view %p, shape = [100, 8], strides = [8, 1] : tensor_view<100x8xf32, strides=[8,1]>
    %b = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
    %av = make_strided_view %a : strided_view<tile=(16x8), traversal_strides=[6,8], padding_value = zero, tensor_view<100x8xf32, strides=[8,1]>>
    %bv = make_partition_view %b : partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>
    %zero = constant <i32: 0> : tile<i32>
    // CHECK: make_strided_view {{.*}} : strided_view<tile=(8x8), traversal_strides=[2,8], padding_value = zero
    // CHECK: %[[FIRST:.*]] = muli %arg2, %[[THREE]]
    // CHECK: for %[[S:.*]] in
    // CHECK: %[[MORE:.*]] = muli %[[S]], %[[FOUR]]
    // CHECK: addi %[[FIRST]], %[[MORE]]
    %t, %t0 = load_view_tko weak %av[%i, %zero] : strided_view<tile=(16x8), traversal_strides=[6,8], padding_value = zero, tensor_view<100x8xf32, strides=[8,1]>>, tile<i32> -> tile<16x8xf32>, token
    // expected-remark @+1 {{in 2 slices}}
    %t1 = store_view_tko weak %t, %bv[%zero, %zero] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Rows of the result are columns of what is loaded, and dimension 0 of the tensor there.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @transposed
  entry @transposed(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
    %a = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
    %b = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
    %av = make_partition_view %a : partition_view<tile=(8x16), tensor_view<16x8xf32, strides=[8,1]>, dim_map=[1, 0]>
    %bv = make_partition_view %b : partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>
    %zero = constant <i32: 0> : tile<i32>
    // CHECK: make_partition_view {{.*}} : partition_view<tile=(8x8), tensor_view<16x8xf32, strides=[8,1]>>
    // CHECK: make_partition_view {{.*}} : partition_view<tile=(8x8), tensor_view<16x8xf32, strides=[8,1]>, dim_map=[1, 0]>
    // CHECK: for %[[S:.*]] in
    // CHECK: load_view_tko weak %{{.*}}[%{{.*}}, %[[S]]]
    // CHECK: permute {{.*}} [1, 0] : tile<8x8xf32> -> tile<8x8xf32>
    // CHECK: store_view_tko weak %{{.*}}, %{{.*}}[%[[S]], %{{.*}}]
    %t, %t0 = load_view_tko weak %av[%zero, %zero] : partition_view<tile=(8x16), tensor_view<16x8xf32, strides=[8,1]>, dim_map=[1, 0]>, tile<i32> -> tile<8x16xf32>, token
    %u = permute %t [1, 0] : tile<8x16xf32> -> tile<16x8xf32>
    // expected-remark @+1 {{in 2 slices}}
    %t1 = store_view_tko weak %u, %bv[%zero, %zero] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Pointers and masks are computed slice by slice; a pointer takes two registers.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @pointers
  entry @pointers(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // CHECK-DAG: %[[SIZE:.*]] = constant <i32: 32>
    // CHECK: for %[[S:.*]] in
    // CHECK: %[[COUNT:.*]] = iota : tile<32xi32>
    // CHECK: %[[FIRST:.*]] = muli %[[S]], %[[SIZE]]
    // CHECK: %[[ONE:.*]] = reshape %[[FIRST]] : tile<i32> -> tile<1xi32>
    // CHECK: %[[ALL:.*]] = broadcast %[[ONE]] : tile<1xi32> -> tile<32xi32>
    // CHECK: %[[I:.*]] = addi %[[ALL]], %[[COUNT]]
    // CHECK: %[[KEPT:.*]] = assume div_by<32, every 32 along 0>, %[[I]]
    // CHECK: cmpi less_than %[[KEPT]], {{.*}}, signed : tile<32xi32>
    // CHECK: offset {{.*}}, %[[KEPT]] : tile<32xptr<f32>>
    // CHECK: store_ptr_tko {{.*}} : tile<32xptr<f32>>, tile<32xf32>, tile<32xi1> -> token
    %i0 = iota : tile<64xi32>
    %i = assume div_by<64, every 64 along 0>, %i0 : tile<64xi32>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<64xi32>
    %m = cmpi less_than %i, %ns, signed : tile<64xi32> -> tile<64xi1>
    %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %at = offset %ps, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %x = itof %i signed : tile<64xi32> -> tile<64xf32>
    // expected-remark @+1 {{take 128 registers (a block has 64 for its largest tile), and are computed in 2 slices}}
    %t = store_ptr_tko weak %at, %x, %m : tile<64xptr<f32>>, tile<64xf32>, tile<64xi1> -> token
    return
  }
}

// -----

// What has no slices of its own is computed whole, and the slice taken out.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @extracted
  entry @extracted(%p: tile<ptr<i32>>) {
    // CHECK-DAG: %[[LIST:.*]] = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    // CHECK: for %[[S:.*]] in
    // CHECK: %[[SUMS:.*]] = scan %[[LIST]] dim=0
    // CHECK: extract %[[SUMS]][%[[S]]] : tile<4xi32> -> tile<2xi32>
    // CHECK: store_view_tko {{.*}} : tile<2x32xi32>
    %list = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %sums = scan %list dim=0 reverse=false identities=[0 : i32] : tile<4xi32> -> tile<4xi32>
    (%e: tile<i32>, %s: tile<i32>) {
      %r = addi %e, %s : tile<i32>
      yield %r : tile<i32>
    }
    %column = reshape %sums : tile<4xi32> -> tile<4x1xi32>
    %x = broadcast %column : tile<4x1xi32> -> tile<4x32xi32>
    %b = make_tensor_view %p, shape = [4, 32], strides = [32, 1] : tensor_view<4x32xi32, strides=[32,1]>
    %bv = make_partition_view %b : partition_view<tile=(4x32), tensor_view<4x32xi32, strides=[32,1]>>
    %zero = constant <i32: 0> : tile<i32>
    // expected-remark @+1 {{in 2 slices}}
    %t1 = store_view_tko weak %x, %bv[%zero, %zero] : tile<4x32xi32>, partition_view<tile=(4x32), tensor_view<4x32xi32, strides=[32,1]>>, tile<i32> -> token
    return
  }
}

// -----

// Rows of a product take rows of the left operand; the loop over k stays as it is. The scalar
// that is stored beside is stored once.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @product
  entry @product(%p: tile<ptr<f16>>, %q: tile<ptr<f16>>, %r: tile<ptr<f32>>, %n: tile<i32>, %o: tile<ptr<i32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %a = make_tensor_view %p, shape = [16, 80], strides = [80, 1] : tensor_view<16x80xf16, strides=[80,1]>
    %b = make_tensor_view %q, shape = [80, 8], strides = [8, 1] : tensor_view<80x8xf16, strides=[8,1]>
    %c = make_tensor_view %r, shape = [16, 8], strides = [8, 1] : tensor_view<16x8xf32, strides=[8,1]>
    %av = make_partition_view %a : partition_view<tile=(16x4), tensor_view<16x80xf16, strides=[80,1]>>
    %bv = make_partition_view %b : partition_view<tile=(4x8), tensor_view<80x8xf16, strides=[8,1]>>
    %cv = make_partition_view %c : partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>
    %start = constant <f32: 0.0> : tile<16x8xf32>
    // CHECK: for %[[S:.*]] in
    // CHECK: %[[R:.*]] = for %[[K:.*]] in (%{{.*}} to %arg3, step %{{.*}}) : tile<i32> iter_values(%[[ACC:.*]] = %{{.*}}) -> (tile<8x8xf32>) {
    // CHECK: load_view_tko weak %{{.*}}[%[[S]], %[[K]]] : partition_view<tile=(8x4)
    // CHECK: load_view_tko weak %{{.*}}[%[[K]], %{{.*}}] : partition_view<tile=(4x8)
    // CHECK: mmaf %{{.*}}, %{{.*}}, %[[ACC]] : tile<8x4xf16>, tile<4x8xf16>, tile<8x8xf32>
    // CHECK: store_view_tko weak %[[R]], %{{.*}}[%[[S]], %{{.*}}]
    // CHECK: %[[IS_FIRST:.*]] = cmpi equal %[[S]], %{{.*}}
    // CHECK: if %[[IS_FIRST]] {
    // CHECK:   store_ptr_tko weak %arg4, %arg3 : tile<ptr<i32>>, tile<i32> -> token
    %acc = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%s = %start) -> (tile<16x8xf32>) {
      %x, %t0 = load_view_tko weak %av[%zero, %k] : partition_view<tile=(16x4), tensor_view<16x80xf16, strides=[80,1]>>, tile<i32> -> tile<16x4xf16>, token
      %y, %t1 = load_view_tko weak %bv[%k, %zero] : partition_view<tile=(4x8), tensor_view<80x8xf16, strides=[8,1]>>, tile<i32> -> tile<4x8xf16>, token
      %d = mmaf %x, %y, %s : tile<16x4xf16>, tile<4x8xf16>, tile<16x8xf32>
      continue %d : tile<16x8xf32>
    }
    // expected-remark @+1 {{in 2 slices}}
    %t2 = store_view_tko weak %acc, %cv[%zero, %zero] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>, tile<i32> -> token
    %t3 = store_ptr_tko weak %o, %n : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// -----

// The loop over tiles of a persistent kernel orders its rounds: each round is sliced, and ends when
// all its slices have been stored. The early return stays in front.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @persistent
  entry @persistent(%p: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %token = make_token : token
    %b = make_tensor_view %p, shape = [%n, 16], strides = [%s, 1] : tile<i32> -> tensor_view<?x16xf32, strides=[?,1]>
    %bv = make_partition_view %b : partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[?,1]>>
    %x = constant <f32: 1.5> : tile<8x16xf32>
    %nothing = cmpi equal %n, %zero, signed : tile<i32> -> tile<i1>
    // CHECK: if %{{.*}} {
    // CHECK-NEXT: return
    // CHECK-NEXT: }
    if %nothing {
      return
    }
    // CHECK: for %[[I:.*]] in (%{{.*}} to %arg1, step %{{.*}}) : tile<i32> iter_values(%[[BEFORE:.*]] = %{{.*}}) -> (token) {
    // CHECK:   %[[FIRST:.*]] = muli %[[I]]
    // CHECK:   %[[DONE:.*]] = for %[[S:.*]] in {{.*}} iter_values(%[[OTHERS:.*]] = %{{.*}}) -> (token) {
    // CHECK:     %[[J:.*]] = addi %[[FIRST]], %[[S]]
    // CHECK:     %[[T:.*]] = store_view_tko weak %{{.*}}, %{{.*}}[%[[J]], %{{.*}}] token = %[[BEFORE]]
    // CHECK:     %[[BOTH:.*]] = join_tokens %[[T]], %[[OTHERS]]
    // CHECK:     continue %[[BOTH]]
    // CHECK:   }
    // CHECK:   continue %[[DONE]]
    %r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%t = %token) -> (token) {
      // expected-remark @+1 {{in 2 slices}}
      %u = store_view_tko weak %x, %bv[%i, %zero] token = %t : tile<8x16xf32>, partition_view<tile=(8x16), tensor_view<?x16xf32, strides=[?,1]>>, tile<i32> -> token
      continue %u : token
    }
    return
  }
}

// -----

// Dimensions that are no powers of two may be cut into three.

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  // CHECK-LABEL: entry @three
  entry @three(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %b = make_tensor_view %p, shape = [12, 16], strides = [16, 1] : tensor_view<12x16xf32, strides=[16,1]>
    %bv = make_partition_view %b : partition_view<tile=(12x16), tensor_view<12x16xf32, strides=[16,1]>>
    %x = constant <f32: 1.5> : tile<12x16xf32>
    // CHECK: store_view_tko {{.*}} : tile<4x16xf32>
    // expected-remark @+1 {{in 3 slices}}
    %u = store_view_tko weak %x, %bv[%zero, %zero] : tile<12x16xf32>, partition_view<tile=(12x16), tensor_view<12x16xf32, strides=[16,1]>>, tile<i32> -> token
    return
  }
}

// -----

// 16 slices would fit, but no dimension is that long: 4 slices along one, each in 4 along the next.
// The address of a slice is its index along both.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @twice
  entry @twice(%p: tile<ptr<f32>>) {
    %zero = constant <i32: 0> : tile<i32>
    %x = constant <f32: 1.0> : tile<4x4x4x4x4xf32>
    %a = make_tensor_view %p, shape = [4, 4, 4, 4, 4], strides = [256, 64, 16, 4, 1] : tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>
    %av = make_partition_view %a : partition_view<tile=(4x4x4x4x4), tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>>
    // CHECK: for %[[I:.*]] in (%{{.*}} to %{{.*}}, step %{{.*}}) : tile<i32> {
    // CHECK:   for %[[J:.*]] in (%{{.*}} to %{{.*}}, step %{{.*}}) : tile<i32> {
    // CHECK:     store_view_tko weak %{{.*}}, %{{.*}}[%[[I]], %[[J]], %{{.*}}, %{{.*}}, %{{.*}}] : tile<1x1x4x4x4xf32>
    // expected-remark @+2 {{take 1024 registers (a block has 64 for its largest tile), and are computed in 4 slices}}
    // expected-remark @+1 {{take 256 registers (a block has 64 for its largest tile), and are computed in 4 slices}}
    %t = store_view_tko weak %x, %av[%zero, %zero, %zero, %zero, %zero] : tile<4x4x4x4x4xf32>, partition_view<tile=(4x4x4x4x4), tensor_view<4x4x4x4x4xf32, strides=[256,64,16,4,1]>>, tile<i32> -> token
    return
  }
}
