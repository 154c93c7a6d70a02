// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

!box = !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
!stage = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!barrier = !tile_gpu.buffer<1xi64>

module attributes {tile_gpu.target = "sm_90a", tile_gpu.managed} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @pair
    // CHECK-SAME: (%[[MAP:[^:]*]]: !llvm.ptr, %[[I:[^:]*]]: i64, %[[HALF:[^:]*]]: i32, %[[C:[^:]*]]: i1, %[[POLICY:[^:]*]]: i64)
    gpu.func @pair(%map: !box, %i: i64, %half: i32, %c: i1, %policy: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16392 : i64} {
      // CHECK: %[[ENDS:.*]] = arith.extui %[[C]]
      // CHECK: llvm.inline_asm {{.*}}@p exit;{{.*}} %[[ENDS]]
      tile_gpu.exit_if %c
      %b = tile_gpu.alloc offset 0 : !stage
      %f = tile_gpu.alloc offset 16384 : !barrier
      // CHECK: llvm.inline_asm {{.*}}barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
      tile_gpu.cluster_barrier
      // Half of the boxes, here one of two: rows 64 * half on, 8192 bytes further, to both blocks.
      // CHECK: arith.muli
      // CHECK: %[[ROW:.*]] = arith.addi %[[I]],
      // CHECK: arith.muli %[[HALF]], %c8192_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %c3_i16 l2_cache_hint = %[[POLICY]]
      // CHECK-NOT: nvvm.cp.async.bulk.tensor
      tile_gpu.tma_load %map[%i, %i], %b, %f policy %policy half %half : !box, !stage, !barrier
      // At the barrier of this block, and by another lane at that of the other, if there is one.
      // CHECK: mbarrier.arrive.shared::cta.b64
      // CHECK: nvvm.read.ptx.sreg.cluster.nctarank
      // CHECK: mapa.shared::cluster.u32
      // CHECK: mbarrier.arrive.shared::cluster.b64
      tile_gpu.mbarrier_arrive %f if %c {cluster} : !barrier
      gpu.return
    }

    // All rows of both stages, 16 bytes a thread.
    // CHECK-LABEL: gpu.func @zeros
    gpu.func @zeros(%n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16384 : i64} {
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      // CHECK: scf.for {{.*}} to %c16384_i32
      // CHECK: scf.if
      // CHECK: st.shared.v4.b32 [$0], {0, 0, 0, 0};
      tile_gpu.zero_rows %b from %n : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      gpu.return
    }
  }
}
