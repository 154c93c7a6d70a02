// RUN: tile-opt --specialize-warps %s | FileCheck %s

// Results leave by tensor memory accesses where the tensor is known when the kernel starts: as slices
// of 64 rows a warpgroup through two buffers that the copies read while the next slices are written.

!acc = !tile_gpu.tile<128x128xf32>
!half = !tile_gpu.tile<128x128xf16>
!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @result
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[Q:[^:]*]]: !llvm.ptr<1>, %[[Z:[^:]*]]: i64, %[[S:[^:]*]]: i64
    gpu.func @result(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: %[[MAP:.*]] = tile_gpu.tensor_map %[[Q]] sizes[%[[S]], %[[S]]] {{.*}} : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      // CHECK: %[[BUFFERS:.*]] = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 2>
      // CHECK: tile_gpu.specialize
      // CHECK-NOT: tma_store
      // CHECK: } consumers {
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      // CHECK: %[[H:.*]] = tile_gpu.cast
      %h = tile_gpu.cast <truncf> %r : !acc -> !half
      // CHECK: tile_gpu.tma_store %[[H]], %[[MAP]][%[[Z]], %[[Z]]] through %[[BUFFERS]]
      // CHECK-NOT: tile_gpu.store
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !half
      // Shared memory outlives what reads it.
      // CHECK: tile_gpu.tma_store_wait
      // CHECK-NEXT: }
      gpu.return
    }

    // What is ordered after a store waits until memory has it.
    // CHECK-LABEL: gpu.func @ordered
    gpu.func @ordered(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32, tile_gpu.free_loads} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      %h = tile_gpu.cast <truncf> %r : !acc -> !half
      // CHECK: tile_gpu.tma_store
      // CHECK-NEXT: tile_gpu.tma_store_wait complete
      // CHECK-NEXT: tile_gpu.barrier
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !half
      tile_gpu.barrier
      tile_gpu.store %h, %q[%z, %s] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !half
      gpu.return
    }

    // One warpgroup stores its tile itself: a copy would start later.
    // CHECK-LABEL: gpu.func @one_warpgroup
    gpu.func @one_warpgroup(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.specialize
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      %h = tile_gpu.cast <truncf> %r : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xf16>
      // CHECK-NOT: tma_store
      // CHECK: tile_gpu.store
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
      // CHECK: gpu.return
      gpu.return
    }

    // What the producer fetches need not wait for the barrier; a tile that must is read after it, where
    // it stands.
    // CHECK-LABEL: gpu.func @read_back
    gpu.func @read_back(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32, tile_gpu.free_loads} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.specialize
      // CHECK: tile_gpu.tma_load
      // CHECK: } consumers {
      // CHECK-NOT: tile_gpu.prefetch
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      // CHECK: tile_gpu.tma_store
      tile_gpu.store %r, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !acc
      // CHECK: tile_gpu.tma_store_wait complete
      // CHECK-NEXT: tile_gpu.barrier
      tile_gpu.barrier
      // CHECK: tile_gpu.load {{.*}} ordered : !tile_gpu.tile<128x128xf32>
      %back = tile_gpu.load %q[%z, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] ordered : !acc
      %sum = arith.addf %back, %r : !acc
      tile_gpu.store %sum, %p[%z, %s] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !acc
      gpu.return
    }

    // A result of which columns are adjacent in memory leaves as its transpose. A warpgroup has 64 of
    // its columns.
    // CHECK-LABEL: gpu.func @by_columns
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[Q:[^:]*]]: !llvm.ptr<1>, %[[Z:[^:]*]]: i64, %[[S:[^:]*]]: i64, %[[T:[^:]*]]: i64
    gpu.func @by_columns(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %t: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: %[[MAP:.*]] = tile_gpu.tensor_map %[[Q]] sizes[%[[T]], %[[S]]] strides[%[[S]], %{{.*}}] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      // CHECK: %[[BUFFERS:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x128xf16, swizzle = 128, stages = 2>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        scf.yield %d : !acc
      }
      // CHECK: %[[H:.*]] = tile_gpu.cast
      %h = tile_gpu.cast <truncf> %r : !acc -> !half
      // CHECK: %[[V:.*]] = tile_gpu.permute %[[H]] [1, 0]
      // CHECK-NEXT: tile_gpu.tma_store %[[V]], %[[MAP]][%[[T]], %[[Z]]] through %[[BUFFERS]]
      tile_gpu.store %h, %q[%z, %t] sizes [%s, %t] strides [%one, %s] alignment 16 extent_multiple 8 in_bounds [false, false] : !half
      // CHECK: gpu.return
      gpu.return
    }

    // Rows that start anywhere, an order of memory, and tensors that a loop makes up stay stores.
    // CHECK-LABEL: gpu.func @stores
    gpu.func @stores(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: tile_gpu.specialize
      %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %size = %s) -> (!acc, i64) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !b, !acc
        %more = arith.addi %size, %one : i64
        scf.yield %d, %more : !acc, i64
      }
      %h = tile_gpu.cast <truncf> %r#0 : !acc -> !half
      // CHECK-NOT: tma_store
      // CHECK: tile_gpu.store {{.*}} alignment 8
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 8 in_bounds [false, false] : !half
      // CHECK: tile_gpu.store {{.*}} ordering <release>
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] ordering <release> scope <device> : !half
      // CHECK: tile_gpu.store
      tile_gpu.store %h, %q[%z, %z] sizes [%r#1, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !half
      // CHECK-NOT: tma_store
      // CHECK: gpu.return
      gpu.return
    }
  }
}
