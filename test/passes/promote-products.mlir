// RUN: tile-opt --promote-products --split-input-file %s | FileCheck %s

!a = !tile_gpu.buffer<64x128xf8E4M3FN, swizzle = 128>
!b = !tile_gpu.buffer<128x64xf8E4M3FN, order = [1, 0], swizzle = 128>
!deep_a = !tile_gpu.buffer<64x256xf8E4M3FN, swizzle = 128>
!deep_b = !tile_gpu.buffer<256x64xf8E4M3FN, order = [1, 0], swizzle = 128>
!half = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!t = !tile_gpu.tile<64x64xf32>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @rough_sums
    gpu.func @rough_sums(%start: !t) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !a
      %b = tile_gpu.alloc : !b
      // CHECK: tile_gpu.dot {{.*}} promoted instruction <wgmma>
      %0 = tile_gpu.dot %a, %b, %start instruction <wgmma> : !a, !b, !t
      // CHECK: tile_gpu.dot {{.*}}, %{{.*}} fast_acc instruction <wgmma>
      %1 = tile_gpu.dot %a, %b, %0 fast_acc instruction <wgmma> : !a, !b, !t
      // mma.sync keeps f32 on Hopper.
      // CHECK: tile_gpu.dot {{.*}}, %{{[0-9]*}} instruction <mma_sync>
      %2 = tile_gpu.dot %a, %b, %1 instruction <mma_sync> : !a, !b, !t
      %h = tile_gpu.alloc : !half
      // CHECK: tile_gpu.dot {{.*}}, %{{[0-9]*}} instruction <wgmma>
      %3 = tile_gpu.dot %h, %h, %2 instruction <wgmma> : !half, !half, !t
      gpu.return
    }
    // There is nothing to add to; but a sum may not run too far.
    // CHECK-LABEL: gpu.func @first_sums
    gpu.func @first_sums() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !a
      %b = tile_gpu.alloc : !b
      %zero = arith.constant dense<0.0> : !t
      // CHECK: tile_gpu.dot {{.*}}, %{{[a-z_0-9]*}} instruction <wgmma>
      %0 = tile_gpu.dot %a, %b, %zero instruction <wgmma> : !a, !b, !t
      %c = tile_gpu.alloc : !deep_a
      %d = tile_gpu.alloc : !deep_b
      // CHECK: tile_gpu.dot {{.*}}, %{{[a-z_0-9]*}} promoted instruction <wgmma>
      %1 = tile_gpu.dot %c, %d, %zero instruction <wgmma> : !deep_a, !deep_b, !t
      gpu.return
    }
    // CHECK-LABEL: gpu.func @own_additions
    // CHECK-SAME: (%[[X:.*]]: !tile_gpu.tile<64x64xf32>)
    gpu.func @own_additions(%x: !t) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !a
      %b = tile_gpu.alloc : !b
      %h = tile_gpu.alloc : !half
      %zero = arith.constant dense<0.0> : !t
      // CHECK: %[[SUM:.*]] = tile_gpu.dot %{{.*}}, %{{.*}}, %[[X]] fast_acc promoted
      // CHECK-NOT: arith.addf
      %p = tile_gpu.dot %a, %b, %zero fast_acc instruction <wgmma> : !a, !b, !t
      %0 = arith.addf %x, %p : !t
      // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %[[SUM]] promoted
      // CHECK-NOT: arith.addf
      %q = tile_gpu.dot %h, %h, %zero instruction <wgmma> : !half, !half, !t
      %1 = arith.addf %q, %0 : !t
      // What comes after a product cannot be its accumulator.
      // CHECK: tile_gpu.dot {{.*}}, %{{[a-z_0-9]*}} instruction <wgmma>
      // CHECK: arith.mulf
      // CHECK: arith.addf
      %r = tile_gpu.dot %h, %h, %zero instruction <wgmma> : !half, !half, !t
      %s = arith.mulf %1, %1 : !t
      %2 = arith.addf %s, %r : !t
      // Nor may the product be seen by others.
      // CHECK: tile_gpu.dot {{.*}}, %{{[a-z_0-9]*}} instruction <wgmma>
      // CHECK: arith.addf
      %u = tile_gpu.dot %h, %h, %zero instruction <wgmma> : !half, !half, !t
      %3 = arith.addf %2, %u : !t
      %4 = arith.mulf %3, %u : !t
      gpu.return
    }
  }
}
