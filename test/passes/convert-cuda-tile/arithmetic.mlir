// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Integer arithmetic, comparison, selection. Scalars become builtin scalars; tiles, tiles without
// a layout, under the same operations of arith.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @scalars
  // CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32) kernel
  entry @scalars(%a: tile<i32>, %b: tile<i32>) {
    // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i32
    %0 = addi %a, %b : tile<i32>
    // CHECK-NEXT: arith.muli %[[SUM]], %[[B]] overflow<nsw, nuw> : i32
    %1 = muli %0, %b overflow<no_wrap> : tile<i32>
    // CHECK-NEXT: arith.subi %[[A]], %[[B]] overflow<nsw> : i32
    %2 = subi %a, %b overflow<no_signed_wrap> : tile<i32>
    // CHECK-NEXT: arith.shli %[[A]], %[[B]] overflow<nuw> : i32
    %3 = shli %a, %b overflow<no_unsigned_wrap> : tile<i32>
    // CHECK-NEXT: gpu.return
    return
  }

  // CHECK-LABEL: gpu.func @tiles
  entry @tiles(%n: tile<i32>) {
    // CHECK-NEXT: %[[X:.*]] = tile_gpu.iota : !tile_gpu.tile<8xi32>
    %x = iota : tile<8xi32>
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant dense<1> : !tile_gpu.tile<8xi32>
    %one = constant <i32: 1> : tile<8xi32>
    // CHECK-NEXT: arith.addi %[[X]], %[[ONE]] : !tile_gpu.tile<8xi32>
    %0 = addi %x, %one : tile<8xi32>
    // CHECK-NEXT: arith.andi
    %1 = andi %x, %one : tile<8xi32>
    // CHECK-NEXT: arith.ori
    %2 = ori %x, %one : tile<8xi32>
    // CHECK-NEXT: arith.xori
    %3 = xori %x, %one : tile<8xi32>
    // CHECK-NEXT: arith.maxsi
    %4 = maxi %x, %one signed : tile<8xi32>
    // CHECK-NEXT: arith.minui
    %5 = mini %x, %one unsigned : tile<8xi32>
    // CHECK-NEXT: arith.shrsi
    %6 = shri %x, %one signed : tile<8xi32>
    // CHECK-NEXT: arith.shrui
    %7 = shri %x, %one unsigned : tile<8xi32>
    // CHECK-NEXT: arith.remsi
    %8 = remi %x, %one signed : tile<8xi32>
    // CHECK-NEXT: arith.remui
    %9 = remi %x, %one unsigned : tile<8xi32>
    // CHECK-NEXT: gpu.return
    return
  }

  // CHECK-LABEL: gpu.func @negation
  // CHECK-SAME: (%[[A:.*]]: i32)
  entry @negation(%a: tile<i32>) {
    // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: arith.subi %[[ZERO]], %[[A]] : i32
    %0 = negi %a : tile<i32>
    // |a|: the most negative number stays itself.
    // CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[A]], %[[Z:.*]] : i32
    // CHECK-NEXT: %[[MINUS:.*]] = arith.subi %[[Z]], %[[A]] : i32
    // CHECK-NEXT: arith.select %[[NEGATIVE]], %[[MINUS]], %[[A]] : i32
    %1 = absi %a : tile<i32>
    return
  }

  // Division truncates; the other roundings correct the quotient by the sign of the remainder.
  // CHECK-LABEL: gpu.func @division
  // CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i32)
  entry @division(%a: tile<i32>, %b: tile<i32>) {
    // CHECK-NEXT: arith.divsi %[[A]], %[[B]] : i32
    %0 = divi %a, %b signed : tile<i32>
    // CHECK-NEXT: arith.divui %[[A]], %[[B]] : i32
    %1 = divi %a, %b unsigned : tile<i32>
    // CHECK-NEXT: %[[Q:.*]] = arith.divsi
    // CHECK-NEXT: %[[P:.*]] = arith.muli %[[Q]], %[[B]]
    // CHECK: %[[R:.*]] = arith.subi %[[A]], %[[P]]
    // CHECK-NEXT: %[[INEXACT:.*]] = arith.cmpi ne, %[[R]]
    // CHECK-NEXT: %[[SIGNS:.*]] = arith.xori %[[R]], %[[B]]
    // CHECK-NEXT: %[[DIFFER:.*]] = arith.cmpi slt, %[[SIGNS]]
    // CHECK-NEXT: %[[DOWN:.*]] = arith.andi %[[INEXACT]], %[[DIFFER]]
    // CHECK-NEXT: %[[LESS:.*]] = arith.subi %[[Q]]
    // CHECK-NEXT: arith.select %[[DOWN]], %[[LESS]], %[[Q]]
    %2 = divi %a, %b signed rounding<negative_inf> : tile<i32>
    // CHECK: arith.divui
    // CHECK-NOT: arith.xori
    // CHECK: %[[MORE:.*]] = arith.addi
    // CHECK-NEXT: arith.select %{{.*}}, %[[MORE]]
    %3 = divi %a, %b unsigned rounding<positive_inf> : tile<i32>
    return
  }

  // CHECK-LABEL: gpu.func @high_product
  entry @high_product(%a: tile<i64>, %b: tile<i32>, %c: tile<i8>) {
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.mulhi.ull"
    %0 = mulhii %a, %a : tile<i64>
    // CHECK-NEXT: tile_gpu.call "llvm.nvvm.mulhi.ui"
    %1 = mulhii %b, %b : tile<i32>
    // CHECK-NEXT: arith.extui %{{.*}} : i8 to i32
    // CHECK: arith.muli %{{.*}} : i32
    // CHECK: arith.shrui
    // CHECK-NEXT: arith.trunci %{{.*}} : i32 to i8
    %2 = mulhii %c, %c : tile<i8>
    return
  }

  // CHECK-LABEL: gpu.func @comparison
  entry @comparison(%a: tile<i32>, %x: tile<f32>) {
    // CHECK: arith.cmpi eq,
    %0 = cmpi equal %a, %a, signed : tile<i32> -> tile<i1>
    // CHECK-NEXT: arith.cmpi sle,
    %1 = cmpi less_than_or_equal %a, %a, signed : tile<i32> -> tile<i1>
    // CHECK-NEXT: arith.cmpi ugt,
    %2 = cmpi greater_than %a, %a, unsigned : tile<i32> -> tile<i1>
    // CHECK-NEXT: arith.cmpf olt,
    %3 = cmpf less_than ordered %x, %x : tile<f32> -> tile<i1>
    // CHECK-NEXT: arith.cmpf une,
    %4 = cmpf not_equal unordered %x, %x : tile<f32> -> tile<i1>
    // CHECK-NEXT: arith.select %{{.*}} : f32
    %5 = select %3, %x, %x : tile<i1>, tile<f32>
    // A tile is compared by arith, chosen by an operation of ours.
    // CHECK: %[[C:.*]] = arith.cmpi slt, %[[I:.*]], %{{.*}} : !tile_gpu.tile<8xi32>
    %i = iota : tile<8xi32>
    %6 = constant <i32: 3> : tile<8xi32>
    %7 = cmpi less_than %i, %6, signed : tile<8xi32> -> tile<8xi1>
    // CHECK-NEXT: tile_gpu.select %[[C]], %[[I]], %{{.*}} : !tile_gpu.tile<8xi1>, !tile_gpu.tile<8xi32>
    %8 = select %7, %i, %6 : tile<8xi1>, tile<8xi32>
    return
  }
}
