// RUN: tile-opt --convert-cuda-tile --split-input-file %s | FileCheck %s

// Tiles of scales and of floats of four bits are tiles of integers. Only conversions know more.

cuda_tile.module @kernels {
  // CHECK: llvm.mlir.global external @scales(dense<[127, -128]> : tensor<2xi8>) {addr_space = 1 : i32
  global @scales <f8E8M0FNU: [1.0, 2.0]> : tile<2xf8E8M0FNU>
  // CHECK-LABEL: gpu.func @scale
  entry @scale(%p: tile<ptr<f8E8M0FNU>>, %q: tile<ptr<f32>>) {
    // CHECK: %[[LOADED:.*]] = tile_gpu.gather %{{.*}} : {{.*}} -> i8
    %x, %t = load_ptr_tko weak %p : tile<ptr<f8E8M0FNU>> -> tile<f8E8M0FNU>, token
    // The exponent is that of f32; 0 is subnormal there, 255 is NaN.
    // CHECK: %[[CODE:.*]] = arith.extui %[[LOADED]] : i8 to i32
    // CHECK: %[[SHIFTED:.*]] = arith.shli %[[CODE]], %c23_i32
    // CHECK: arith.select %{{.*}}, %c4194304_i32, %[[SHIFTED]]
    // CHECK: %[[BITS:.*]] = arith.select %{{.*}}, %c2143289344_i32
    // CHECK: arith.bitcast %[[BITS]] : i32 to f32
    %y = ftof %x : tile<f8E8M0FNU> -> tile<f32>
    %u = store_ptr_tko weak %q, %y : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}

// -----

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @four_bits
  entry @four_bits() {
    // CHECK: arith.constant dense<[0, 1, 2, -1]> : !tile_gpu.tile<4xi4>
    %x = constant <f4E2M1FN: [0.0, 0.5, 1.0, -6.0]> : tile<4xf4E2M1FN>
    // CHECK: tile_gpu.cast {{.*}} : !tile_gpu.tile<4xi4> -> !tile_gpu.tile<4xi32>
    %y = ftof %x : tile<4xf4E2M1FN> -> tile<4xf32>
    // Seven limits lie between eight magnitudes.
    // CHECK-COUNT-7: arith.cmpf {{ugt|uge}}
    // CHECK-NOT: arith.cmpf {{ugt|uge}}
    // CHECK: tile_gpu.cast {{.*}} : !tile_gpu.tile<4xi32> -> !tile_gpu.tile<4xi4>
    %z = ftof %y : tile<4xf32> -> tile<4xf4E2M1FN>
    // CHECK: tile_gpu.reinterpret {{.*}} : !tile_gpu.tile<4xi4> -> !tile_gpu.tile<2xi8>
    %w = pack %z : tile<4xf4E2M1FN> -> tile<2xi8>
    %t = print_tko "%d", %w : tile<2xi8> -> token
    return
  }
}

// -----

// A scaled product is one of bf16, which holds an element times its scale.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @scaled
  entry @scaled(%p: tile<ptr<f8E4M3FN>>) {
    %a = constant <f8E4M3FN: 1.0> : tile<16x64xf8E4M3FN>
    %b = constant <f8E4M3FN: 1.0> : tile<64x8xf8E4M3FN>
    %c = constant <f32: 0.0> : tile<16x8xf32>
    %sa = constant <f8E8M0FNU: 2.0> : tile<16x2xf8E8M0FNU>
    %sb = constant <f8E8M0FNU: 4.0> : tile<2x8xf8E8M0FNU>
    // CHECK: tile_gpu.broadcast %{{.*}} : !tile_gpu.tile<16x2x1xf32> -> !tile_gpu.tile<16x2x32xf32>
    // CHECK: %[[A:.*]] = tile_gpu.cast {{.*}} : !tile_gpu.tile<16x64xf32> -> !tile_gpu.tile<16x64xbf16>
    // CHECK: tile_gpu.broadcast %{{.*}} : !tile_gpu.tile<2x1x8xf32> -> !tile_gpu.tile<2x32x8xf32>
    // CHECK: %[[B:.*]] = tile_gpu.cast {{.*}} : !tile_gpu.tile<64x8xf32> -> !tile_gpu.tile<64x8xbf16>
    // CHECK: tile_gpu.dot %[[A]], %[[B]], %{{.*}}
    %d = mmaf_scaled %a, %b, %c, %sa, %sb : tile<16x64xf8E4M3FN>, tile<64x8xf8E4M3FN>, tile<16x8xf32>, tile<16x2xf8E8M0FNU>, tile<2x8xf8E8M0FNU>
    %t = print_tko "%f", %d : tile<16x8xf32> -> token
    return
  }
}
