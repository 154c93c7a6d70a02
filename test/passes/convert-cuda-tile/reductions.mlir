// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Reductions, scans and matrix products.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @reduce
  entry @reduce() {
    %x = constant <f32: 1.0> : tile<4x64xf32>
    // CHECK: %[[R:.*]] = tile_gpu.reduce %[[X:.*]] dim 1 identities [0.000000e+00 : f32] {
    // CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[A:.*]]: f32):
    // CHECK-NEXT: %[[S:.*]] = arith.addf %[[E]], %[[A]] : f32
    // CHECK-NEXT: tile_gpu.yield %[[S]] : f32
    // CHECK-NEXT: } : (!tile_gpu.tile<4x64xf32>) -> !tile_gpu.tile<4xf32>
    %0 = reduce %x dim=1 identities=[0.0 : f32] : tile<4x64xf32> -> tile<4xf32>
    (%e: tile<f32>, %a: tile<f32>) {
      %s = addf %e, %a : tile<f32>
      yield %s : tile<f32>
    }
    // The last dimension leaves a scalar.
    // CHECK: tile_gpu.reduce %[[R]] dim 0
    // CHECK: } : (!tile_gpu.tile<4xf32>) -> f32
    %1 = reduce %0 dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32>
    (%e: tile<f32>, %a: tile<f32>) {
      %s = addf %e, %a : tile<f32>
      yield %s : tile<f32>
    }
    return
  }

  // CHECK-LABEL: gpu.func @argmax
  entry @argmax() {
    %x = constant <f32: 1.0> : tile<64xf32>
    %i = iota : tile<64xi32>
    // CHECK: tile_gpu.reduce %{{.*}}, %{{.*}} dim 0 identities [0xFF800000 : f32, 0 : i32] {
    // CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[A:.*]]: f32, %[[J:.*]]: i32, %[[K:.*]]: i32):
    // CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[E]], %[[A]] : f32
    // CHECK-NEXT: arith.select %[[C]], %[[E]], %[[A]] : f32
    // CHECK-NEXT: arith.select %[[C]], %[[J]], %[[K]] : i32
    // CHECK: } : (!tile_gpu.tile<64xf32>, !tile_gpu.tile<64xi32>) -> (f32, i32)
    %0:2 = reduce %x, %i dim=0 identities=[0xFF800000 : f32, 0 : i32]
      : tile<64xf32>, tile<64xi32> -> tile<f32>, tile<i32>
    (%e: tile<f32>, %a: tile<f32>, %j: tile<i32>, %k: tile<i32>) {
      %c = cmpf greater_than ordered %e, %a : tile<f32> -> tile<i1>
      %u = select %c, %e, %a : tile<i1>, tile<f32>
      %v = select %c, %j, %k : tile<i1>, tile<i32>
      yield %u, %v : tile<f32>, tile<i32>
    }
    return
  }

  // CHECK-LABEL: gpu.func @scan
  entry @scan() {
    %x = constant <f32: 1.0> : tile<4x64xf32>
    // CHECK: tile_gpu.scan %{{.*}} dim 0 identities [0.000000e+00 : f32] reverse {
    // CHECK: } : (!tile_gpu.tile<4x64xf32>) -> !tile_gpu.tile<4x64xf32>
    %0 = scan %x dim=0 reverse=true identities=[0.0 : f32] : tile<4x64xf32> -> tile<4x64xf32>
    (%e: tile<f32>, %a: tile<f32>) {
      %s = addf %e, %a : tile<f32>
      yield %s : tile<f32>
    }
    // CHECK: tile_gpu.scan %{{.*}} dim 1 identities [0.000000e+00 : f32] {
    %1 = scan %x dim=1 reverse=false identities=[0.0 : f32] : tile<4x64xf32> -> tile<4x64xf32>
    (%e: tile<f32>, %a: tile<f32>) {
      %s = addf %e, %a : tile<f32>
      yield %s : tile<f32>
    }
    return
  }

  // CHECK-LABEL: gpu.func @products
  entry @products() {
    %a = constant <f16: 1.0> : tile<32x16xf16>
    %b = constant <f16: 1.0> : tile<16x64xf16>
    %c = constant <f32: 0.0> : tile<32x64xf32>
    // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} : !tile_gpu.tile<32x16xf16>, !tile_gpu.tile<16x64xf16>, !tile_gpu.tile<32x64xf32>
    %0 = mmaf %a, %b, %c : tile<32x16xf16>, tile<16x64xf16>, tile<32x64xf32>
    %i = constant <i8: 1> : tile<32x32xi8>
    %z = constant <i32: 0> : tile<32x32xi32>
    // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} rhs_unsigned : !tile_gpu.tile<32x32xi8>
    %1 = mmai %i, %i, %z signed unsigned : tile<32x32xi8>, tile<32x32xi8>, tile<32x32xi32>
    return
  }

  // A batch of one is a plain product.
  // CHECK-LABEL: gpu.func @batch
  entry @batch() {
    %a = constant <f16: 1.0> : tile<1x32x16xf16>
    %b = constant <f16: 1.0> : tile<1x16x64xf16>
    %c = constant <f32: 0.0> : tile<1x32x64xf32>
    // CHECK: tile_gpu.reshape %{{.*}} : !tile_gpu.tile<1x32x16xf16> -> !tile_gpu.tile<32x16xf16>
    // CHECK: %[[D:.*]] = tile_gpu.dot
    // CHECK-NEXT: tile_gpu.reshape %[[D]] : !tile_gpu.tile<32x64xf32> -> !tile_gpu.tile<1x32x64xf32>
    %0 = mmaf %a, %b, %c : tile<1x32x16xf16>, tile<1x16x64xf16>, tile<1x32x64xf32>
    return
  }
}
