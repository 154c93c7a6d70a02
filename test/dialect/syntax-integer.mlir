// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Integer operations and conversions: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @arithmetic(%arg0: tile<i32>, %arg1: tile<i32>) {
  entry @arithmetic(%arg0: tile<i32>, %arg1: tile<i32>) {
    // CHECK-NEXT: %0 = absi %arg0 : tile<i32>
    %0 = absi %arg0 : tile<i32>
    // CHECK-NEXT: %1 = negi %arg0 : tile<i32>
    %1 = negi %arg0 : tile<i32>
    // CHECK-NEXT: %2 = negi %arg0 overflow<no_signed_wrap> : tile<i32>
    %2 = negi %arg0 overflow<no_signed_wrap> : tile<i32>
    // CHECK-NEXT: %3 = addi %arg0, %arg1 : tile<i32>
    %3 = addi %arg0, %arg1 : tile<i32>
    // CHECK-NEXT: %4 = addi %arg0, %arg1 overflow<no_wrap> : tile<i32>
    %4 = addi %arg0, %arg1 overflow<no_wrap> : tile<i32>
    // CHECK-NEXT: %5 = subi %arg0, %arg1 overflow<no_signed_wrap> : tile<i32>
    %5 = subi %arg0, %arg1 overflow<no_signed_wrap> : tile<i32>
    // CHECK-NEXT: %6 = muli %arg0, %arg1 overflow<no_unsigned_wrap> : tile<i32>
    %6 = muli %arg0, %arg1 overflow<no_unsigned_wrap> : tile<i32>
    // CHECK-NEXT: %7 = mulhii %arg0, %arg1 : tile<i32>
    %7 = mulhii %arg0, %arg1 : tile<i32>
    // CHECK-NEXT: %8 = divi %arg0, %arg1 signed : tile<i32>
    %8 = divi %arg0, %arg1 signed : tile<i32>
    // CHECK-NEXT: %9 = divi %arg0, %arg1 signed rounding<negative_inf> : tile<i32>
    %9 = divi %arg0, %arg1 signed rounding<negative_inf> : tile<i32>
    // CHECK-NEXT: %10 = divi %arg0, %arg1 unsigned rounding<positive_inf> : tile<i32>
    %10 = divi %arg0, %arg1 unsigned rounding<positive_inf> : tile<i32>
    // CHECK-NEXT: %11 = remi %arg0, %arg1 unsigned : tile<i32>
    %11 = remi %arg0, %arg1 unsigned : tile<i32>
    // CHECK-NEXT: %12 = maxi %arg0, %arg1 signed : tile<i32>
    %12 = maxi %arg0, %arg1 signed : tile<i32>
    // CHECK-NEXT: %13 = mini %arg0, %arg1 unsigned : tile<i32>
    %13 = mini %arg0, %arg1 unsigned : tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @bits(%arg0: tile<i32>, %arg1: tile<i1>) {
  entry @bits(%arg0: tile<i32>, %arg1: tile<i1>) {
    // CHECK-NEXT: %0 = shli %arg0, %arg0 : tile<i32>
    %0 = shli %arg0, %arg0 : tile<i32>
    // CHECK-NEXT: %1 = shli %arg0, %arg0 overflow<no_wrap> : tile<i32>
    %1 = shli %arg0, %arg0 overflow<no_wrap> : tile<i32>
    // CHECK-NEXT: %2 = shri %arg0, %arg0 signed : tile<i32>
    %2 = shri %arg0, %arg0 signed : tile<i32>
    // CHECK-NEXT: %3 = andi %arg1, %arg1 : tile<i1>
    %3 = andi %arg1, %arg1 : tile<i1>
    // CHECK-NEXT: %4 = ori %arg0, %arg0 : tile<i32>
    %4 = ori %arg0, %arg0 : tile<i32>
    // CHECK-NEXT: %5 = xori %arg0, %arg0 : tile<i32>
    %5 = xori %arg0, %arg0 : tile<i32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @comparisons(%arg0: tile<i32>) {
  entry @comparisons(%arg0: tile<i32>) {
    // CHECK-NEXT: %0 = cmpi equal %arg0, %arg0, signed : tile<i32> -> tile<i1>
    %0 = cmpi equal %arg0, %arg0, signed : tile<i32> -> tile<i1>
    // CHECK-NEXT: %1 = cmpi not_equal %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    %1 = cmpi not_equal %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    // CHECK-NEXT: %2 = cmpi less_than %arg0, %arg0, signed : tile<i32> -> tile<i1>
    %2 = cmpi less_than %arg0, %arg0, signed : tile<i32> -> tile<i1>
    // CHECK-NEXT: %3 = cmpi greater_than_or_equal %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    %3 = cmpi greater_than_or_equal %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @product() {
  entry @product() {
    // CHECK-NEXT: %cst_1_i8 = constant <i8: 1> : tile<16x32xi8>
    %cst_1_i8 = constant <i8: 1> : tile<16x32xi8>
    // CHECK-NEXT: %cst_1_i8_0 = constant <i8: 1> : tile<32x16xi8>
    %cst_1_i8_0 = constant <i8: 1> : tile<32x16xi8>
    // CHECK-NEXT: %cst_0_i32 = constant <i32: 0> : tile<16x16xi32>
    %cst_0_i32 = constant <i32: 0> : tile<16x16xi32>
    // CHECK-NEXT: %0 = mmai %cst_1_i8, %cst_1_i8_0, %cst_0_i32 signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    %0 = mmai %cst_1_i8, %cst_1_i8_0, %cst_0_i32 signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @conversions(%arg0: tile<i32>, %arg1: tile<f32>, %arg2: tile<ptr<f32>>) {
  entry @conversions(%arg0: tile<i32>, %arg1: tile<f32>, %arg2: tile<ptr<f32>>) {
    // CHECK-NEXT: %0 = bitcast %arg0 : tile<i32> -> tile<f32>
    %0 = bitcast %arg0 : tile<i32> -> tile<f32>
    // CHECK-NEXT: %1 = exti %arg0 signed : tile<i32> -> tile<i64>
    %1 = exti %arg0 signed : tile<i32> -> tile<i64>
    // CHECK-NEXT: %2 = exti %arg0 unsigned : tile<i32> -> tile<i64>
    %2 = exti %arg0 unsigned : tile<i32> -> tile<i64>
    // CHECK-NEXT: %3 = trunci %arg0 : tile<i32> -> tile<i8>
    %3 = trunci %arg0 : tile<i32> -> tile<i8>
    // CHECK-NEXT: %4 = trunci %arg0 overflow<no_signed_wrap> : tile<i32> -> tile<i1>
    %4 = trunci %arg0 overflow<no_signed_wrap> : tile<i32> -> tile<i1>
    // CHECK-NEXT: %5 = ftof %arg1 : tile<f32> -> tile<f16>
    %5 = ftof %arg1 : tile<f32> -> tile<f16>
    // CHECK-NEXT: %6 = ftof %arg1 rounding<zero> : tile<f32> -> tile<bf16>
    %6 = ftof %arg1 rounding<zero> : tile<f32> -> tile<bf16>
    // CHECK-NEXT: %7 = ftof %arg1 rounding<nearest_away> : tile<f32> -> tile<tf32>
    %7 = ftof %arg1 rounding<nearest_away> : tile<f32> -> tile<tf32>
    // CHECK-NEXT: %8 = ftof %arg1 rounding<positive_inf> : tile<f32> -> tile<f8E8M0FNU>
    %8 = ftof %arg1 rounding<positive_inf> : tile<f32> -> tile<f8E8M0FNU>
    // CHECK-NEXT: %9 = ftoi %arg1 signed : tile<f32> -> tile<i32>
    %9 = ftoi %arg1 signed : tile<f32> -> tile<i32>
    // CHECK-NEXT: %10 = ftoi %arg1 unsigned saturating : tile<f32> -> tile<i8>
    %10 = ftoi %arg1 unsigned saturating : tile<f32> -> tile<i8>
    // CHECK-NEXT: %11 = itof %arg0 signed : tile<i32> -> tile<f64>
    %11 = itof %arg0 signed : tile<i32> -> tile<f64>
    // CHECK-NEXT: %12 = itof %arg0 unsigned : tile<i32> -> tile<f16>
    %12 = itof %arg0 unsigned : tile<i32> -> tile<f16>
    // CHECK-NEXT: %13 = ptr_to_int %arg2 : tile<ptr<f32>> -> tile<i64>
    %13 = ptr_to_int %arg2 : tile<ptr<f32>> -> tile<i64>
    // CHECK-NEXT: %14 = int_to_ptr %13 : tile<i64> -> tile<ptr<i8>>
    %14 = int_to_ptr %13 : tile<i64> -> tile<ptr<i8>>
    // CHECK-NEXT: %15 = ptr_to_ptr %arg2 : tile<ptr<f32>> -> tile<ptr<i32>>
    %15 = ptr_to_ptr %arg2 : tile<ptr<f32>> -> tile<ptr<i32>>
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
