// RUN: tile-opt %s --verify-diagnostics | FileCheck %s

// Hints that have no effect are kept, with a warning.

cuda_tile.module @kernels {
  // CHECK: entry @good() optimization_hints=<default = {num_worker_warps_per_cta = 8}, sm_80 = {num_cta_in_cga = 1}, sm_90 = {num_cta_in_cga = 16, occupancy = 32}>
  entry @good() optimization_hints=<sm_90 = {occupancy = 32, num_cta_in_cga = 16}, sm_80 = {num_cta_in_cga = 1}, default = {num_worker_warps_per_cta = 8}> {
    return
  }
  // CHECK: entry @occupancy() optimization_hints=<sm_90 = {occupancy = 77}>
  // expected-warning @+1 {{hint 'occupancy' must be 1 to 32, got 77 : i32; it has no effect}}
  entry @occupancy() optimization_hints=<sm_90 = {occupancy = 77}> {
    return
  }
  // expected-warning @+1 {{hint 'num_cta_in_cga' must be a power of two up to 16, and 1 on sm_8x, got 3 : i32; it has no effect}}
  entry @cluster() optimization_hints=<sm_90 = {num_cta_in_cga = 3}> {
    return
  }
  // expected-warning @+1 {{hint 'num_cta_in_cga' must be a power of two up to 16, and 1 on sm_8x, got 2 : i32; it has no effect}}
  entry @cluster_on_ampere() optimization_hints=<sm_80 = {num_cta_in_cga = 2}> {
    return
  }
  // expected-warning @+1 {{hint 'num_worker_warps_per_cta' must be a power of two up to 32, got true; it has no effect}}
  entry @warps() optimization_hints=<default = {num_worker_warps_per_cta = true}> {
    return
  }
  // expected-warning @+1 {{hint 'speed' is unknown and has no effect}}
  entry @unknown() optimization_hints=<default = {speed = 11}> {
    return
  }
  // expected-warning @+1 {{hints for 'sm_42' have no effect; architectures are sm_80 to sm_121, or default}}
  entry @architecture() optimization_hints=<sm_42 = {occupancy = 1}> {
    return
  }
  // expected-warning @+1 {{hint 'latency' belongs on a load or store and has no effect}}
  entry @place(%p: tile<ptr<f32>>) optimization_hints=<default = {latency = 1}> {
    // expected-warning @+1 {{hint 'latency' must be 1 to 10, got 11 : i32; it has no effect}}
    %0, %1 = load_ptr_tko weak %p optimization_hints = <default = {latency = 11}> : tile<ptr<f32>> -> tile<f32>, token
    // expected-warning @+1 {{hint 'occupancy' belongs on an entry and has no effect}}
    %2 = store_ptr_tko weak %p, %0 optimization_hints = <default = {occupancy = 1}> : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
