// RUN: tile-opt %s --split-input-file --verify-diagnostics

// What operations of tile_gpu on tiles, memory and buffers refuse.

func.func @f(%x: i32) {
  // expected-error @+1 {{'tile_gpu.splat' op element types differ: 'i32' and '!tile_gpu.tile<4xf32>'}}
  %0 = tile_gpu.splat %x : i32 -> !tile_gpu.tile<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile_gpu.iota' op gives a rank-1 tile of integers, found '!tile_gpu.tile<4x4xi32>'}}
  %0 = tile_gpu.iota : !tile_gpu.tile<4x4xi32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile_gpu.iota' op gives a rank-1 tile of integers, found '!tile_gpu.tile<4xf32>'}}
  %0 = tile_gpu.iota : !tile_gpu.tile<4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<2x1xf32>) {
  // expected-error @+1 {{'tile_gpu.broadcast' op cannot repeat '!tile_gpu.tile<2x1xf32>' to '!tile_gpu.tile<4x4xf32>'}}
  %0 = tile_gpu.broadcast %x : !tile_gpu.tile<2x1xf32> -> !tile_gpu.tile<4x4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<4xf32>) {
  // expected-error @+1 {{'tile_gpu.reshape' op changes the number of elements: '!tile_gpu.tile<4xf32>' to '!tile_gpu.tile<2x4xf32>'}}
  %0 = tile_gpu.reshape %x : !tile_gpu.tile<4xf32> -> !tile_gpu.tile<2x4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.convert_layout' op changes the shape: '!tile_gpu.tile<8xf32>' to '!tile_gpu.tile<2x4xf32>'}}
  %0 = tile_gpu.convert_layout %x : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<2x4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<2x4xf32>) {
  // expected-error @+1 {{'tile_gpu.permute' op does not permute '!tile_gpu.tile<2x4xf32>' to '!tile_gpu.tile<2x4xf32>'}}
  %0 = tile_gpu.permute %x [1, 0] : !tile_gpu.tile<2x4xf32> -> !tile_gpu.tile<2x4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<2x4xf32>) {
  // expected-error @+1 {{'tile_gpu.permute' op does not permute}}
  %0 = tile_gpu.permute %x [1, 1] : !tile_gpu.tile<2x4xf32> -> !tile_gpu.tile<4x4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<2xf32>) {
  // expected-error @+1 {{'tile_gpu.extract_scalar' op needs a tile with one element, found '!tile_gpu.tile<2xf32>'}}
  %0 = tile_gpu.extract_scalar %x : !tile_gpu.tile<2xf32> -> f32
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %i: i32) {
  // expected-error @+1 {{'tile_gpu.extract' op '!tile_gpu.tile<3xf32>' is no slice of '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.extract %x[%i] : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<3xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %i: i32) {
  // expected-error @+1 {{'tile_gpu.extract' op needs 1 indices, found 2}}
  %0 = tile_gpu.extract %x[%i, %i] : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %y: !tile_gpu.tile<4x4xf32>, %i: i32) {
  // expected-error @+1 {{'tile_gpu.insert' op '!tile_gpu.tile<4x4xf32>' is no slice of '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.insert %y, %x[%i] : !tile_gpu.tile<4x4xf32>, !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.cat' op has no dimension 1 in '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.cat %x, %x dim 1 : !tile_gpu.tile<8xf32>, !tile_gpu.tile<8xf32> -> !tile_gpu.tile<16xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.cat' op '!tile_gpu.tile<8xf32>' and '!tile_gpu.tile<8xf32>' along 0 do not make '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.cat %x, %x dim 0 : !tile_gpu.tile<8xf32>, !tile_gpu.tile<8xf32> -> !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.reinterpret' op changes the number of bits, or is not of rank 1: '!tile_gpu.tile<8xf32>' to '!tile_gpu.tile<8xi8>'}}
  %0 = tile_gpu.reinterpret %x : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<8xi8>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.cast' op operands and result must have one shape and layout, found '!tile_gpu.tile<8xf32>' and '!tile_gpu.tile<4xf16>'}}
  %0 = tile_gpu.cast <truncf> %x : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<4xf16>
  return
}

// -----

