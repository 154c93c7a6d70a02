// RUN: tile-opt --specialize-warps %s | FileCheck %s

// The consumers fetch the rounds of a block's first tile, as many as the ring has stages, while maps
// are made.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @head_start
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[S:[^:]*]]: i64, %[[N:[^:]*]]: i32, %[[FIRST:[^:]*]]: i32, %[[LAST:[^:]*]]: i32)
    gpu.func @head_start(%p: !llvm.ptr<1>, %s: i64, %n: i32, %first: i32, %last: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<128x256xf32>
      // CHECK: %[[RING:.*]] = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = [[STAGES:[0-9]+]]>
      // CHECK: tile_gpu.mbarrier_init %[[FULL:.*]], %{{.*}} : !tile_gpu.buffer<1xi64, stages = [[STAGES]]>
      // CHECK: tile_gpu.mbarrier_init
      // The barriers must exist.
      // CHECK: tile_gpu.barrier
      // None if the block has no tile.
      // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[FIRST]], %[[LAST]]
      // CHECK: %[[ALL:.*]] = arith.constant [[STAGES]] : i32
      // CHECK: %[[MOST:.*]] = arith.select %[[SOME]], %[[ALL]], %{{.*}}
      // CHECK: %[[ROUNDS:.*]] = arith.minsi %{{.*}}, %[[MOST]]
      // CHECK: %[[LIMIT:.*]] = arith.addi %{{.*}}, %{{.*}}
      // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ROUNDS]] step
      // The counter of the loop, from the stage: it starts at 0 and goes up by 2.
      // CHECK: %[[TWICE:.*]] = arith.muli %[[I]], %{{.*}}
      // CHECK: %[[K:.*]] = arith.addi %{{.*}}, %[[TWICE]]
      // CHECK: %[[INTO:.*]] = tile_gpu.stage %[[RING]][%[[I]]]
      // CHECK: %[[ROW:.*]] = arith.extui %[[FIRST]]
      // CHECK: %[[COLUMN:.*]] = arith.extui %[[K]]
      // CHECK: tile_gpu.async_load %[[P]][%[[ROW]], %[[COLUMN]]] sizes{{.*}}, %[[INTO]] alignment 16
      // CHECK: tile_gpu.async_load
      // CHECK: %[[F:.*]] = tile_gpu.stage %[[FULL]][%[[I]]]
      // CHECK: tile_gpu.async_arrive %[[F]]
      // CHECK: tile_gpu.tensor_map
      // CHECK: tile_gpu.barrier
      // CHECK: tile_gpu.specialize {{.*}}producer {
      // Now that all copies have been started, one arrival completes their phases.
      // CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[ROUNDS]] step
      // CHECK: %[[DONE:.*]] = tile_gpu.stage %[[FULL]][%[[J]]]
      // CHECK: tile_gpu.mbarrier_arrive %[[DONE]] :
      // CHECK: %[[AT:.*]] = arith.remui %{{.*}}, %{{.*}}
      // CHECK: scf.for %[[T:.*]] = %[[FIRST]] to %[[LAST]] {{.*}} iter_args(%[[S0:.*]] = %[[AT]],
      // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[T]], %[[FIRST]]
      // CHECK: %[[LOWER:.*]] = arith.select %[[IS_FIRST]], %[[LIMIT]],
      // CHECK: scf.for %{{.*}} = %[[LOWER]] to %[[N]] step %{{.*}} iter_args(%{{.*}} = %[[S0]],
      // CHECK: tile_gpu.tma_load
      // CHECK: } consumers {
      // CHECK: scf.for %[[U:.*]] = %[[FIRST]] to
      scf.for %t = %first to %last step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        // CHECK: scf.for %[[R:.*]] = %{{.*}} to %[[N]]
        %r = scf.for %k = %c0 to %n step %c2 iter_args(%acc = %zero) -> (!tile_gpu.tile<128x256xf32>) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !tile_gpu.buffer<128x64xf16, swizzle = 128>
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x256xf16> -> !tile_gpu.buffer<64x256xf16, swizzle = 128>
          // What ordinary copies wrote, products read after a fence.
          // CHECK: tile_gpu.mbarrier_wait
          // CHECK: %[[EARLY:.*]] = arith.cmpi slt, %[[R]], %[[LIMIT]]
          // CHECK: %[[OF_FIRST:.*]] = arith.cmpi eq, %[[U]], %[[FIRST]]
          // CHECK: %[[BOTH:.*]] = arith.andi %[[OF_FIRST]], %[[EARLY]]
          // CHECK: tile_gpu.fence_async if %[[BOTH]]
          // CHECK: tile_gpu.dot
          %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<64x256xf16, swizzle = 128>, !tile_gpu.tile<128x256xf32>
          scf.yield %d : !tile_gpu.tile<128x256xf32>
        }
        tile_gpu.print "%d %f", %t, %r : i32, !tile_gpu.tile<128x256xf32>
      }
      gpu.return
    }

    // Ordinary copies do not round to tf32.
    // CHECK-LABEL: gpu.func @not_to_tf32
    // CHECK-NOT: tile_gpu.async_load
    gpu.func @not_to_tf32(%p: !llvm.ptr<1>, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      scf.for %t = %c0 to %n step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf32>
          %y = tile_gpu.ftof %x "rn" : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xtf32>
          %a = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xtf32> -> !tile_gpu.buffer<64x64xtf32, swizzle = 128>
          // CHECK: tile_gpu.dot
          %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xtf32, swizzle = 128>, !tile_gpu.buffer<64x64xtf32, swizzle = 128>, !tile_gpu.tile<64x64xf32>
          scf.yield %d : !tile_gpu.tile<64x64xf32>
        }
        tile_gpu.print "%d %f", %t, %r : i32, !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}
