// RUN: tile-opt %s --split-input-file --verify-diagnostics

// What tensor memory accesses, their barriers and specialised warps refuse.

func.func @f(%p: !llvm.ptr<1>, %n: i64) {
  // expected-error @+1 {{'tile_gpu.tensor_map' op needs 2 sizes and strides, found 1 and 2}}
  %0 = tile_gpu.tensor_map %p sizes[%n] strides[%n, %n] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @f(%p: !llvm.ptr<1>, %n: i64) {
  // expected-error @+1 {{'tile_gpu.tensor_map' op has both a slot and scratch, or neither}}
  %0 = tile_gpu.tensor_map %p sizes[%n, %n] strides[%n, %n] slot %n : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @f(%s: !tile_gpu.buffer<1xi64>) {
  %k = arith.constant 0 : i64
  // expected-error @+1 {{'tile_gpu.acquire_map_slot' op count must be positive, found 0}}
  %0:2 = tile_gpu.acquire_map_slot 0 key(%k : i64) scratch %s : !tile_gpu.buffer<1xi64>
  return
}

// -----

func.func @f(%s: !tile_gpu.buffer<1xi32>) {
  %k = arith.constant 0 : i64
  // expected-error @+1 {{'tile_gpu.acquire_map_slot' op scratch must be a buffer of one i64, found '!tile_gpu.buffer<1xi32>'}}
  %0:2 = tile_gpu.acquire_map_slot 1 key(%k : i64) scratch %s : !tile_gpu.buffer<1xi32>
  return
}

// -----

func.func @f(%s: !tile_gpu.buffer<2xi64>) {
  // expected-error @+1 {{'tile_gpu.read_map_slot' op scratch must be a buffer of one i64, found '!tile_gpu.buffer<2xi64>'}}
  %0:2 = tile_gpu.read_map_slot %s : !tile_gpu.buffer<2xi64>
  return
}

// -----

// A load fills one stage of a ring.
func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op fills one stage, found '!tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>'}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>, !tile_gpu.buffer<1xi64>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xf16, swizzle = 128>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op needs 2 starts, found 1}}
  tile_gpu.tma_load %map[%i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<96x64xf16, swizzle = 128>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op '!tile_gpu.buffer<96x64xf16, swizzle = 128>' does not consist of boxes of '!tile_gpu.tensor_map<64x64xf16, swizzle = 128>'}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<96x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  return
}

// -----

// The slowest dimensions may be the tensor's alone, if the box has one element there.
func.func @f(%one: !tile_gpu.tensor_map<1x64x64xf16, swizzle = 128>, %two: !tile_gpu.tensor_map<2x64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xf16, swizzle = 128>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  tile_gpu.tma_load %one[%i, %i, %i], %b, %bar : !tile_gpu.tensor_map<1x64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  // expected-error @+1 {{'tile_gpu.tma_load' op '!tile_gpu.buffer<128x64xf16, swizzle = 128>' does not consist of boxes of '!tile_gpu.tensor_map<2x64x64xf16, swizzle = 128>'}}
  tile_gpu.tma_load %two[%i, %i, %i], %b, %bar : !tile_gpu.tensor_map<2x64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  return
}

// -----

// The box is swizzled, the buffer is not.
func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xf16>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op '!tile_gpu.buffer<128x64xf16>' does not consist of boxes of '!tile_gpu.tensor_map<64x64xf16, swizzle = 128>'}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16>, !tile_gpu.buffer<1xi64>
  return
}

// -----

// The fastest dimension differs.
func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xf16, order = [1, 0], swizzle = 128>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op '!tile_gpu.buffer<128x64xf16, order = [1, 0], swizzle = 128>' does not consist}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, order = [1, 0], swizzle = 128>, !tile_gpu.buffer<1xi64>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xbf16, swizzle = 128>, %bar: !tile_gpu.buffer<1xi64>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op element types differ: '!tile_gpu.buffer<64x64xf16, swizzle = 128>' and '!tile_gpu.buffer<128x64xbf16, swizzle = 128>'}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xbf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %b: !tile_gpu.buffer<128x64xf16, swizzle = 128>, %bar: !tile_gpu.buffer<1xi64, stages = 4>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_load' op barrier must be a buffer of one i64, found '!tile_gpu.buffer<1xi64, stages = 4>'}}
  tile_gpu.tma_load %map[%i, %i], %b, %bar : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64, stages = 4>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %ring: !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>, %t: !tile_gpu.tile<96x64xf16>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_store' op '!tile_gpu.tile<96x64xf16>' does not consist of stages of '!tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>'}}
  tile_gpu.tma_store %t, %map[%i, %i] through %ring : !tile_gpu.tile<96x64xf16>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %ring: !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>, %t: !tile_gpu.tile<64x64xf32>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_store' op element types differ: '!tile_gpu.tile<64x64xf32>' and '!tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>'}}
  tile_gpu.tma_store %t, %map[%i, %i] through %ring : !tile_gpu.tile<64x64xf32>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %ring: !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>, %t: !tile_gpu.tile<64x64xf16>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_store' op needs 2 starts, found 3}}
  tile_gpu.tma_store %t, %map[%i, %i, %i] through %ring : !tile_gpu.tile<64x64xf16>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
  return
}