// Only layouts differ.
func.func @f(%x: !tile_gpu.tile<8xf32, #tile_gpu.layout<[lane 8:1]>>) {
  // expected-error @+1 {{'tile_gpu.cast' op operands and result must have one shape and layout}}
  %0 = tile_gpu.cast <truncf> %x : !tile_gpu.tile<8xf32, #tile_gpu.layout<[lane 8:1]>> -> !tile_gpu.tile<8xf16, #tile_gpu.layout<[reg 8]>>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %c: !tile_gpu.tile<8xi8>) {
  // expected-error @+1 {{'tile_gpu.select' op condition must be a tile of i1, found '!tile_gpu.tile<8xi8>'}}
  %0 = tile_gpu.select %c, %x, %x : !tile_gpu.tile<8xi8>, !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %y: !tile_gpu.tile<4xf32>) {
  // expected-error @+1 {{'tile_gpu.call' op operands and result must have one shape and layout}}
  %0 = tile_gpu.call "__nv_powf"(%x, %y) : (!tile_gpu.tile<8xf32>, !tile_gpu.tile<4xf32>) -> !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.inline_ptx' op operands and result must have one shape and layout}}
  %0 = tile_gpu.inline_ptx "mov.b32 $0, $1;" "=f,f" (%x) : (!tile_gpu.tile<8xf32>) -> !tile_gpu.tile<4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.ftof' op rounding must be rn, rz, rm, rp or rna, found up}}
  %0 = tile_gpu.ftof %x "up" : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<8xf16>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.reduce' op needs one identity for each of at least one operand}}
  %0 = tile_gpu.reduce %x dim 0 identities [] {
  ^bb0(%e: f32, %a: f32):
    tile_gpu.yield %a : f32
  } : (!tile_gpu.tile<8xf32>) -> f32
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.reduce' op has no dimension 1 in '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
  ^bb0(%e: f32, %a: f32):
    tile_gpu.yield %a : f32
  } : (!tile_gpu.tile<8xf32>) -> f32
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>, %y: !tile_gpu.tile<4xf32>) {
  // expected-error @+1 {{'tile_gpu.reduce' op operands and result must have one shape and layout}}
  %0:2 = tile_gpu.reduce %x, %y dim 0 identities [0.0 : f32, 0.0 : f32] {
  ^bb0(%e: f32, %a: f32, %g: f32, %b: f32):
    tile_gpu.yield %a, %b : f32, f32
  } : (!tile_gpu.tile<8xf32>, !tile_gpu.tile<4xf32>) -> (f32, f32)
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.reduce' op body must take 2 scalars}}
  %0 = tile_gpu.reduce %x dim 0 identities [0.0 : f32] {
  ^bb0(%e: f32):
    tile_gpu.yield %e : f32
  } : (!tile_gpu.tile<8xf32>) -> f32
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.scan' op body must yield 1 scalars}}
  %0 = tile_gpu.scan %x dim 0 identities [0.0 : f32] {
  ^bb0(%e: f32, %a: f32):
    tile_gpu.yield %e, %a : f32, f32
  } : (!tile_gpu.tile<8xf32>) -> !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.scan' op body must take and yield 'f32' for operand 0}}
  %0 = tile_gpu.scan %x dim 0 identities [0.0 : f32] {
  ^bb0(%e: f32, %a: i32):
    tile_gpu.yield %e : f32
  } : (!tile_gpu.tile<8xf32>) -> !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.load' op needs 1 starts, sizes, strides and in_bounds, found 1, 1, 2 and 1}}
  %0 = tile_gpu.load %p[%i] sizes [%i] strides [%i, %i] alignment 4 in_bounds [true] : !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.load' op alignment must be a power of two, found 12}}
  %0 = tile_gpu.load %p[%i] sizes [%i] strides [%i] alignment 12 in_bounds [true] : !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i64, %x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.store' op needs 1 starts, sizes, strides and in_bounds, found 1, 1, 1 and 2}}
  tile_gpu.store %x, %p[%i] sizes [%i] strides [%i] alignment 4 in_bounds [true, true] : !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i64, %x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.atomic_red' op alignment must be a power of two, found 0}}
  tile_gpu.atomic_red <addf> %x, %p[%i] sizes [%i] strides [%i] alignment 0 in_bounds [true] scope <device> : !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %i: i64, %b: !tile_gpu.buffer<8x8xf32>) {
  // expected-error @+1 {{'tile_gpu.async_load' op needs 2 starts, sizes, strides and in_bounds, found 1, 2, 2 and 2}}
  tile_gpu.async_load %p[%i] sizes [%i, %i] strides [%i, %i], %b alignment 4 in_bounds [true, true] : !tile_gpu.buffer<8x8xf32>
  return
}

// -----

func.func @f(%a: !tile_gpu.tile<8xi32>) {
  // expected-error @+1 {{'tile_gpu.gather' op addresses must be i64, found '!tile_gpu.tile<8xi32>'}}
  %0 = tile_gpu.gather %a contiguity 1 alignment 4 : !tile_gpu.tile<8xi32> -> !tile_gpu.tile<8xf32>
  return
}

