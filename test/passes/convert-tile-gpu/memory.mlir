// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

#rows = #tile_gpu.layout<[warp 4:1, reg 2], [lane 8:1, reg 8]>
#v = #tile_gpu.layout<[warp 4:1, lane 32:1]>
#lines = #tile_gpu.layout<[lane 8:1]>
!rows = !tile_gpu.tile<8x64xf16, #rows>
!buffer = !tile_gpu.buffer<8x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // Neighbouring registers move as vectors of 16 bytes, one for each of a thread's two rows.
    // CHECK-LABEL: gpu.func @inside
    // CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
    gpu.func @inside(%p: !llvm.ptr<1>, %i: i64, %n: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // Lanes from 8 on hold copies: they load too, but only one holder stores.
      // CHECK: %[[COPY:.*]] = arith.divui
      // CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[COPY]],
      // CHECK-COUNT-2: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
      %x = tile_gpu.load %p[%i, %i] sizes [%n, %n] strides [%s, %one] alignment 16 in_bounds [true, true] : !rows
      // CHECK: llvm.inline_asm {{.*}}"@$5 st.global.v4.b32 {{.*}}, %[[HOLDS]] :
      // CHECK: llvm.inline_asm {{.*}}"@$5 st.global.v4.b32
      tile_gpu.store %x, %p[%i, %i] sizes [%n, %n] strides [%s, %one] alignment 16 in_bounds [true, true] : !rows
      gpu.return
    }

    // A thread asks for each row, as far as it is in the tensor, in units of 16 bytes.
    // CHECK-LABEL: gpu.func @prefetch
    gpu.func @prefetch(%p: !llvm.ptr<1>, %i: i64, %n: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: %[[LEFT:.*]] = arith.minsi
      // CHECK: arith.andi %[[LEFT]], %c-8_i64
      // CHECK: scf.if
      // CHECK: llvm.inline_asm {{.*}}"cp.async.bulk.prefetch.L2.global [$0], $1;"
      // CHECK-NOT: prefetch
      // CHECK: gpu.return
      tile_gpu.prefetch %p[%i, %i] sizes [%n, %n] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
      gpu.return
    }

    // Where a tile may reach over the edge, loads are predicated and registers hold the padding.
    // CHECK-LABEL: gpu.func @edge
    // CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %[[I:.*]]: i64, %[[N:.*]]: i64, %{{.*}}: i64)
    gpu.func @edge(%p: !llvm.ptr<1>, %i: i64, %n: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: %[[LEFT:.*]] = arith.subi %[[N]],
      // CHECK: %[[INSIDE:.*]] = arith.cmpi sgt
      // CHECK: llvm.inline_asm {{.*}}mov.b32 $0, 0xfc00fc00;{{.*}}@$5 ld.global.v4.b32{{.*}}, %[[INSIDE]] :
      %y = tile_gpu.load %p[%i, %i] sizes [%n, %n] strides [%s, %one] padding <neg_inf> alignment 16 extent_multiple 8 in_bounds [true, false] : !rows
      gpu.return
    }

    // CHECK-LABEL: gpu.func @addresses
    gpu.func @addresses(%a: !llvm.ptr<1>, %b: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[ADDRESS:.*]] = llvm.inttoptr
      // CHECK: %[[X:.*]] = llvm.load %[[ADDRESS]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %t = tile_gpu.splat %b : i64 -> !tile_gpu.tile<128xi64, #v>
      %x = tile_gpu.gather %t contiguity 1 alignment 4 : !tile_gpu.tile<128xi64, #v> -> !tile_gpu.tile<128xf32, #v>
      // CHECK: llvm.store %[[X]], %{{.*}} {alignment = 4 : i64} : f32
      tile_gpu.scatter %x, %t contiguity 1 alignment 4 : !tile_gpu.tile<128xf32, #v>, !tile_gpu.tile<128xi64, #v>
      gpu.return
    }

    // One holder of each address asks for its line, where the mask is true.
    // CHECK-LABEL: gpu.func @lines
    // CHECK-SAME: %{{.*}}: i64, %[[M:.*]]: i1)
    gpu.func @lines(%b: i64, %c: i1) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[GUARD:.*]] = arith.andi %[[M]],
      // CHECK: llvm.inline_asm has_side_effects {{.*}}"@$1 prefetch.global.L2 [$0];", "l,b" %{{.*}}, %[[GUARD]]
      %a = tile_gpu.splat %b : i64 -> !tile_gpu.tile<8xi64, #lines>
      %m = tile_gpu.splat %c : i1 -> !tile_gpu.tile<8xi1, #lines>
      tile_gpu.prefetch_lines %a mask %m : !tile_gpu.tile<8xi64, #lines> mask !tile_gpu.tile<8xi1, #lines>
      gpu.return
    }

    // A swizzled buffer: the number of the 16-byte chunk is xor-ed with the row.
    // CHECK-LABEL: gpu.func @shared
    gpu.func @shared() kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 1024 : i64} {
      // CHECK: memref.view {{.*}} to memref<512xf16, 3>
      %x = arith.constant dense<1.0> : !rows
      %b = tile_gpu.alloc offset 0 : !buffer
      // CHECK: %[[ROW:.*]] = arith.andi
      // CHECK-NEXT: arith.xori %{{.*}}, %[[ROW]]
      // CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<512xf16, 3>, vector<8xf16>
      tile_gpu.local_store %x, %b : !rows, !buffer
      // CHECK: gpu.barrier
      tile_gpu.barrier
      // CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<512xf16, 3>, vector<8xf16>
      %y = tile_gpu.local_load %b : !buffer -> !rows
      gpu.return
    }

    // CHECK-LABEL: gpu.func @asynchronous
    // CHECK-SAME: %[[C:[^ ]*]]: i1) kernel
    gpu.func @asynchronous(%p: !llvm.ptr<1>, %i: i64, %n: i64, %s: i64, %c: i1) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 2048 : i64} {
      %one = arith.constant 1 : i64
      %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<16x64xf16, swizzle = 128>
      // CHECK: scf.if %[[C]]
      // CHECK: nvgpu.device_async_copy {{.*}}, 8 {bypassL1}
      tile_gpu.async_load %p[%i, %i] sizes [%n, %n] strides [%s, %one], %b if %c alignment 16 in_bounds [true, true] : !tile_gpu.buffer<16x64xf16, swizzle = 128>
      // CHECK: nvvm.cp.async.commit.group
      tile_gpu.async_commit
      // CHECK: nvvm.cp.async.wait.group 1
      tile_gpu.async_wait 1
      gpu.return
    }

    // Updates with their order and scope, which LLVM's atomicrmw would lose; of elements as bits.
    // CHECK-LABEL: gpu.func @updates
    gpu.func @updates(%p: i64, %n: i32, %x: f32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: llvm.inline_asm has_side_effects "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
      %0 = tile_gpu.atomic_rmw <add> %p, %n ordering <acq_rel> scope <device> : i64, i32 -> i32
      // CHECK: llvm.inline_asm has_side_effects "atom.release.sys.global.min.u32
      %1 = tile_gpu.atomic_rmw <umin> %p, %n ordering <release> scope <system> : i64, i32 -> i32
      // CHECK: llvm.inline_asm has_side_effects "atom.acquire.cta.global.add.f32
      %2 = tile_gpu.atomic_rmw <addf> %p, %x ordering <acquire> scope <block> : i64, f32 -> f32
      // CHECK: llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.exch.b32
      %3 = tile_gpu.atomic_rmw <xchg> %p, %x ordering <relaxed> scope <device> : i64, f32 -> f32
      // CHECK-NOT: atomicrmw
      // CHECK: gpu.return
      gpu.return
    }
  }
}
