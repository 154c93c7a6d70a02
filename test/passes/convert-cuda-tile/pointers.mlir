// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Memory through tiles of pointers, which become tiles of addresses. What is known of the addresses
// (analysis/axis_facts.py) says how many neighbours one instruction may move.

cuda_tile.module @kernels {
  // p + i for i = 0 .. 255: one run, aligned as p is.
  // CHECK-LABEL: gpu.func @contiguous
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>)
  entry @contiguous(%p: tile<ptr<f32>>) {
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: %[[A:.*]] = llvm.ptrtoint %[[P]]
    // CHECK: %[[BASE:.*]] = tile_gpu.splat %[[A]] : i64 -> !tile_gpu.tile<256xi64>
    %0 = reshape %p16 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %1 = broadcast %0 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    // CHECK: %[[I:.*]] = tile_gpu.iota
    %i = iota : tile<256xi32>
    // CHECK-NEXT: %[[W:.*]] = tile_gpu.cast <extsi> %[[I]]
    // CHECK-NEXT: %[[FOUR:.*]] = arith.constant dense<4> : !tile_gpu.tile<256xi64>
    // CHECK-NEXT: %[[O:.*]] = arith.muli %[[W]], %[[FOUR]]
    // CHECK-NEXT: %[[Q:.*]] = arith.addi %[[BASE]], %[[O]]
    %q = offset %1, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    // CHECK-NEXT: %[[X:.*]] = tile_gpu.gather %[[Q]] contiguity 256 alignment 16
    // CHECK-SAME: : !tile_gpu.tile<256xi64> -> !tile_gpu.tile<256xf32>
    %x, %t0 = load_ptr_tko weak %q : tile<256xptr<f32>> -> tile<256xf32>, token
    // CHECK-NEXT: tile_gpu.scatter %[[X]], %[[Q]] contiguity 256 alignment 16
    %t1 = store_ptr_tko weak %q, %x : tile<256xptr<f32>>, tile<256xf32> -> token
    return
  }

  // A mask i < n changes only at multiples of what divides n: 4 elements, 16 bytes, share its value.
  // CHECK-LABEL: gpu.func @masked
  entry @masked(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %p16 = assume div_by<16>, %p : tile<ptr<f32>>
    %n4 = assume div_by<4>, %n : tile<i32>
    %0 = reshape %p16 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %1 = broadcast %0 : tile<1xptr<f32>> -> tile<256xptr<f32>>
    %i = iota : tile<256xi32>
    %q = offset %1, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
    %2 = reshape %n4 : tile<i32> -> tile<1xi32>
    %3 = broadcast %2 : tile<1xi32> -> tile<256xi32>
    // CHECK: %[[M:.*]] = arith.cmpi slt
    %m = cmpi less_than %i, %3, signed : tile<256xi32> -> tile<256xi1>
    // CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00>
    %z = constant <f32: 0.0> : tile<256xf32>
    // CHECK-NEXT: tile_gpu.gather %{{.*}} mask %[[M]] other %[[Z]] contiguity 4 alignment 16
    %x, %t0 = load_ptr_tko weak %q, %m, %z
      : tile<256xptr<f32>>, tile<256xi1>, tile<256xf32> -> tile<256xf32>, token
    return
  }

  // Nothing is known of addresses that come from memory.
  // CHECK-LABEL: gpu.func @indirect
  entry @indirect(%p: tile<ptr<i32>>) {
    %0 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %1 = broadcast %0 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %i = iota : tile<64xi32>
    %q = offset %1, %i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    // CHECK: tile_gpu.gather %{{.*}} contiguity 64 alignment 4
    %k, %t0 = load_ptr_tko weak %q : tile<64xptr<i32>> -> tile<64xi32>, token
    %r = offset %1, %k : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    // CHECK: tile_gpu.gather %{{.*}} contiguity 1 alignment 4
    %x, %t1 = load_ptr_tko weak %r : tile<64xptr<i32>> -> tile<64xi32>, token
    return
  }

  // CHECK-LABEL: gpu.func @scalars
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>
  entry @scalars(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // A scalar pointer moves by getelementptr, an element's size at a time.
    // CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<4 x i8>
    %q = offset %p, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    // CHECK-NEXT: %[[A:.*]] = llvm.ptrtoint %[[Q]]
    // CHECK-NEXT: %[[X:.*]] = tile_gpu.gather %[[A]] contiguity 1 alignment 4 ordering <acquire> scope <device> : i64 -> f32
    %x, %t0 = load_ptr_tko acquire device %q : tile<ptr<f32>> -> tile<f32>, token
    return
  }

  // CHECK-LABEL: gpu.func @atomics
  entry @atomics(%p: tile<ptr<i32>>, %v: tile<i32>, %c: tile<i1>) {
    // CHECK: tile_gpu.atomic_rmw <add> %[[A:.*]], %[[V:.*]] ordering <relaxed> scope <device> : i64, i32 -> i32
    %0, %t0 = atomic_rmw_tko relaxed device %p, add, %v : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: tile_gpu.atomic_rmw <umax> %{{.*}}, %{{.*}} mask %{{.*}} ordering <acq_rel> scope <system> : i64, i32 mask i1 -> i32
    %1, %t1 = atomic_rmw_tko acq_rel sys %p, umax, %v, %c
      : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    // CHECK: tile_gpu.atomic_cas %{{.*}}, %[[V]], %{{.*}} ordering <acquire> scope <block> : i64, i32 -> i32
    %2, %t2 = atomic_cas_tko acquire tl_blk %p, %v, %0
      : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    return
  }
}
