// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

#acc = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [lane 4:1, reg 2]>
!acc = !tile_gpu.tile<64x8xf32, #acc>
!a = !tile_gpu.buffer<64x32xf16, swizzle = 64>
!b = !tile_gpu.buffer<32x8xf16, order = [1, 0], swizzle = 64>
#tall_acc = #tile_gpu.layout<[reg 2, warp 4:1, reg 2, lane 8:4], [lane 4:1, reg 2]>
!tall_acc = !tile_gpu.tile<128x8xf32, #tall_acc>
!tall = !tile_gpu.buffer<128x32xf16, swizzle = 64>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Steps of 16 along k as one piece of assembly, after a fence. The second step's operands start
    // 32 bytes further, 2 in the units of descriptors. A sum that starts at zero takes no operands.
    // CHECK-LABEL: gpu.func @warpgroup
    gpu.func @warpgroup() kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16384 : i64} {
      %a = tile_gpu.alloc offset 0 : !a
      %b = tile_gpu.alloc offset 4096 : !b
      %zero = arith.constant dense<0.0> : !acc
      // Descriptors take 18 bits of an address; above lies which block of its cluster this is.
      // CHECK: arith.andi %{{.*}}, %c262143_i32
      // CHECK: arith.addi %{{.*}}, %c2_i64
      // CHECK: %[[D:.*]] = llvm.inline_asm {{.*}}wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $5, set, 1, 1, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $6, $7, add, 1, 1, 0, 0; }", "=f,=f,=f,=f,l,l,l,l"
      // CHECK: %[[D0:.*]] = llvm.extractvalue %[[D]][0]
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // In flight: nothing waits here.
      // CHECK-NEXT: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 1;", "~{memory}"
      %d = tile_gpu.dot %a, %b, %zero in_flight instruction <wgmma> : !a, !b, !acc
      tile_gpu.dot_wait 1
      // A wait for a product passes its accumulators through, so that nothing reads them before. Its
      // number keeps LLVM from merging it with others.
      // CHECK-NEXT: %[[E:.*]] = llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0; // 1", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[D0]],
      %e = tile_gpu.dot_wait 0, %d : !acc
      // Otherwise the product itself waits. Accumulators go in and out in the same registers.
      // CHECK: %[[E0:.*]] = llvm.extractvalue %[[E]][0]
      // CHECK: llvm.inline_asm {{.*}}wgmma.mma_async{{.*}} add, 1, 1, 0, 0; wgmma{{.*}}"=f,=f,=f,=f,0,1,2,3,l,l,l,l" %[[E0]],
      // CHECK: nvvm.wgmma.commit.group.sync.aligned
      // CHECK: llvm.inline_asm {{.*}}"wgmma.wait_group.sync.aligned 0; // 2", "=f,
      %f = tile_gpu.dot %a, %b, %e instruction <wgmma> : !a, !b, !acc
      gpu.return
    }

    // Of two blocks of 64 rows in turns, so that no instruction waits for the one before it.
    // CHECK-LABEL: gpu.func @two_blocks
    gpu.func @two_blocks() kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16384 : i64} {
      %a = tile_gpu.alloc offset 0 : !tall
      %b = tile_gpu.alloc offset 8192 : !b
      %zero = arith.constant dense<0.0> : !tall_acc
      // CHECK: llvm.inline_asm {{.*}} wgmma.fence.sync.aligned; wgmma.mma_async{{[^;]*}} {$0, $1, $2, $3}, $8, $9, set,
      // CHECK-SAME: ; wgmma.mma_async{{[^;]*}} {$4, $5, $6, $7}, $10, $11, set,
      // CHECK-SAME: ; wgmma.mma_async{{[^;]*}} {$0, $1, $2, $3}, $12, $13, add,
      // CHECK-SAME: ; wgmma.mma_async{{[^;]*}} {$4, $5, $6, $7}, $14, $15, add,
      %d = tile_gpu.dot %a, %b, %zero instruction <wgmma> : !tall, !b, !tall_acc
      gpu.return
    }

    // Operands come from shared memory by ldmatrix, then the steps along k accumulate.
    // CHECK-LABEL: gpu.func @warp
    gpu.func @warp() kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 16384 : i64} {
      %a = tile_gpu.alloc offset 0 : !a
      %b = tile_gpu.alloc offset 4096 : !b
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: nvgpu.ldmatrix
      // CHECK: %[[FIRST:.*]] = nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
      // CHECK: %[[F0:.*]] = llvm.extractvalue %[[FIRST]][0]
      // CHECK: nvvm.mma.sync {{.*}} C[%[[F0]],
      // CHECK-NOT: wgmma
      // CHECK: gpu.return
      %d = tile_gpu.dot %a, %b, %zero instruction <mma_sync> : !a, !b, !acc
      gpu.return
    }
  }
}
