// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Floating-point operations: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @arithmetic(%arg0: tile<f32>, %arg1: tile<f32>, %arg2: tile<f64>) {
  entry @arithmetic(%arg0: tile<f32>, %arg1: tile<f32>, %arg2: tile<f64>) {
    // CHECK-NEXT: %0 = absf %arg0 : tile<f32>
    %0 = absf %arg0 : tile<f32>
    // CHECK-NEXT: %1 = negf %arg0 : tile<f32>
    %1 = negf %arg0 : tile<f32>
    // CHECK-NEXT: %2 = ceil %arg0 : tile<f32>
    %2 = ceil %arg0 : tile<f32>
    // CHECK-NEXT: %3 = floor %arg0 : tile<f32>
    %3 = floor %arg0 : tile<f32>
    // CHECK-NEXT: %4 = addf %arg0, %arg1 : tile<f32>
    %4 = addf %arg0, %arg1 : tile<f32>
    // CHECK-NEXT: %5 = addf %arg0, %arg1 rounding<zero> : tile<f32>
    %5 = addf %arg0, %arg1 rounding<zero> : tile<f32>
    // CHECK-NEXT: %6 = addf %arg0, %arg1 rounding<negative_inf> flush_to_zero : tile<f32>
    %6 = addf %arg0, %arg1 rounding<negative_inf> flush_to_zero : tile<f32>
    // CHECK-NEXT: %7 = addf %arg2, %arg2 rounding<positive_inf> : tile<f64>
    %7 = addf %arg2, %arg2 rounding<positive_inf> : tile<f64>
    // CHECK-NEXT: %8 = subf %arg0, %arg1 flush_to_zero : tile<f32>
    %8 = subf %arg0, %arg1 flush_to_zero : tile<f32>
    // CHECK-NEXT: %9 = mulf %arg0, %arg1 : tile<f32>
    %9 = mulf %arg0, %arg1 : tile<f32>
    // CHECK-NEXT: %10 = divf %arg0, %arg1 : tile<f32>
    %10 = divf %arg0, %arg1 : tile<f32>
    // CHECK-NEXT: %11 = divf %arg0, %arg1 rounding<approx> flush_to_zero : tile<f32>
    %11 = divf %arg0, %arg1 rounding<approx> flush_to_zero : tile<f32>
    // CHECK-NEXT: %12 = divf %arg0, %arg1 rounding<full> : tile<f32>
    %12 = divf %arg0, %arg1 rounding<full> : tile<f32>
    // CHECK-NEXT: %13 = fma %arg0, %arg1, %arg0 : tile<f32>
    %13 = fma %arg0, %arg1, %arg0 : tile<f32>
    // CHECK-NEXT: %14 = fma %arg0, %arg1, %arg0 rounding<zero> flush_to_zero : tile<f32>
    %14 = fma %arg0, %arg1, %arg0 rounding<zero> flush_to_zero : tile<f32>
    // CHECK-NEXT: %15 = remf %arg0, %arg1 : tile<f32>
    %15 = remf %arg0, %arg1 : tile<f32>
    // CHECK-NEXT: %16 = maxf %arg0, %arg1 : tile<f32>
    %16 = maxf %arg0, %arg1 : tile<f32>
    // CHECK-NEXT: %17 = maxf %arg0, %arg1 propagate_nan : tile<f32>
    %17 = maxf %arg0, %arg1 propagate_nan : tile<f32>
    // CHECK-NEXT: %18 = minf %arg0, %arg1 flush_to_zero propagate_nan : tile<f32>
    %18 = minf %arg0, %arg1 flush_to_zero propagate_nan : tile<f32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @functions(%arg0: tile<f32>, %arg1: tile<i32>) {
  entry @functions(%arg0: tile<f32>, %arg1: tile<i32>) {
    // CHECK-NEXT: %0 = sqrt %arg0 : tile<f32>
    %0 = sqrt %arg0 : tile<f32>
    // CHECK-NEXT: %1 = sqrt %arg0 rounding<approx> flush_to_zero : tile<f32>
    %1 = sqrt %arg0 rounding<approx> flush_to_zero : tile<f32>
    // CHECK-NEXT: %2 = rsqrt %arg0 flush_to_zero : tile<f32>
    %2 = rsqrt %arg0 flush_to_zero : tile<f32>
    // CHECK-NEXT: %3 = exp %arg0 : tile<f32>
    %3 = exp %arg0 : tile<f32>
    // CHECK-NEXT: %4 = exp %arg0 rounding<approx> : tile<f32>
    %4 = exp %arg0 rounding<approx> : tile<f32>
    // CHECK-NEXT: %5 = exp2 %arg0 flush_to_zero : tile<f32>
    %5 = exp2 %arg0 flush_to_zero : tile<f32>
    // CHECK-NEXT: %6 = log %arg0 : tile<f32>
    %6 = log %arg0 : tile<f32>
    // CHECK-NEXT: %7 = log2 %arg0 : tile<f32>
    %7 = log2 %arg0 : tile<f32>
    // CHECK-NEXT: %8 = sin %arg0 : tile<f32>
    %8 = sin %arg0 : tile<f32>
    // CHECK-NEXT: %9 = cos %arg0 : tile<f32>
    %9 = cos %arg0 : tile<f32>
    // CHECK-NEXT: %10 = tan %arg0 : tile<f32>
    %10 = tan %arg0 : tile<f32>
    // CHECK-NEXT: %11 = sinh %arg0 : tile<f32>
    %11 = sinh %arg0 : tile<f32>
    // CHECK-NEXT: %12 = cosh %arg0 : tile<f32>
    %12 = cosh %arg0 : tile<f32>
    // CHECK-NEXT: %13 = tanh %arg0 : tile<f32>
    %13 = tanh %arg0 : tile<f32>
    // CHECK-NEXT: %14 = tanh %arg0 rounding<approx> : tile<f32>
    %14 = tanh %arg0 rounding<approx> : tile<f32>
    // CHECK-NEXT: %15 = atan2 %arg0, %arg0 : tile<f32>
    %15 = atan2 %arg0, %arg0 : tile<f32>
    // CHECK-NEXT: %16 = pow %arg0, %arg0 : tile<f32>
    %16 = pow %arg0, %arg0 : tile<f32>
    // CHECK-NEXT: %17 = fpowf %arg0, %arg0 : tile<f32>
    %17 = fpowf %arg0, %arg0 : tile<f32>
    // CHECK-NEXT: %18 = fpowi %arg0, %arg1 : tile<f32>, tile<i32>
    %18 = fpowi %arg0, %arg1 : tile<f32>, tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @comparisons(%arg0: tile<f32>) {
  entry @comparisons(%arg0: tile<f32>) {
    // CHECK-NEXT: %0 = cmpf equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %0 = cmpf equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: %1 = cmpf not_equal unordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %1 = cmpf not_equal unordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: %2 = cmpf less_than ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %2 = cmpf less_than ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: %3 = cmpf less_than_or_equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %3 = cmpf less_than_or_equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: %4 = cmpf greater_than ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %4 = cmpf greater_than ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: %5 = cmpf greater_than_or_equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %5 = cmpf greater_than_or_equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @products() {
  entry @products() {
    // CHECK-NEXT: %cst_1_f16 = constant <f16: 1.000000e+00> : tile<16x32xf16>
    %cst_1_f16 = constant <f16: 1.000000e+00> : tile<16x32xf16>
    // CHECK-NEXT: %cst_1_f16_0 = constant <f16: 1.000000e+00> : tile<32x8xf16>
    %cst_1_f16_0 = constant <f16: 1.000000e+00> : tile<32x8xf16>
    // CHECK-NEXT: %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16x8xf32>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<16x8xf32>
    // CHECK-NEXT: %0 = mmaf %cst_1_f16, %cst_1_f16_0, %cst_0_f32 : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    %0 = mmaf %cst_1_f16, %cst_1_f16_0, %cst_0_f32 : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
    // CHECK-NEXT: %cst_1_f8E5M2 = constant <f8E5M2: 1.000000e+00> : tile<2x16x16xf8E5M2>
    %cst_1_f8E5M2 = constant <f8E5M2: 1.000000e+00> : tile<2x16x16xf8E5M2>
    // CHECK-NEXT: %cst_0_f16 = constant <f16: 0.000000e+00> : tile<2x16x16xf16>
    %cst_0_f16 = constant <f16: 0.000000e+00> : tile<2x16x16xf16>
    // CHECK-NEXT: %1 = mmaf %cst_1_f8E5M2, %cst_1_f8E5M2, %cst_0_f16 fast_acc : tile<2x16x16xf8E5M2>, tile<2x16x16xf8E5M2>, tile<2x16x16xf16>
    %1 = mmaf %cst_1_f8E5M2, %cst_1_f8E5M2, %cst_0_f16 fast_acc : tile<2x16x16xf8E5M2>, tile<2x16x16xf8E5M2>, tile<2x16x16xf16>
    // CHECK-NEXT: %cst_1_f4E2M1FN = constant <f4E2M1FN: 1.000000e+00> : tile<64x64xf4E2M1FN>
    %cst_1_f4E2M1FN = constant <f4E2M1FN: 1.000000e+00> : tile<64x64xf4E2M1FN>
    // CHECK-NEXT: %cst_0_f32_1 = constant <f32: 0.000000e+00> : tile<64x64xf32>
    %cst_0_f32_1 = constant <f32: 0.000000e+00> : tile<64x64xf32>
    // CHECK-NEXT: %cst_1_f8E8M0FNU = constant <f8E8M0FNU: 1.000000e+00> : tile<64x4xf8E8M0FNU>
    %cst_1_f8E8M0FNU = constant <f8E8M0FNU: 1.000000e+00> : tile<64x4xf8E8M0FNU>
    // CHECK-NEXT: %cst_1_f8E8M0FNU_2 = constant <f8E8M0FNU: 1.000000e+00> : tile<4x64xf8E8M0FNU>
    %cst_1_f8E8M0FNU_2 = constant <f8E8M0FNU: 1.000000e+00> : tile<4x64xf8E8M0FNU>
    // CHECK-NEXT: %2 = mmaf_scaled %cst_1_f4E2M1FN, %cst_1_f4E2M1FN, %cst_0_f32_1, %cst_1_f8E8M0FNU, %cst_1_f8E8M0FNU_2 : tile<64x64xf4E2M1FN>, tile<64x64xf4E2M1FN>, tile<64x64xf32>, tile<64x4xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
    %2 = mmaf_scaled %cst_1_f4E2M1FN, %cst_1_f4E2M1FN, %cst_0_f32_1, %cst_1_f8E8M0FNU, %cst_1_f8E8M0FNU_2 : tile<64x64xf4E2M1FN>, tile<64x64xf4E2M1FN>, tile<64x64xf32>, tile<64x4xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
