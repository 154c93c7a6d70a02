// RUN: tile-opt %s --split-input-file | FileCheck %s
// RUN: tile-opt - < %s --split-input-file | FileCheck %s
// RUN: tile-opt %s --split-input-file -o %t && FileCheck %s < %t
// RUN: tile-opt %s --split-input-file --emit-bytecode -o %t
// RUN: tile-opt %s --split-input-file --pass-pipeline='builtin.module(attach-target{chip=sm_80},cse)' | FileCheck %s --check-prefix=PIPELINE
// RUN: tile-opt %s --split-input-file --attach-target=chip=sm_90a --mlir-print-ir-after-all 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: tile-opt %s --split-input-file --attach-target --mlir-timing 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: not tile-opt %s --split-input-file --attach-target=size=3 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: tile-opt --help | FileCheck %s --check-prefix=HELP

// The driver of MLIR with our passes and dialects.

// CHECK: cuda_tile.module @kernels {
// CHECK-NEXT: entry @first()
// PIPELINE: module attributes {{.*}}sm_80
// DUMP: IR Dump After attach-target (attach-target)
// TIMING: attach-target
// OPTION: error: pass attach-target has no option 'size'
entry @first() {
  return
}

// -----

// CHECK: cuda_tile.module @second {
// CHECK-NEXT: entry @k()
cuda_tile.module @second {
  entry @k() {
    return
  }
}

// -----

// CHECK: func.func @other_dialects
func.func @other_dialects() {
  return
}

// HELP: --lower-to-<stage>
// HELP: cuda_tile, tile_gpu, nvgpu, nvvm
// HELP: --target=<gpu>
// HELP: --attach-target {{.*}}- Record the GPU architecture
// HELP: --canonicalize
// HELP: --convert-cuda-tile {{.*}}- Lower cuda_tile to tile_gpu
