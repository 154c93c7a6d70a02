// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Prefetches of the lines at a tile of pointers: only the addresses matter.

cuda_tile.module @kernels attributes {cuda_tile.extended} {
  // CHECK-LABEL: gpu.func @k
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[M:.*]]: i1)
  entry @k(%p: tile<ptr<f32>>, %m: tile<i1>) {
    %0 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %1 = broadcast %0 : tile<1xptr<f32>> -> tile<48xptr<f32>>
    %i = iota : tile<48xi32>
    // CHECK: %[[A:.*]] = arith.addi {{.*}} : !tile_gpu.tile<48xi64>
    %q = offset %1, %i : tile<48xptr<f32>>, tile<48xi32> -> tile<48xptr<f32>>
    // CHECK: %[[MASK:.*]] = tile_gpu.splat %[[M]] : i1 -> !tile_gpu.tile<48xi1>
    %2 = reshape %m : tile<i1> -> tile<1xi1>
    %3 = broadcast %2 : tile<1xi1> -> tile<48xi1>
    // CHECK: tile_gpu.prefetch_lines %[[A]] mask %[[MASK]] : !tile_gpu.tile<48xi64> mask !tile_gpu.tile<48xi1>
    prefetch %q, %3 : tile<48xptr<f32>>, tile<48xi1>
    return
  }
}
