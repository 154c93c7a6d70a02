// RUN: tile-opt --choose-num-warps --split-input-file %s | FileCheck %s

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

  // More than four warps only where a thread's share would not fit its registers.
  // CHECK: gpu.func @large() kernel attributes {tile_gpu.num_warps = 8 : i32}
  gpu.func @large() kernel {
    %0 = tile_gpu.iota : !tile_gpu.tile<16384xi32>
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
    // A block has at most 32 warps.
    // CHECK: gpu.func @impossible() kernel attributes {tile_gpu.num_warps = 4 : i32
    gpu.func @impossible() kernel attributes {tile_gpu.optimization_hints =
        #cuda_tile.optimization_hints<default = {num_worker_warps_per_cta = 64}>} {
      %0 = tile_gpu.iota : !tile_gpu.tile<1024xi32>
      gpu.return
    }
  }
}
