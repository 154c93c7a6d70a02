// RUN: tile-opt --split-reductions --split-input-file %s | FileCheck %s

// A reduction over a dimension that lies across warps: partial results within each warp, all of
// them into the registers of every thread, then the rest in registers.

// CHECK-DAG: #[[IN:.*]] = #tile_gpu.layout<[lane 4:8], [reg 4, warp 4:1, lane 8:1]>
// CHECK-DAG: #[[PARTIAL:.*]] = #tile_gpu.layout<[lane 4:8], [warp 4:1]>
// CHECK-DAG: #[[GATHERED:.*]] = #tile_gpu.layout<[lane 4:8], [reg 4]>
#in = #tile_gpu.layout<[lane 4:8], [reg 4, warp 4:1, lane 8:1]>
#out = #tile_gpu.layout<[lane 4:8]>
gpu.module @kernels {
  // CHECK: gpu.func @across_warps
  gpu.func @across_warps(%n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
    // CHECK: %[[X:.*]] = arith.constant
    %x = arith.constant dense<1.0> : !tile_gpu.tile<4x128xf32, #in>
    // CHECK-NEXT: %[[P:.*]] = tile_gpu.reduce %[[X]] dim 1 identities [0.000000e+00 : f32] within_warp {
    // CHECK: arith.addf
    // CHECK: } : (!tile_gpu.tile<4x128xf32, #[[IN]]>) -> !tile_gpu.tile<4x4xf32, #[[PARTIAL]]>
    // CHECK-NEXT: %[[G:.*]] = tile_gpu.convert_layout %[[P]] : {{.*}} -> !tile_gpu.tile<4x4xf32, #[[GATHERED]]>
    // CHECK-NEXT: tile_gpu.reduce %[[G]] dim 1 identities [0.000000e+00 : f32] {
    // CHECK: arith.addf
    // CHECK: } : (!tile_gpu.tile<4x4xf32, #[[GATHERED]]>) -> !tile_gpu.tile<4xf32
    %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<4x128xf32, #in>) -> !tile_gpu.tile<4xf32, #out>
    gpu.return
  }
}

// -----

// Warps elsewhere are no concern.

#in = #tile_gpu.layout<[warp 4:1], [reg 4, lane 32:1]>
#out = #tile_gpu.layout<[warp 4:1]>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @within_warps
  // CHECK-NOT: within_warp {
  // CHECK-NOT: convert_layout
  gpu.func @within_warps() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<4x128xf32, #in>
    %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<4x128xf32, #in>) -> !tile_gpu.tile<4xf32, #out>
    gpu.return
  }
}
