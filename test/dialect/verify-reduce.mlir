// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Reductions and scans.

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op dim must be a dimension of '!cuda_tile.tile<4x8xf32>', got 2}}
  %r = reduce %c dim=2 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op dim must be a dimension of '!cuda_tile.tile<4x8xf32>', got -1}}
  %r = reduce %c dim=-1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k(%c: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.reduce' op dim must be a dimension of '!cuda_tile.tile<f32>', got 0}}
  %r = reduce %c dim=0 identities=[0.0 : f32] : tile<f32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op result 0 must be '!cuda_tile.tile<8xf32>', got '!cuda_tile.tile<4xf32>'}}
  %r = reduce %c dim=0 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op needs one identity for each of 1 operands, got 0}}
  %r = reduce %c dim=1 identities=[] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op identity 0 must be a number of type 'f32', got 0 : i32}}
  %r = reduce %c dim=1 identities=[0 : i32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{expected an integer that fits in 'i32'}}
  %r = reduce %c dim=1 identities=[1.0 : i32] : tile<4x8xf32> -> tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{expected an integer that fits in 'i8'}}
  %r = reduce %c dim=1 identities=[256 : i8] : tile<4x8xf32> -> tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{expected a floating-point number of type 'f32'}}
  %r = reduce %c dim=1 identities=[1 : f32] : tile<4x8xf32> -> tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{number is out of the range of 'f4E2M1FN'}}
  %r = reduce %c dim=1 identities=[1.0e400 : f4E2M1FN] : tile<4x8xf32> -> tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{number is out of the range of 'f8E8M0FNU'}}
  %r = reduce %c dim=1 identities=[-1.0 : f8E8M0FNU] : tile<4x8xf32> -> tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  %d = constant <f32: 1.0> : tile<4xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op operand 1 must have the shape of operand 0, '!cuda_tile.tile<4x8xf32>', got '!cuda_tile.tile<4xf32>'}}
  %r:2 = reduce %c, %d dim=1 identities=[0.0 : f32, 0.0 : f32] : tile<4x8xf32>, tile<4xf32> -> tile<4xf32>, tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op needs one result for each of 1 operands, got 2}}
  %r:2 = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>, tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op body must have arguments of types ('!cuda_tile.tile<f32>', '!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<f32>')}}
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op body must have arguments of types ('!cuda_tile.tile<f32>', '!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<f32>', '!cuda_tile.tile<f16>')}}
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f16>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.reduce' op body must end in yield}}
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  ub.unreachable
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.yield' op operands must have the types ('!cuda_tile.tile<f32>'), got ('!cuda_tile.tile<f32>', '!cuda_tile.tile<f32>')}}
  yield %a, %b : tile<f32>, tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.print_tko' op must not stand in the body of cuda_tile.reduce, which is free of side effects, loops and promises}}
  %t = print_tko "no" -> token
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k(%n: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  %r = reduce %c dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.assume' op must not stand in the body of cuda_tile.reduce, which is free of side effects, loops and promises}}
  %q = assume div_by<4>, %n : tile<i32>
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.scan' op result 0 must be '!cuda_tile.tile<4x8xf32>', got '!cuda_tile.tile<4xf32>'}}
  %r = scan %c dim=1 reverse=false identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x8xf32>
  // expected-error @+1 {{'cuda_tile.scan' op dim must be a dimension of '!cuda_tile.tile<4x8xf32>', got 2}}
  %r = scan %c dim=2 reverse=false identities=[0.0 : f32] : tile<4x8xf32> -> tile<4x8xf32>
  (%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
  }
  return
}
