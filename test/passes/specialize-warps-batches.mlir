// RUN: tile-opt --specialize-warps --split-input-file %s | FileCheck %s

// Dimensions that a batch has beside a tile's are folded into addresses. Maps have them, so that one
// serves all blocks: the producer says where a tile lies in them.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>
!two = !llvm.array<2 x i8>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @batch
    // CHECK-SAME: %[[P:arg0]]: !llvm.ptr<1>, %[[HEAD:arg1]]: i64, %[[STEP:arg2]]: i64, %[[S:arg3]]: i64
    gpu.func @batch(%p: !llvm.ptr<1>, %head: i64, %step: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %z = arith.constant 0 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %n32 = nvvm.read.ptx.sreg.ctaid.z : i32
      %n64 = arith.extui %n32 : i32 to i64
      // Outer dimensions have the stride of a constant, 512 elements, and of a parameter.
      %c512 = arith.constant 512 : i64
      %o0 = arith.muli %n64, %step : i64
      %p0 = llvm.getelementptr %p[%o0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !two
      %o1 = arith.muli %head, %c512 : i64
      %p1 = llvm.getelementptr %p0[%o1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !two
      // CHECK: %[[N:.*]] = arith.extui %{{.*}} : i32 to i64
      // CHECK: %[[ANY:.*]] = arith.constant 2147483647 : i64
      // CHECK: %[[MAP:.*]] = tile_gpu.tensor_map %[[P]] sizes[%[[ANY]], %[[ANY]], %[[S]], %[[S]]] strides[%[[STEP]], %c512_i64, %[[S]], %c1_i64]
      // CHECK-SAME: !tile_gpu.tensor_map<1x1x64x64xf16, swizzle = 128>
      // CHECK: producer
      // CHECK: tile_gpu.tma_load %[[MAP]][%[[N]], %[[HEAD]], %c0_i64, %{{.*}}],
      // CHECK: consumers
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p1[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] {tile_gpu.batch_alignment = 16 : i64} : !tile_gpu.tile<64x64xf16>
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

// Strides that are no multiples of 16 bytes stay in the address, which not all blocks share.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @unaligned
    // CHECK-NOT: specialize
    gpu.func @unaligned(%p: !llvm.ptr<1>, %step: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %z = arith.constant 0 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %n32 = nvvm.read.ptx.sreg.ctaid.z : i32
      %n64 = arith.extui %n32 : i32 to i64
      %o0 = arith.muli %n64, %step : i64
      %p0 = llvm.getelementptr %p[%o0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<2 x i8>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p0[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] {tile_gpu.batch_alignment = 8 : i64} : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        scf.yield %d : !acc
      }
      %use = arith.addf %r, %r : !acc
      gpu.return
    }
  }
}
