// RUN: tile-opt %s --canonicalize | FileCheck %s

// Branches: constant conditions, values that do not need the branch, results
// that nobody reads.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @constant_condition
  // CHECK-NEXT: %[[SUM:.*]] = addf %arg0, %arg0
  // CHECK-NEXT: print "%f %f", %[[SUM]], %arg0
  // CHECK-NEXT: return
  entry @constant_condition(%x: tile<f32>) {
    %true = constant <i1: true> : tile<i1>
    %false = constant <i1: false> : tile<i1>
    %0 = if %true -> (tile<f32>) {
      %2 = addf %x, %x : tile<f32>
      yield %2 : tile<f32>
    } else {
      yield %x : tile<f32>
    }
    %1 = if %false -> (tile<f32>) {
      yield %0 : tile<f32>
    } else {
      yield %x : tile<f32>
    }
    if %false {
      print "never"
    }
    print "%f %f", %0, %1 : tile<f32>, tile<f32>
    return
  }

  // What follows a jump that is certain is never reached.
  // CHECK-LABEL: entry @certain_jump
  // CHECK-NEXT: print "first"
  // CHECK-NEXT: return
  // CHECK-NEXT: }
  entry @certain_jump(%x: tile<f32>) {
    %true = constant <i1: true> : tile<i1>
    %0 = if %true -> (tile<f32>) {
      print "first"
      return
    } else {
      yield %x : tile<f32>
    }
    print "second %f", %0 : tile<f32>
    return
  }

  // A loop that certainly ends in its first round is no loop.
  // CHECK-LABEL: entry @certain_break
  // CHECK-NEXT: print "once"
  // CHECK-NEXT: print "%d", %arg0
  // CHECK-NEXT: return
  entry @certain_break(%n: tile<i32>) {
    %true = constant <i1: true> : tile<i1>
    %0 = loop iter_values(%i = %n) : tile<i32> -> tile<i32> {
      print "once"
      if %true {
        break %i : tile<i32>
      }
      %1 = addi %i, %i : tile<i32>
      continue %1 : tile<i32>
    }
    print "%d", %0 : tile<i32>
    return
  }

  // CHECK-LABEL: entry @values_from_outside
  // CHECK-NEXT: %[[CHOICE:.*]] = select %arg0, %arg1, %arg2 : tile<i1>, tile<f32>
  // CHECK-NEXT: print "%f %f", %[[CHOICE]], %arg1
  entry @values_from_outside(%c: tile<i1>, %x: tile<f32>, %y: tile<f32>) {
    %0:2 = if %c -> (tile<f32>, tile<f32>) {
      yield %x, %x : tile<f32>, tile<f32>
    } else {
      yield %y, %x : tile<f32>, tile<f32>
    }
    print "%f %f", %0#0, %0#1 : tile<f32>, tile<f32>
    return
  }

  // A branch that leaves yields nothing: the result is that of the other.
  // CHECK-LABEL: entry @other_branch_leaves
  // CHECK-NEXT: if %arg0 {
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   return
  // CHECK-NEXT: }
  // CHECK-NEXT: print "%f", %arg1
  entry @other_branch_leaves(%c: tile<i1>, %x: tile<f32>) {
    %0 = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      return
    }
    print "%f", %0 : tile<f32>
    return
  }

  // CHECK-LABEL: entry @unused_results
  // CHECK-NEXT: %[[RESULT:.*]] = if %arg0 -> (tile<f32>) {
  // CHECK-NEXT:   %[[NEGATED:.*]] = negf %arg1
  // CHECK-NEXT:   yield %[[NEGATED]] : tile<f32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT:   yield %arg1 : tile<f32>
  // CHECK-NEXT: }
  // CHECK-NEXT: print "%f", %[[RESULT]]
  entry @unused_results(%c: tile<i1>, %x: tile<f32>) {
    %0:2 = if %c -> (tile<f32>, tile<f32>) {
      %1 = negf %x : tile<f32>
      %2 = absf %x : tile<f32>
      yield %2, %1 : tile<f32>, tile<f32>
    } else {
      yield %x, %x : tile<f32>, tile<f32>
    }
    print "%f", %0#1 : tile<f32>
    return
  }

  // CHECK-LABEL: entry @empty_branches
  // CHECK-NEXT: if %arg0 {
  // CHECK-NEXT:   print "then"
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  entry @empty_branches(%c: tile<i1>, %x: tile<f32>) {
    if %c {
      print "then"
    } else {
    }
    if %c {
      %0 = negf %x : tile<f32>
    }
    return
  }

  // A jump is no dead code.
  // CHECK-LABEL: entry @jumps_stay
  // CHECK: loop {
  // CHECK-NEXT: if %arg0 {
  // CHECK-NEXT:   break
  // CHECK: for
  // CHECK-NEXT: if %arg0 {
  // CHECK-NEXT:   continue
  // CHECK: print "end"
  entry @jumps_stay(%c: tile<i1>, %n: tile<i32>) {
    loop {
      if %c {
        break
      }
      print "again"
    }
    for %i in (%n to %n, step %n) : tile<i32> {
      if %c {
        continue
      }
      print "round"
    }
    if %c {
      return
    }
    print "end"
    return
  }
}
