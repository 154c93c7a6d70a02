// RUN: tile-opt %s --canonicalize | FileCheck %s

// Folds of integer operations.

cuda_tile.module @kernels {
  // x + 0, x - 0, x * 1, x / 1, x << 0, x >> 0, x ^ 0, x | 0 are x.
  // CHECK-LABEL: entry @zero_and_one(
  // CHECK-NEXT: print "%d %d %d %d %d %d %d %d", %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
  entry @zero_and_one(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %2 = addi %arg0, %0 : tile<i32>
    %3 = subi %arg0, %0 : tile<i32>
    %4 = muli %arg0, %1 : tile<i32>
    %5 = divi %arg0, %1 signed : tile<i32>
    %6 = shli %arg0, %0 : tile<i32>
    %7 = shri %arg0, %0 signed : tile<i32>
    %8 = xori %0, %arg0 : tile<i32>
    %9 = ori %0, %arg0 : tile<i32>
    print "%d %d %d %d %d %d %d %d", %2, %3, %4, %5, %6, %7, %8, %9 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
    return
  }

  // x & -1 is x, x | -1 is -1, x & 0 and x * 0 are 0; so are the high half of x * 1 and x % 1.
  // CHECK-LABEL: entry @all_bits(
  // CHECK-DAG: %cst_0_i32 = constant <i32: 0> : tile<i32>
  // CHECK-DAG: %cst_-1_i32 = constant <i32: -1> : tile<i32>
  // CHECK: print "%d %d %d %d %d %d", %arg0, %cst_-1_i32, %cst_0_i32, %cst_0_i32, %cst_0_i32, %cst_0_i32 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
  entry @all_bits(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: -1> : tile<i32>
    %2 = constant <i32: 1> : tile<i32>
    %3 = andi %arg0, %1 : tile<i32>
    %4 = ori %arg0, %1 : tile<i32>
    %5 = andi %arg0, %0 : tile<i32>
    %6 = muli %arg0, %0 : tile<i32>
    %7 = mulhii %arg0, %2 : tile<i32>
    %8 = remi %arg0, %2 unsigned : tile<i32>
    print "%d %d %d %d %d %d", %3, %4, %5, %6, %7, %8 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
    return
  }

  // x - x and x ^ x are 0; x & x, x | x, max and min are x.
  // CHECK-LABEL: entry @same_operands(
  // CHECK-DAG: %cst_0_i32 = constant <i32: 0> : tile<i32>
  // CHECK: print "%d %d %d %d %d %d", %cst_0_i32, %cst_0_i32, %arg0, %arg0, %arg0, %arg0 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
  entry @same_operands(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = subi %arg0, %arg0 : tile<i32>
    %1 = xori %arg0, %arg0 : tile<i32>
    %2 = andi %arg0, %arg0 : tile<i32>
    %3 = ori %arg0, %arg0 : tile<i32>
    %4 = maxi %arg0, %arg0 signed : tile<i32>
    %5 = mini %arg0, %arg0 unsigned : tile<i32>
    print "%d %d %d %d %d %d", %0, %1, %2, %3, %4, %5 : tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>, tile<i32>
    return
  }

  // - -x and (x ^ y) ^ y are x; | |x| | is |x|.
  // CHECK-LABEL: entry @inverses(
  // CHECK-NEXT: %0 = absi %arg0 : tile<i32>
  // CHECK-NEXT: print "%d %d %d", %arg0, %arg0, %0 : tile<i32>, tile<i32>, tile<i32>
  entry @inverses(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = negi %arg0 : tile<i32>
    %1 = negi %0 : tile<i32>
    %2 = xori %arg0, %arg1 : tile<i32>
    %3 = xori %2, %arg1 : tile<i32>
    %4 = absi %arg0 : tile<i32>
    %5 = absi %4 : tile<i32>
    print "%d %d %d", %1, %3, %5 : tile<i32>, tile<i32>, tile<i32>
    return
  }

  // The maximum with the least value is the other operand; with the greatest, that.
  // CHECK-LABEL: entry @limits(
  // CHECK-DAG: %cst_-128_i8 = constant <i8: -128> : tile<i8>
  // CHECK-DAG: %cst_127_i8 = constant <i8: 127> : tile<i8>
  // CHECK: print "%d %d %d %d", %arg0, %cst_127_i8, %arg0, %cst_-128_i8 : tile<i8>, tile<i8>, tile<i8>, tile<i8>
  entry @limits(%arg0: tile<i8>) {
    %0 = constant <i8: -128> : tile<i8>
    %1 = constant <i8: 127> : tile<i8>
    %2 = constant <i8: 255> : tile<i8>
    %3 = maxi %arg0, %0 signed : tile<i8>
    %4 = maxi %arg0, %1 signed : tile<i8>
    %5 = mini %arg0, %2 unsigned : tile<i8>
    %6 = mini %arg0, %0 signed : tile<i8>
    print "%d %d %d %d", %3, %4, %5, %6 : tile<i8>, tile<i8>, tile<i8>, tile<i8>
    return
  }

  // Arithmetic wraps: 127 + 1 is -128, 100 * 3 is 44, -(-128) is -128, |-128| is -128.
  // CHECK-LABEL: entry @wrapping(
  // CHECK-DAG: %cst_39_i8 = constant <i8: 39> : tile<i8>
  // CHECK-DAG: %cst_44_i8 = constant <i8: 44> : tile<i8>
  // CHECK-DAG: %cst_-128_i8 = constant <i8: -128> : tile<i8>
  // CHECK: print "%d %d %d %d %d", %cst_-128_i8, %cst_44_i8, %cst_-128_i8, %cst_-128_i8, %cst_39_i8 : tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>
  entry @wrapping() {
    %0 = constant <i8: 127> : tile<i8>
    %1 = constant <i8: 1> : tile<i8>
    %2 = constant <i8: 100> : tile<i8>
    %3 = constant <i8: 3> : tile<i8>
    %4 = constant <i8: -128> : tile<i8>
    %5 = addi %0, %1 : tile<i8>
    %6 = muli %2, %3 : tile<i8>
    %7 = negi %4 : tile<i8>
    %8 = absi %4 : tile<i8>
    %9 = mulhii %2, %2 : tile<i8>
    print "%d %d %d %d %d", %5, %6, %7, %8, %9 : tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>
    return
  }

  // -7 / 2 is -3 truncated, -4 rounded down, -3 rounded up; the remainder is -1.
  // Unsigned, 249 / 2 is 124, 125 rounded up.
  // CHECK-LABEL: entry @divisions(
  // CHECK-DAG: %cst_125_i8 = constant <i8: 125> : tile<i8>
  // CHECK-DAG: %cst_124_i8 = constant <i8: 124> : tile<i8>
  // CHECK-DAG: %cst_-1_i8 = constant <i8: -1> : tile<i8>
  // CHECK-DAG: %cst_-4_i8 = constant <i8: -4> : tile<i8>
  // CHECK-DAG: %cst_-3_i8 = constant <i8: -3> : tile<i8>
  // CHECK: print "%d %d %d %d %d %d", %cst_-3_i8, %cst_-4_i8, %cst_-3_i8, %cst_-1_i8, %cst_124_i8, %cst_125_i8 : tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>
  entry @divisions() {
    %0 = constant <i8: -7> : tile<i8>
    %1 = constant <i8: 2> : tile<i8>
    %2 = divi %0, %1 signed : tile<i8>
    %3 = divi %0, %1 signed rounding<negative_inf> : tile<i8>
    %4 = divi %0, %1 signed rounding<positive_inf> : tile<i8>
    %5 = remi %0, %1 signed : tile<i8>
    %6 = divi %0, %1 unsigned : tile<i8>
    %7 = divi %0, %1 unsigned rounding<positive_inf> : tile<i8>
    print "%d %d %d %d %d %d", %2, %3, %4, %5, %6, %7 : tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>
    return
  }

  // Elements of lists fold one by one.
  // CHECK-LABEL: entry @lists(
  // CHECK-DAG: %[[TRUE:.*]] = constant <i1: true> : tile<4xi1>
  // CHECK-DAG: %[[SHIFTED:.*]] = constant <i32: [20, 40, 80, 160]> : tile<4xi32>
  // CHECK-DAG: %[[SUM:.*]] = constant <i32: [11, 12, 13, 14]> : tile<4xi32>
  // CHECK: print "%d %d", %[[SUM]], %[[SHIFTED]]
  // CHECK-NEXT: assert %[[TRUE]]
  entry @lists() {
    %0 = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %1 = constant <i32: 10> : tile<4xi32>
    %2 = addi %0, %1 : tile<4xi32>
    %3 = shli %1, %0 : tile<4xi32>
    %4 = cmpi less_than %0, %2, signed : tile<4xi32> -> tile<4xi1>
    print "%d %d", %2, %3 : tile<4xi32>, tile<4xi32>
    assert %4, "less" : tile<4xi1>
    return
  }

  // What is undefined stays: division by 0 and of -128 by -1, broken promises, wide shifts.
  // CHECK-LABEL: entry @undefined(
  // CHECK: divi {{.*}} signed : tile<i8>
  // CHECK-NEXT: %{{.*}} = remi
  // CHECK-NEXT: %{{.*}} = divi
  // CHECK-NEXT: %{{.*}} = addi {{.*}} overflow<no_signed_wrap>
  // CHECK-NEXT: %{{.*}} = subi {{.*}} overflow<no_unsigned_wrap>
  // CHECK-NEXT: %{{.*}} = muli {{.*}} overflow<no_wrap>
  // CHECK-NEXT: %{{.*}} = negi {{.*}} overflow<no_signed_wrap>
  // CHECK-NEXT: %{{.*}} = shli
  // CHECK-NEXT: %{{.*}} = shri
  entry @undefined(%arg0: tile<i8>) {
    %0 = constant <i8: 0> : tile<i8>
    %1 = constant <i8: -128> : tile<i8>
    %2 = constant <i8: -1> : tile<i8>
    %3 = constant <i8: 127> : tile<i8>
    %4 = constant <i8: 8> : tile<i8>
    %5 = divi %3, %0 signed : tile<i8>
    %6 = remi %3, %0 unsigned : tile<i8>
    %7 = divi %1, %2 signed : tile<i8>
    %8 = addi %3, %3 overflow<no_signed_wrap> : tile<i8>
    %9 = subi %0, %3 overflow<no_unsigned_wrap> : tile<i8>
    %10 = muli %3, %3 overflow<no_wrap> : tile<i8>
    %11 = negi %1 overflow<no_signed_wrap> : tile<i8>
    %12 = shli %3, %4 : tile<i8>
    %13 = shri %3, %4 signed : tile<i8>
    print "%d %d %d %d %d %d %d %d %d", %5, %6, %7, %8, %9, %10, %11, %12, %13 : tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>, tile<i8>
    return
  }

  // A kept promise folds: as unsigned numbers 127 + 127 does not wrap.
  // CHECK-LABEL: entry @kept_promises(
  // CHECK-DAG: %cst_-2_i8 = constant <i8: -2> : tile<i8>
  // CHECK: print "%d", %cst_-2_i8 : tile<i8>
  entry @kept_promises() {
    %0 = constant <i8: 127> : tile<i8>
    %1 = addi %0, %0 overflow<no_unsigned_wrap> : tile<i8>
    print "%d", %1 : tile<i8>
    return
  }

  // A value equals itself.
  // CHECK-LABEL: entry @comparisons(
  // CHECK-DAG: %true = constant <i1: true> : tile<i1>
  // CHECK-DAG: %false = constant <i1: false> : tile<i1>
  // CHECK: print "%d %d %d %d %d", %true, %false, %true, %true, %false : tile<i1>, tile<i1>, tile<i1>, tile<i1>, tile<i1>
  entry @comparisons(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = cmpi equal %arg0, %arg0, signed : tile<i32> -> tile<i1>
    %1 = cmpi less_than %arg0, %arg0, unsigned : tile<i32> -> tile<i1>
    %2 = cmpi greater_than_or_equal %arg0, %arg0, signed : tile<i32> -> tile<i1>
    %3 = constant <i32: -1> : tile<i32>
    %4 = constant <i32: 1> : tile<i32>
    %5 = cmpi less_than %3, %4, signed : tile<i32> -> tile<i1>
    %6 = cmpi less_than %3, %4, unsigned : tile<i32> -> tile<i1>
    print "%d %d %d %d %d", %0, %1, %2, %5, %6 : tile<i1>, tile<i1>, tile<i1>, tile<i1>, tile<i1>
    return
  }

  // (x + 3) + 4 is x + 7, unless a promise goes with it.
  // CHECK-LABEL: entry @constants_move_right(
  // CHECK-DAG: %[[SEVEN:.*]] = constant <i32: 7> : tile<i32>
  // CHECK: addi %arg0, %[[SEVEN]] : tile<i32>
  // CHECK-NEXT: %[[SUM:.*]] = addi %arg1, %{{.*}} overflow<no_signed_wrap> : tile<i32>
  // CHECK-NEXT: %{{.*}} = addi %[[SUM]], %{{.*}} : tile<i32>
  entry @constants_move_right(%arg0: tile<i32>, %arg1: tile<i32>) {
    %0 = constant <i32: 3> : tile<i32>
    %1 = constant <i32: 4> : tile<i32>
    %2 = addi %0, %arg0 : tile<i32>
    %3 = addi %2, %1 : tile<i32>
    %4 = addi %arg1, %0 overflow<no_signed_wrap> : tile<i32>
    %5 = addi %4, %1 : tile<i32>
    print "%d %d", %3, %5 : tile<i32>, tile<i32>
    return
  }

  // Lists of more than 4096 elements are left alone; splats of any size fold.
  // CHECK-LABEL: entry @large_lists(
  // CHECK-DAG: %cst_10_i32 = constant <i32: 10> : tile<1048576xi32>
  // CHECK: print "%d", %cst_10_i32 : tile<1048576xi32>
  entry @large_lists() {
    %0 = constant <i32: 5> : tile<1048576xi32>
    %1 = addi %0, %0 : tile<1048576xi32>
    print "%d", %1 : tile<1048576xi32>
    return
  }
}
