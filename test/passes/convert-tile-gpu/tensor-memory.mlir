// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

#acc = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 8, lane 4:1, reg 2]>
#wide = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 16, lane 4:1, reg 2]>
!box = !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
!lines = !tile_gpu.tensor_map<64x32xf32, swizzle = 128>
!barrier = !tile_gpu.buffer<1xi64>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // A map is the address of what the launcher passed by value. One instruction for each box; the
    // fastest coordinate comes first. Panels of 64 columns (16384 bytes of 128 rows) follow each other,
    // boxes of 64 rows (8192 bytes) within a panel.
    // CHECK-LABEL: gpu.func @load
    // CHECK-SAME: (%[[MAP:.*]]: !llvm.ptr, %[[I:.*]]: i64, %[[J:.*]]: i64)
    gpu.func @load(%map: !box, %i: i64, %j: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 32784 : i64} {
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<128x128xf16, swizzle = 128>
      %f = tile_gpu.alloc offset 32768 : !barrier
      // CHECK: %[[COLUMN:.*]] = arith.trunci %[[J]]
      // CHECK: %[[ROW:.*]] = arith.trunci %[[I]]
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]], %{{.*}}, box[%[[COLUMN]], %[[ROW]]]
      // CHECK: arith.addi %{{.*}}, %c16384_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK: arith.addi %{{.*}}, %c8192_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK: arith.addi %{{.*}}, %c24576_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      // CHECK-NOT: nvvm.cp.async.bulk.tensor
      tile_gpu.specialize producer {
        tile_gpu.tma_load %map[%i, %j], %b, %f : !box, !tile_gpu.buffer<128x128xf16, swizzle = 128>, !barrier
      } consumers {
      }
      // CHECK: gpu.return
      gpu.return
    }

    // Each slice: wait until the last copy from the same stage has read it, write, show it to the
    // copies, meet, and let one thread of the warpgroup start the copy. The only slice of a tile
    // follows that of the tile before.
    // CHECK-LABEL: gpu.func @store
    // CHECK-SAME: (%[[MAP:.*]]: !llvm.ptr
    gpu.func @store(%map: !box, %i: i64, %j: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16384 : i64} {
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      %t = arith.constant dense<1.0> : !tile_gpu.tile<64x64xf16, #acc>
      // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
      // CHECK: nvvm.barrier
      // CHECK-COUNT-4: nvvm.stmatrix
      // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
      // CHECK: nvvm.barrier
      // CHECK: scf.if
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]],
      // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
      tile_gpu.tma_store %t, %map[%i, %j] through %b : !tile_gpu.tile<64x64xf16, #acc>, !box, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
      tile_gpu.tma_store_wait
      // CHECK: nvvm.cp.async.bulk.wait_group 0
      // CHECK-NOT: {read}
      tile_gpu.tma_store_wait complete
      // CHECK: gpu.return
      gpu.return
    }

    // Stores that follow each other go together, in steps: a slice of 64 columns with the first of
    // two of 32. What they share is computed for one step at a time, and a step waits for the copies
    // since the last one from any of its stages.
    // CHECK-LABEL: gpu.func @together
    // CHECK-SAME: (%[[MAP:.*]]: !llvm.ptr, %[[LINES:[^:]*]]: !llvm.ptr
    gpu.func @together(%map: !box, %lines: !lines, %i: i64, %x: f32) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 32768 : i64} {
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      %c = tile_gpu.alloc offset 16384 : !tile_gpu.buffer<64x32xf32, swizzle = 128, stages = 2>
      %t = arith.constant dense<1.0> : !tile_gpu.tile<64x128xf32, #wide>
      // CHECK-NOT: math.exp
      %u = math.exp %t : !tile_gpu.tile<64x128xf32, #wide>
      %h = tile_gpu.cast <truncf> %u : !tile_gpu.tile<64x128xf32, #wide> -> !tile_gpu.tile<64x128xf16, #wide>
      tile_gpu.tma_store %u, %lines[%i, %i] through %c : !tile_gpu.tile<64x128xf32, #wide>, !lines, !tile_gpu.buffer<64x32xf32, swizzle = 128, stages = 2>
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.barrier
      // CHECK-COUNT-4: nvvm.stmatrix
      // CHECK: nvvm.barrier
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[LINES]],
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]],
      // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK-NOT: nvvm.stmatrix
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[LINES]],
      // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.stmatrix
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAP]],
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK-NOT: nvvm.stmatrix
      // CHECK: gpu.return
      tile_gpu.tma_store %h, %map[%i, %i] through %b : !tile_gpu.tile<64x128xf16, #wide>, !box, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      gpu.return
    }

    // A tile in two rounds of a ring: for each, wait for it, read it as accumulators lie, and give the
    // stage back by the first lane, when what all lanes have read is in registers.
    // CHECK-LABEL: gpu.func @take
    gpu.func @take(%map: !box, %i: i64, %x: i32) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 33024 : i64} {
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<64x64xf16, swizzle = 128>
      %c = tile_gpu.alloc offset 8192 : !tile_gpu.buffer<64x64xf16, swizzle = 128>
      %out = tile_gpu.alloc offset 16384 : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      %f = tile_gpu.alloc offset 32768 : !tile_gpu.buffer<1xi64>
      %g = tile_gpu.alloc offset 32784 : !tile_gpu.buffer<1xi64>
      %e = tile_gpu.alloc offset 32800 : !tile_gpu.buffer<1xi64>
      %h = tile_gpu.alloc offset 32816 : !tile_gpu.buffer<1xi64>
      %p = tile_gpu.as_panels %b : !tile_gpu.buffer<64x64xf16, swizzle = 128> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
      // CHECK: mbarrier.try_wait
      // CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false}
      // CHECK-COUNT-3: nvgpu.ldmatrix
      // CHECK-NOT: nvgpu.ldmatrix
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
      // CHECK: nvvm.bar.warp.sync
      // CHECK: mbarrier.arrive.shared::cta
      // CHECK: mbarrier.try_wait
      // CHECK-COUNT-4: nvgpu.ldmatrix
      // CHECK-NOT: nvgpu.ldmatrix
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
      // CHECK: nvvm.bar.warp.sync
      // CHECK: mbarrier.arrive.shared::cta
      // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK: nvvm.stmatrix
      %t = tile_gpu.take_tile %p, %c full %f, %g parity %x, %x empty %e, %h : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128> full !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64> empty !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<64x128xf16, #wide>
      tile_gpu.tma_store %t, %map[%i, %i] through %out : !tile_gpu.tile<64x128xf16, #wide>, !box, !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 2>
      gpu.return
    }
  }
}
