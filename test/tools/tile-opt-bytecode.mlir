// RUN: tile-opt %S/../data/cases/vadd-13.3.tilebc | FileCheck %s
// RUN: tile-opt - < %S/../data/cases/vadd-13.3.tilebc | FileCheck %s
// RUN: tile-opt %S/../data/cases/vadd-13.3.tilebc --emit-bytecode | tile-opt - | FileCheck %s
// RUN: tile-opt %S/../data/cases/vadd-13.3.tilebc --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUG

// Tile IR bytecode and MLIR bytecode are input like text; locations are kept.

// CHECK: cuda_tile.module @kernels {
// CHECK-NEXT: entry @vadd(
// CHECK: addf %{{.*}}, %{{.*}} : tile<128xf32>
// DEBUG: addf {{.*}} loc([[LOC:#loc[0-9]*]])
// DEBUG: [[LOC]] = #cuda_tile.di_loc<#loc{{[0-9]*}} in #di_subprogram>
