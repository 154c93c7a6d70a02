// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Control flow: terminators, carried values.

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.for' op body must end in continue, got ub.unreachable}}
  for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
  if %b {
  continue %a : tile<f32>
  }
  ub.unreachable
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  for %k in (%i to %i, step %i) : tile<i32> {
  if %b {
  // expected-error @+1 {{'cuda_tile.break' op must stand in a loop, directly or within if; a for has no break}}
  break
  }
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  loop {
  for %k in (%i to %i, step %i) : tile<i32> {
  if %b {
  // expected-error @+1 {{'cuda_tile.break' op must stand in a loop, directly or within if; a for has no break}}
  break
  }
  }
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  %r = for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
  // expected-error @+1 {{'cuda_tile.continue' op operands must have the types of the values that for carries, ('!cuda_tile.tile<f32>'), got ()}}
  continue
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  loop iter_values(%a = %x) : tile<f32> {
  if %b {
  // expected-error @+1 {{'cuda_tile.continue' op operands must have the types of the values that loop carries, ('!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<i32>')}}
  continue %i : tile<i32>
  }
  continue %a : tile<f32>
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  %r = loop iter_values(%a = %x) : tile<f32> -> tile<i32> {
  // expected-error @+1 {{'cuda_tile.break' op operands must have the types of the results of loop, ('!cuda_tile.tile<i32>'), got ('!cuda_tile.tile<f32>')}}
  break %a : tile<f32>
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  if %b {
  // expected-error @+1 {{'cuda_tile.continue' op must stand in a for or loop, directly or within if}}
  continue
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.loop' op body must end in continue, break or return, got ub.unreachable}}
  loop {
  ub.unreachable
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.if' op with results needs an else branch}}
  %r = if %b -> (tile<f32>) {
  yield %x : tile<f32>
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  %r = if %b -> (tile<f32>) {
  yield %x : tile<f32>
  } else {
  // expected-error @+1 {{'cuda_tile.yield' op operands must have the types of the results of if, ('!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<i32>')}}
  yield %i : tile<i32>
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  if %b {
  // expected-error @+1 {{'cuda_tile.yield' op operands must have the types of the results of if, (), got ('!cuda_tile.tile<f32>')}}
  yield %x : tile<f32>
  }
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.yield' op expects parent op to be one of 'cuda_tile.if, cuda_tile.reduce, cuda_tile.scan'}}
  yield %x : tile<f32>
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.return' op must have no operands, as entries return nothing, got 1}}
  return %x : tile<f32>
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{expected one type for each of 1 carried values, got 2}}
  %r = for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<f32>, tile<f32>) {
  continue %a : tile<f32>
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{expected one type for each of 1 carried values, got 0}}
  loop iter_values(%a = %x) {
  break
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  for %k in (%i to %i, step %i) : tile<i32> {
  // expected-error @+1 {{'cuda_tile.return' op must stand in an entry, if or loop, got cuda_tile.for}}
  return
  }
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.for' op body must have arguments of types ('!cuda_tile.tile<i32>'), got ('!cuda_tile.tile<i64>')}}
  "cuda_tile.for"(%i, %i, %i) ({
  ^bb0(%k: !cuda_tile.tile<i64>):
  "cuda_tile.continue"() : () -> ()
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.for' op upper bound must have the type of the lower bound, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<i64>'}}
  "cuda_tile.for"(%i, %l, %i) ({
  ^bb0(%k: !cuda_tile.tile<i32>):
  "cuda_tile.continue"() : () -> ()
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i64>, !cuda_tile.tile<i32>) -> ()
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>, %l: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.for' op step must have the type of the lower bound, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<i64>'}}
  "cuda_tile.for"(%i, %i, %l) ({
  ^bb0(%k: !cuda_tile.tile<i32>):
  "cuda_tile.continue"() : () -> ()
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> ()
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.for' op results must have the types of the initial values, ('!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<i32>')}}
  %r = "cuda_tile.for"(%i, %i, %i, %x) ({
  ^bb0(%k: !cuda_tile.tile<i32>, %a: !cuda_tile.tile<f32>):
  "cuda_tile.continue"(%a) : (!cuda_tile.tile<f32>) -> ()
  }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.loop' op body must have arguments of types ('!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<i32>')}}
  "cuda_tile.loop"(%x) ({
  ^bb0(%a: !cuda_tile.tile<i32>):
  "cuda_tile.break"() : () -> ()
  }) : (!cuda_tile.tile<f32>) -> ()
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.if' op then branch must have no arguments, got 1}}
  "cuda_tile.if"(%b) ({
  ^bb0(%a: !cuda_tile.tile<i32>):
  "cuda_tile.yield"() : () -> ()
  }, {}) : (!cuda_tile.tile<i1>) -> ()
  return
}

// -----

entry @k(%i: tile<i32>, %x: tile<f32>, %b: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.if' op then branch must end in yield, continue, break or return, got ub.unreachable}}
  "cuda_tile.if"(%b) ({
  "ub.unreachable"() : () -> ()
  }, {}) : (!cuda_tile.tile<i1>) -> ()
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %b: tile<i1>) {
  %v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  // expected-error @+1 {{'cuda_tile.loop' op operand #0 must be variadic of tile or token, but got '!cuda_tile.tensor_view<8xf32, strides=[1]>'}}
  loop iter_values(%a = %v) : tensor_view<8xf32, strides=[1]> {
  break
  }
  return
}
