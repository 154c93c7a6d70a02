// RUN: tile-opt --specialize-warps %s | FileCheck %s

// The producer branches around a division whose result is known: a number below the divisor is its own
// remainder. Consumers have time, and a branch would end the code in which products are in flight.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @places
    // CHECK-SAME: %[[I:[^:]*]]: i32, %[[W:[^:]*]]: i32)
    gpu.func @places(%p: !llvm.ptr<1>, %s: i64, %n: i32, %i: i32, %w: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c8 = arith.constant 8 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: producer {
      // CHECK: scf.for %[[TILE:[^ ]*]] = %[[I]]
      scf.for %tile = %i to %n step %c1 : i32 {
        // Signed: neither may be negative.
        // CHECK: %[[NONE:.*]] = arith.constant 0 : i32
        // CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[TILE]], %[[W]]
        // CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %[[TILE]], %[[NONE]]
        // CHECK: %[[BELOW:.*]] = arith.andi %[[LESS]], %[[POSITIVE]]
        // CHECK: %[[Y:.*]] = scf.if %[[BELOW]] -> (i32) {
        // CHECK-NEXT: scf.yield %[[NONE]]
        // CHECK-NEXT: } else {
        // CHECK-NEXT: %[[Q:.*]] = arith.divsi %[[TILE]], %[[W]]
        // CHECK-NEXT: scf.yield %[[Q]]
        %y = arith.divsi %tile, %w : i32
        // One division for quotient and remainder.
        // CHECK-NOT: arith.rem
        // CHECK: %[[BACK:.*]] = arith.muli %[[Y]], %[[W]]
        // CHECK: %[[X:.*]] = arith.subi %[[TILE]], %[[BACK]]
        %x = arith.remsi %tile, %w : i32
        // CHECK: %[[U:.*]] = arith.cmpi ult, %[[X]], %[[W]]
        // CHECK: scf.if %[[U]]
        // CHECK: arith.divui %[[X]], %[[W]]
        %z = arith.divui %x, %w : i32
        // By a constant no branch is needed.
        // CHECK: arith.divui %{{.*}}, %c8_i32
        %e = arith.divui %z, %c8 : i32
        // Nor by what other tiles have another of: some blocks would start before others.
        // CHECK: %[[HEIGHT:.*]] = arith.minsi
        // CHECK-NEXT: arith.divsi %{{.*}}, %[[HEIGHT]]
        %height = arith.minsi %tile, %c8 : i32
        %f = arith.divsi %e, %height : i32
        %sum = arith.addi %f, %y : i32
        %row = arith.extui %sum : i32 to i64
        // CHECK: scf.for
        %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %v = tile_gpu.load %p[%row, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %v : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
          %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
          scf.yield %d : !tile_gpu.tile<64x64xf32>
        }
        tile_gpu.print "%f", %r : !tile_gpu.tile<64x64xf32>
      }
      // CHECK: } consumers {
      // CHECK: arith.divsi
      // CHECK: arith.remsi
      gpu.return
    }
  }
}
