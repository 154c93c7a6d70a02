// RUN: tile-opt --stage-operands %s | FileCheck %s

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // Operands go to shared memory, laid out as they are in global memory: %a row by row, %b column
    // by column. The swizzle is as wide as a row allows.
    // CHECK-LABEL: gpu.func @loaded
    gpu.func @loaded(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel {
      %one = arith.constant 1 : i64
      // CHECK: %[[A:.*]] = tile_gpu.load
      %a = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      // CHECK-NEXT: %[[B:.*]] = tile_gpu.load
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf16>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[SA:.*]] = tile_gpu.to_shared %[[A]] : !tile_gpu.tile<64x32xf16> -> !tile_gpu.buffer<64x32xf16, swizzle = 64>
      // CHECK-NEXT: %[[SB:.*]] = tile_gpu.to_shared %[[B]] : !tile_gpu.tile<32x64xf16> -> !tile_gpu.buffer<32x64xf16, order = [1, 0], swizzle = 64>
      // CHECK-NEXT: tile_gpu.dot %[[SA]], %[[SB]], %{{.*}}
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // A left operand that elementwise operations make from another product stays in registers: they
    // lie as the tensor cores want them.
    // CHECK-LABEL: gpu.func @from_product
    gpu.func @from_product() kernel {
      %a = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[D:.*]] = tile_gpu.dot
      %d = tile_gpu.dot %a, %a, %c : !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<64x64xf32>
      %e = math.fma %d, %d, %d : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[F:.*]] = tile_gpu.cast <truncf>
      %f = tile_gpu.cast <truncf> %e : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xf16>
      // CHECK-NEXT: %[[B:.*]] = tile_gpu.to_shared
      // CHECK-NEXT: tile_gpu.dot %[[F]], %[[B]], %{{.*}} : !tile_gpu.tile<64x64xf16>, !tile_gpu.buffer
      %g = tile_gpu.dot %f, %a, %c : !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<64x64xf16>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Scalar multiply-adds read both operands from shared memory, wherever they come from.
    // CHECK-LABEL: gpu.func @off_tensor_cores
    gpu.func @off_tensor_cores() kernel {
      %a = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[D:.*]] = tile_gpu.dot
      %d = tile_gpu.dot %a, %a, %a : !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>
      // CHECK-NEXT: %[[S:.*]] = tile_gpu.to_shared %[[D]]
      // CHECK: tile_gpu.dot %[[S]]
      %e = tile_gpu.dot %d, %a, %a : !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}
