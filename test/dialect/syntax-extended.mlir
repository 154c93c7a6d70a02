// RUN: tile-opt %s | tile-opt | FileCheck %s

// Operations beyond Tile IR.

module {
  // CHECK: cuda_tile.module @kernels attributes {cuda_tile.extended}
  cuda_tile.module @kernels attributes {cuda_tile.extended} {
    entry @k(%x: tile<f32>, %n: tile<i32>, %p: tile<ptr<f16>>, %m: tile<i1>) {
      %t = reshape %x : tile<f32> -> tile<1xf32>
      %b = broadcast %t : tile<1xf32> -> tile<48xf32>
      // CHECK: inline_ptx "tanh.approx.f32 $0, $1;"(%{{.*}}) : (tile<48xf32>) -> tile<48xf32>
      %0 = inline_ptx "tanh.approx.f32 $0, $1;"(%b) : (tile<48xf32>) -> tile<48xf32>
      // CHECK: inline_ptx "cvt.rn.f16.s32 $0, $1; // $$"(%{{.*}}) : (tile<i32>) -> tile<f16>
      %1 = inline_ptx "cvt.rn.f16.s32 $0, $1; // $$"(%n) : (tile<i32>) -> tile<f16>
      // CHECK: prefetch %{{.*}}, %{{.*}} : tile<ptr<f16>>, tile<i1>
      prefetch %p, %m : tile<ptr<f16>>, tile<i1>
      return
    }
  }
}
