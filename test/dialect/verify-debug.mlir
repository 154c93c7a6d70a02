// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Debug scopes: an entry and its operations share a subprogram. Errors are
// reported where the source is.

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
#block = #cuda_tile.di_lexical_block<scope = #function, file = #file, line = 2, column = 3>
#in_function = #cuda_tile.di_loc<loc("k.py":1:1) in #function>
#in_block = #cuda_tile.di_loc<loc("k.py":4:5) in #block>

// A scope may be nested, and a call site counts by its caller.
cuda_tile.module @valid {
  entry @k(%x: tile<f32>) {
    %0 = addf %x, %x : tile<f32> loc(#in_block)
    %1 = addf %0, %x : tile<f32> loc(callsite("other.py":7:7 at #in_block))
    %2 = addf %1, %x : tile<f32> loc(unknown)
    return
  } loc(#in_function)
  // Without debug information, any location does.
  entry @plain(%x: tile<f32>) {
    %0 = addf %x, %x : tile<f32> loc("a.py":1:2)
    return
  }
}

// -----

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "other", linkageName = "other", compileUnit = #unit, scopeLine = 1>
cuda_tile.module @name_differs {
  // expected-error @unknown {{'cuda_tile.entry' op debug scope must have the linkage name of the entry, "k", got "other"}}
  entry @k() {
    return
  } loc(#cuda_tile.di_loc<loc(unknown) in #function>)
}

// -----

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
#block = #cuda_tile.di_lexical_block<scope = #function, file = #file, line = 2, column = 3>
cuda_tile.module @entry_in_block {
  // expected-error @unknown {{'cuda_tile.entry' op debug scope must be a di_subprogram, got #cuda_tile.di_lexical_block}}
  entry @k() {
    return
  } loc(#cuda_tile.di_loc<loc(unknown) in #block>)
}

// -----

cuda_tile.module @entry_at_call_site {
  // expected-error @unknown {{'cuda_tile.entry' op location must not be a call site}}
  entry @k() {
    return
  } loc(callsite(unknown at unknown))
}

// -----

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
cuda_tile.module @entry_without_scope {
  entry @k(%x: tile<f32>) {
    // expected-error @unknown {{'cuda_tile.addf' op debug scope must lie within that of the entry, which has none, got #cuda_tile.di_subprogram}}
    %0 = addf %x, %x : tile<f32> loc(#cuda_tile.di_loc<loc(unknown) in #function>)
    return
  }
}

// -----

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
#other = #cuda_tile.di_subprogram<file = #file, line = 9, name = "f", linkageName = "f", compileUnit = #unit, scopeLine = 9>
cuda_tile.module @other_function {
  entry @k(%x: tile<f32>) {
    // expected-error @unknown {{'cuda_tile.addf' op debug scope must lie within that of the entry}}
    %0 = addf %x, %x : tile<f32> loc(#cuda_tile.di_loc<loc(unknown) in #other>)
    return
  } loc(#cuda_tile.di_loc<loc(unknown) in #function>)
}

// -----

#file = #cuda_tile.di_file<"k.py" in "/x">
#unit = #cuda_tile.di_compile_unit<file = #file>
#function = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 1>
cuda_tile.module @global {
  // expected-error @unknown {{'cuda_tile.global' op must have no debug scope in its location}}
  global @g <i32: 1> : tile<2xi32> loc(#cuda_tile.di_loc<loc(unknown) in #function>)
}

// -----

// expected-error @+1 {{debug scope must be a di_subprogram or di_lexical_block, got #cuda_tile.di_file}}
#loc = #cuda_tile.di_loc<loc(unknown) in #cuda_tile.di_file<"k.py" in "/x">>
