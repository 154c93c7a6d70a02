// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Memory operations through pointers: orderings, masks, atomics.

entry @k() {
  %a = make_token : token
  // expected-error @+1 {{'cuda_tile.join_tokens' op needs two tokens or more, got 1}}
  %0 = join_tokens %a : token
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.alloca' op num_elem must be positive, got 0}}
  %0 = alloca num_elem = 0, alignment = 4 : tile<ptr<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.alloca' op alignment must be a power of two and at least the size of 'f32', 4, got 2}}
  %0 = alloca num_elem = 4, alignment = 2 : tile<ptr<f32>>
  return
}

// -----

entry @k() {
  // expected-error @+1 {{'cuda_tile.alloca' op alignment must be a power of two and at least the size of 'f32', 4, got 12}}
  %0 = alloca num_elem = 4, alignment = 12 : tile<ptr<f32>>
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op memory ordering must be one of weak, relaxed, acquire, got release}}
  %r, %t = load_ptr_tko release device %p : tile<ptr<f32>> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op weak ordering takes no memory scope, got device}}
  %r, %t = load_ptr_tko weak device %p : tile<ptr<f32>> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op acquire ordering needs a memory scope (tl_blk, device or sys)}}
  %r, %t = load_ptr_tko acquire %p : tile<ptr<f32>> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op result must be '!cuda_tile.tile<f32>' to match the pointers '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<i32>'}}
  %r, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op result must be '!cuda_tile.tile<f32>' to match the pointers '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<1xf32>'}}
  %r, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<1xf32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  %n = constant <i1: true> : tile<4xi1>
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op mask must have the shape of the pointers, '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<4xi1>'}}
  %r, %t = load_ptr_tko weak %p, %n : tile<ptr<f32>>, tile<4xi1> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  %n = constant <f32: 1.0> : tile<4xf32>
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op padding must have the type of the result, '!cuda_tile.tile<f32>', got '!cuda_tile.tile<4xf32>'}}
  %r, %t = load_ptr_tko weak %p, %m, %n : tile<ptr<f32>>, tile<i1>, tile<4xf32> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{expected 1 to 3 operands, got 4}}
  %r, %t = load_ptr_tko weak %p, %m, %x, %x : tile<ptr<f32>>, tile<i1>, tile<f32>, tile<f32> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{expected 2 operand types, got 1}}
  %r, %t = load_ptr_tko weak %p, %m : tile<ptr<f32>> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.store_ptr_tko' op memory ordering must be one of weak, relaxed, release, got acquire}}
  %t = store_ptr_tko acquire device %p, %x : tile<ptr<f32>>, tile<f32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.store_ptr_tko' op weak ordering takes no memory scope, got sys}}
  %t = store_ptr_tko weak sys %p, %x : tile<ptr<f32>>, tile<f32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{'cuda_tile.store_ptr_tko' op relaxed ordering needs a memory scope (tl_blk, device or sys)}}
  %t = store_ptr_tko relaxed %p, %x : tile<ptr<f32>>, tile<f32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  %n = constant <f32: 1.0> : tile<4xf32>
  // expected-error @+1 {{'cuda_tile.store_ptr_tko' op value must be '!cuda_tile.tile<f32>' to match the pointers '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<4xf32>'}}
  %t = store_ptr_tko weak %p, %n : tile<ptr<f32>>, tile<4xf32> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  %n = constant <i1: true> : tile<4xi1>
  // expected-error @+1 {{'cuda_tile.store_ptr_tko' op mask must have the shape of the pointers, '!cuda_tile.tile<ptr<f32>>', got '!cuda_tile.tile<4xi1>'}}
  %t = store_ptr_tko weak %p, %x, %n : tile<ptr<f32>>, tile<f32>, tile<4xi1> -> token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %m: tile<i1>) {
  // expected-error @+1 {{expected 2 to 3 operands, got 1}}
  %t = store_ptr_tko weak %p : tile<ptr<f32>> -> token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{requires attribute 'memory_scope'}}
  %r, %t = atomic_cas_tko weak %p, %x, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.atomic_cas_tko' op memory ordering must be one of relaxed, acquire, release, acq_rel, got weak}}
  %r, %t = atomic_cas_tko weak device %p, %x, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i16>>, %x: tile<i16>) {
  // expected-error @+1 {{'cuda_tile.atomic_cas_tko' op val must have elements of i32, i64, f32 or f64, got '!cuda_tile.tile<i16>'}}
  %r, %t = atomic_cas_tko relaxed device %p, %x, %x : tile<ptr<i16>>, tile<i16> -> tile<i16>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i64>) {
  // expected-error @+1 {{'cuda_tile.atomic_cas_tko' op cmp must be '!cuda_tile.tile<i32>' to match the pointers '!cuda_tile.tile<ptr<i32>>', got '!cuda_tile.tile<i64>'}}
  %r, %t = atomic_cas_tko relaxed device %p, %y, %y : tile<ptr<i32>>, tile<i64> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.atomic_cas_tko' op result must be '!cuda_tile.tile<i32>' to match the pointers '!cuda_tile.tile<ptr<i32>>', got '!cuda_tile.tile<i64>'}}
  %r, %t = atomic_cas_tko relaxed device %p, %x, %x : tile<ptr<i32>>, tile<i32> -> tile<i64>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  %n = constant <i1: true> : tile<4xi1>
  // expected-error @+1 {{'cuda_tile.atomic_cas_tko' op mask must have the shape of the pointers, '!cuda_tile.tile<ptr<i32>>', got '!cuda_tile.tile<4xi1>'}}
  %r, %t = atomic_cas_tko relaxed device %p, %x, %x, %n : tile<ptr<i32>>, tile<i32>, tile<4xi1> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op memory ordering must be one of relaxed, acquire, release, acq_rel, got weak}}
  %r, %t = atomic_rmw_tko weak device %p, add, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op mode addf needs elements of f16, bf16, f32 or f64, got 'i32'}}
  %r, %t = atomic_rmw_tko relaxed device %p, addf, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32>>, %x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op mode add needs elements of i32 or i64, got 'f32'}}
  %r, %t = atomic_rmw_tko relaxed device %p, add, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i16>>, %x: tile<i16>) {
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op mode umax needs elements of i32 or i64, got 'i16'}}
  %r, %t = atomic_rmw_tko relaxed device %p, umax, %x : tile<ptr<i16>>, tile<i16> -> tile<i16>, token
  return
}

