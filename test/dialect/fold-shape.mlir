// RUN: tile-opt %s --canonicalize | FileCheck %s

// Folds of shape manipulation, select and assume.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @broadcasts(
  // CHECK-DAG: %cst_2_f32 = constant <f32: 2.000000e+00> : tile<8xf32>
  // CHECK: %reshape = reshape %arg0 : tile<f32> -> tile<1x1xf32>
  // CHECK-NEXT: %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x8xf32>
  entry @broadcasts(%arg0: tile<f32>) {
    %0 = reshape %arg0 : tile<f32> -> tile<1x1xf32>
    %1 = broadcast %0 : tile<1x1xf32> -> tile<4x1xf32>
    %2 = broadcast %1 : tile<4x1xf32> -> tile<4x8xf32>
    %3 = broadcast %2 : tile<4x8xf32> -> tile<4x8xf32>
    %4 = constant <f32: 2.0> : tile<1xf32>
    %5 = broadcast %4 : tile<1xf32> -> tile<8xf32>
    print "%f", %3 : tile<4x8xf32>
    print "%f", %5 : tile<8xf32>
    return
  }

  // CHECK-LABEL: entry @reshapes(
  // CHECK-DAG: %cst_i32 = constant <i32: {{\[\[}}1, 2], [3, 4{{\]\]}}> : tile<2x2xi32>
  // CHECK: print "%f", %arg0 : tile<f32>
  entry @reshapes(%arg0: tile<f32>) {
    %0 = reshape %arg0 : tile<f32> -> tile<1xf32>
    %1 = reshape %0 : tile<1xf32> -> tile<f32>
    %2 = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %3 = reshape %2 : tile<4xi32> -> tile<2x2xi32>
    print "%f", %1 : tile<f32>
    print "%d", %3 : tile<2x2xi32>
    return
  }

  // Dimension i of the result is dimension permutation[i] of the source.
  // CHECK-LABEL: entry @permutes(
  // CHECK: %bcast = broadcast
  // CHECK-NEXT: %[[PERMUTED:.*]] = permute %bcast [2, 1, 0] : tile<2x4x8xf32> -> tile<8x4x2xf32>
  // CHECK-NEXT: print "%f", %[[PERMUTED]]
  // CHECK-NEXT: print "%f", %bcast
  entry @permutes(%arg0: tile<f32>) {
    %0 = reshape %arg0 : tile<f32> -> tile<1x1x1xf32>
    %1 = broadcast %0 : tile<1x1x1xf32> -> tile<2x4x8xf32>
    %2 = permute %1 [1, 2, 0] : tile<2x4x8xf32> -> tile<4x8x2xf32>
    %3 = permute %2 [1, 0, 2] : tile<4x8x2xf32> -> tile<8x4x2xf32>
    %4 = permute %2 [2, 0, 1] : tile<4x8x2xf32> -> tile<2x4x8xf32>
    print "%f", %3 : tile<8x4x2xf32>
    print "%f", %4 : tile<2x4x8xf32>
    return
  }

  // A slice of full size is the tile; a slice of a splat is one.
  // CHECK-LABEL: entry @slices(
  // CHECK: print "%f %f", %reshape, %[[FOUR:.*]] : tile<1xf32>, tile<1xf32>
  // CHECK-NEXT: print "%f", %{{.*}} : tile<2xf32>
  // CHECK-NEXT: print "%f", %{{.*}} : tile<16xf32>
  // CHECK-NEXT: print "%d", %cst_0_i32 : tile<1xi32>
  entry @slices(%arg0: tile<i32>, %arg1: tile<f32>) {
    %0 = reshape %arg1 : tile<f32> -> tile<1xf32>
    %1 = extract %0[%arg0] : tile<1xf32> -> tile<1xf32>
    %2 = constant <f32: 3.0> : tile<8xf32>
    %3 = extract %2[%arg0] : tile<8xf32> -> tile<2xf32>
    %4 = constant <f32: 4.0> : tile<1xf32>
    %5 = insert %4, %0[%arg0] : tile<1xf32>, tile<1xf32>
    %6 = cat %2, %2 dim = 0 : tile<8xf32>, tile<8xf32> -> tile<16xf32>
    %7 = iota : tile<1xi32>
    print "%f %f", %1, %5 : tile<1xf32>, tile<1xf32>
    print "%f", %3 : tile<2xf32>
    print "%f", %6 : tile<16xf32>
    print "%d", %7 : tile<1xi32>
    return
  }

  // CHECK-LABEL: entry @packing(
  // CHECK-NEXT: %0 = iota : tile<4xi32>
  // CHECK-NEXT: %[[BYTES:.*]] = pack %0 : tile<4xi32> -> tile<16xi8>
  // CHECK-NEXT: %{{.*}} = unpack %[[BYTES]] : tile<16xi8> -> tile<8xi16>
  // CHECK-NEXT: print "%d", %0 : tile<4xi32>
  entry @packing() {
    %0 = iota : tile<4xi32>
    %1 = pack %0 : tile<4xi32> -> tile<16xi8>
    %2 = unpack %1 : tile<16xi8> -> tile<4xi32>
    %3 = pack %2 : tile<4xi32> -> tile<16xi8>
    %4 = unpack %3 : tile<16xi8> -> tile<8xi16>
    print "%d", %2 : tile<4xi32>
    print "%d", %4 : tile<8xi16>
    return
  }

  // CHECK-LABEL: entry @selects(
  // CHECK-DAG: %cst_i32 = constant <i32: [1, 4]> : tile<2xi32>
  // CHECK: print "%f %f %f", %arg1, %arg2, %arg1 : tile<f32>, tile<f32>, tile<f32>
  // CHECK-NEXT: print "%d", %arg0 : tile<i1>
  entry @selects(%arg0: tile<i1>, %arg1: tile<f32>, %arg2: tile<f32>) {
    %0 = constant <i1: true> : tile<i1>
    %1 = constant <i1: false> : tile<i1>
    %2 = select %0, %arg1, %arg2 : tile<i1>, tile<f32>
    %3 = select %1, %arg1, %arg2 : tile<i1>, tile<f32>
    %4 = select %arg0, %arg1, %arg1 : tile<i1>, tile<f32>
    %5 = select %arg0, %0, %1 : tile<i1>, tile<i1>
    %6 = constant <i1: [true, false]> : tile<2xi1>
    %7 = constant <i32: [1, 2]> : tile<2xi32>
    %8 = constant <i32: [3, 4]> : tile<2xi32>
    %9 = select %6, %7, %8 : tile<2xi1>, tile<2xi32>
    print "%f %f %f", %2, %3, %4 : tile<f32>, tile<f32>, tile<f32>
    print "%d", %5 : tile<i1>
    print "%d", %9 : tile<2xi32>
    return
  }

  // Promises that say nothing new are dropped.
  // CHECK-LABEL: entry @assumptions(
  // CHECK-NEXT: %assume = assume div_by<16>, %arg0 : tile<i32>
  // CHECK-NEXT: %assume_assume = assume bounded<0, 100>, %assume : tile<i32>
  // CHECK-NEXT: print "%d", %assume_assume : tile<i32>
  entry @assumptions(%arg0: tile<i32>) {
    %0 = assume div_by<16>, %arg0 : tile<i32>
    %1 = assume bounded<0, 100>, %0 : tile<i32>
    %2 = assume div_by<16>, %1 : tile<i32>
    %3 = assume div_by<8>, %2 : tile<i32>
    %4 = assume bounded<-1, ?>, %3 : tile<i32>
    %5 = assume div_by<1>, %4 : tile<i32>
    %6 = assume bounded<?, ?>, %5 : tile<i32>
    %7 = assume bounded<-2147483648, 2147483647>, %6 : tile<i32>
    print "%d", %7 : tile<i32>
    return
  }

  // CHECK-LABEL: entry @stronger_assumptions(
  // CHECK: assume div_by<8>
  // CHECK: assume div_by<16>
  // CHECK: assume bounded<0, ?>
  // CHECK: assume bounded<1, ?>
  // CHECK: assume div_by<1, every 4 along 0>
  // CHECK-NOT: same_elements
  entry @stronger_assumptions(%arg0: tile<i32>) {
    %0 = assume div_by<8>, %arg0 : tile<i32>
    %1 = assume div_by<16>, %0 : tile<i32>
    %2 = assume bounded<0, ?>, %1 : tile<i32>
    %3 = assume bounded<1, ?>, %2 : tile<i32>
    %4 = iota : tile<8xi32>
    %5 = assume div_by<1, every 4 along 0>, %4 : tile<8xi32>
    %6 = assume same_elements<[1]>, %5 : tile<8xi32>
    print "%d", %3 : tile<i32>
    print "%d", %6 : tile<8xi32>
    return
  }
}
