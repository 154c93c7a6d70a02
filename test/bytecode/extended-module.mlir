// RUN: not tile-translate --mlir-to-tilebc %s 2>&1 | FileCheck %s

// Bytecode holds only tiles whose dimensions are powers of two.

// CHECK: extended-module.mlir:6:1: {{.*}}cuda_tile.module marked cuda_tile.extended has no place in Tile IR bytecode
cuda_tile.module @m attributes {cuda_tile.extended} {
  entry @k() {
    %c = constant <f32: 0.0> : tile<192xf32>
    return
  }
}
