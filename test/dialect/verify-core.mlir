// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Constants and shape manipulation.

entry @k() {
  // expected-error @+1 {{'cuda_tile.iota' op result must have rank 1, got '!cuda_tile.tile<4x4xi32>'}}
  %0 = iota : tile<4x4xi32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.iota' op result must have at most 2^8 elements to hold them in 'i8', got '!cuda_tile.tile<512xi8>'}}
  %0 = iota : tile<512xi8>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.iota' op result #0 must be tile of i1, i8, i16, i32 or i64, but got '!cuda_tile.tile<4xf32>'}}
  %0 = iota : tile<4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.broadcast' op result must have the rank of source, '!cuda_tile.tile<4x2xf32>', got '!cuda_tile.tile<8x4x2xf32>'}}
  %0 = broadcast %c : tile<4x2xf32> -> tile<8x4x2xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.broadcast' op dimension 1 of source must be 1 or 8, got 2}}
  %0 = broadcast %c : tile<4x2xf32> -> tile<4x8xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.broadcast' op result must have the element type of source, 'f32', got '!cuda_tile.tile<4x2xf16>'}}
  %0 = broadcast %c : tile<4x2xf32> -> tile<4x2xf16>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.reshape' op result must have 8 elements as source, '!cuda_tile.tile<4x2xf32>', got 16 in '!cuda_tile.tile<16xf32>'}}
  %0 = reshape %c : tile<4x2xf32> -> tile<16xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.reshape' op result must have the element type of source, 'f32', got '!cuda_tile.tile<8xf16>'}}
  %0 = reshape %c : tile<4x2xf32> -> tile<8xf16>
  return
}

// -----

entry @k() {
  %c = iota : tile<4xi32>
  // expected-error @+1 {{'cuda_tile.permute' op source must have rank 2 or more, got '!cuda_tile.tile<4xi32>'}}
  %0 = permute %c [0] : tile<4xi32> -> tile<4xi32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.permute' op permutation must hold each of 0 to 1 once, got [0]}}
  %0 = permute %c [0] : tile<4x2xf32> -> tile<4x2xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.permute' op permutation must hold each of 0 to 1 once, got [1, 1]}}
  %0 = permute %c [1, 1] : tile<4x2xf32> -> tile<2x2xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.permute' op permutation must hold each of 0 to 1 once, got [0, 2]}}
  %0 = permute %c [0, 2] : tile<4x2xf32> -> tile<2x4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.permute' op result must be '!cuda_tile.tile<2x4xf32>', got '!cuda_tile.tile<4x2xf32>'}}
  %0 = permute %c [1, 0] : tile<4x2xf32> -> tile<4x2xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.permute' op result must have the element type of source, 'f32', got '!cuda_tile.tile<2x4xf16>'}}
  %0 = permute %c [1, 0] : tile<4x2xf32> -> tile<2x4xf16>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.cat' op dim must be in [0, 2), got 2}}
  %0 = cat %c, %c dim = 2 : tile<4x2xf32>, tile<4x2xf32> -> tile<4x4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.cat' op dimension 0 of result must be 4, got 8}}
  %0 = cat %c, %c dim = 1 : tile<4x2xf32>, tile<4x2xf32> -> tile<8x2xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  %d = constant <f32: 1.0> : tile<2x2xf32>
  // expected-error @+1 {{'cuda_tile.cat' op dimension 0 of rhs must be that of lhs, 4, got 2}}
  %0 = cat %c, %d dim = 1 : tile<4x2xf32>, tile<2x2xf32> -> tile<4x4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  %d = constant <f32: 1.0> : tile<8xf32>
  // expected-error @+1 {{'cuda_tile.cat' op rhs must have the rank of lhs, '!cuda_tile.tile<4x2xf32>', got '!cuda_tile.tile<8xf32>'}}
  %0 = cat %c, %d dim = 1 : tile<4x2xf32>, tile<8xf32> -> tile<4x4xf32>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  %d = constant <f16: 1.0> : tile<4x2xf16>
  // expected-error @+1 {{'cuda_tile.cat' op rhs must have the element type of lhs, 'f32', got '!cuda_tile.tile<4x2xf16>'}}
  %0 = cat %c, %d dim = 1 : tile<4x2xf32>, tile<4x2xf16> -> tile<4x4xf32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.extract' op expected 2 indices, one per dimension, got 1}}
  %0 = extract %c[%i] : tile<4x2xf32> -> tile<2x2xf32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.extract' op dimension 0 of result, 8, must divide that of source, 4}}
  %0 = extract %c[%i, %i] : tile<4x2xf32> -> tile<8x2xf32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.extract' op result must have the element type of source, 'f32', got '!cuda_tile.tile<2x2xf16>'}}
  %0 = extract %c[%i, %i] : tile<4x2xf32> -> tile<2x2xf16>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.extract' op result must have the rank of source, '!cuda_tile.tile<4x2xf32>', got '!cuda_tile.tile<4xf32>'}}
  %0 = extract %c[%i, %i] : tile<4x2xf32> -> tile<4xf32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  %d = constant <f32: 1.0> : tile<8x1xf32>
  // expected-error @+1 {{'cuda_tile.insert' op dimension 0 of source, 8, must divide that of destination, 4}}
  %0 = insert %d, %c[%i, %i] : tile<8x1xf32>, tile<4x2xf32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  %d = constant <f16: 1.0> : tile<2x1xf16>
  // expected-error @+1 {{'cuda_tile.insert' op source must have the element type of destination, 'f32', got '!cuda_tile.tile<2x1xf16>'}}
  %0 = insert %d, %c[%i, %i] : tile<2x1xf16>, tile<4x2xf32>
  return
}

