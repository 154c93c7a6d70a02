// RUN: tile-opt --specialize-warps %s | FileCheck %s

// Two sets of consumers take every other tile of a block each: one multiplies while the other stores.
// Tiles of 128x128, which a warpgroup holds, in a loop over tiles whose loops over k are all as long.

!acc = !tile_gpu.tile<128x128xf32>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // The warps of the kernel are those of one set.
    // CHECK-LABEL: gpu.func @ping_pong
    // CHECK-SAME: %[[TILES:[^ ]*]]: i32, %[[ROUNDS:[^ ]*]]: i32) kernel attributes {{.*}}tile_gpu.num_warps = 4
    gpu.func @ping_pong(%p: !llvm.ptr<1>, %s: i64, %tiles: i32, %rounds: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.specialize registers [40, 232] replicas 2 producer {
      // The producer fetches for all tiles.
      // CHECK: scf.for {{.*}} to %[[TILES]] step %[[STEP:[^ ]*]]
      // CHECK: } consumers {
      // CHECK: %[[REPLICA:.*]] = tile_gpu.replica
      // The first tile is replica 0's turn.
      // CHECK: %[[SECOND:.*]] = arith.cmpi ne, %[[REPLICA]],
      // CHECK: %[[OTHER:.*]] = arith.andi %[[SECOND]],
      // CHECK: tile_gpu.pass_turn if %[[OTHER]]
      // CHECK: %[[SKIPPED:.*]] = arith.muli %[[REPLICA]], %[[STEP]]
      // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[SKIPPED]]
      // CHECK: %[[DOUBLE:.*]] = arith.muli %[[STEP]],
      // CHECK: scf.for %[[TILE:.*]] = %[[FIRST]] to %[[TILES]] step %[[DOUBLE]]
      scf.for %t = %c0 to %tiles step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        // CHECK: %[[FOLLOWING:.*]] = arith.addi %[[TILE]], %[[STEP]]
        // CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[FOLLOWING]], %[[TILES]]
        // CHECK: tile_gpu.take_turn
        // CHECK-NEXT: scf.if
        %some = arith.cmpi slt, %c0, %rounds : i32
        %r = scf.if %some -> (!acc) {
          %in = scf.for %k = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
            %k64 = arith.extui %k : i32 to i64
            %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
            %y = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
            %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
            %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
            // CHECK: tile_gpu.dot
            %d = tile_gpu.dot %a, %b, %acc in_flight instruction <wgmma> : !a, !b, !acc
            tile_gpu.dot_wait 1
            scf.yield %d : !acc
          }
          // The turn passes when all products are issued, before they are done.
          // CHECK: tile_gpu.pass_turn if %[[MORE]]
          // CHECK: tile_gpu.dot_wait 0
          %done = tile_gpu.dot_wait 0, %in : !acc
          scf.yield %done : !acc
        } else {
          // CHECK: } else {
          // CHECK-NEXT: tile_gpu.pass_turn if %[[MORE]]
          %none = tile_gpu.dot_wait 0, %zero : !acc
          scf.yield %none : !acc
        }
        // CHECK: tile_gpu.print
        %h = tile_gpu.cast <truncf> %r : !acc -> !tile_gpu.tile<128x128xf16>
        tile_gpu.print "%f", %h : !tile_gpu.tile<128x128xf16>
      }
      gpu.return
    }

    // One set where the number of rounds is not the same for every tile.
    // CHECK-LABEL: gpu.func @rounds_differ
    // CHECK-SAME: tile_gpu.num_warps = 8
    gpu.func @rounds_differ(%p: !llvm.ptr<1>, %s: i64, %tiles: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.specialize registers [40, 232] producer {
      scf.for %t = %c0 to %tiles step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        // CHECK-NOT: take_turn
        %in = scf.for %k = %c0 to %t step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
          %d = tile_gpu.dot %a, %b, %acc in_flight instruction <wgmma> : !a, !b, !acc
          tile_gpu.dot_wait 1
          scf.yield %d : !acc
        }
        %r = tile_gpu.dot_wait 0, %in : !acc
        tile_gpu.print "%f", %r : !acc
      }
      gpu.return
    }

    // A result that passes through shared memory does so once for each set: fewer stages are left.
    // CHECK-LABEL: gpu.func @results_in_shared_memory
    // CHECK-SAME: tile_gpu.num_warps = 4
    gpu.func @results_in_shared_memory(%p: !llvm.ptr<1>, %s: i64, %tiles: i32, %rounds: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 4>
      // CHECK: tile_gpu.specialize registers [40, 232] replicas 2 producer {
      scf.for %t = %c0 to %tiles step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        %in = scf.for %k = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
          %d = tile_gpu.dot %a, %b, %acc in_flight instruction <wgmma> : !a, !b, !acc
          tile_gpu.dot_wait 1
          scf.yield %d : !acc
        }
        %r = tile_gpu.dot_wait 0, %in : !acc
        %h = tile_gpu.cast <truncf> %r : !acc -> !tile_gpu.tile<128x128xf16>
        tile_gpu.store %h, %p[%t64, %t64] sizes [%s, %s] strides [%s, %one] alignment 2 in_bounds [false, false] : !tile_gpu.tile<128x128xf16>
      }
      gpu.return
    }

    // One set where too few would be left.
    // CHECK-LABEL: gpu.func @too_little_is_left
    // CHECK-SAME: tile_gpu.num_warps = 8
    gpu.func @too_little_is_left(%p: !llvm.ptr<1>, %s: i64, %tiles: i32, %rounds: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 4>
      // CHECK: tile_gpu.specialize registers [40, 232] producer {
      scf.for %t = %c0 to %tiles step %c1 : i32 {
        %t64 = arith.extui %t : i32 to i64
        %in = scf.for %k = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %x = tile_gpu.load %p[%t64, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%k64, %t64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
          %d = tile_gpu.dot %a, %b, %acc in_flight instruction <wgmma> : !a, !b, !acc
          tile_gpu.dot_wait 1
          scf.yield %d : !acc
        }
        %r = tile_gpu.dot_wait 0, %in : !acc
        tile_gpu.atomic_red <addf> %r, %p[%t64, %t64] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [false, false] scope <device> : !acc
      }
      gpu.return
    }
  }
}
