// RUN: tile-opt %s --canonicalize | FileCheck %s

// Loops: known trip counts, carried values that do not change or that nobody
// reads.

cuda_tile.module @kernels {
  // CHECK-LABEL: entry @no_round
  // CHECK-NEXT: print "%f %f", %arg0, %arg0
  // CHECK-NEXT: return
  entry @no_round(%x: tile<f32>, %step: tile<i32>) {
    %m1 = constant <i32: -1> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %0 = for %i in (%1 to %1, step %step) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      %3 = negf %a : tile<f32>
      continue %3 : tile<f32>
    }
    // As unsigned numbers, -1 is the greatest.
    %2 = for unsigned %i in (%m1 to %1, step %step) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      %3 = negf %a : tile<f32>
      continue %3 : tile<f32>
    }
    print "%f %f", %0, %2 : tile<f32>, tile<f32>
    return
  }

  // CHECK-LABEL: entry @one_round
  // CHECK-NEXT: %[[LOWER:.*]] = constant <i32: -2> : tile<i32>
  // CHECK-NEXT: print "%d", %[[LOWER]]
  // CHECK-NEXT: %[[NEGATED:.*]] = negf %arg0
  // CHECK-NEXT: print "%f", %[[NEGATED]]
  entry @one_round(%x: tile<f32>) {
    %lower = constant <i32: -2> : tile<i32>
    %upper = constant <i32: 1> : tile<i32>
    %step = constant <i32: 3> : tile<i32>
    %0 = for %i in (%lower to %upper, step %step) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      print "%d", %i : tile<i32>
      %1 = negf %a : tile<f32>
      continue %1 : tile<f32>
    }
    print "%f", %0 : tile<f32>
    return
  }

  // Two rounds, or a step that is not positive.
  // CHECK-LABEL: entry @more_rounds
  // CHECK-COUNT-2: = for
  entry @more_rounds(%x: tile<f32>) {
    %lower = constant <i32: -2> : tile<i32>
    %upper = constant <i32: 1> : tile<i32>
    %step = constant <i32: 2> : tile<i32>
    %minus = constant <i32: -5> : tile<i32>
    %0 = for %i in (%lower to %upper, step %step) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      %2 = negf %a : tile<f32>
      continue %2 : tile<f32>
    }
    %1 = for %i in (%lower to %upper, step %minus) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      %2 = negf %a : tile<f32>
      continue %2 : tile<f32>
    }
    print "%f %f", %0, %1 : tile<f32>, tile<f32>
    return
  }

  // CHECK-LABEL: entry @carried_values
  // CHECK-NEXT: %[[RESULT:.*]] = for %loopIdx in (%arg1 to %arg1, step %arg1) : tile<i32> iter_values(%iterArg0 = %arg0) -> (tile<f32>) {
  // CHECK-NEXT:   if %arg2 {
  // CHECK-NEXT:     continue %arg0 : tile<f32>
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %[[SUM:.*]] = addf %iterArg0, %arg0
  // CHECK-NEXT:   continue %[[SUM]] : tile<f32>
  // CHECK-NEXT: }
  // CHECK-NEXT: print "%f %f", %[[RESULT]], %arg0
  entry @carried_values(%x: tile<f32>, %n: tile<i32>, %c: tile<i1>) {
    // The second does not change, the third is never read.
    %0:3 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x, %b = %x, %d = %n) -> (tile<f32>, tile<f32>, tile<i32>) {
      if %c {
        continue %b, %x, %i : tile<f32>, tile<f32>, tile<i32>
      }
      %1 = addf %a, %b : tile<f32>
      continue %1, %b, %i : tile<f32>, tile<f32>, tile<i32>
    }
    print "%f %f", %0#0, %0#1 : tile<f32>, tile<f32>
    return
  }

  // CHECK-LABEL: entry @values_of_loop
  // CHECK-NEXT: %[[RESULT:.*]] = loop iter_values(%[[A:.*]] = %arg0) : tile<f32> -> tile<f32> {
  // CHECK-NEXT:   %[[SUM:.*]] = addf %[[A]], %arg0
  // CHECK-NEXT:   if %arg2 {
  // CHECK-NEXT:     break %[[SUM]] : tile<f32>
  // CHECK-NEXT:   }
  // CHECK-NEXT:   continue %[[SUM]] : tile<f32>
  // CHECK-NEXT: }
  entry @values_of_loop(%x: tile<f32>, %n: tile<i32>, %c: tile<i1>) {
    %0:2 = loop iter_values(%a = %x, %b = %x, %d = %n) : tile<f32>, tile<f32>, tile<i32> -> tile<i32>, tile<f32> {
      %1 = addf %a, %b : tile<f32>
      if %c {
        break %n, %1 : tile<i32>, tile<f32>
      }
      continue %1, %b, %n : tile<f32>, tile<f32>, tile<i32>
    }
    print "%f", %0#1 : tile<f32>
    return
  }

  // A loop without effects goes; one that prints or returns stays.
  // CHECK-LABEL: entry @dead_loops
  // CHECK-NEXT: loop {
  // CHECK-NEXT:   if %arg2 {
  // CHECK-NEXT:     return
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  entry @dead_loops(%x: tile<f32>, %n: tile<i32>, %c: tile<i1>) {
    %0 = for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      if %c {
        continue %x : tile<f32>
      }
      %1 = addf %a, %a : tile<f32>
      continue %1 : tile<f32>
    }
    loop {
      if %c {
        break
      }
    }
    loop {
      if %c {
        return
      }
    }
    return
  }
}
