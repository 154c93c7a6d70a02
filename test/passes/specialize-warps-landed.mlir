// RUN: tile-opt --pass-pipeline='builtin.module(overlap-products,specialize-warps{stages=2})' --split-input-file %s | FileCheck %s

// Products in flight keep a stage for a round more. Where there is no third one, they wait where they
// are, instead of having their tiles copied by all threads.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @two_stages
    gpu.func @two_stages(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.alloc : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      // CHECK: consumers
      // CHECK-NOT: tile_gpu.dot_wait
      // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} instruction <wgmma>
      // CHECK: tile_gpu.mbarrier_arrive
      // CHECK-NOT: tile_gpu.dot_wait
      // CHECK: gpu.return
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        scf.yield %d : !acc
      }
      %use = arith.addf %r, %r : !acc
      gpu.return
    }
  }
}

// -----

// Tensor accesses round f32 to tf32; no other copies do, so that a product whose operands do not come
// by tensor accesses cannot stay in flight.

!a = !tile_gpu.buffer<64x32xtf32, swizzle = 128>
!b = !tile_gpu.buffer<32x64xtf32, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @rounded
    gpu.func @rounded(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.tensor_map {{.*}} : !tile_gpu.tensor_map<64x32xtf32, swizzle = 128>
      // CHECK-NOT: tile_gpu.ftof
      // CHECK: consumers
      // CHECK: tile_gpu.dot
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xf32>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xf32>
        %xr = tile_gpu.ftof %x "rn" : !tile_gpu.tile<64x32xf32> -> !tile_gpu.tile<64x32xtf32>
        %yr = tile_gpu.ftof %y "rn" : !tile_gpu.tile<32x64xf32> -> !tile_gpu.tile<32x64xtf32>
        %a = tile_gpu.to_shared %xr : !tile_gpu.tile<64x32xtf32> -> !a
        %b = tile_gpu.to_shared %yr : !tile_gpu.tile<32x64xtf32> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      %use = arith.addf %r, %r : !acc
      gpu.return
    }
    // A barrier orders the loads with what others write: no producer may run ahead.
    // CHECK-LABEL: gpu.func @registers
    gpu.func @registers(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.ftof
      // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} instruction <wgmma>
      // CHECK-NOT: tile_gpu.dot_wait
      // CHECK: gpu.return
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        tile_gpu.barrier
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xf32>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xf32>
        %xr = tile_gpu.ftof %x "rn" : !tile_gpu.tile<64x32xf32> -> !tile_gpu.tile<64x32xtf32>
        %yr = tile_gpu.ftof %y "rn" : !tile_gpu.tile<32x64xf32> -> !tile_gpu.tile<32x64xtf32>
        %a = tile_gpu.to_shared %xr : !tile_gpu.tile<64x32xtf32> -> !a
        %b = tile_gpu.to_shared %yr : !tile_gpu.tile<32x64xtf32> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      %use = arith.addf %r, %r : !acc
      gpu.return
    }
  }
}
