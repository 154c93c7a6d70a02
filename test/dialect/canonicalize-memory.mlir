// RUN: tile-opt %s --canonicalize | FileCheck %s

// Tokens and dead memory operations.

cuda_tile.module @kernels {
  global private @unused <i32: 0> : tile<2xi32>

  // A join counts each token once, looks into joins, and leaves out fresh tokens.
  // CHECK-LABEL: entry @joins
  // CHECK-NEXT: %[[A:.*]] = store_ptr_tko weak %arg0, %arg1 :
  // CHECK-NEXT: %[[B:.*]] = store_ptr_tko weak %arg0, %arg1 :
  // CHECK-NEXT: %[[AB:.*]] = join_tokens %[[A]], %[[B]] : token
  // CHECK-NEXT: store_ptr_tko weak %arg0, %arg1 token=%[[AB]]
  // CHECK-NEXT: store_ptr_tko weak %arg0, %arg1 token=%[[A]]
  entry @joins(%p: tile<ptr<f32>>, %x: tile<f32>) {
    %0 = make_token : token
    %1 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %2 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %3 = join_tokens %0, %1, %1 : token
    %4 = join_tokens %3, %2, %0 : token
    %5 = join_tokens %4, %1 : token
    %6 = store_ptr_tko weak %p, %x token=%5 : tile<ptr<f32>>, tile<f32> -> token
    %7 = store_ptr_tko weak %p, %x token=%3 : tile<ptr<f32>>, tile<f32> -> token
    return
  }

  // CHECK-LABEL: entry @fresh_tokens
  // CHECK-NEXT: %[[T:.*]] = make_token : token
  // CHECK-NEXT: print_tko "x" token=%[[T]]
  entry @fresh_tokens() {
    %0 = make_token : token
    %1 = make_token : token
    %2 = join_tokens %0, %1 : token
    %3 = print_tko "x" token=%2 -> token
    return
  }

  // A weak load that nobody reads orders nothing; an acquire does.
  // CHECK-LABEL: entry @dead_loads
  // CHECK-NEXT: %[[T:.*]] = store_ptr_tko weak %arg0, %arg1 :
  // CHECK-NEXT: load_ptr_tko acquire device %arg0 token=%[[T]]
  // CHECK-NEXT: store_ptr_tko weak %arg0, %arg1 token=%[[T]]
  // CHECK-NEXT: return
  entry @dead_loads(%p: tile<ptr<f32>>, %x: tile<f32>) {
    %0 = store_ptr_tko weak %p, %x : tile<ptr<f32>>, tile<f32> -> token
    %1, %2 = load_ptr_tko weak %p token=%0 : tile<ptr<f32>> -> tile<f32>, token
    %3, %4 = load_ptr_tko acquire device %p token=%0 : tile<ptr<f32>> -> tile<f32>, token
    %5, %6 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token
    %7 = store_ptr_tko weak %p, %x token=%2 : tile<ptr<f32>>, tile<f32> -> token
    %8 = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
    return
  }

  // CHECK-LABEL: entry @dead_view_load
  // CHECK: %[[T:.*]] = make_token : token
  // CHECK-NOT: load_view_tko
  // CHECK: store_view_tko weak {{.*}} token = %[[T]]
  entry @dead_view_load(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %0 = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %1 = make_partition_view %0 : partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>
    %2, %3 = load_view_tko weak %1[%i] : partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
    %4 = constant <f32: 1.0> : tile<4xf32>
    %5 = store_view_tko weak %4, %1[%i] token = %3 : tile<4xf32>, partition_view<tile=(4), tensor_view<8xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
