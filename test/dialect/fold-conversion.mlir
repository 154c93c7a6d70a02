// RUN: tile-opt %s --canonicalize | FileCheck %s

// Folds of conversions and casts.

cuda_tile.module @kernels {
  // Widening twice is widening once, if the signs agree or the first is unsigned.
  // CHECK-LABEL: entry @widening(
  // CHECK-NEXT: %[[NARROW:.*]] = exti %arg0 signed : tile<i8> -> tile<i16>
  // CHECK-NEXT: %[[SIGNED:.*]] = exti %arg0 signed : tile<i8> -> tile<i32>
  // CHECK-NEXT: %[[UNSIGNED:.*]] = exti %arg0 unsigned : tile<i8> -> tile<i32>
  // CHECK-NEXT: %[[MIXED:.*]] = exti %[[NARROW]] unsigned : tile<i16> -> tile<i32>
  // CHECK-NEXT: print "%d %d %d", %[[SIGNED]], %[[UNSIGNED]], %[[MIXED]] : tile<i32>, tile<i32>, tile<i32>
  entry @widening(%arg0: tile<i8>) {
    %0 = exti %arg0 signed : tile<i8> -> tile<i16>
    %1 = exti %0 signed : tile<i16> -> tile<i32>
    %2 = exti %arg0 unsigned : tile<i8> -> tile<i16>
    %3 = exti %2 signed : tile<i16> -> tile<i32>
    %4 = exti %0 unsigned : tile<i16> -> tile<i32>
    print "%d %d %d", %1, %3, %4 : tile<i32>, tile<i32>, tile<i32>
    return
  }

  // CHECK-LABEL: entry @narrowing(
  // CHECK-NEXT: %[[TWICE:.*]] = trunci %arg0 overflow<no_signed_wrap> : tile<i32> -> tile<i8>
  // CHECK-NEXT: %[[WIDE:.*]] = trunci %arg0 : tile<i32> -> tile<i8>
  // CHECK-NEXT: %[[MIDDLE:.*]] = exti %arg1 unsigned : tile<i8> -> tile<i32>
  // CHECK-NEXT: print "%d %d %d", %[[TWICE]], %arg1, %[[WIDE]] : tile<i8>, tile<i8>, tile<i8>
  // CHECK-NEXT: print "%d", %[[MIDDLE]] : tile<i32>
  entry @narrowing(%arg0: tile<i32>, %arg1: tile<i8>) {
    %0 = trunci %arg0 overflow<no_wrap> : tile<i32> -> tile<i16>
    %1 = trunci %0 overflow<no_signed_wrap> : tile<i16> -> tile<i8>
    %2 = exti %arg1 signed : tile<i8> -> tile<i32>
    %3 = trunci %2 : tile<i32> -> tile<i8>
    %4 = exti %arg0 unsigned : tile<i32> -> tile<i64>
    %5 = trunci %4 overflow<no_unsigned_wrap> : tile<i64> -> tile<i8>
    %6 = exti %arg1 unsigned : tile<i8> -> tile<i64>
    %7 = trunci %6 : tile<i64> -> tile<i32>
    print "%d %d %d", %1, %3, %5 : tile<i8>, tile<i8>, tile<i8>
    print "%d", %7 : tile<i32>
    return
  }

  // -1 widens to -1 or 255; 300 narrows to 44, 16777217 rounds to 16777216 in f32.
  // CHECK-LABEL: entry @constants(
  // CHECK: print "%d %d", %cst_-1_i32, %cst_255_i32
  // CHECK-NEXT: print "%d %d", %cst_44_i8, %cst_-2_i8
  // CHECK-NEXT: print "%f %f", %cst_16777216_f32, %cst_255_f32
  entry @constants() {
    %0 = constant <i8: -1> : tile<i8>
    %1 = exti %0 signed : tile<i8> -> tile<i32>
    %2 = exti %0 unsigned : tile<i8> -> tile<i32>
    %3 = constant <i32: 300> : tile<i32>
    %4 = trunci %3 : tile<i32> -> tile<i8>
    %5 = constant <i32: 16777217> : tile<i32>
    %6 = itof %5 signed : tile<i32> -> tile<f32>
    %7 = itof %0 unsigned : tile<i8> -> tile<f32>
    %8 = constant <f32: -2.75> : tile<f32>
    %9 = ftoi %8 signed : tile<f32> -> tile<i8>
    print "%d %d", %1, %2 : tile<i32>, tile<i32>
    print "%d %d", %4, %9 : tile<i8>, tile<i8>
    print "%f %f", %6, %7 : tile<f32>, tile<f32>
    return
  }

  // A float out of range has no integer; a broken promise is not folded.
  // CHECK-LABEL: entry @out_of_range(
  // CHECK: %{{.*}} = ftoi
  // CHECK-NEXT: %{{.*}} = trunci
  entry @out_of_range() {
    %0 = constant <f32: 300.0> : tile<f32>
    %1 = ftoi %0 signed : tile<f32> -> tile<i8>
    %2 = constant <i32: 300> : tile<i32>
    %3 = trunci %2 overflow<no_signed_wrap> : tile<i32> -> tile<i8>
    print "%d %d", %1, %3 : tile<i8>, tile<i8>
    return
  }

  // Widening is exact, so that narrowing back undoes it. 0.7 lies between 0.699707 and 0.700195 in f16, nearer to the latter.
  // CHECK-LABEL: entry @floats(
  // CHECK-DAG: %[[DOWN:.*]] = constant <f16: 6.997070e-01> : tile<f16>
  // CHECK-DAG: %[[NEAREST:.*]] = constant <f16: 7.001950e-01> : tile<f16>
  // CHECK-NOT: ftof %arg0
  // CHECK: %[[SINGLE:.*]] = ftof %arg1 : tile<f64> -> tile<f32>
  // CHECK-NEXT: %[[DOUBLE:.*]] = ftof %[[SINGLE]] : tile<f32> -> tile<f64>
  // CHECK-NEXT: print "%f %f %f", %arg0, %[[NEAREST]], %[[DOWN]]
  // CHECK-NEXT: print "%f", %[[DOUBLE]]
  entry @floats(%arg0: tile<f16>, %arg1: tile<f64>) {
    %0 = ftof %arg0 : tile<f16> -> tile<f32>
    %1 = ftof %0 : tile<f32> -> tile<f16>
    %2 = ftof %arg1 : tile<f64> -> tile<f32>
    %3 = ftof %2 : tile<f32> -> tile<f64>
    %4 = constant <f32: 0.7> : tile<f32>
    %5 = ftof %4 : tile<f32> -> tile<f16>
    %6 = ftof %4 rounding<zero> : tile<f32> -> tile<f16>
    print "%f %f %f", %1, %5, %6 : tile<f16>, tile<f16>, tile<f16>
    print "%f", %3 : tile<f64>
    return
  }

  // CHECK-LABEL: entry @bits(
  // CHECK-DAG: %[[HALF:.*]] = constant <f16: [1.000000e+00, -4.000000e+00]> : tile<2xf16>
  // CHECK-DAG: %[[ONE:.*]] = constant <i32: 1065353216> : tile<i32>
  // CHECK: print "%d %d", %arg0, %[[ONE]] : tile<i32>, tile<i32>
  // CHECK-NEXT: print "%f", %[[HALF]] : tile<2xf16>
  entry @bits(%arg0: tile<i32>) {
    %0 = bitcast %arg0 : tile<i32> -> tile<f32>
    %1 = bitcast %0 : tile<f32> -> tile<i32>
    %2 = constant <f32: 1.0> : tile<f32>
    %3 = bitcast %2 : tile<f32> -> tile<i32>
    %4 = constant <i16: [15360, -15360]> : tile<2xi16>
    %5 = bitcast %4 : tile<2xi16> -> tile<2xf16>
    print "%d %d", %1, %3 : tile<i32>, tile<i32>
    print "%f", %5 : tile<2xf16>
    return
  }

  // CHECK-LABEL: entry @pointers(
  // CHECK: %[[ADDRESS:.*]] = ptr_to_int %arg0
  // CHECK-NEXT: %{{.*}} = store_ptr_tko weak %arg0,
  // CHECK-NEXT: %{{.*}} = store_ptr_tko weak %arg0,
  // CHECK-NEXT: %{{.*}} = store_ptr_tko weak %arg0,
  // CHECK-NEXT: print "%d %d", %arg1, %[[ADDRESS]]
  entry @pointers(%arg0: tile<ptr<f32>>, %arg1: tile<i64>) {
    %0 = ptr_to_int %arg0 : tile<ptr<f32>> -> tile<i64>
    %1 = int_to_ptr %0 : tile<i64> -> tile<ptr<f32>>
    %2 = int_to_ptr %arg1 : tile<i64> -> tile<ptr<i8>>
    %3 = ptr_to_int %2 : tile<ptr<i8>> -> tile<i64>
    %4 = ptr_to_ptr %arg0 : tile<ptr<f32>> -> tile<ptr<i32>>
    %5 = ptr_to_ptr %4 : tile<ptr<i32>> -> tile<ptr<f32>>
    %6 = ptr_to_int %4 : tile<ptr<i32>> -> tile<i64>
    %7 = constant <i32: 0> : tile<i32>
    %8 = offset %arg0, %7 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %9 = constant <f32: 1.0> : tile<f32>
    %10 = store_ptr_tko weak %1, %9 : tile<ptr<f32>>, tile<f32> -> token
    %11 = store_ptr_tko weak %5, %9 : tile<ptr<f32>>, tile<f32> -> token
    %12 = store_ptr_tko weak %8, %9 : tile<ptr<f32>>, tile<f32> -> token
    print "%d %d", %3, %6 : tile<i64>, tile<i64>
    return
  }
}
