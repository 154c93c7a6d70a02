// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Integer operations and conversions.

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.negi' op overflow must be none, no_signed_wrap or no_wrap, got no_unsigned_wrap}}
  %0 = negi %x overflow<no_unsigned_wrap> : tile<i32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.divi' op rounding mode must be one of zero, positive_inf, negative_inf, got nearest_even}}
  %0 = divi %x, %x signed rounding<nearest_even> : tile<i32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.divi' op rounding mode negative_inf needs signed operands; an unsigned division rounds down with zero}}
  %0 = divi %x, %x unsigned rounding<negative_inf> : tile<i32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.cmpi' op result must have the shape of lhs, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<4xi1>'}}
  %0 = cmpi equal %x, %x, signed : tile<i32> -> tile<4xi1>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.addi' op operand #0 must be tile of i1, i8, i16, i32 or i64, but got '!cuda_tile.tile<f32>'}}
  %0 = addi %x, %x : tile<f32>
  return
}

// -----

entry @k(%x: tile<i4>) {
  // expected-error @+1 {{'cuda_tile.addi' op operand #0 must be tile of i1, i8, i16, i32 or i64, but got '!cuda_tile.tile<i4>'}}
  %0 = addi %x, %x : tile<i4>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.bitcast' op source and result elements must have one width, got 'i32' of 32 bits and 'f64' of 64 bits}}
  %0 = bitcast %x : tile<i32> -> tile<f64>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.bitcast' op source and result elements must have one width, got 'i32' of 32 bits and 'tf32' of 19 bits}}
  %0 = bitcast %x : tile<i32> -> tile<tf32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.bitcast' op result must have the shape of source, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<1xf32>'}}
  %0 = bitcast %x : tile<i32> -> tile<1xf32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.exti' op result elements must be wider than those of the source, 'i32', got 'i16'}}
  %0 = exti %x signed : tile<i32> -> tile<i16>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.exti' op result elements must be wider than those of the source, 'i32', got 'i32'}}
  %0 = exti %x signed : tile<i32> -> tile<i32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.exti' op result must have the shape of source, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<1xi64>'}}
  %0 = exti %x signed : tile<i32> -> tile<1xi64>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.trunci' op result elements must be narrower than those of the source, 'i32', got 'i64'}}
  %0 = trunci %x : tile<i32> -> tile<i64>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op source and result must have different element types, got 'f32'}}
  %0 = ftof %x : tile<f32> -> tile<f32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op result must have the shape of source, '!cuda_tile.tile<f32>', got '!cuda_tile.tile<1xf16>'}}
  %0 = ftof %x : tile<f32> -> tile<1xf16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be one of zero, positive_inf, got nearest_even}}
  %0 = ftof %x : tile<f32> -> tile<f8E8M0FNU>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be nearest_even, got zero}}
  %0 = ftof %x rounding<zero> : tile<f32> -> tile<f8E4M3FN>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be nearest_even, got zero}}
  %0 = ftof %x rounding<zero> : tile<f32> -> tile<f8E5M2>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, nearest_away, got approx}}
  %0 = ftof %x rounding<approx> : tile<f32> -> tile<f64>
  return
}

// -----

entry @k(%x: tile<f64>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be one of nearest_even, zero, negative_inf, positive_inf, got nearest_away}}
  %0 = ftof %x rounding<nearest_away> : tile<f64> -> tile<f32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be one of nearest_even, zero, nearest_away, got positive_inf}}
  %0 = ftof %x rounding<positive_inf> : tile<f32> -> tile<tf32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftof' op rounding mode must be one of nearest_even, zero, got positive_inf}}
  %0 = ftof %x rounding<positive_inf> : tile<f32> -> tile<f16>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftoi' op rounding mode must be nearest_int_to_zero, got zero}}
  %0 = ftoi %x signed rounding<zero> : tile<f32> -> tile<i32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.ftoi' op result must have the shape of source, '!cuda_tile.tile<f32>', got '!cuda_tile.tile<1xi32>'}}
  %0 = ftoi %x signed : tile<f32> -> tile<1xi32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.itof' op rounding mode must be nearest_even, got zero}}
  %0 = itof %x signed rounding<zero> : tile<i32> -> tile<f32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.itof' op result elements must not be f8E8M0FNU}}
  %0 = itof %x signed : tile<i32> -> tile<f8E8M0FNU>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.itof' op result must have the shape of source, '!cuda_tile.tile<i32>', got '!cuda_tile.tile<1xf32>'}}
  %0 = itof %x signed : tile<i32> -> tile<1xf32>
  return
}

// -----

entry @k(%x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.int_to_ptr' op operand #0 must be tile of i64, but got '!cuda_tile.tile<i32>'}}
  %0 = int_to_ptr %x : tile<i32> -> tile<ptr<f32>>
  return
}

// -----

entry @k(%x: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.int_to_ptr' op result must have the shape of source, '!cuda_tile.tile<i64>', got '!cuda_tile.tile<1xptr<f32>>'}}
  %0 = int_to_ptr %x : tile<i64> -> tile<1xptr<f32>>
  return
}

// -----

entry @k(%x: tile<ptr<f32>>) {
  // expected-error @+1 {{'cuda_tile.ptr_to_int' op result must have the shape of source, '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<1xi64>'}}
  %0 = ptr_to_int %x : tile<ptr<f32>> -> tile<1xi64>
  return
}

// -----

entry @k(%x: tile<ptr<f32>>) {
  // expected-error @+1 {{'cuda_tile.ptr_to_ptr' op result must have the shape of source, '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<1xptr<i32>>'}}
  %0 = ptr_to_ptr %x : tile<ptr<f32>> -> tile<1xptr<i32>>
  return
}
