// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Matrix multiplication: shapes and element types.

entry @k() {
  %a = constant <f16: 0.0> : tile<16xf16>
  %b = constant <f16: 0.0> : tile<16xf16>
  %c = constant <f32: 0.0> : tile<16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op lhs must have rank 2, or 3 with a batch dimension, got '!cuda_tile.tile<16xf16>'}}
  %0 = mmaf %a, %b, %c : tile<16xf16>, tile<16xf16>, tile<16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<2x16x16xf16>
  %b = constant <f16: 0.0> : tile<16x16xf16>
  %c = constant <f32: 0.0> : tile<2x16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op rhs must have the rank of lhs, 3, got '!cuda_tile.tile<16x16xf16>'}}
  %0 = mmaf %a, %b, %c : tile<2x16x16xf16>, tile<16x16xf16>, tile<2x16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x16xf16>
  %b = constant <f16: 0.0> : tile<16x16xf16>
  %c = constant <f32: 0.0> : tile<2x16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op acc must have the rank of lhs, 2, got '!cuda_tile.tile<2x16x16xf32>'}}
  %0 = mmaf %a, %b, %c : tile<16x16xf16>, tile<16x16xf16>, tile<2x16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x32xf16>
  %b = constant <f16: 0.0> : tile<16x8xf16>
  %c = constant <f32: 0.0> : tile<16x8xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op contraction dimensions of lhs and rhs differ: 32 and 16}}
  %0 = mmaf %a, %b, %c : tile<16x32xf16>, tile<16x8xf16>, tile<16x8xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x32xf16>
  %b = constant <f16: 0.0> : tile<32x8xf16>
  %c = constant <f32: 0.0> : tile<32x8xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op rows of lhs and acc differ: 16 and 32}}
  %0 = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<32x8xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x32xf16>
  %b = constant <f16: 0.0> : tile<32x8xf16>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op columns of rhs and acc differ: 8 and 16}}
  %0 = mmaf %a, %b, %c : tile<16x32xf16>, tile<32x8xf16>, tile<16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<2x16x16xf16>
  %b = constant <f16: 0.0> : tile<4x16x16xf16>
  %c = constant <f32: 0.0> : tile<2x16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op batch dimensions of lhs and rhs differ: 2 and 4}}
  %0 = mmaf %a, %b, %c : tile<2x16x16xf16>, tile<4x16x16xf16>, tile<2x16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<2x16x16xf16>
  %b = constant <f16: 0.0> : tile<2x16x16xf16>
  %c = constant <f32: 0.0> : tile<4x16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op batch dimensions of lhs and acc differ: 2 and 4}}
  %0 = mmaf %a, %b, %c : tile<2x16x16xf16>, tile<2x16x16xf16>, tile<4x16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x16xf16>
  %b = constant <bf16: 0.0> : tile<16x16xbf16>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op lhs and rhs must have one element type, got '!cuda_tile.tile<16x16xf16>' and '!cuda_tile.tile<16x16xbf16>'}}
  %0 = mmaf %a, %b, %c : tile<16x16xf16>, tile<16x16xbf16>, tile<16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f16: 0.0> : tile<16x16xf16>
  %b = constant <f16: 0.0> : tile<16x16xf16>
  %c = constant <f64: 0.0> : tile<16x16xf64>
  // expected-error @+1 {{'cuda_tile.mmaf' op acc must have elements of f16 or f32 for operands of 'f16', got 'f64'}}
  %0 = mmaf %a, %b, %c : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf64>
  return
}

// -----

entry @k() {
  %a = constant <bf16: 0.0> : tile<16x16xbf16>
  %b = constant <bf16: 0.0> : tile<16x16xbf16>
  %c = constant <bf16: 0.0> : tile<16x16xbf16>
  // expected-error @+1 {{'cuda_tile.mmaf' op acc must have elements of f32 for operands of 'bf16', got 'bf16'}}
  %0 = mmaf %a, %b, %c : tile<16x16xbf16>, tile<16x16xbf16>, tile<16x16xbf16>
  return
}

// -----

entry @k() {
  %a = constant <tf32: 0.0> : tile<16x16xtf32>
  %b = constant <tf32: 0.0> : tile<16x16xtf32>
  %c = constant <f16: 0.0> : tile<16x16xf16>
  // expected-error @+1 {{'cuda_tile.mmaf' op acc must have elements of f32 for operands of 'tf32', got 'f16'}}
  %0 = mmaf %a, %b, %c : tile<16x16xtf32>, tile<16x16xtf32>, tile<16x16xf16>
  return
}

// -----

entry @k() {
  %a = constant <f64: 0.0> : tile<16x16xf64>
  %b = constant <f64: 0.0> : tile<16x16xf64>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op acc must have elements of f64 for operands of 'f64', got 'f32'}}
  %0 = mmaf %a, %b, %c : tile<16x16xf64>, tile<16x16xf64>, tile<16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <f4E2M1FN: 0.0> : tile<16x16xf4E2M1FN>
  %b = constant <f4E2M1FN: 0.0> : tile<16x16xf4E2M1FN>
  %c = constant <f32: 0.0> : tile<16x16xf32>
  // expected-error @+1 {{'cuda_tile.mmaf' op operands must have elements of f8E4M3FN, f8E5M2, f16, bf16, tf32, f32 or f64, got 'f4E2M1FN'}}
  %0 = mmaf %a, %b, %c : tile<16x16xf4E2M1FN>, tile<16x16xf4E2M1FN>, tile<16x16xf32>
  return
}

