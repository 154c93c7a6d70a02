// RUN: tile-opt --pass-pipeline='builtin.module(persist-blocks,loop-invariant-code-motion,specialize-warps)' --split-input-file %s | FileCheck %s

// In a kernel that our launcher starts, two blocks may form a pair: where the rows of an operand do not
// start on cache lines, and there is work for most multiprocessors. They take neighbouring tiles, and
// fetch one half each of what both need.

!acc = !tile_gpu.tile<128x128xf32>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a", tile_gpu.managed} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @pairs
    // CHECK-SAME: tile_gpu.launch_cluster = ["[\22add\22, 1, [\22mul\22, {{.*}}128{{.*}}\22multiprocessors\22
    gpu.func @pairs(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      %j = nvvm.read.ptx.sreg.ctaid.y : i32
      %row = arith.extui %i : i32 to i64
      %column = arith.extui %j : i32 to i64
      // A stage is empty when the consumers of both blocks have given it back.
      // CHECK: %[[FULL:.*]] = tile_gpu.alloc : !tile_gpu.buffer<1xi64
      // CHECK: tile_gpu.mbarrier_init %[[FULL]]
      // CHECK: %[[SIZE:.*]] = nvvm.read.ptx.sreg.cluster.nctarank
      // CHECK: %[[WARPS:.*]] = arith.muli %{{.*}}, %[[SIZE]]
      // CHECK: tile_gpu.mbarrier_init %{{.*}}, %[[WARPS]]
      // CHECK: tile_gpu.cluster_barrier
      // CHECK: tile_gpu.specialize
      // The other block's tile is the neighbour; if it needs the same part of an operand, a half will
      // do.
      // CHECK: %[[EQUAL:.*]] = arith.cmpi eq
      // CHECK: %[[SAME:.*]] = arith.andi %{{.*}}, %[[EQUAL]]
      // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
      // CHECK-NEXT: scf.if %[[SAME]]
      // CHECK: tile_gpu.tma_load {{.*}} half %[[RANK]]
      // CHECK: } else {
      // CHECK-NEXT: tile_gpu.tma_load {{.*}} policy %{{[0-9]+}} :
      // CHECK: } consumers {
      // CHECK: tile_gpu.mbarrier_arrive {{.*}} {cluster}
      %r = scf.for %k = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%row, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      // A tile that is there for company only is not stored.
      // CHECK: scf.if
      // CHECK-NEXT: tile_gpu.{{(tma_)?}}store
      tile_gpu.store %r, %q[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      // CHECK: gpu.return
      gpu.return
    }
  }
}

// -----

// Any launcher starts blocks by themselves.

!acc = !tile_gpu.tile<128x128xf32>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @plain
    // CHECK-NOT: launch_cluster
    // CHECK-NOT: cluster_barrier
    gpu.func @plain(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      %row = arith.extui %i : i32 to i64
      // CHECK: tile_gpu.specialize
      // CHECK-NOT: half
      %r = scf.for %k = %c0 to %rounds step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%row, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      tile_gpu.store %r, %q[%row, %row] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      // CHECK: gpu.return
      gpu.return
    }
  }
}
