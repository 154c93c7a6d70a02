// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Operations beyond Tile IR: where they may stand, types, names of registers.

cuda_tile.module @kernels {
  entry @k(%x: tile<f32>) {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op is an extension of Tile IR; mark the module 'cuda_tile.extended' to allow it}}
    %0 = inline_ptx "neg.f32 $0, $1;"(%x) : (tile<f32>) -> tile<f32>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%x: tile<i8>) {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op operand 1 must be a tile of i16, i32, i64, f16, bf16, f32 or f64, got '!cuda_tile.tile<i8>'}}
    %0 = inline_ptx "mov.b32 $0, $1;"(%x) : (tile<i8>) -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%x: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op result must be a tile of i16, i32, i64, f16, bf16, f32 or f64, got '!cuda_tile.tile<i1>'}}
    %0 = inline_ptx "setp.eq.s32 $0, $1, 0;"(%x) : (tile<i32>) -> tile<i1>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%x: tile<i32>) {
    %0 = iota : tile<4xi32>
    // expected-error @+1 {{'cuda_tile.inline_ptx' op operand 2 must have the shape of the result, '!cuda_tile.tile<4xi32>', got '!cuda_tile.tile<i32>'}}
    %1 = inline_ptx "add.s32 $0, $1, $2;"(%0, %x) : (tile<4xi32>, tile<i32>) -> tile<4xi32>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%x: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op after a dollar sign expected the number of a register, 0 to 1, or another dollar sign, got '2;'}}
    %0 = inline_ptx "add.s32 $0, $1, $2;"(%x) : (tile<i32>) -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%x: tile<i32>) {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op must set the result, $0}}
    %0 = inline_ptx "membar.gl;"(%x) : (tile<i32>) -> tile<i32>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k() {
    // expected-error @+1 {{'cuda_tile.inline_ptx' op needs an operand}}
    %0 = "cuda_tile.inline_ptx"() <{ptx = "mov.u32 $0, 1;"}> : () -> !cuda_tile.tile<i32>
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f32>>, %m: tile<i1>) {
    // expected-error @+1 {{'cuda_tile.prefetch' op is an extension of Tile IR; mark the module 'cuda_tile.extended' to allow it}}
    prefetch %p, %m : tile<ptr<f32>>, tile<i1>
    return
  }
}

// -----

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  entry @k(%p: tile<ptr<f32>>) {
    %m = constant <i1: true> : tile<4xi1>
    // expected-error @+1 {{'cuda_tile.prefetch' op mask}}
    prefetch %p, %m : tile<ptr<f32>>, tile<4xi1>
    return
  }
}
