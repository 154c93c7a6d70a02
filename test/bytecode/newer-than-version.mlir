// RUN: not tile-translate --mlir-to-tilebc --bytecode-version=13.1 %s 2>&1 | FileCheck %s
// RUN: not tile-translate --mlir-to-tilebc --bytecode-version=12.0 %s 2>&1 | FileCheck %s --check-prefix=VERSION

// VERSION: bytecode version 12.0 is not supported
// VERSION: choose one of 13.1, 13.2, 13.3, 13.4, 13.5

cuda_tile.module @m {
  entry @k(%x: tile<f32>) {
    // CHECK: newer-than-version.mlir:10:{{[0-9]+}}: {{.*}}cuda_tile.atan2 needs bytecode 13.2 or newer, 13.1 was asked for
    %r = atan2 %x, %x : tile<f32>
    return
  }
}
