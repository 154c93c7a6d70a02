// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Modules, entries, globals, hints.

// expected-error @+1 {{'cuda_tile.entry' op parameter 0 must be a rank-0 tile, got '!cuda_tile.tile<4xf32>'}}
entry @k(%x: tile<4xf32>) {
  return
}

// -----

// expected-error @+1 {{'cuda_tile.entry' op parameter 0 must be a rank-0 tile, got '!cuda_tile.token'}}
entry @k(%x: token) {
  return
}

// -----

// expected-error @+1 {{'cuda_tile.entry' op parameter 1 must be a rank-0 tile, got '!cuda_tile.tensor_view<4xf32, strides=[1]>'}}
entry @k(%x: tile<f32>, %v: tensor_view<4xf32, strides=[1]>) {
  return
}

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.entry' op must return nothing, got results '!cuda_tile.tile<f32>'}}
  "cuda_tile.entry"() <{function_type = () -> !cuda_tile.tile<f32>, sym_name = "k"}> ({
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.make_token' op must not stand directly in a cuda_tile.module, which holds entries and globals}}
  %0 = make_token : token
}

// -----

// expected-error @+1 {{'cuda_tile.entry' op expects parent op 'cuda_tile.module'}}
cuda_tile.entry @k() {
  return
}

// -----

// expected-note @+1 {{see existing symbol definition here}}
entry @k() {
  return
}
// expected-error @+1 {{redefinition of symbol named 'k'}}
entry @k() {
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.get_global' op @g does not name a global of this module}}
  %0 = get_global @g : tile<ptr<f32>>
  return
}

// -----

global @g <f32: 0.0> : tile<4xf32>
entry @k() {
  // expected-error @+1 {{'cuda_tile.get_global' op result must point to elements of @g, 'f32', got '!cuda_tile.tile<ptr<f16>>'}}
  %0 = get_global @g : tile<ptr<f16>>
  return
}

// -----

// expected-error @+1 {{'cuda_tile.global' op value must have rank 1, got '!cuda_tile.tile<2x2xf32>'}}
global @g <f32: 0.0> : tile<2x2xf32>

// -----

// expected-error @+1 {{'cuda_tile.global' op alignment must be 0 or a power of two, got 3}}
global @g alignment = 3 <f32: 0.0> : tile<2xf32>

// -----

// expected-error @+1 {{'cuda_tile.global' op alignment must be 0 or a power of two, got -4}}
global @g alignment = -4 <f32: 0.0> : tile<2xf32>

// -----

cuda_tile.module @kernels {
  // expected-error @+1 {{'cuda_tile.global' op value must be a dense tile of numbers, got dense<0.000000e+00> : tensor<4xf32>}}
  "cuda_tile.global"() <{sym_name = "g", value = dense<0.0> : tensor<4xf32>}> : () -> ()
}

// -----

entry @k() {
  // expected-error @+1 {{unknown attribute 'cuda_tile.fast'}}
  %0 = make_token {cuda_tile.fast} : token
  return
}

// -----

entry @k() {
  // expected-error @+1 {{attribute 'cuda_tile.extended' belongs on a cuda_tile.module, not on cuda_tile.make_token}}
  %0 = make_token {cuda_tile.extended} : token
  return
}

// -----

// expected-error @+1 {{attribute 'cuda_tile.extended' must be a unit attribute, got 1 : i32}}
cuda_tile.module @kernels attributes {cuda_tile.extended = 1 : i32} {
}

// -----

// expected-error @+1 {{duplicate architecture 'sm_90'}}
entry @k() optimization_hints=<sm_90 = {occupancy = 1}, sm_90 = {}> {
  return
}

// -----

// expected-error @+1 {{duplicate hint 'occupancy'}}
entry @k() optimization_hints=<sm_90 = {occupancy = 1, occupancy = 2}> {
  return
}

// -----

// expected-error @+1 {{hint 'occupancy' must be an integer that fits in 'i32', got 4294967296}}
entry @k() optimization_hints=<sm_90 = {occupancy = 4294967296}> {
  return
}