// -----

func.func @f(%a: !tile_gpu.tile<8xi64>, %x: !tile_gpu.tile<4xf32>) {
  // expected-error @+1 {{'tile_gpu.scatter' op operands and result must have one shape and layout}}
  tile_gpu.scatter %x, %a contiguity 1 alignment 4 : !tile_gpu.tile<4xf32>, !tile_gpu.tile<8xi64>
  return
}

// -----

func.func @f(%a: i32, %x: i32) {
  // expected-error @+1 {{'tile_gpu.atomic_rmw' op addresses must be i64, found 'i32'}}
  %0 = tile_gpu.atomic_rmw <add> %a, %x ordering <relaxed> scope <device> : i32, i32 -> i32
  return
}

// -----

func.func @f(%a: f32, %x: i32) {
  // expected-error @+1 {{'tile_gpu.atomic_cas' op addresses must be i64, found 'f32'}}
  %0 = tile_gpu.atomic_cas %a, %x, %x ordering <relaxed> scope <device> : f32, i32 -> i32
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<8xf32, stages = 2>, %i: i32) {
  // expected-error @+1 {{'tile_gpu.stage' op one stage of '!tile_gpu.buffer<8xf32, stages = 2>' is '!tile_gpu.buffer<8xf32>', not '!tile_gpu.buffer<4xf32>'}}
  %0 = tile_gpu.stage %b[%i] : !tile_gpu.buffer<8xf32, stages = 2> -> !tile_gpu.buffer<4xf32>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<8xf32>) {
  // expected-error @+1 {{'tile_gpu.to_shared' op '!tile_gpu.buffer<4xf32>' does not hold '!tile_gpu.tile<8xf32>'}}
  %0 = tile_gpu.to_shared %x : !tile_gpu.tile<8xf32> -> !tile_gpu.buffer<4xf32>
  return
}

// -----

// A ring takes a tile into one of its stages.
func.func @f(%x: !tile_gpu.tile<8xf32>, %b: !tile_gpu.buffer<8xf32, stages = 2>) {
  // expected-error @+1 {{'tile_gpu.local_store' op '!tile_gpu.buffer<8xf32, stages = 2>' does not hold '!tile_gpu.tile<8xf32>'}}
  tile_gpu.local_store %x, %b : !tile_gpu.tile<8xf32>, !tile_gpu.buffer<8xf32, stages = 2>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<3xf32>, %b: !tile_gpu.buffer<8xf32>, %i: i32) {
  // expected-error @+1 {{'tile_gpu.local_store' op '!tile_gpu.buffer<8xf32>' does not hold '!tile_gpu.tile<3xf32>' at these offsets}}
  tile_gpu.local_store %x, %b[%i] : !tile_gpu.tile<3xf32>, !tile_gpu.buffer<8xf32>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<8xf32>) {
  // expected-error @+1 {{'tile_gpu.local_load' op element types differ: '!tile_gpu.tile<8xf16>' and '!tile_gpu.buffer<8xf32>'}}
  %0 = tile_gpu.local_load %b : !tile_gpu.buffer<8xf32> -> !tile_gpu.tile<8xf16>
  return
}

// -----

func.func @f(%x: !tile_gpu.tile<4x8xf32>) {
  // expected-error @+1 {{'tile_gpu.dot' op shapes do not form a matrix product: '!tile_gpu.tile<4x8xf32>', '!tile_gpu.tile<4x8xf32>', '!tile_gpu.tile<4x8xf32>'}}
  %0 = tile_gpu.dot %x, %x, %x : !tile_gpu.tile<4x8xf32>, !tile_gpu.tile<4x8xf32>, !tile_gpu.tile<4x8xf32>
  return
}

// -----

// Batches are as many in all three.
func.func @f(%x: !tile_gpu.tile<2x4x4xf32>, %y: !tile_gpu.tile<1x4x4xf32>) {
  // expected-error @+1 {{'tile_gpu.dot' op shapes do not form a matrix product}}
  %0 = tile_gpu.dot %x, %y, %x : !tile_gpu.tile<2x4x4xf32>, !tile_gpu.tile<1x4x4xf32>, !tile_gpu.tile<2x4x4xf32>
  return
}

// -----

func.func @prefetch_lines(%a: !tile_gpu.tile<8xi32>, %m: !tile_gpu.tile<8xi1>) {
  // expected-error @+1 {{'tile_gpu.prefetch_lines' op addresses must be i64, found '!tile_gpu.tile<8xi32>'}}
  tile_gpu.prefetch_lines %a mask %m : !tile_gpu.tile<8xi32> mask !tile_gpu.tile<8xi1>
  return
}