// -----

entry @k(%p: tile<ptr<f16>>, %x: tile<f16>) {
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op mode xchg needs elements of i32, i64, f32 or f64, got 'f16'}}
  %r, %t = atomic_rmw_tko relaxed device %p, xchg, %x : tile<ptr<f16>>, tile<f16> -> tile<f16>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  %n = constant <i1: true> : tile<4xi1>
  // expected-error @+1 {{'cuda_tile.atomic_rmw_tko' op mask must have the shape of the pointers, '!cuda_tile.tile<ptr<i32>>', got '!cuda_tile.tile<4xi1>'}}
  %r, %t = atomic_rmw_tko relaxed device %p, add, %x, %n : tile<ptr<i32>>, tile<i32>, tile<4xi1> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<i32>>, %x: tile<i32>) {
  // expected-error @+1 {{expected one of [and, or, xor, add, addf, max, min, umax, umin, xchg] for atomic read-modify-write operation, got: nand}}
  %r, %t = atomic_rmw_tko relaxed device %p, nand, %x : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}

// -----

entry @k(%p: tile<ptr<f32, <multicast>>>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op takes no multicast pointers; use the multimem operations}}
  %r, %t = load_ptr_tko weak %p : tile<ptr<f32, <multicast>>> -> tile<f32>, token
  return
}

// -----

entry @k(%x: tile<f32>) {
  // expected-error @+1 {{'cuda_tile.load_ptr_tko' op operand #0 must be tile of pointers, but got '!cuda_tile.tile<f32>'}}
  %r, %t = load_ptr_tko weak %x : tile<f32> -> tile<f32>, token
  return
}
