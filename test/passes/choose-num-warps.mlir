// RUN: tile-opt --choose-num-warps --split-input-file --verify-diagnostics %s | FileCheck %s

gpu.module @kernels {
  // One warp for a small tile: each thread has a few elements.
  // CHECK: gpu.func @small() kernel attributes {tile_gpu.num_warps = 1 : i32}
  gpu.func @small() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<128xi32>
    gpu.return
  }

  // CHECK: gpu.func @no_tile() kernel attributes {tile_gpu.num_warps = 1 : i32}
  gpu.func @no_tile() kernel {
    gpu.return
  }

  // CHECK: gpu.func @medium() kernel attributes {tile_gpu.num_warps = 4 : i32}
  gpu.func @medium() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
    gpu.return
  }

  // Sixteen elements a thread.
  // CHECK: gpu.func @large() kernel attributes {tile_gpu.num_warps = 8 : i32}
  gpu.func @large() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<4096xi32>
    gpu.return
  }

  // CHECK: gpu.func @largest() kernel attributes {tile_gpu.num_warps = 16 : i32}
  gpu.func @largest() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<65536xi32>
    gpu.return
  }

  // Where warps combine what they have, more than four only if a thread's share would not fit its
  // registers.
  // CHECK: gpu.func @combined() kernel attributes {tile_gpu.num_warps = 4 : i32}
  gpu.func @combined() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<8192xi32>
    %1 = tile_gpu.reduce %0 dim 0 identities [0 : i32] {
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tile_gpu.yield %s : i32
    } : (!tile_gpu.tile<8192xi32>) -> i32
    gpu.return
  }

  // A warp owns at least one block of the accumulator.
  // CHECK: gpu.func @small_product({{.*}}) kernel attributes {tile_gpu.num_warps = 2 : i32}
  gpu.func @small_product(%n: i32) kernel {
    %a = arith.constant dense<0.0> : !tile_gpu.tile<16x64xf16>
    %b = arith.constant dense<0.0> : !tile_gpu.tile<64x16xf16>
    %c = arith.constant dense<0.0> : !tile_gpu.tile<16x16xf32>
    %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<16x64xf16>, !tile_gpu.tile<64x16xf16>, !tile_gpu.tile<16x16xf32>
    gpu.return
  }

  // Where one product feeds another, a warp owns whole rows: 32 rows are two warps' work.
  // CHECK: gpu.func @chain() kernel attributes {tile_gpu.num_warps = 2 : i32}
  gpu.func @chain() kernel {
    %a = arith.constant dense<0.0> : !tile_gpu.tile<32x64xf16>
    %b = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf16>
    %c = arith.constant dense<0.0> : !tile_gpu.tile<32x64xf32>
    %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<32x64xf32>
    %e = tile_gpu.cast <truncf> %d : !tile_gpu.tile<32x64xf32> -> !tile_gpu.tile<32x64xf16>
    %f = tile_gpu.dot %e, %b, %c : !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<32x64xf32>
    gpu.return
  }

  // What is recorded stays.
  // CHECK: gpu.func @recorded() kernel attributes {tile_gpu.num_warps = 3 : i32}
  gpu.func @recorded() kernel attributes {tile_gpu.num_warps = 3 : i32} {
    %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
    gpu.return
  }
}

// -----

// The hint of the program decides: the target's own before the default one.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK: gpu.func @hint() kernel attributes {tile_gpu.num_warps = 2 : i32
    gpu.func @hint() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 8}, sm_90 = {num_worker_warps_per_cta = 2}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
    // CHECK: gpu.func @default() kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @default() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 8}, sm_100 = {num_worker_warps_per_cta = 2}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
    // A value that has no effect leaves the default one its own.
    // CHECK: gpu.func @invalid() kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @invalid() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<sm_90 = {num_worker_warps_per_cta = 64}, default = {num_worker_warps_per_cta = 8}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
    // Nor does another architecture's, or one of another kind.
    // CHECK: gpu.func @no_number() kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @no_number() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<sm_90 = {num_worker_warps_per_cta = true}, default = {num_worker_warps_per_cta = 8}, sm_100 = {num_worker_warps_per_cta = 2}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
    // A block has at most 32 warps.
    // CHECK: gpu.func @impossible() kernel attributes {tile_gpu.num_warps = 4 : i32
    gpu.func @impossible() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 64}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
  }
}

// -----