// -----

entry @k() {
  %a = constant <i8: 0> : tile<16x32xi8>
  %c = constant <i32: 0> : tile<16x16xi32>
  // expected-error @+1 {{'cuda_tile.mmai' op contraction dimensions of lhs and rhs differ: 32 and 16}}
  %0 = mmai %a, %a, %c signed signed : tile<16x32xi8>, tile<16x32xi8>, tile<16x16xi32>
  return
}

// -----

entry @k() {
  %a = constant <i16: 0> : tile<16x16xi16>
  %c = constant <i32: 0> : tile<16x16xi32>
  // expected-error @+1 {{'cuda_tile.mmai' op operand #0 must be tile of i8, but got '!cuda_tile.tile<16x16xi16>'}}
  %0 = mmai %a, %a, %c signed signed : tile<16x16xi16>, tile<16x16xi16>, tile<16x16xi32>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E5M2: 1.0> : tile<64x64xf8E5M2>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op lhs and rhs must have one element type, got '!cuda_tile.tile<64x64xf8E4M3FN>' and '!cuda_tile.tile<64x64xf8E5M2>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E5M2>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f4E2M1FN: 1.0> : tile<64x64xf4E2M1FN>
  %b = constant <f4E2M1FN: 1.0> : tile<64x64xf4E2M1FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
  %sb = constant <f8E4M3FN: 1.0> : tile<2x64xf8E4M3FN>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op lhs_scale and rhs_scale must have one element type, got '!cuda_tile.tile<64x2xf8E8M0FNU>' and '!cuda_tile.tile<2x64xf8E4M3FN>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf4E2M1FN>, tile<64x64xf4E2M1FN>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E4M3FN>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %c = constant <f16: 0.0> : tile<64x64xf16>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op acc must have elements of f32, got '!cuda_tile.tile<64x64xf16>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf16>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op lhs_scale must have one scale for each block along the contraction dimension of lhs, '!cuda_tile.tile<64x64xf8E4M3FN>', got '!cuda_tile.tile<64xf8E8M0FNU>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<32x2xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op lhs_scale must be '!cuda_tile.tile<64x2xf8E8M0FNU>', got '!cuda_tile.tile<32x2xf8E8M0FNU>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<32x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<4x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op rhs_scale must be '!cuda_tile.tile<2x64xf8E8M0FNU>', got '!cuda_tile.tile<4x64xf8E8M0FNU>'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %b = constant <f8E4M3FN: 1.0> : tile<64x64xf8E4M3FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x4xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<4x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op operands of 'f8E4M3FN' need scales of f8E8M0FNU for blocks of 32, got 'f8E8M0FNU' for blocks of 16}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>, tile<64x4xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
  return
}

// -----

entry @k() {
  %a = constant <f8E5M2: 1.0> : tile<64x64xf8E5M2>
  %b = constant <f8E5M2: 1.0> : tile<64x64xf8E5M2>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E4M3FN: 1.0> : tile<64x2xf8E4M3FN>
  %sb = constant <f8E4M3FN: 1.0> : tile<2x64xf8E4M3FN>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op operands of 'f8E5M2' need scales of f8E8M0FNU for blocks of 32, got 'f8E4M3FN' for blocks of 32}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf8E5M2>, tile<64x64xf8E5M2>, tile<64x64xf32>, tile<64x2xf8E4M3FN>, tile<2x64xf8E4M3FN>
  return
}

// -----

entry @k() {
  %a = constant <f4E2M1FN: 1.0> : tile<64x64xf4E2M1FN>
  %b = constant <f4E2M1FN: 1.0> : tile<64x64xf4E2M1FN>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E4M3FN: 1.0> : tile<64x2xf8E4M3FN>
  %sb = constant <f8E4M3FN: 1.0> : tile<2x64xf8E4M3FN>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op operands of f4E2M1FN need scales of f8E8M0FNU for blocks of 16 or 32, or of f8E4M3FN or fnv8E5M3FNU for blocks of 16, got 'f8E4M3FN' for blocks of 32}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf4E2M1FN>, tile<64x64xf4E2M1FN>, tile<64x64xf32>, tile<64x2xf8E4M3FN>, tile<2x64xf8E4M3FN>
  return
}

// -----

entry @k() {
  %a = constant <f16: 1.0> : tile<64x64xf16>
  %b = constant <f16: 1.0> : tile<64x64xf16>
  %c = constant <f32: 0.0> : tile<64x64xf32>
  %sa = constant <f8E8M0FNU: 1.0> : tile<64x2xf8E8M0FNU>
  %sb = constant <f8E8M0FNU: 1.0> : tile<2x64xf8E8M0FNU>
  // expected-error @+1 {{'cuda_tile.mmaf_scaled' op operands must have elements of f8E4M3FN, f8E5M2 or f4E2M1FN, got 'f16'}}
  %0 = mmaf_scaled %a, %b, %c, %sa, %sb : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>, tile<64x2xf8E8M0FNU>, tile<2x64xf8E8M0FNU>
  return
}
