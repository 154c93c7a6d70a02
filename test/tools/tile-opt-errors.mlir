// RUN: not tile-opt %s 2>&1 | FileCheck %s
// RUN: not tile-opt %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tile-opt %s --opt-level=9 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not tile-opt %s --launch=maybe 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: not tile-opt %S/../data/cases/vadd-13.3.mlir --lower-to-nvvm --target=sm_42 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tile-opt %S/../data/cases/vadd-13.3.mlir --pass-pipeline='builtin.module(no-such-pass)' 2>&1 | FileCheck %s --check-prefix=PASS

// Errors name file, line and column, and the exit code is 1.

// MISSING: tile-opt: error: cannot read {{.*}}.missing: No such file
// LEVEL: tile-opt: error: --opt-level must be 0 to 3, not '9'
// LAUNCH: tile-opt: error: --launch must be plain or managed, not 'maybe'
// TARGET: error: unknown target 'sm_42'{{.*}}sm_90a
// PASS: 'no-such-pass' does not refer to a registered pass
entry @k(%x: tile<f64>) {
  // CHECK: tile-opt-errors.mlir:17:8: error: {{.*}}flush_to_zero needs f32 elements
  %0 = exp2 %x flush_to_zero : tile<f64>
  return
}
