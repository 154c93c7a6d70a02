// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG

// What NVIDIA's disassembler prints: the contents of a module, without it, and
// with the aliases of locations at the end.

// CHECK: cuda_tile.module @kernels {
// CHECK: global @g alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
// DEBUG: global @g {{.*}} loc([[UNKNOWN:#loc[0-9]*]])
global  @g alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32> loc(#loc)
// CHECK: entry @k(%arg0: tile<f32>) {
entry @k(%arg0: tile<f32>) {
  // CHECK: addf %arg0, %arg0 : tile<f32>
  // DEBUG: addf %arg0, %arg0 : tile<f32> loc([[ADD:#loc[0-9]*]])
  %0 = addf %arg0, %arg0  : tile<f32> loc(#loc4)
  return loc(#loc4)
} loc(#loc3)
#di_file = #cuda_tile.di_file<"k.py" in "/x">
#loc = loc(unknown)
#loc1 = loc("k.py":1:1)
#loc2 = loc("k.py":4:5)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 1, name = "k", linkageName = "k", compileUnit = #di_compile_unit, scopeLine = 1>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 2, column = 3>
#loc3 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc4 = #cuda_tile.di_loc<#loc2 in #di_lexical_block>
// DEBUG: [[FILE:#di_file]] = #cuda_tile.di_file<"k.py" in "/x">
// DEBUG: [[POSITION:#loc[0-9]*]] = loc("k.py":4:5)
// DEBUG: [[UNIT:#di_compile_unit]] = #cuda_tile.di_compile_unit<file = [[FILE]]>
// DEBUG: [[FUNCTION:#di_subprogram]] = #cuda_tile.di_subprogram<file = [[FILE]], line = 1, name = "k", linkageName = "k", compileUnit = [[UNIT]], scopeLine = 1>
// DEBUG: [[BLOCK:#di_lexical_block]] = #cuda_tile.di_lexical_block<scope = [[FUNCTION]], file = [[FILE]], line = 2, column = 3>
// DEBUG: [[ADD]] = #cuda_tile.di_loc<[[POSITION]] in [[BLOCK]]>
