// RUN: tile-opt --specialize-warps %s | FileCheck %s

// A tile that is added to the product's result is asked for before the loop, so that memory brings it
// into the cache while products run.

!acc = !tile_gpu.tile<128x128xf32>
!half = !tile_gpu.tile<128x128xf16>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @residual
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[Q:[^:]*]]: !llvm.ptr<1>, %[[S:[^:]*]]: i64, %[[N:[^:]*]]: i32)
    gpu.func @residual(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // The producer has nothing to do with it.
      // CHECK: producer {
      // CHECK-NOT: tile_gpu.prefetch
      // CHECK: } consumers {
      // CHECK: scf.for %[[T:.*]] = %{{.*}} to %[[N]]
      scf.for %t = %c0 to %n step %c1 : i32 {
        // CHECK: %[[ROW:.*]] = arith.extui %[[T]]
        // CHECK: tile_gpu.prefetch %[[Q]][%[[ROW]], %[[ROW]]] sizes[%[[S]], %[[S]]] strides[%[[S]], %{{.*}}] alignment 16 in_bounds [false, true] : !tile_gpu.tile<128x128xf16>
        // A row is too small to be worth it, and what a load gives is not known yet.
        // CHECK-NOT: tile_gpu.prefetch
        // CHECK: scf.for
        // CHECK: tile_gpu.dot
        %t64 = arith.extui %t : i32 to i64
        %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %z = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
          %b = tile_gpu.to_shared %z : !tile_gpu.tile<64x128xf16> -> !tile_gpu.buffer<64x128xf16, swizzle = 128>
          %d = tile_gpu.dot %y, %b, %acc instruction <wgmma> : !a, !tile_gpu.buffer<64x128xf16, swizzle = 128>, !acc
          scf.yield %d : !acc
        }
        // CHECK: tile_gpu.load %[[Q]]
        %res = tile_gpu.load %q[%t64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, true] : !half
        %bias = tile_gpu.load %q[%t64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, true] : !tile_gpu.tile<1x128xf16>
        tile_gpu.print "%f %f %f", %r, %res, %bias : !acc, !half, !tile_gpu.tile<1x128xf16>
      }
      gpu.return
    }
  }
}
