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

// -----

// Columns of an accumulator, of which a thread holds 64: lanes share them out in the first part, and
// the threads of all warps in the second; from there each thread reads what it needs.

// CHECK-DAG: #[[PARTIAL:.*]] = #tile_gpu.layout<[warp 8:1], [reg 4, lane 32:1, reg 2]>
// CHECK-DAG: #[[GATHERED:.*]] = #tile_gpu.layout<[reg 8], [warp 8:1, lane 32:1]>
// CHECK-DAG: #[[SHARED:.*]] = #tile_gpu.layout<[warp 8:1, lane 32:1]>
// CHECK-DAG: #[[COPIES:.*]] = #tile_gpu.layout<[reg 32, lane 4:1, reg 2]>
#in = #tile_gpu.layout<[warp 8:1, reg 2, lane 8:4], [reg 32, lane 4:1, reg 2]>
#out = #tile_gpu.layout<[reg 32, lane 4:1, reg 2]>
gpu.module @kernels {
  // CHECK: gpu.func @shared_out
  gpu.func @shared_out(%n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<128x256xf32, #in>
    // CHECK: } : (!tile_gpu.tile<128x256xf32, {{.*}}>) -> !tile_gpu.tile<8x256xf32, #[[PARTIAL]]>
    // CHECK-NEXT: tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<8x256xf32, #[[GATHERED]]>
    // CHECK: } : (!tile_gpu.tile<8x256xf32, #[[GATHERED]]>) -> !tile_gpu.tile<256xf32, #[[SHARED]]>
    // CHECK-NEXT: %[[C:.*]] = tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<256xf32, #[[COPIES]]>
    %r = tile_gpu.reduce %x dim 0 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<128x256xf32, #in>) -> !tile_gpu.tile<256xf32, #out>
    // CHECK-NEXT: tile_gpu.reshape %[[C]]
    %row = tile_gpu.reshape %r : !tile_gpu.tile<256xf32, #out> -> !tile_gpu.tile<1x256xf32, #tile_gpu.layout<[], [reg 32, lane 4:1, reg 2]>>
    gpu.return
  }
}

// -----

// The parts of all warps are combined where the result is needed: two parts of two results cost less
// than a trip to other threads.

// CHECK-DAG: #[[PARTIAL:.*]] = #tile_gpu.layout<[lane 2:1], [warp 2:1]>
// CHECK-DAG: #[[GATHERED:.*]] = #tile_gpu.layout<[reg 2], [reg 2]>
#in = #tile_gpu.layout<[reg 2], [warp 2:1, lane 32:1]>
#out = #tile_gpu.layout<[reg 2]>
#wanted = #tile_gpu.layout<[lane 2:16]>
gpu.module @kernels {
  // CHECK: gpu.func @few
  gpu.func @few(%n: i32) kernel attributes {tile_gpu.num_warps = 2 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<2x64xf32, #in>
    // CHECK: } : (!tile_gpu.tile<2x64xf32, {{.*}}>) -> !tile_gpu.tile<2x2xf32, #[[PARTIAL]]>
    // CHECK-NEXT: tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<2x2xf32, #[[GATHERED]]>
    // CHECK: -> !tile_gpu.tile<2xf32, #{{.*}}>
    // CHECK-NEXT: tile_gpu.reshape
    %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<2x64xf32, #in>) -> !tile_gpu.tile<2xf32, #out>
    %column = tile_gpu.reshape %r : !tile_gpu.tile<2xf32, #out> -> !tile_gpu.tile<2x1xf32, #tile_gpu.layout<[reg 2], []>>
    gpu.return
  }

  // Or where a conversion would bring it.
  // CHECK: gpu.func @converted
  gpu.func @converted(%n: i32) kernel attributes {tile_gpu.num_warps = 2 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<2x64xf32, #in>
    // CHECK: tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<2x2xf32, #[[AT:.*]]>
    // CHECK: } : (!tile_gpu.tile<2x2xf32, #[[AT]]>) -> !tile_gpu.tile<2xf32, #[[WANTED:.*]]>
    // CHECK: tile_gpu.convert_layout {{.*}} : !tile_gpu.tile<2xf32, #[[COPIES:.*]]> -> !tile_gpu.tile<2xf32, #[[WANTED]]>
    %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<2x64xf32, #in>) -> !tile_gpu.tile<2xf32, #out>
    %w = tile_gpu.convert_layout %r : !tile_gpu.tile<2xf32, #out> -> !tile_gpu.tile<2xf32, #wanted>
    gpu.return
  }
}

// -----

// Within a warp, 64 results of three butterflies cost more than to share them out and to read them.

// CHECK-DAG: #[[SHARED:.*]] = #tile_gpu.layout<[warp 4:1, reg 4, lane 32:1, reg 2]>
#in = #tile_gpu.layout<[reg 2, lane 8:4], [warp 4:1, reg 32, lane 4:1, reg 2]>
#out = #tile_gpu.layout<[warp 4:1, reg 32, lane 4:1, reg 2]>
#in_few = #tile_gpu.layout<[reg 2, lane 8:4], [warp 4:1, reg 2, lane 4:1, reg 2]>
#out_few = #tile_gpu.layout<[warp 4:1, reg 2, lane 4:1, reg 2]>
gpu.module @kernels {
  // CHECK: gpu.func @lanes
  gpu.func @lanes() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<16x1024xf32, #in>
    // CHECK: } : (!tile_gpu.tile<16x1024xf32, {{.*}}>) -> !tile_gpu.tile<1024xf32, #[[SHARED]]>
    // CHECK-NEXT: tile_gpu.convert_layout
    %r = tile_gpu.reduce %x dim 0 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<16x1024xf32, #in>) -> !tile_gpu.tile<1024xf32, #out>
    %row = tile_gpu.reshape %r : !tile_gpu.tile<1024xf32, #out> -> !tile_gpu.tile<1x1024xf32, #tile_gpu.layout<[], [warp 4:1, reg 32, lane 4:1, reg 2]>>
    gpu.return
  }

  // CHECK: gpu.func @few_lanes
  // CHECK-NOT: convert_layout
  gpu.func @few_lanes() kernel attributes {tile_gpu.num_warps = 4 : i32} {
    %x = arith.constant dense<1.0> : !tile_gpu.tile<16x64xf32, #in_few>
    %r = tile_gpu.reduce %x dim 0 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<16x64xf32, #in_few>) -> !tile_gpu.tile<64xf32, #out_few>
    %row = tile_gpu.reshape %r : !tile_gpu.tile<64xf32, #out_few> -> !tile_gpu.tile<1x64xf32, #tile_gpu.layout<[], [warp 4:1, reg 2, lane 4:1, reg 2]>>
    gpu.return
  }
}
