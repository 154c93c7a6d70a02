// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt --mlir-print-op-generic %s | tile-opt | FileCheck %s

// Control flow: custom syntax and generic form.

cuda_tile.module @kernels {
  // CHECK: entry @loops(%arg0: tile<i32>, %arg1: tile<f32>, %arg2: tile<i1>) {
  entry @loops(%arg0: tile<i32>, %arg1: tile<f32>, %arg2: tile<i1>) {
    // CHECK-NEXT: for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> {
    for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> {
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %for = for unsigned %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> iter_values(%iterArg0 = %arg1) -> (tile<f32>) {
    %for = for unsigned %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> iter_values(%iterArg0 = %arg1) -> (tile<f32>) {
      // CHECK-NEXT: continue %iterArg0 : tile<f32>
      continue %iterArg0 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %for_0:2 = for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> iter_values(%iterArg0 = %arg1, %iterArg1 = %arg0) -> (tile<f32>, tile<i32>) {
    %for_0:2 = for %loopIdx in (%arg0 to %arg0, step %arg0) : tile<i32> iter_values(%iterArg0 = %arg1, %iterArg1 = %arg0) -> (tile<f32>, tile<i32>) {
      // CHECK-NEXT: if %arg2 {
      if %arg2 {
        // CHECK-NEXT: continue %iterArg0, %loopIdx : tile<f32>, tile<i32>
        continue %iterArg0, %loopIdx : tile<f32>, tile<i32>
      // CHECK-NEXT: }
      }
      // CHECK-NEXT: continue %iterArg0, %iterArg1 : tile<f32>, tile<i32>
      continue %iterArg0, %iterArg1 : tile<f32>, tile<i32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: loop {
    loop {
      // CHECK-NEXT: if %arg2 {
      if %arg2 {
        // CHECK-NEXT: break
        break
      // CHECK-NEXT: }
      }
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %0 = loop iter_values(%arg3 = %arg1) : tile<f32> -> tile<i32> {
    %0 = loop iter_values(%arg3 = %arg1) : tile<f32> -> tile<i32> {
      // CHECK-NEXT: if %arg2 {
      if %arg2 {
        // CHECK-NEXT: break %arg0 : tile<i32>
        break %arg0 : tile<i32>
      // CHECK-NEXT: }
      }
      // CHECK-NEXT: continue %arg3 : tile<f32>
      continue %arg3 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %1:2 = loop : tile<f32>, tile<i32> {
    %1:2 = loop : tile<f32>, tile<i32> {
      // CHECK-NEXT: break %arg1, %arg0 : tile<f32>, tile<i32>
      break %arg1, %arg0 : tile<f32>, tile<i32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: loop iter_values(%arg3 = %arg1) : tile<f32> {
    loop iter_values(%arg3 = %arg1) : tile<f32> {
      // CHECK-NEXT: if %arg2 {
      if %arg2 {
        // CHECK-NEXT: return
        return
      // CHECK-NEXT: }
      }
      // CHECK-NEXT: continue %arg3 : tile<f32>
      continue %arg3 : tile<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: entry @branches(%arg0: tile<i1>, %arg1: tile<f32>) {
  entry @branches(%arg0: tile<i1>, %arg1: tile<f32>) {
    // CHECK-NEXT: if %arg0 {
    if %arg0 {
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: if %arg0 {
    if %arg0 {
      // CHECK-NEXT: return
      return
    // CHECK-NEXT: } else {
    } else {
      // CHECK-NEXT: assert %arg0, "else" : tile<i1>
      assert %arg0, "else" : tile<i1>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %0:2 = if %arg0 -> (tile<f32>, token) {
    %0:2 = if %arg0 -> (tile<f32>, token) {
      // CHECK-NEXT: %1 = make_token : token
      %1 = make_token : token
      // CHECK-NEXT: yield %arg1, %1 : tile<f32>, token
      yield %arg1, %1 : tile<f32>, token
    // CHECK-NEXT: } else {
    } else {
      // CHECK-NEXT: %1 = make_token : token
      %1 = make_token : token
      // CHECK-NEXT: yield %arg1, %1 : tile<f32>, token
      yield %arg1, %1 : tile<f32>, token
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: return
    return
  // CHECK-NEXT: }
  }
}
