// RUN: not tile-opt %s 2>&1 | FileCheck %s

// Errors are reported where the debug location says that the source is.

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
cuda_tile.module @kernels {
  entry @k(%x: tile<f64>) {
    // CHECK: k.py:4:5: error: 'cuda_tile.exp2' op flush_to_zero needs f32 elements, got 'f64'
    %0 = exp2 %x flush_to_zero : tile<f64> loc(#cuda_tile.di_loc<loc("k.py":4:5) in #function>)
    return
  } loc(#cuda_tile.di_loc<loc("k.py":1:1) in #function>)
}