// -----

func.func @f(%map: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %ring: !tile_gpu.buffer<32x64xf16, swizzle = 128>, %t: !tile_gpu.tile<64x64xf16>, %i: i64) {
  // expected-error @+1 {{'tile_gpu.tma_store' op '!tile_gpu.buffer<32x64xf16, swizzle = 128>' does not consist of boxes of '!tile_gpu.tensor_map<64x64xf16, swizzle = 128>'}}
  tile_gpu.tma_store %t, %map[%i, %i] through %ring : !tile_gpu.tile<64x64xf16>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<32x64xf16, swizzle = 128>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<2xi64, stages = 4>, %n: i32) {
  // expected-error @+1 {{'tile_gpu.mbarrier_init' op barrier must be a buffer of one i64, found '!tile_gpu.buffer<2xi64, stages = 4>'}}
  tile_gpu.mbarrier_init %b, %n : !tile_gpu.buffer<2xi64, stages = 4>
  return
}

// -----

// All but the first deal with one stage.
func.func @f(%b: !tile_gpu.buffer<1xi64, stages = 2>, %n: i32) {
  // expected-error @+1 {{'tile_gpu.mbarrier_expect' op barrier must be a buffer of one i64, found '!tile_gpu.buffer<1xi64, stages = 2>'}}
  tile_gpu.mbarrier_expect %b, %n : !tile_gpu.buffer<1xi64, stages = 2>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<1xi32>) {
  // expected-error @+1 {{'tile_gpu.mbarrier_arrive' op barrier must be a buffer of one i64, found '!tile_gpu.buffer<1xi32>'}}
  tile_gpu.mbarrier_arrive %b : !tile_gpu.buffer<1xi32>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<1xi64, stages = 2>, %n: i32) {
  // expected-error @+1 {{'tile_gpu.mbarrier_wait' op barrier must be a buffer of one i64}}
  tile_gpu.mbarrier_wait %b, %n : !tile_gpu.buffer<1xi64, stages = 2>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile_gpu.specialize' op registers are two multiples of 8 from 24 to 256}}
  tile_gpu.specialize registers [40] producer {
  } consumers {
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile_gpu.specialize' op registers are two multiples of 8 from 24 to 256}}
  tile_gpu.specialize registers [40, 234] producer {
  } consumers {
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'tile_gpu.specialize' op has one or two replicas, found 3}}
  tile_gpu.specialize replicas 3 producer {
  } consumers {
  }
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>) {
  // expected-error @+1 {{'tile_gpu.as_panels' op keeps the swizzle of rows, found '!tile_gpu.buffer<64x64xf16, swizzle = 128>' and '!tile_gpu.buffer<64x32xf16, swizzle = 64>'}}
  %p = tile_gpu.as_panels %b : !tile_gpu.buffer<64x64xf16, swizzle = 128> -> !tile_gpu.buffer<64x32xf16, swizzle = 64>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>) {
  // expected-error @+1 {{'tile_gpu.as_panels' op takes one stage, found '!tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>' and '!tile_gpu.buffer<64x64xf16, swizzle = 128>'}}
  %p = tile_gpu.as_panels %b : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>, %s: !tile_gpu.buffer<1xi64>, %x: i32) {
  // expected-error @+1 {{'tile_gpu.take_tile' op '!tile_gpu.buffer<64x64xf16, swizzle = 128>' does not hold columns of '!tile_gpu.tile<128x64xf16>'}}
  %t = tile_gpu.take_tile %b full %s parity %x empty %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<128x64xf16>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>, %s: !tile_gpu.buffer<1xi64>, %x: i32) {
  // expected-error @+1 {{'tile_gpu.take_tile' op parts have 64 columns, '!tile_gpu.tile<64x128xf16>' has 128}}
  %t = tile_gpu.take_tile %b full %s parity %x empty %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<64x128xf16>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>, %s: !tile_gpu.buffer<1xi64>, %x: i32) {
  // expected-error @+1 {{'tile_gpu.take_tile' op element types differ: '!tile_gpu.tile<64x64xbf16>' and '!tile_gpu.buffer<64x64xf16, swizzle = 128>'}}
  %t = tile_gpu.take_tile %b full %s parity %x empty %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<64x64xbf16>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>, %s: !tile_gpu.buffer<1xi64>, %x: i32) {
  // expected-error @+1 {{'tile_gpu.take_tile' op takes a matrix in parts, found '!tile_gpu.tile<64xf16>'}}
  %t = tile_gpu.take_tile %b full %s parity %x empty %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<64xf16>
  return
}

// -----

func.func @f(%b: !tile_gpu.buffer<64x64xf16, swizzle = 128>, %s: !tile_gpu.buffer<1xi64, stages = 2>, %x: i32) {
  // expected-error @+1 {{'tile_gpu.take_tile' op barrier must be a buffer of one i64, found '!tile_gpu.buffer<1xi64, stages = 2>'}}
  %t = tile_gpu.take_tile %b full %s parity %x empty %s : !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64, stages = 2> empty !tile_gpu.buffer<1xi64, stages = 2> -> !tile_gpu.tile<64x64xf16>
  return
}
