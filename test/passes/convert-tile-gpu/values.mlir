// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// A tile becomes the registers of one thread; what the thread holds depends on its lane and warp.

#v = #tile_gpu.layout<[warp 4:1, lane 32:1]>
#two = #tile_gpu.layout<[reg 2], [warp 4:1, lane 32:1]>
#line = #tile_gpu.layout<[warp 4:1], [lane 32:1, reg 2]>
!v = !tile_gpu.tile<128xf32, #v>
!two = !tile_gpu.tile<2x128xf32, #two>

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: llvm.func @__nv_sinf(f32) -> f32
    // CHECK-LABEL: gpu.func @elementwise
    // CHECK-SAME: (%[[S:.*]]: f32)
    gpu.func @elementwise(%s: f32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
      // CHECK: %[[LANE:.*]] = arith.andi %[[THREAD]],
      // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]],
      // Element 32 * warp + lane is this thread's.
      // CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]],
      // CHECK: %[[AT:.*]] = arith.addi %[[LANE]], %[[FIRST]]
      %x = tile_gpu.splat %s : f32 -> !v
      %i = tile_gpu.iota : !tile_gpu.tile<128xi32, #v>
      // CHECK: %[[Y:.*]] = llvm.call @__nv_sinf(%[[S]])
      %y = tile_gpu.call "__nv_sinf"(%x) : (!v) -> !v
      // CHECK: %[[Z:.*]] = llvm.call_intrinsic "llvm.nvvm.add.rz.f"(%[[S]], %[[Y]])
      %z = tile_gpu.call "llvm.nvvm.add.rz.f"(%x, %y) : (!v, !v) -> !v
      // CHECK: arith.truncf %[[Z]] : f32 to f16
      %h = tile_gpu.cast <truncf> %z : !v -> !tile_gpu.tile<128xf16, #v>
      // CHECK: arith.addi %[[AT]], %[[AT]]
      %j = arith.addi %i, %i : !tile_gpu.tile<128xi32, #v>
      gpu.return
    }

    // Registers first, then lanes that are 1, 2, 4, 8 and 16 apart.
    // CHECK-LABEL: gpu.func @reduction
    // CHECK-SAME: (%[[S:.*]]: f32)
    gpu.func @reduction(%s: f32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %x = tile_gpu.splat %s : f32 -> !tile_gpu.tile<4x64xf32, #line>
      // CHECK: %[[SUM:.*]] = arith.addf %[[S]], %[[S]]
      // CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[SUM]],
      // CHECK: arith.addf %[[OTHER]], %[[SUM]]
      // CHECK-COUNT-4: nvvm.shfl.sync
      // CHECK-NOT: nvvm.shfl.sync
      %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
      ^bb0(%e: f32, %a: f32):
        %t = arith.addf %e, %a : f32
        tile_gpu.yield %t : f32
      } : (!tile_gpu.tile<4x64xf32, #line>) -> !tile_gpu.tile<4xf32, #tile_gpu.layout<[warp 4:1]>>
      // CHECK: gpu.return
      gpu.return
    }

    // A loop carries each register by itself.
    // CHECK-LABEL: gpu.func @loop
    // CHECK-SAME: %[[S:[^ ]*]]: f32)
    gpu.func @loop(%n: index, %s: f32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %x = tile_gpu.splat %s : f32 -> !two
      // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[S]], %[[B:.*]] = %[[S]]) -> (f32, f32)
      %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (!two) {
        // CHECK: %[[C:.*]] = arith.addf %[[A]], %[[S]]
        // CHECK: %[[D:.*]] = arith.addf %[[B]], %[[S]]
        %y = arith.addf %a, %x : !two
        // CHECK: scf.yield %[[C]], %[[D]]
        scf.yield %y : !two
      }
      gpu.return
    }

    // A new layout by other registers of the same thread costs nothing.
    // CHECK-LABEL: gpu.func @regrouped
    gpu.func @regrouped(%c: f32) kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %x = tile_gpu.splat %c : f32 -> !tile_gpu.tile<2x32xf32, #tile_gpu.layout<[reg 2], [lane 32:1]>>
      // CHECK-NOT: shfl
      // CHECK-NOT: memref
      %t = tile_gpu.permute %x [1, 0] : !tile_gpu.tile<2x32xf32, #tile_gpu.layout<[reg 2], [lane 32:1]>> -> !tile_gpu.tile<32x2xf32, #tile_gpu.layout<[lane 32:1], [reg 2]>>
      // CHECK: gpu.return
      gpu.return
    }
  }
}
