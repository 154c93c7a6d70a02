// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// A result whose layout has the lanes of the reduced dimension elsewhere: lanes share it out, half
// and half with one lane after the other.

#line = #tile_gpu.layout<[lane 4:8, reg 4, lane 8:1]>
#in = #tile_gpu.layout<[lane 4:8], [reg 4, lane 8:1]>
#shared = #tile_gpu.layout<[lane 32:1]>
#copies = #tile_gpu.layout<[reg 4, lane 8:1]>
!in = !tile_gpu.tile<4x32xi32, #in>

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @halves
    gpu.func @halves() kernel attributes {tile_gpu.num_warps = 1 : i32} {
      // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
      // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
      // CHECK-DAG: %[[C24:.*]] = arith.constant 24 : i32
      // CHECK-DAG: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
      // CHECK: %[[R1:.*]] = arith.addi %[[R0:.*]], %[[C8]]
      // CHECK: %[[R2:.*]] = arith.addi %[[R0]], %[[C16]]
      // CHECK: %[[R3:.*]] = arith.addi %[[R0]], %[[C24]]
      %i = tile_gpu.iota : !tile_gpu.tile<128xi32, #line>
      %x = tile_gpu.reshape %i : !tile_gpu.tile<128xi32, #line> -> !in
      // With the lane 8 further: of columns 8 apart, which the first two registers hold, the lower
      // lane keeps the first and gives the second, the other the other way round.
      // CHECK: %[[BIT:.*]] = arith.andi %[[LANE]], %[[C8]]
      // CHECK: %[[LOWER:.*]] = arith.cmpi eq, %[[BIT]], %c0_i32
      // CHECK: %[[KEPT:.*]] = arith.select %[[LOWER]], %[[R0]], %[[R1]]
      // CHECK: %[[GIVEN:.*]] = arith.select %[[LOWER]], %[[R1]], %[[R0]]
      // CHECK: %[[TAKEN:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[GIVEN]], %[[C8]]
      // CHECK: %[[FIRST:.*]] = arith.addi %[[TAKEN]], %[[KEPT]]
      // CHECK: arith.select %{{.*}}, %[[R2]], %[[R3]]
      // CHECK: arith.select %{{.*}}, %[[R3]], %[[R2]]
      // CHECK: %[[TAKEN:.*]] = nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[C8]]
      // CHECK: %[[SECOND:.*]] = arith.addi %[[TAKEN]],
      // With the lane 16 further, what is left of both pairs.
      // CHECK: %[[BIT:.*]] = arith.andi %[[LANE]], %[[C16]]
      // CHECK: %[[LOWER:.*]] = arith.cmpi eq, %[[BIT]], %c0_i32
      // CHECK: %[[KEPT:.*]] = arith.select %[[LOWER]], %[[FIRST]], %[[SECOND]]
      // CHECK: %[[GIVEN:.*]] = arith.select %[[LOWER]], %[[SECOND]], %[[FIRST]]
      // CHECK: %[[TAKEN:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[GIVEN]], %[[C16]]
      // CHECK: %[[SUM:.*]] = arith.addi %[[TAKEN]], %[[KEPT]]
      // CHECK-NOT: nvvm.shfl.sync
      %r = tile_gpu.reduce %x dim 0 identities [0 : i32] {
      ^bb0(%e: i32, %a: i32):
        %s = arith.addi %e, %a : i32
        tile_gpu.yield %s : i32
      } : (!in) -> !tile_gpu.tile<32xi32, #shared>
      // CHECK: gpu.return
      gpu.return
    }

    // The parts of a combiner that does not commute keep their order: that of the lower lane is the
    // accumulator.
    // CHECK-LABEL: gpu.func @ordered
    gpu.func @ordered() kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %i = tile_gpu.iota : !tile_gpu.tile<128xi32, #line>
      %x = tile_gpu.reshape %i : !tile_gpu.tile<128xi32, #line> -> !in
      // CHECK: %[[KEPT:.*]] = arith.select
      // CHECK: %[[TAKEN:.*]] = nvvm.shfl.sync bfly
      // CHECK: %[[LOWER:.*]] = arith.cmpi eq
      // CHECK: %[[A:.*]] = arith.select %[[LOWER]], %[[KEPT]], %[[TAKEN]]
      // CHECK: %[[E:.*]] = arith.select %[[LOWER]], %[[TAKEN]], %[[KEPT]]
      // CHECK: arith.subi %[[E]], %[[A]]
      // CHECK-COUNT-2: nvvm.shfl.sync bfly
      // CHECK-NOT: nvvm.shfl.sync
      %r = tile_gpu.reduce %x dim 0 identities [0 : i32] {
      ^bb0(%e: i32, %a: i32):
        %s = arith.subi %e, %a : i32
        tile_gpu.yield %s : i32
      } : (!in) -> !tile_gpu.tile<32xi32, #shared>
      // CHECK: gpu.return
      gpu.return
    }

    // Copies for all lanes: four columns by two steps.
    // CHECK-LABEL: gpu.func @copies
    gpu.func @copies() kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %i = tile_gpu.iota : !tile_gpu.tile<128xi32, #line>
      %x = tile_gpu.reshape %i : !tile_gpu.tile<128xi32, #line> -> !in
      // CHECK-NOT: arith.select
      // CHECK-COUNT-8: nvvm.shfl.sync bfly
      // CHECK-NOT: nvvm.shfl.sync
      %r = tile_gpu.reduce %x dim 0 identities [0 : i32] {
      ^bb0(%e: i32, %a: i32):
        %s = arith.addi %e, %a : i32
        tile_gpu.yield %s : i32
      } : (!in) -> !tile_gpu.tile<32xi32, #copies>
      // CHECK: gpu.return
      gpu.return
    }
  }
}
