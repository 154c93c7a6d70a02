// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Promises, printing, assertions.

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{divisor of div_by must be a power of two up to 2^62, got 3}}
  %0 = assume div_by<3>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{divisor of div_by must be a power of two up to 2^62, got 9223372036854775808}}
  %0 = assume div_by<9223372036854775808>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'every' of div_by must be positive, got 0}}
  %0 = assume div_by<4, every 0 along 0>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'along' of div_by must not be negative, got -1}}
  %0 = assume div_by<4, every 1 along -1>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.assume' op 'along' of div_by must name a dimension of '!cuda_tile.tile<i32>', got 0}}
  %0 = assume div_by<4, every 1 along 0>, %i : tile<i32>
  return
}

// -----

entry @k() {
  %n = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.assume' op 'every' of div_by must be at most dimension 0, 8, got 16}}
  %0 = assume div_by<4, every 16 along 0>, %n : tile<8xi32>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.assume' op div_by needs integers, pointers or a tensor view, got '!cuda_tile.tile<f32>'}}
  %0 = assume div_by<4>, %x : tile<f32>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>) {
  %v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  // expected-error @+1 {{'cuda_tile.assume' op 'every ... along' of div_by needs a tile, got '!cuda_tile.tensor_view<8xf32, strides=[1]>'}}
  %0 = assume div_by<4, every 2 along 0>, %v : tensor_view<8xf32, strides=[1]>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.assume' op same_elements needs a tile of integers or pointers, got '!cuda_tile.tile<f32>'}}
  %0 = assume same_elements<[]>, %x : tile<f32>
  return
}

// -----

entry @k() {
  %n = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.assume' op same_elements needs one number for each dimension of '!cuda_tile.tile<8xi32>', got 2}}
  %0 = assume same_elements<[2, 2]>, %n : tile<8xi32>
  return
}

// -----

entry @k() {
  %n = iota : tile<8xi32>
  // expected-error @+1 {{'cuda_tile.assume' op same_elements along dimension 0 must be in [1, 8], got 16}}
  %0 = assume same_elements<[16]>, %n : tile<8xi32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{lower bound 5 of bounded exceeds upper bound 4}}
  %0 = assume bounded<5, 4>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i8>) {
  // expected-error @+1 {{'cuda_tile.assume' op bound 128 does not fit in a signed 'i8'}}
  %0 = assume bounded<0, 128>, %i : tile<i8>
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.assume' op bounded needs a tile of integers, got '!cuda_tile.tile<f32>'}}
  %0 = assume bounded<0, ?>, %x : tile<f32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{expected div_by, same_elements or bounded, got 'likely'}}
  %0 = assume likely<1>, %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.assume' op predicate must be div_by, same_elements or bounded, got "likely"}}
  %0 = assume "likely", %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.print_tko' op format string has 0 conversions for 1 operands}}
  %0 = print_tko "x" , %i : tile<i32> -> token
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.print_tko' op format string has 2 conversions for 1 operands}}
  %0 = print_tko "%d %d", %i : tile<i32> -> token
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.print_tko' op format string has the unknown conversion '%y'; the letters are diuoxXeEfFgGaAcsSpn}}
  %0 = print_tko "%y", %i : tile<i32> -> token
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.print_tko' op format string ends within a conversion; write %% for a percent sign}}
  %0 = print_tko "100%", %i : tile<i32> -> token
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.print' op format string has 2 conversions for 1 operands}}
  print "%d and %d", %i : tile<i32>
  return
}

// -----

entry @k(%i: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.assert' op operand #0 must be tile of i1, but got '!cuda_tile.tile<i32>'}}
  assert %i, "integer" : tile<i32>
  return
}
