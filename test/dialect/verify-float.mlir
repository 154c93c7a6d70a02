// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Floating-point operations: rounding modes, flushing, types.

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.addf' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, got approx}}
  %0 = addf %x, %x rounding<approx> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.addf' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = addf %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.subf' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, got approx}}
  %0 = subf %x, %x rounding<approx> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.subf' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = subf %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.mulf' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, got approx}}
  %0 = mulf %x, %x rounding<approx> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.mulf' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = mulf %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.fma' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, got full}}
  %0 = fma %x, %x, %x rounding<full> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.fma' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = fma %x, %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.divf' op rounding mode approx needs f32 elements, got 'f16'}}
  %0 = divf %x, %x rounding<approx> : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.divf' op rounding mode full needs f32 elements, got 'f16'}}
  %0 = divf %x, %x rounding<full> : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.divf' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, approx, full, got nearest_away}}
  %0 = divf %x, %x rounding<nearest_away> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.sqrt' op rounding mode approx needs f32 elements, got 'f16'}}
  %0 = sqrt %x rounding<approx> : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.sqrt' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, approx, got full}}
  %0 = sqrt %x rounding<full> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.sqrt' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = sqrt %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.rsqrt' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = rsqrt %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.exp2' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = exp2 %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.maxf' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = maxf %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.minf' op flush_to_zero needs f32 elements, got 'f16'}}
  %0 = minf %x, %x flush_to_zero : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.exp' op rounding mode must be one of full, approx, got zero}}
  %0 = exp %x rounding<zero> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.exp' op rounding mode approx needs f32 elements, got 'f16'}}
  %0 = exp %x rounding<approx> : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.tanh' op rounding mode must be one of full, approx, got nearest_even}}
  %0 = tanh %x rounding<nearest_even> : tile<f32>
  return
}

// -----

entry @k(%x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.tanh' op rounding mode approx needs f32 elements, got 'f16'}}
  %0 = tanh %x rounding<approx> : tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>, %n: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.fpowi' op exponent must have elements of i1, i8, i16 or i32, got '!cuda_tile.tile<i64>'}}
  %0 = fpowi %x, %n : tile<f32>, tile<i64>
  return
}

// -----

entry @k(%x: tile<f32>) {
  %n = iota : tile<2xi32>
  // expected-error @+1 {{'cuda_tile.fpowi' op exponent must have the shape of source, '!cuda_tile.tile<f32>', got '!cuda_tile.tile<2xi32>'}}
  %0 = fpowi %x, %n : tile<f32>, tile<2xi32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.cmpf' op result must have the shape of lhs, '!cuda_tile.tile<f32>', got '!cuda_tile.tile<2xi1>'}}
  %0 = cmpf equal ordered %x, %x : tile<f32> -> tile<2xi1>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.cmpf' op result #0 must be tile of i1, but got '!cuda_tile.tile<i8>'}}
  %0 = cmpf equal ordered %x, %x : tile<f32> -> tile<i8>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.addf' op operand #0 must be tile of f16, bf16, f32 or f64, but got '!cuda_tile.tile<i32>'}}
  %0 = addf %x, %x : tile<i32>
  return
}

// -----

entry @k(%x: tile<tf32>) {
  // expected-error @+1 {{'cuda_tile.negf' op operand #0 must be tile of f16, bf16, f32 or f64, but got '!cuda_tile.tile<tf32>'}}
  %0 = negf %x : tile<tf32>
  return
}

// -----

entry @k(%x: tile<f32>, %y: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.addf' op requires the same type for all operands and results}}
  %0 = "cuda_tile.addf"(%x, %y) : (!cuda_tile.tile<f32>, !cuda_tile.tile<f16>) -> !cuda_tile.tile<f32>
  return
}
