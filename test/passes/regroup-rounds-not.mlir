// RUN: tile-opt --regroup-rounds --split-input-file %s | FileCheck %s

// What is across k, too, depends on the counter: such a loop stays as it is.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @counted_rows
    gpu.func @counted_rows(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i64 {
        %start = arith.muli %k, %size : i64
        %x = tile_gpu.load %p[%k, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}
