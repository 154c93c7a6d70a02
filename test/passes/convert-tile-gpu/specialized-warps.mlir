// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// The warps after those of the consumers are the producer's, of which one thread works.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Four warps consume, four more belong to the producer.
    // CHECK-LABEL: gpu.func @one_set
    // CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
    gpu.func @one_set() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
      // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]],
      // CHECK: %[[PRODUCES:.*]] = arith.cmpi uge, %[[WARP]], %c4_i32
      // CHECK-NEXT: scf.if %[[PRODUCES]] {
      // It starts without waiting for the consumers, which wait for what it has made before.
      // CHECK: llvm.inline_asm {{.*}}"bar.arrive $0, $1;"
      // Its first warp waits for the one that has made barriers.
      // CHECK: arith.cmpi eq, %[[WARP]],
      // CHECK-NEXT: scf.if
      // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
      // CHECK: arith.cmpi eq, %[[THREAD]], %c128_i32
      // CHECK-NEXT: scf.if
      // CHECK: nvvm.fence.proxy
      tile_gpu.specialize producer {
        tile_gpu.fence_async
      } consumers {
        // CHECK: } else {
        // CHECK: nvvm.barrier id = %{{.*}} number_of_threads =
        // A barrier of the consumers leaves the producer out.
        // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
        tile_gpu.barrier
      }
      // CHECK: gpu.barrier
      tile_gpu.barrier
      gpu.return
    }

    // Two sets of consumers: twice four warps and the producer's.
    // CHECK-LABEL: gpu.func @two_sets
    // CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
    gpu.func @two_sets(%c: i1) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: nvvm.setmaxregister decrease 40
      tile_gpu.specialize registers [40, 232] replicas 2 producer {
        tile_gpu.fence_async
      } consumers {
        // CHECK: nvvm.setmaxregister increase 232
        // Which set, and the thread's place in it.
        // CHECK: %[[REPLICA:.*]] = arith.divui
        // CHECK: %[[WARP:.*]] = arith.remui
        // CHECK: arith.remui
        // CHECK: gpu.printf "%d", %[[REPLICA]]
        %r = tile_gpu.replica
        tile_gpu.print "%d", %r : i32
        // Waiting for its turn, a set meets the arrival of the other at a barrier of its own.
        // CHECK: %[[TURN:.*]] = arith.addi %[[REPLICA]],
        // CHECK: nvvm.barrier id = %[[TURN]] number_of_threads = %c256_i32
        tile_gpu.take_turn
        // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
        tile_gpu.barrier
        // CHECK: %[[OTHER:.*]] = arith.subi %{{.*}}, %[[REPLICA]]
        // CHECK: llvm.inline_asm {{.*}}@p bar.arrive $1, $2;
        tile_gpu.pass_turn if %c
      }
      gpu.return
    }
  }
}
