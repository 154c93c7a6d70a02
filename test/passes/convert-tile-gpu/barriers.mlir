// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// mbarriers: one thread makes them, each warp arrives once, waiting threads try again.

!barrier = !tile_gpu.buffer<1xi64>
!barriers = !tile_gpu.buffer<1xi64, stages = 2>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @barriers
    // CHECK-SAME: (%[[C:.*]]: i1, %[[PARITY:.*]]: i32, %[[I:.*]]: i32)
    gpu.func @barriers(%c: i1, %parity: i32, %i: i32) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16 : i64} {
      // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
      // CHECK: %[[LANE:.*]] = arith.andi %[[THREAD]],
      %b = tile_gpu.alloc offset 0 : !barriers
      %n = arith.constant 4 : i32
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]],
      // CHECK-NEXT: scf.if %[[FIRST]] {
      // CHECK: nvvm.mbarrier.init %{{.*}}, %c4_i32
      // CHECK: nvvm.mbarrier.init %{{.*}}, %c4_i32
      // Asynchronous copies, too, shall see them.
      // CHECK-NEXT: nvvm.fence.mbarrier.init
      // CHECK-NEXT: }
      tile_gpu.mbarrier_init %b, %n : !barriers
      // The warp that has made them tells the producer's.
      // CHECK: arith.cmpi eq, %{{.*}}
      // CHECK-NEXT: scf.if
      // CHECK: llvm.inline_asm {{.*}}bar.arrive $0, $1;
      tile_gpu.mbarrier_ready
      // CHECK: arith.muli %[[I]], %c8_i32
      %s = tile_gpu.stage %b[%i] : !barriers -> !barrier
      %bytes = arith.constant 1024 : i32
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c1024_i32
      tile_gpu.mbarrier_expect %s, %bytes : !barrier
      // A predicate, no branch: accumulators may be in flight.
      // CHECK: %[[ONE_LANE:.*]] = arith.cmpi eq, %[[LANE]],
      // CHECK: %[[FLAG:.*]] = arith.extui %[[ONE_LANE]]
      // CHECK: llvm.inline_asm {{.*}}@p mbarrier.arrive.shared::cta.b64 _, [$1];{{.*}} %[[FLAG]],
      tile_gpu.mbarrier_arrive %s : !barrier
      // CHECK: arith.andi %{{.*}}, %[[C]]
      // CHECK: llvm.inline_asm {{.*}}mbarrier.arrive
      tile_gpu.mbarrier_arrive %s if %c : !barrier
      // CHECK: llvm.inline_asm {{.*}}AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra AGAIN;{{.*}}, %[[PARITY]]
      tile_gpu.mbarrier_wait %s, %parity : !barrier
      // CHECK: gpu.barrier
      tile_gpu.barrier
      gpu.return
    }
  }
}
