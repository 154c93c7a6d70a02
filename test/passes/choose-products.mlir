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
