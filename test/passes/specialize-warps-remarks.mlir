// RUN: tile-opt --specialize-warps --remarks %s 2>&1 >/dev/null | FileCheck %s
// RUN: tile-opt --specialize-warps %s 2>&1 >/dev/null | FileCheck --check-prefix=QUIET --allow-empty %s

// Those who ask are told who computes what, and which tile would be faster; others are not.
// QUIET-NOT: remark

!a = !tile_gpu.buffer<64x128xf16, swizzle = 128>
!b = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @product(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x128xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<128x64xf16> -> !b
        // CHECK: specialize-warps-remarks.mlir:{{[0-9]+}}:14: remark: 1 warpgroup computes tiles of 64x64; one thread fetches {{[0-9]+}} stages of 32768 bytes by tensor memory accesses
        // CHECK: specialize-warps-remarks.mlir:{{[0-9]+}}:14: remark: a tile of 128x256 would take 0.63 of the time for each element of the result
        %d = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      tile_gpu.print "%f", %r : !acc
      gpu.return
    }
  }
}
