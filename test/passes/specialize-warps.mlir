// RUN: tile-opt --specialize-warps --split-input-file %s | FileCheck %s

// The producer runs the loop around the loads, the consumers the loop around the product; a ring of
// stages with two mbarriers each leads from one to the other.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @cooperative
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[Z:[^:]*]]: i64, %[[S:[^:]*]]: i64, %[[N:[^:]*]]: i32)
    gpu.func @cooperative(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // Barriers come first. What is full has been expected once, what is empty was given back by four
      // warps.
      // CHECK: %[[ONCE:.*]] = arith.constant 1 : i32
      // CHECK: %[[FULL:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64, stages = [[STAGES:[0-9]+]]>
      // CHECK: tile_gpu.mbarrier_init %[[FULL]], %[[ONCE]]
      // CHECK: %[[WARPS:.*]] = arith.constant 4 : i32
      // CHECK: %[[EMPTY:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64, stages = [[STAGES]]>
      // CHECK: tile_gpu.mbarrier_init %[[EMPTY]], %[[WARPS]]
      // CHECK-NEXT: tile_gpu.mbarrier_ready
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // Boxes are as wide as a panel. They have no more rows than the tensor, but whole groups of eight.
      // CHECK: %[[SOME:.*]] = arith.maxsi
      // CHECK: %[[ROWS:.*]] = arith.minsi %[[SOME]],
      // CHECK: %[[MAP:.*]] = tile_gpu.tensor_map %[[P]] sizes[%[[S]], %[[S]]] strides[%[[S]], %{{.*}}] rows %[[ROWS]] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      // CHECK: %[[RING:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x128xf16, swizzle = 128, stages = [[STAGES]]>
      // CHECK-NOT: barrier
      // CHECK: tile_gpu.specialize producer {
      // CHECK: %[[HIS:.*]] = arith.constant 16384 : i32
      // CHECK: %[[MINE:.*]] = arith.muli %{{.*}}, %{{.*}}
      // CHECK: %[[BYTES:.*]] = arith.addi %[[HIS]], %[[MINE]]
      // An operand that one tile of the other covers is read once.
      // CHECK: %[[FIRST:.*]] = arith.constant 1364590687093260288 : i64
      // CHECK: %[[POLICY:.*]] = arith.select %{{.*}}, %[[FIRST]],
      // CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}}) -> (i32, i32)
      // Nobody reads the stage any more: its empty phase before is over.
      // CHECK: %[[E:.*]] = tile_gpu.stage %[[EMPTY]][%[[STAGE]]]
      // CHECK: %[[BEFORE:.*]] = arith.xori %[[PARITY]],
      // CHECK: tile_gpu.mbarrier_wait %[[E]], %[[BEFORE]]
      // CHECK: %[[F:.*]] = tile_gpu.stage %[[FULL]][%[[STAGE]]]
      // CHECK: tile_gpu.mbarrier_expect %[[F]], %[[BYTES]]
      // CHECK: %[[INTO:.*]] = tile_gpu.stage %[[RING]][%[[STAGE]]]
      // CHECK: tile_gpu.tma_load %[[MAP]][%[[Z]], %{{.*}}], %[[INTO]], %[[F]] policy %[[POLICY]]
      // CHECK: tile_gpu.tma_load
      // The next stage, and after the last the first with the other parity.
      // CHECK: %[[NEXT:.*]] = arith.addi %[[STAGE]],
      // CHECK: arith.cmpi eq, %[[NEXT]],
      // CHECK: scf.yield
      // CHECK: } consumers {
      // What short boxes do not reach is zero.
      // CHECK: scf.if
      // CHECK-NEXT: tile_gpu.zero_rows %[[RING]] from %[[ROWS]]
      // CHECK-NEXT: tile_gpu.fence_async
      // CHECK-NEXT: tile_gpu.barrier
      // CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}}, %[[ROUND:.*]] = %{{.*}})
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %y = tile_gpu.load %q[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x128xf16> -> !tile_gpu.buffer<64x128xf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<128x64xf16> -> !tile_gpu.buffer<128x64xf16, swizzle = 128>
        // CHECK: %[[HERE:.*]] = tile_gpu.stage %[[FULL]][%[[AT]]]
        // CHECK: tile_gpu.mbarrier_wait %[[HERE]], %[[ROUND]]
        // CHECK-NOT: tile_gpu.load
        // CHECK: %[[A:.*]] = tile_gpu.stage %[[RING]][%[[AT]]]
        // CHECK: %[[D:.*]] = tile_gpu.dot %[[A]], %{{.*}}, %[[ACC]]
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !tile_gpu.buffer<64x128xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        // The product is done: the stage is given back at once.
        // CHECK: %[[BACK:.*]] = tile_gpu.stage %[[EMPTY]][%[[AT]]]
        // CHECK: tile_gpu.mbarrier_arrive %[[BACK]] :
        // CHECK: scf.yield %[[D]]
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      // CHECK: tile_gpu.print {{.*}}, %[[R]]#0
      tile_gpu.print "%f", %r : !tile_gpu.tile<64x64xf32>
      // CHECK: gpu.return
      gpu.return
    }

    // Where products stay in flight, a stage is given back a round later: the wait says that the
    // product of the round before is done. That of the last round is given back after the loop.
    // CHECK-LABEL: gpu.func @in_flight
    gpu.func @in_flight(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<128x128xf32>
      // Two warpgroups take most of the registers.
      // CHECK: tile_gpu.specialize registers [40, 232] producer {
      // CHECK: } consumers {
      // CHECK: scf.if
      %some = arith.cmpi slt, %c0, %n : i32
      %r = scf.if %some -> (!tile_gpu.tile<128x128xf32>) {
        // CHECK: scf.for %[[K:.*]] = %[[FIRST:[^ ]*]] to {{.*}} iter_args(%{{.*}}, %[[AT:.*]] = %{{.*}}, %{{.*}})
        %in = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<128x128xf32>) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x128xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x128xf16> -> !tile_gpu.buffer<128x128xf16, swizzle = 128>
          // CHECK: tile_gpu.dot {{.*}} in_flight
          // CHECK-NEXT: tile_gpu.dot_wait 1
          %d = tile_gpu.dot %a, %a, %acc in_flight instruction <wgmma> : !tile_gpu.buffer<128x128xf16, swizzle = 128>, !tile_gpu.buffer<128x128xf16, swizzle = 128>, !tile_gpu.tile<128x128xf32>
          tile_gpu.dot_wait 1
          // CHECK: %[[PREVIOUS:.*]] = arith.select
          // CHECK: %[[BACK:.*]] = tile_gpu.stage %{{.*}}[%[[PREVIOUS]]]
          // CHECK: %[[NOT_FIRST:.*]] = arith.cmpi ne, %[[K]], %[[FIRST]]
          // CHECK: tile_gpu.mbarrier_arrive %[[BACK]] if %[[NOT_FIRST]]
          scf.yield %d : !tile_gpu.tile<128x128xf32>
        }
        // CHECK: tile_gpu.dot_wait 0
        // CHECK: tile_gpu.mbarrier_arrive %{{[^ ]*}} :
        %done = tile_gpu.dot_wait 0, %in : !tile_gpu.tile<128x128xf32>
        scf.yield %done : !tile_gpu.tile<128x128xf32>
      } else {
        %none = tile_gpu.dot_wait 0, %zero : !tile_gpu.tile<128x128xf32>
        scf.yield %none : !tile_gpu.tile<128x128xf32>
      }
      tile_gpu.print "%f", %r : !tile_gpu.tile<128x128xf32>
      gpu.return
    }

    // The rings go on over all tiles of a block: the producer fetches for the next tile while the
    // consumers finish one. The position is carried by the loop around, too.
    // Blocks that end at once do so before there are barriers.
    // CHECK-LABEL: gpu.func @over_tiles
    // CHECK-NOT: tile_gpu.mbarrier_init
    // CHECK: tile_gpu.exit_if
    // CHECK: tile_gpu.mbarrier_init
    gpu.func @over_tiles(%p: !llvm.ptr<1>, %s: i64, %n: i32, %idle: i1) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      tile_gpu.exit_if %idle
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: producer {
      // CHECK: scf.for %[[T:.*]] = {{.*}} iter_args(%[[S0:.*]] = %{{.*}}, %[[P0:.*]] = %{{.*}})
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[S0]], %{{.*}} = %[[P0]])
      // What only consumers need is not the producer's.
      // CHECK-NOT: tile_gpu.print
      // CHECK: } consumers {
      // CHECK: scf.for {{.*}} iter_args(%[[S1:.*]] = %{{.*}}, %[[P1:.*]] = %{{.*}})
      // CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}} = %[[S1]], %{{.*}} = %[[P1]])
      // CHECK: tile_gpu.print
      scf.for %t = %c0 to %n step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
          %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
          scf.yield %d : !tile_gpu.tile<64x64xf32>
        }
        tile_gpu.print "%d %f", %t, %r : i32, !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}
