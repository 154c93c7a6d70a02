// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Everything becomes structured control flow. scf has no early exits: what follows a branch that
// may leave moves into the branch that stays.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @for
  // CHECK-SAME: (%[[N:.*]]: i32) kernel
  entry @for(%n: tile<i32>) {
    // CHECK-NEXT: %[[X:.*]] = tile_gpu.iota
    %x = iota : tile<8xi32>
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
    %one = constant <i32: 1> : tile<i32>
    // CHECK-NEXT: scf.for %{{.*}} = %[[N]] to %[[N]] step %[[ONE]]
    // CHECK-SAME: iter_args(%[[A:.*]] = %[[X]]) -> (!tile_gpu.tile<8xi32>) : i32 {
    %r = for %i in (%n to %n, step %one) : tile<i32> iter_values(%a = %x) -> (tile<8xi32>) {
      // CHECK-NEXT: %[[B:.*]] = arith.addi %[[A]], %[[A]]
      %b = addi %a, %a : tile<8xi32>
      // CHECK-NEXT: scf.yield %[[B]]
      continue %b : tile<8xi32>
    }
    // Tokens are gone: a loop that carries nothing else carries nothing.
    // CHECK: scf.for unsigned %{{.*}} = %[[N]] to %[[N]] step %[[ONE]] : i32 {
    %t = make_token : token
    %u = for unsigned %i in (%n to %n, step %one) : tile<i32> iter_values(%a = %t) -> (token) {
      continue %a : token
    }
    return
  }

  // With a step other than 1 the variable could pass the end of its type: rounds are counted.
  // CHECK-LABEL: gpu.func @steps
  // CHECK-SAME: (%[[L:.*]]: i32, %[[U:.*]]: i32, %[[S:.*]]: i32) kernel
  entry @steps(%lower: tile<i32>, %upper: tile<i32>, %step: tile<i32>) {
    // CHECK: %[[SPAN:.*]] = arith.subi %[[U]], %[[L]] : i32
    // CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[SPAN]], %{{.*}}
    // CHECK-NEXT: %[[FULL:.*]] = arith.divui %[[LAST]], %[[S]]
    // CHECK-NEXT: %[[ROUNDS:.*]] = arith.addi %[[FULL]], %{{.*}}
    // CHECK-NEXT: %[[SOME:.*]] = arith.cmpi slt, %[[L]], %[[U]]
    // CHECK: %[[COUNT:.*]] = arith.select %[[SOME]], %[[ROUNDS]], %{{.*}}
    // CHECK: scf.for unsigned %[[K:.*]] = %{{.*}} to %[[COUNT]] step
    for %i in (%lower to %upper, step %step) : tile<i32> {
      // CHECK-NEXT: %[[SKIP:.*]] = arith.muli %[[K]], %[[S]]
      // CHECK-NEXT: %[[I:.*]] = arith.addi %[[L]], %[[SKIP]]
      // CHECK-NEXT: tile_gpu.print "%i", %[[I]]
      %t = print_tko "%i", %i : tile<i32> -> token
    }
    return
  }

  // CHECK-LABEL: gpu.func @if
  // CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: f32, %[[Y:.*]]: f32)
  entry @if(%c: tile<i1>, %x: tile<f32>, %y: tile<f32>) {
    // CHECK-NEXT: scf.if %[[C]] -> (f32) {
    // CHECK-NEXT: scf.yield %[[X]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[Y]]
    %r = if %c -> (tile<f32>) { yield %x : tile<f32> } else { yield %y : tile<f32> }
    return
  }

  // One way goes on: the rest of the kernel stands in it.
  // CHECK-LABEL: gpu.func @return_early
  // CHECK-SAME: (%[[C:.*]]: i1
  entry @return_early(%c: tile<i1>, %x: tile<f32>) {
    // CHECK-NEXT: scf.if %[[C]] {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: arith.addf
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    if %c {
      return
    }
    %0 = addf %x, %x : tile<f32>
    return
  }

  // Both sides leave: nothing follows.
  // CHECK-LABEL: gpu.func @return_both
  entry @return_both(%c: tile<i1>, %x: tile<f32>) {
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: arith.addf
    // CHECK-NEXT: } else {
    // CHECK-NEXT: arith.subf
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    if %c {
      %0 = addf %x, %x : tile<f32>
      return
    } else {
      %1 = subf %x, %x : tile<f32>
      return
    }
    return
  }

  // Two ways go on: a flag says whether the branch stayed, so that what follows is there once.
  // CHECK-LABEL: gpu.func @return_nested
  // CHECK-SAME: (%[[C:.*]]: i1, %[[D:.*]]: i1
  entry @return_nested(%c: tile<i1>, %d: tile<i1>, %x: tile<f32>) {
    // CHECK-NEXT: %[[STAYED:.*]] = scf.if %[[C]] -> (i1) {
    // CHECK-NEXT: scf.if %[[D]] -> (i1) {
    // CHECK-NEXT: %[[NO:.*]] = arith.constant false
    // CHECK-NEXT: scf.yield %[[NO]] : i1
    // CHECK-NEXT: } else {
    // CHECK-NEXT: %[[YES:.*]] = arith.constant true
    // CHECK-NEXT: scf.yield %[[YES]] : i1
    // CHECK: } else {
    // CHECK-NEXT: %[[ALSO:.*]] = arith.constant true
    // CHECK-NEXT: scf.yield %[[ALSO]] : i1
    // CHECK: scf.if %[[STAYED]] {
    // CHECK-NEXT: arith.addf
    // CHECK-NOT: arith.addf
    // CHECK: gpu.return
    if %c {
      if %d {
        return
      }
    }
    %0 = addf %x, %x : tile<f32>
    return
  }

  // A result of a branch that leaves on one side is what the other yields.
  // CHECK-LABEL: gpu.func @result_of_staying
  // CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: f32)
  entry @result_of_staying(%c: tile<i1>, %x: tile<f32>) {
    // CHECK-NEXT: scf.if %[[C]] {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: arith.addf %[[X]], %[[X]]
    %r = if %c -> (tile<f32>) { return } else { yield %x : tile<f32> }
    %0 = addf %r, %r : tile<f32>
    return
  }

  // CHECK-LABEL: gpu.func @continue_early
  // CHECK-SAME: (%[[N:.*]]: i32, %[[C:.*]]: i1)
  entry @continue_early(%n: tile<i32>, %c: tile<i1>) {
    %one = constant <i32: 1> : tile<i32>
    // CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[N]]) -> (i32)
    %r = for %i in (%n to %n, step %one) : tile<i32> iter_values(%a = %n) -> (tile<i32>) {
      // CHECK-NEXT: %[[NEXT:.*]] = scf.if %[[C]] -> (i32) {
      // CHECK-NEXT: scf.yield %[[A]] : i32
      // CHECK-NEXT: } else {
      // CHECK-NEXT: %[[B:.*]] = arith.addi %[[A]], %[[I]]
      // CHECK-NEXT: scf.yield %[[B]] : i32
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.yield %[[NEXT]] : i32
      if %c {
        continue %a : tile<i32>
      }
      %b = addi %a, %i : tile<i32>
      continue %b : tile<i32>
    }
    return
  }

  // A loop is an scf.while whose condition region is the whole body. It ends each round with:
  // go on?, the values for the next round, the results.
  // CHECK-LABEL: gpu.func @loop
  // CHECK-SAME: (%[[N:.*]]: i32, %[[X:.*]]: f32)
  entry @loop(%n: tile<i32>, %x: tile<f32>) {
    // CHECK-NEXT: %[[W:.*]]:2 = scf.while (%[[I:.*]] = %[[N]]) : (i32) -> (i32, f32) {
    %r = loop iter_values(%i = %n) : tile<i32> -> tile<f32> {
      // CHECK-NEXT: %[[DONE:.*]] = arith.cmpi sge, %[[I]], %[[N]]
      %done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
      // CHECK-NEXT: %[[IF:.*]]:3 = scf.if %[[DONE]] -> (i1, i32, f32) {
      // CHECK-DAG: %[[STOP:.*]] = arith.constant false
      // CHECK-DAG: %[[ANY:.*]] = ub.poison : i32
      // CHECK: scf.yield %[[STOP]], %[[ANY]], %[[X]]
      // CHECK-NEXT: } else {
      // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[I]], %[[N]]
      // CHECK-DAG: %[[GO:.*]] = arith.constant true
      // CHECK-DAG: %[[UNUSED:.*]] = ub.poison : f32
      // CHECK: scf.yield %[[GO]], %[[NEXT]], %[[UNUSED]]
      // CHECK-NEXT: }
      // CHECK-NEXT: scf.condition(%[[IF]]#0) %[[IF]]#1, %[[IF]]#2 : i32, f32
      if %done {
        break %x : tile<f32>
      }
      %next = addi %i, %n : tile<i32>
      continue %next : tile<i32>
    }
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0(%[[AGAIN:.*]]: i32, %{{.*}}: f32):
    // CHECK-NEXT: scf.yield %[[AGAIN]] : i32
    // CHECK: arith.addf %[[W]]#1, %[[X]]
    %0 = addf %r, %x : tile<f32>
    return
  }

  // A return inside a loop: one more carried value says so, and what follows stands in a branch.
  // CHECK-LABEL: gpu.func @return_in_loop
  // CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: f32)
  entry @return_in_loop(%c: tile<i1>, %x: tile<f32>) {
    // CHECK-NEXT: %[[W:.*]] = scf.while : () -> i1 {
    loop {
      // CHECK-NEXT: %[[IF:.*]]:2 = scf.if %[[C]] -> (i1, i1) {
      // CHECK-NEXT: %[[STOP:.*]] = arith.constant false
      // CHECK-NEXT: %[[RETURNED:.*]] = arith.constant true
      // CHECK-NEXT: scf.yield %[[STOP]], %[[RETURNED]] : i1, i1
      // CHECK: scf.condition(%[[IF]]#0) %[[IF]]#1 : i1
      if %c {
        return
      }
    }
    // CHECK: scf.if %[[W]] {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: arith.addf
    %0 = addf %x, %x : tile<f32>
    return
  }

  // A `for` that may return ends early: it becomes a while loop.
  // CHECK-LABEL: gpu.func @return_in_for
  // CHECK-SAME: (%[[C:.*]]: i1, %[[N:.*]]: i32, %[[X:.*]]: f32)
  entry @return_in_for(%c: tile<i1>, %n: tile<i32>, %x: tile<f32>) {
    %one = constant <i32: 1> : tile<i32>
    // CHECK: %[[W:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[RETURNED:.*]] = %{{.*}}) : (i32, i1)
    // CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[N]]
    // CHECK: %[[GO:.*]] = arith.andi %[[MORE]], %{{.*}}
    // CHECK-NEXT: scf.condition(%[[GO]])
    for %i in (%one to %n, step %one) : tile<i32> {
      if %c {
        return
      }
    }
    // CHECK: scf.if %[[W]]#1 {
    // CHECK-NEXT: } else {
    // CHECK-NEXT: arith.addf
    %0 = addf %x, %x : tile<f32>
    return
  }

  // Hints stay on the kernel for later passes.
  // CHECK-LABEL: gpu.func @hints
  // CHECK-SAME: tile_gpu.optimization_hints = #cuda_tile.optimization_hints<sm_90 = {occupancy = 2}>
  entry @hints() optimization_hints=<sm_90 = {occupancy = 2}> {
    return
  }
}