// -----

entry @k(%b: tile<i1>) {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.select' op condition must have the shape of result, '!cuda_tile.tile<4x2xf32>', got '!cuda_tile.tile<i1>'}}
  %0 = select %b, %c, %c : tile<i1>, tile<4x2xf32>
  return
}

// -----

entry @k() {
  %b = constant <i1: true> : tile<4xi1>
  %c = constant <f4E2M1FN: 1.0> : tile<4xf4E2M1FN>
  // expected-error @+1 {{'cuda_tile.select' op result elements must not be f4E2M1FN}}
  %0 = select %b, %c, %c : tile<4xi1>, tile<4xf4E2M1FN>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>) {
  %n = iota : tile<4xi32>
  // expected-error @+1 {{'cuda_tile.offset' op offset must have the shape of pointer, '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<4xi32>'}}
  %0 = offset %p, %n : tile<ptr<f32>>, tile<4xi32> -> tile<ptr<f32>>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4x2xf32>
  // expected-error @+1 {{'cuda_tile.pack' op source and result must have rank 1, got '!cuda_tile.tile<4x2xf32>' and '!cuda_tile.tile<32xi8>'}}
  %0 = pack %c : tile<4x2xf32> -> tile<32xi8>
  return
}

// -----

entry @k() {
  %c = constant <f32: 1.0> : tile<4xf32>
  // expected-error @+1 {{'cuda_tile.pack' op result must have the bits of source, 128, got 64 in '!cuda_tile.tile<8xi8>'}}
  %0 = pack %c : tile<4xf32> -> tile<8xi8>
  return
}

// -----

entry @k() {
  %c = constant <f8E5M2: 1.0> : tile<4xf8E5M2>
  // expected-error @+1 {{'cuda_tile.pack' op source elements must not be 8 bits wide; use bitcast for 'f8E5M2'}}
  %0 = pack %c : tile<4xf8E5M2> -> tile<4xi8>
  return
}

// -----

entry @k() {
  %c = constant <i8: 1> : tile<16xi8>
  // expected-error @+1 {{'cuda_tile.unpack' op source must have the bits of result, 256, got 128 in '!cuda_tile.tile<16xi8>'}}
  %0 = unpack %c : tile<16xi8> -> tile<16xf16>
  return
}

// -----

entry @k() {
  %c = constant <i8: 1> : tile<16xi8>
  // expected-error @+1 {{'cuda_tile.unpack' op result elements must not be 8 bits wide; use bitcast for 'f8E4M3FN'}}
  %0 = unpack %c : tile<16xi8> -> tile<16xf8E4M3FN>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{nested lists do not match the shape of '!cuda_tile.tile<4xf32>'}}
  %c = constant <f32: [1.0, 2.0]> : tile<4xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{lists of a constant must be nested to one depth}}
  %c = constant <f32: [1.0, [2.0]]> : tile<2xf32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a list of 2 elements, got 1}}
  %c = constant <i32: [[1, 2], [3]]> : tile<2x2xi32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{integer does not fit in 'i8'}}
  %c = constant <i8: 256> : tile<i8>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a value of type 'i32'}}
  %c = constant <i32: 1.0> : tile<i32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{constants of type 'i4' do not exist}}
  %c = constant <i4: 1> : tile<i4>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{number is out of the range of 'f8E4M3FN'}}
  %c = constant <f8E4M3FN: 1.0e6> : tile<f8E4M3FN>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{number is out of the range of 'f8E8M0FNU'}}
  %c = constant <f8E8M0FNU: 0.0> : tile<f8E8M0FNU>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{number is out of the range of 'f4E2M1FN'}}
  %c = constant <f4E2M1FN: 1.0e9999> : tile<2xf4E2M1FN>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a tile of 'i32', got '!cuda_tile.tile<i64>'}}
  %c = constant <i32: 1> : tile<i64>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{hexadecimal data does not match '!cuda_tile.tile<2xi32>'}}
  %c = constant <i32: "0x0102"> : tile<2xi32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{expected a string of hexadecimal digits after 0x}}
  %c = constant <i32: "1234"> : tile<i32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.constant' op value must have the type of the result, '!cuda_tile.tile<4xi32>', got 'tensor<4xi32>'}}
  %c = "cuda_tile.constant"() <{value = dense<1> : tensor<4xi32>}> : () -> !cuda_tile.tile<4xi32>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.constant' op value must be a dense list of numbers, got sparse<0, 1> : tensor<4xi32>}}
  %c = "cuda_tile.constant"() <{value = sparse<0, 1> : tensor<4xi32>}> : () -> !cuda_tile.tile<4xi32>
  return
}
