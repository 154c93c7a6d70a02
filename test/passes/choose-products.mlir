// RUN: tile-opt --choose-products --split-input-file %s | FileCheck %s
// RUN: tile-opt --pass-pipeline='builtin.module(choose-products{wgmma=false})' --split-input-file %s | FileCheck %s --check-prefix=WITHOUT

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x64xf16, swizzle = 128>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @hopper
    // WITHOUT-LABEL: gpu.func @hopper
    gpu.func @hopper() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !a
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.dot {{.*}} instruction <wgmma>
      // WITHOUT: tile_gpu.dot {{.*}} instruction <mma_sync>
      %d = tile_gpu.dot %a, %a, %c : !a, !b, !tile_gpu.tile<64x64xf32>
      // The instruction does not take f32 exactly.
      // CHECK: tile_gpu.dot {{.*}} instruction <multiply_add>
      %f = tile_gpu.alloc : !tile_gpu.buffer<64x64xf32, swizzle = 128>
      %e = tile_gpu.dot %f, %f, %c : !tile_gpu.buffer<64x64xf32, swizzle = 128>, !tile_gpu.buffer<64x64xf32, swizzle = 128>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }
    // A warpgroup has 64 rows and four warps.
    // CHECK-LABEL: gpu.func @small
    gpu.func @small() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !tile_gpu.buffer<32x64xf16, swizzle = 128>
      %b = tile_gpu.alloc : !b
      %c = arith.constant dense<0.0> : !tile_gpu.tile<32x64xf32>
      // CHECK: tile_gpu.dot {{.*}} instruction <mma_sync>
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.buffer<32x64xf16, swizzle = 128>, !b, !tile_gpu.tile<32x64xf32>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @two_warps
    gpu.func @two_warps() kernel attributes {tile_gpu.num_warps = 2 : i32} {
      %a = tile_gpu.alloc : !a
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.dot {{.*}} instruction <mma_sync>
      %d = tile_gpu.dot %a, %a, %c : !a, !b, !tile_gpu.tile<64x64xf32>
      gpu.return
    }
    // No instruction has eight rows.
    // CHECK-LABEL: gpu.func @tiny
    gpu.func @tiny() kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %a = tile_gpu.alloc : !tile_gpu.buffer<8x64xf16, swizzle = 128>
      %b = tile_gpu.alloc : !b
      %c = arith.constant dense<0.0> : !tile_gpu.tile<8x64xf32>
      // CHECK: tile_gpu.dot {{.*}} instruction <multiply_add>
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.buffer<8x64xf16, swizzle = 128>, !b, !tile_gpu.tile<8x64xf32>
      gpu.return
    }
  }
}

// -----

// Other architectures have no wgmma.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
module attributes {tile_gpu.target = "sm_120a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @blackwell
    gpu.func @blackwell() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !a
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.dot {{.*}} instruction <mma_sync>
      %d = tile_gpu.dot %a, %a, %c : !a, !a, !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}

// -----

// Operands of 32-bit and 8-bit elements must lie along k; integers have fewer widths.

!ak = !tile_gpu.buffer<64x128xi8, swizzle = 128>
!bk = !tile_gpu.buffer<128x64xi8, order = [1, 0], swizzle = 128>
!bn = !tile_gpu.buffer<128x64xi8, swizzle = 64>
!narrow = !tile_gpu.buffer<128x40xi8, order = [1, 0], swizzle = 128>
!e4 = !tile_gpu.buffer<64x128xf8E4M3FN, swizzle = 128>
!e5 = !tile_gpu.buffer<128x64xf8E5M2, order = [1, 0], swizzle = 128>
!tf = !tile_gpu.buffer<64x32xtf32, swizzle = 128>
!tfk = !tile_gpu.buffer<32x64xtf32, order = [1, 0], swizzle = 128>
!i = !tile_gpu.tile<64x64xi32>
!f = !tile_gpu.tile<64x64xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @narrow_types
    gpu.func @narrow_types() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !ak
      %bk = tile_gpu.alloc : !bk
      %bn = tile_gpu.alloc : !bn
      %zero = arith.constant dense<0> : !i
      // CHECK: tile_gpu.dot {{.*}} instruction <wgmma>
      %0 = tile_gpu.dot %a, %bk, %zero : !ak, !bk, !i
      // CHECK: tile_gpu.dot {{.*}} instruction <mma_sync>
      %1 = tile_gpu.dot %a, %bn, %zero : !ak, !bn, !i
      %b40 = tile_gpu.alloc : !narrow
      %zero40 = arith.constant dense<0> : !tile_gpu.tile<64x40xi32>
      // CHECK: tile_gpu.dot {{.*}} instruction <mma_sync>
      %2 = tile_gpu.dot %a, %b40, %zero40 : !ak, !narrow, !tile_gpu.tile<64x40xi32>
      %e4 = tile_gpu.alloc : !e4
      %e5 = tile_gpu.alloc : !e5
      %f = arith.constant dense<0.0> : !f
      // CHECK: tile_gpu.dot {{.*}} instruction <wgmma>
      %3 = tile_gpu.dot %e4, %e5, %f : !e4, !e5, !f
      %tf = tile_gpu.alloc : !tf
      %tfk = tile_gpu.alloc : !tfk
      // CHECK: tile_gpu.dot {{.*}} instruction <wgmma>
      %4 = tile_gpu.dot %tf, %tfk, %f : !tf, !tfk, !f
      gpu.return
    }
  }
}
