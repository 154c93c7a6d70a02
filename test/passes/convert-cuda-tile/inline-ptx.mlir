// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// PTX in the program: registers by type, in a scope of its own.

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  // CHECK-LABEL: gpu.func @k
  // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[X:.*]]: f32, %[[N:.*]]: i64)
  entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %n: tile<i64>) {
    // CHECK-NEXT: %[[R:.*]] = tile_gpu.inline_ptx "{ cvt.rn.f32.s64 $0, $2; }" "=f,f,l"(%[[X]], %[[N]]) : (f32, i64) -> f32
    %0 = inline_ptx "cvt.rn.f32.s64 $0, $2;"(%x, %n) : (tile<f32>, tile<i64>) -> tile<f32>
    // CHECK-NEXT: tile_gpu.inline_ptx "{ cvt.rn.f16.f32\09$0, $1; }" "=h,f"(%[[R]]) : (f32) -> f16
    %1 = inline_ptx "cvt.rn.f16.f32\09$0, $1;"(%0) : (tile<f32>) -> tile<f16>
    %2 = ftof %1 : tile<f16> -> tile<f32>
    %t = make_token : token
    %3 = store_ptr_tko weak %p, %2 token=%t : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