// A warpgroup, four warps, for each 64 rows of an accumulator, as far as they share them evenly and a
// thread's part fits its registers.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b64 = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b128 = !tile_gpu.buffer<64x128xf16, swizzle = 128>
!b192 = !tile_gpu.buffer<64x192xf16, swizzle = 128>
!b256 = !tile_gpu.buffer<64x256xf16, swizzle = 128>
!a128 = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!a192 = !tile_gpu.buffer<192x64xf16, swizzle = 128>
!t64 = !tile_gpu.tile<64x64xf32>
!t64x256 = !tile_gpu.tile<64x256xf32>
!t128 = !tile_gpu.tile<128x128xf32>
!t128x256 = !tile_gpu.tile<128x256xf32>
!t192 = !tile_gpu.tile<192x192xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK: gpu.func @one({{.*}}) kernel attributes {tile_gpu.num_warps = 4 : i32}
    gpu.func @one(%acc: !t64) kernel {
      %a = tile_gpu.alloc : !a
      %d = tile_gpu.dot %a, %a, %acc : !a, !a, !t64
      gpu.return
    }
    // Side by side, with 64 accumulators in each thread instead of 128.
    // CHECK: gpu.func @wide({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32}
    gpu.func @wide(%acc: !t64x256) kernel {
      %a = tile_gpu.alloc : !a
      %b = tile_gpu.alloc : !b256
      %d = tile_gpu.dot %a, %b, %acc : !a, !b256, !t64x256
      gpu.return
    }
    // CHECK: gpu.func @two({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32}
    gpu.func @two(%acc: !t128x256) kernel {
      %a = tile_gpu.alloc : !a128
      %b = tile_gpu.alloc : !b256
      %d = tile_gpu.dot %a, %b, %acc : !a128, !b256, !t128x256
      gpu.return
    }
    // CHECK: gpu.func @three({{.*}}) kernel attributes {tile_gpu.num_warps = 12 : i32}
    gpu.func @three(%acc: !t192) kernel {
      %a = tile_gpu.alloc : !a192
      %b = tile_gpu.alloc : !b192
      %d = tile_gpu.dot %a, %b, %acc : !a192, !b192, !t192
      gpu.return
    }

    // Hints count where the warps hold the accumulators.
    // CHECK: gpu.func @fewer({{.*}}) kernel attributes {tile_gpu.num_warps = 4 : i32
    gpu.func @fewer(%acc: !t128) kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 4}>} {
      %a = tile_gpu.alloc : !a128
      %b = tile_gpu.alloc : !b128
      %d = tile_gpu.dot %a, %b, %acc : !a128, !b128, !t128
      gpu.return
    }
    // CHECK: gpu.func @too_few({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @too_few(%acc: !t128x256) kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 4}>} {
      %a = tile_gpu.alloc : !a128
      %b = tile_gpu.alloc : !b256
      // expected-remark @+1 {{8 warps compute, not 4 as num_worker_warps_per_cta asks for: each thread would hold 256 accumulators, and spill registers}}
      %d = tile_gpu.dot %a, %b, %acc : !a128, !b256, !t128x256
      gpu.return
    }
    // CHECK: gpu.func @too_many({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @too_many(%acc: !t128) kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 16}>} {
      %a = tile_gpu.alloc : !a128
      %b = tile_gpu.alloc : !b128
      // expected-remark @+1 {{8 warps compute, not 16 as num_worker_warps_per_cta asks for: a block has registers for 12 that multiply}}
      %d = tile_gpu.dot %a, %b, %acc : !a128, !b128, !t128
      gpu.return
    }
    // CHECK: gpu.func @uneven({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @uneven(%acc: !t128) kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 12}>} {
      %a = tile_gpu.alloc : !a128
      %b = tile_gpu.alloc : !b128
      // expected-remark @+1 {{warpgroups of 4 cannot share out the accumulator of 128x128}}
      %d = tile_gpu.dot %a, %b, %acc : !a128, !b128, !t128
      gpu.return
    }
  }
}

// -----

// Nor may warps spill that multiply on their own.

!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>
!t = !tile_gpu.tile<128x128xf32>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @too_few({{.*}}) kernel attributes {tile_gpu.num_warps = 8 : i32
    gpu.func @too_few(%acc: !t) kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 2}>} {
      %a = tile_gpu.alloc : !a
      %b = tile_gpu.alloc : !b
      // expected-remark @+1 {{8 warps compute, not 2 as num_worker_warps_per_cta asks for: each thread would hold 256 accumulators}}
      %d = tile_gpu.dot %a, %b, %acc : !a, !b, !t
      gpu.return
    }
  }
}
