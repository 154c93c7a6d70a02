// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s
// RUN: tile-opt --convert-cuda-tile --mlir-print-debuginfo %s | FileCheck %s --check-prefix=PLACES

// print, assert, globals, locations.

cuda_tile.module @kernels {
  // Globals hold bits: 1.0 and 2.0 as they are in memory.
  // CHECK: llvm.mlir.global external @table(dense<[1065353216, 1073741824]> : tensor<2xi32>)
  // CHECK-SAME: {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<2 x i32>
  global @table alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>
  // CHECK: llvm.mlir.global internal @hidden
  // CHECK-SAME: alignment = 8 : i64
  global private @hidden <i64: [7, 8]> : tile<2xi64>

  // CHECK-LABEL: gpu.func @debug
  // CHECK-SAME: (%[[N:.*]]: i32, %[[C:.*]]: i1)
  entry @debug(%n: tile<i32>, %c: tile<i1>) {
    // CHECK-NEXT: tile_gpu.print "n = %i\0A", %[[N]] : i32
    // PLACES: tile_gpu.print {{.*}} loc(#[[PRINT:.*]])
    %t = print_tko "n = %i\0A", %n : tile<i32> -> token loc("kernel.py":3:5)
    // CHECK-NEXT: tile_gpu.assert %[[C]], "n is odd" : i1
    assert %c, "n is odd" : tile<i1>
    // CHECK-NEXT: llvm.mlir.addressof @table : !llvm.ptr<1>
    %p = get_global @table : tile<ptr<f32>>
    return
  }
}

// PLACES: #[[PRINT]] = loc("kernel.py":3:5)
