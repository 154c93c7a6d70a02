// RUN: tile-opt --attach-target %s | FileCheck %s --check-prefix=DEFAULT
// RUN: tile-opt --pass-pipeline='builtin.module(attach-target{chip=sm_100 opt-level=1})' %s | FileCheck %s --check-prefix=GIVEN
// RUN: tile-opt --pass-pipeline='builtin.module(attach-target{chip=sm_80},attach-target)' %s | FileCheck %s --check-prefix=KEPT
// RUN: not tile-opt --pass-pipeline='builtin.module(attach-target{chip=sm_42})' %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt --pass-pipeline='builtin.module(attach-target{speed=high})' %s 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not tile-opt --pass-pipeline='builtin.module(attach-target{opt-level=fast})' %s 2>&1 | FileCheck %s --check-prefix=VALUE

// The target and the optimisation level become attributes of the module.

// DEFAULT: module attributes {tile_gpu.opt_level = 3 : i32, tile_gpu.target = "sm_90a"}
// A bare name from sm_90 on means the variant with all features.
// GIVEN: module attributes {tile_gpu.opt_level = 1 : i32, tile_gpu.target = "sm_100a"}
// KEPT: tile_gpu.target = "sm_80"

// UNKNOWN: error: unknown target 'sm_42'; choose one of sm_80, {{.*}}sm_90a{{.*}}sm_120a
// OPTION: error: pass attach-target has no option 'speed'; known: chip, opt-level
// VALUE: error: option 'opt-level' of pass attach-target cannot be 'fast'; give a whole number

cuda_tile.module @kernels {
  entry @nothing() {
    return
  }
}
