// RUN: tile-opt %s --canonicalize | FileCheck %s

// Folds of floating-point operations: only where the result is exact.

cuda_tile.module @kernels {
  // x + -0, x - 0, x * 1, x / 1 are x.
  // CHECK-LABEL: entry @neutral(
  // CHECK-NEXT: print "%f %f %f %f", %arg0, %arg0, %arg0, %arg0 : tile<f32>, tile<f32>, tile<f32>, tile<f32>
  entry @neutral(%arg0: tile<f32>, %arg1: tile<f32>) {
    %0 = constant <f32: -0.0> : tile<f32>
    %1 = constant <f32: 0.0> : tile<f32>
    %2 = constant <f32: 1.0> : tile<f32>
    %3 = addf %arg0, %0 : tile<f32>
    %4 = subf %arg0, %1 rounding<zero> : tile<f32>
    %5 = mulf %2, %arg0 rounding<negative_inf> : tile<f32>
    %6 = divf %arg0, %2 : tile<f32>
    print "%f %f %f %f", %3, %4, %5, %6 : tile<f32>, tile<f32>, tile<f32>, tile<f32>
    return
  }

  // x + 0 makes 0 of -0, and so does x - 0 rounding down; flushing changes subnormals.
  // CHECK-LABEL: entry @not_neutral(
  // CHECK: %{{.*}} = addf
  // CHECK-NEXT: %{{.*}} = subf
  // CHECK-NEXT: %{{.*}} = addf
  // CHECK-NEXT: %{{.*}} = addf
  // CHECK-NEXT: %{{.*}} = mulf
  // CHECK-NEXT: %{{.*}} = divf
  // CHECK-NEXT: %{{.*}} = mulf
  // CHECK-NEXT: %{{.*}} = subf
  entry @not_neutral(%arg0: tile<f32>, %arg1: tile<f32>) {
    %0 = constant <f32: 0.0> : tile<f32>
    %1 = constant <f32: -0.0> : tile<f32>
    %2 = constant <f32: 1.0> : tile<f32>
    %3 = addf %arg0, %0 : tile<f32>
    %4 = subf %arg0, %0 rounding<negative_inf> : tile<f32>
    %5 = addf %arg0, %1 rounding<negative_inf> : tile<f32>
    %6 = addf %arg0, %1 flush_to_zero : tile<f32>
    %7 = mulf %arg0, %2 flush_to_zero : tile<f32>
    %8 = divf %arg0, %2 rounding<approx> : tile<f32>
    %9 = mulf %arg0, %0 : tile<f32>
    %10 = subf %arg0, %arg0 : tile<f32>
    print "%f %f %f %f %f %f %f %f", %3, %4, %5, %6, %7, %8, %9, %10 : tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>, tile<f32>
    return
  }

  // - -x is x, |-x| and | |x| | are |x|.
  // CHECK-LABEL: entry @signs(
  // CHECK-NEXT: %0 = absf %arg0 : tile<f32>
  // CHECK-NEXT: %1 = absf %arg1 : tile<f32>
  // CHECK-NEXT: print "%f %f %f", %arg0, %0, %1 : tile<f32>, tile<f32>, tile<f32>
  entry @signs(%arg0: tile<f32>, %arg1: tile<f32>) {
    %0 = negf %arg0 : tile<f32>
    %1 = negf %0 : tile<f32>
    %2 = absf %0 : tile<f32>
    %3 = absf %arg1 : tile<f32>
    %4 = absf %3 : tile<f32>
    print "%f %f %f", %1, %2, %4 : tile<f32>, tile<f32>, tile<f32>
    return
  }

  // 1 + 2^-24 lies halfway between 1 and its successor: 1 to even and towards zero, 1 + 2^-23 up.
  // CHECK-LABEL: entry @rounding(
  // CHECK-DAG: %cst_f32 = constant <f32: 1.00000012> : tile<f32>
  // CHECK-DAG: %cst_1_f32 = constant <f32: 1.000000e+00> : tile<f32>
  // CHECK: print "%f %f %f", %cst_1_f32, %cst_f32, %cst_1_f32 : tile<f32>, tile<f32>, tile<f32>
  entry @rounding() {
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = constant <f32: 5.9604644775390625e-08> : tile<f32>
    %2 = addf %0, %1 : tile<f32>
    %3 = addf %0, %1 rounding<positive_inf> : tile<f32>
    %4 = addf %0, %1 rounding<zero> : tile<f32>
    print "%f %f %f", %2, %3, %4 : tile<f32>, tile<f32>, tile<f32>
    return
  }

  // In f16, 2048 + 1 is 2048, or 2050 rounding up; 1 / 3 is 0.333252 down, 0.333496 up.
  // CHECK-LABEL: entry @half(
  // CHECK-DAG: %[[UP:.*]] = constant <f16: 3.334960e-01> : tile<f16>
  // CHECK-DAG: %[[DOWN:.*]] = constant <f16: 3.332520e-01> : tile<f16>
  // CHECK-DAG: %cst_2050_f16 = constant <f16: 2.050000e+03> : tile<f16>
  // CHECK-DAG: %cst_2048_f16 = constant <f16: 2.048000e+03> : tile<f16>
  // CHECK: print "%f %f %f %f", %cst_2048_f16, %cst_2050_f16, %[[DOWN]], %[[UP]] : tile<f16>, tile<f16>, tile<f16>, tile<f16>
  entry @half() {
    %0 = constant <f16: 2048.0> : tile<f16>
    %1 = constant <f16: 1.0> : tile<f16>
    %2 = constant <f16: 3.0> : tile<f16>
    %3 = addf %0, %1 : tile<f16>
    %4 = addf %0, %1 rounding<positive_inf> : tile<f16>
    %5 = divf %1, %2 rounding<negative_inf> : tile<f16>
    %6 = divf %1, %2 rounding<positive_inf> : tile<f16>
    print "%f %f %f %f", %3, %4, %5, %6 : tile<f16>, tile<f16>, tile<f16>, tile<f16>
    return
  }

  // NaN results are not folded, nor what is flushed or approximate.
  // CHECK-LABEL: entry @not_a_number(
  // CHECK: %{{.*}} = divf
  // CHECK-NEXT: %{{.*}} = subf
  // CHECK-NEXT: %{{.*}} = mulf
  // CHECK-NEXT: %{{.*}} = divf
  entry @not_a_number() {
    %0 = constant <f32: 0.0> : tile<f32>
    %1 = constant <f32: 0x7F800000> : tile<f32>
    %2 = constant <f32: 3.0> : tile<f32>
    %3 = divf %0, %0 : tile<f32>
    %4 = subf %1, %1 : tile<f32>
    %5 = mulf %2, %2 flush_to_zero : tile<f32>
    %6 = divf %2, %2 rounding<full> : tile<f32>
    print "%f %f %f %f", %3, %4, %5, %6 : tile<f32>, tile<f32>, tile<f32>, tile<f32>
    return
  }

  // 1 / 0 is infinity, and 2^127 + 2^127 is, unless rounded towards zero.
  // CHECK-LABEL: entry @infinity(
  // CHECK-DAG: %[[LARGEST:.*]] = constant <f32: 3.40282347E+38> : tile<f32>
  // CHECK-DAG: %[[INFINITY:.*]] = constant <f32: 0x7F800000> : tile<f32>
  // CHECK: print "%f %f %f", %[[INFINITY]], %[[INFINITY]], %[[LARGEST]] : tile<f32>, tile<f32>, tile<f32>
  entry @infinity() {
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = constant <f32: 0.0> : tile<f32>
    %2 = constant <f32: 1.7014118346046923e+38> : tile<f32>
    %3 = divf %0, %1 : tile<f32>
    %4 = addf %2, %2 : tile<f32>
    %5 = addf %2, %2 rounding<zero> : tile<f32>
    print "%f %f %f", %3, %4, %5 : tile<f32>, tile<f32>, tile<f32>
    return
  }

  // +0 is greater than -0.
  // CHECK-LABEL: entry @extremes(
  // CHECK-DAG: %[[PLUS:.*]] = constant <f32: 0.000000e+00> : tile<f32>
  // CHECK-DAG: %[[MINUS:.*]] = constant <f32: -0.000000e+00> : tile<f32>
  // CHECK: %[[MAX:.*]] = maxf
  // CHECK-NEXT: print "%f %f %f", %[[PLUS]], %[[MINUS]], %[[MAX]]
  entry @extremes() {
    %0 = constant <f32: 0.0> : tile<f32>
    %1 = constant <f32: -0.0> : tile<f32>
    %2 = maxf %0, %1 : tile<f32>
    %3 = minf %0, %1 : tile<f32>
    %4 = constant <f32: 0x7FC00000> : tile<f32>
    %5 = maxf %0, %4 : tile<f32>
    print "%f %f %f", %2, %3, %5 : tile<f32>, tile<f32>, tile<f32>
    return
  }

  // -1.5 rounds up to -1 and down to -2; -0.5 rounds up to -0.
  // CHECK-LABEL: entry @integral(
  // CHECK-DAG: %[[FLOOR:.*]] = constant <f32: [-2.000000e+00, -1.000000e+00]> : tile<2xf32>
  // CHECK-DAG: %[[CEIL:.*]] = constant <f32: [-1.000000e+00, -0.000000e+00]> : tile<2xf32>
  // CHECK: print "%f %f", %[[CEIL]], %[[FLOOR]] : tile<2xf32>, tile<2xf32>
  entry @integral() {
    %0 = constant <f32: [-1.5, -0.5]> : tile<2xf32>
    %1 = ceil %0 : tile<2xf32>
    %2 = floor %0 : tile<2xf32>
    print "%f %f", %1, %2 : tile<2xf32>, tile<2xf32>
    return
  }

  // NaN compares false when ordered, true when unordered; x compares with itself as equal or NaN.
  // CHECK-LABEL: entry @comparisons(
  // CHECK: %[[NAN:.*]] = cmpf equal ordered %arg0, %arg0
  // CHECK-NEXT: print "%d %d %d %d %d %d", %false, %true, %false, %true, %false, %[[NAN]]
  entry @comparisons(%arg0: tile<f32>, %arg1: tile<f32>) {
    %0 = constant <f32: 0x7FC00000> : tile<f32>
    %1 = constant <f32: 1.0> : tile<f32>
    %2 = cmpf less_than ordered %0, %1 : tile<f32> -> tile<i1>
    %3 = cmpf less_than unordered %0, %1 : tile<f32> -> tile<i1>
    %4 = cmpf not_equal ordered %1, %1 : tile<f32> -> tile<i1>
    %5 = cmpf equal unordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %6 = cmpf greater_than ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    %7 = cmpf equal ordered %arg0, %arg0 : tile<f32> -> tile<i1>
    print "%d %d %d %d %d %d", %2, %3, %4, %5, %6, %7 : tile<i1>, tile<i1>, tile<i1>, tile<i1>, tile<i1>, tile<i1>
    return
  }
}
