// RUN: tile-opt %s | tile-opt - | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt - | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt - | FileCheck %s

// Every operation of tile_gpu on tiles, memory and buffers reads as it prints.

// CHECK: #[[ACC:.*]] = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 8, lane 4:1, reg 2]>
#acc = #tile_gpu.layout<[warp 4:1, reg 2, lane 8:4], [reg 8, lane 4:1, reg 2]>

// CHECK-LABEL: func.func private @types
// CHECK-SAME: !tile_gpu.tile<64x64xf32, #[[ACC]]>
// CHECK-SAME: !tile_gpu.tile<192xf8E4M3FN>
// CHECK-SAME: !tile_gpu.buffer<64x64xf16>, !tile_gpu.buffer<64x64xf16, order = [1, 0], swizzle = 128, stages = 3>
// CHECK-SAME: !tile_gpu.buffer<8x8xi1, pad = 16>
// CHECK-SAME: !tile_gpu.tensor_map<64x64xbf16, order = [1, 0], swizzle = 128>
func.func private @types(!tile_gpu.tile<64x64xf32, #acc>, !tile_gpu.tile<192xf8E4M3FN>,
                         !tile_gpu.buffer<64x64xf16, order = [0, 1], swizzle = 0, pad = 0, stages = 1>,
                         !tile_gpu.buffer<64x64xf16, order = [1, 0], swizzle = 128, stages = 3>,
                         !tile_gpu.buffer<8x8xi1, pad = 16>,
                         !tile_gpu.tensor_map<64x64xbf16, order = [1, 0], swizzle = 128>)

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: f32, %a: !tile_gpu.tile<16x32xf32>, %one: !tile_gpu.tile<1x1xf32>,
                  %v: !tile_gpu.tile<64xf32>, %i: i32, %l: !tile_gpu.tile<64x64xf32, #acc>) {
  // CHECK: tile_gpu.splat %{{.*}} : f32 -> !tile_gpu.tile<64x32xf32>
  %0 = tile_gpu.splat %x : f32 -> !tile_gpu.tile<64x32xf32>
  // CHECK: tile_gpu.iota : !tile_gpu.tile<128xi32>
  %1 = tile_gpu.iota : !tile_gpu.tile<128xi32>
  // CHECK: tile_gpu.broadcast %{{.*}} : !tile_gpu.tile<1x1xf32> -> !tile_gpu.tile<1x32xf32>
  %2 = tile_gpu.broadcast %one : !tile_gpu.tile<1x1xf32> -> !tile_gpu.tile<1x32xf32>
  // CHECK: tile_gpu.reshape %{{.*}} : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<512xf32>
  %3 = tile_gpu.reshape %a : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<512xf32>
  // CHECK: tile_gpu.convert_layout %{{.*}} : !tile_gpu.tile<64x64xf32, #[[ACC]]> -> !tile_gpu.tile<64x64xf32, #{{.*}}>
  %4 = tile_gpu.convert_layout %l : !tile_gpu.tile<64x64xf32, #acc> -> !tile_gpu.tile<64x64xf32, #tile_gpu.layout<[warp 4:1, reg 16], [lane 16:1, reg 4]>>
  // CHECK: tile_gpu.permute %{{.*}} [1, 0] : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<32x16xf32>
  %5 = tile_gpu.permute %a [1, 0] : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<32x16xf32>
  // CHECK: tile_gpu.extract_scalar %{{.*}} : !tile_gpu.tile<1x1xf32> -> f32
  %6 = tile_gpu.extract_scalar %one : !tile_gpu.tile<1x1xf32> -> f32
  // CHECK: tile_gpu.extract %{{.*}}[%[[I:.*]], %[[I]]] : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<8x8xf32>
  %7 = tile_gpu.extract %a[%i, %i] : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<8x8xf32>
  // CHECK: tile_gpu.insert %{{.*}}, %{{.*}}[%[[I]], %[[I]]] : !tile_gpu.tile<8x8xf32>, !tile_gpu.tile<16x32xf32>
  %8 = tile_gpu.insert %7, %a[%i, %i] : !tile_gpu.tile<8x8xf32>, !tile_gpu.tile<16x32xf32>
  // CHECK: tile_gpu.cat %{{.*}}, %{{.*}} dim 1 : !tile_gpu.tile<16x32xf32>, !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<16x64xf32>
  %9 = tile_gpu.cat %a, %8 dim 1 : !tile_gpu.tile<16x32xf32>, !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<16x64xf32>
  // CHECK: tile_gpu.reinterpret %{{.*}} : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<256xi8>
  %10 = tile_gpu.reinterpret %v : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<256xi8>
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: !tile_gpu.tile<64xf32>, %c: !tile_gpu.tile<64xi1>, %s: f32) {
  // CHECK: tile_gpu.cast <truncf> %{{.*}} : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf16>
  %0 = tile_gpu.cast <truncf> %x : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf16>
  // CHECK: tile_gpu.select %{{.*}}, %{{.*}}, %{{.*}} : !tile_gpu.tile<64xi1>, !tile_gpu.tile<64xf32>
  %1 = tile_gpu.select %c, %x, %x : !tile_gpu.tile<64xi1>, !tile_gpu.tile<64xf32>
  // CHECK: tile_gpu.call "__nv_sinf"(%{{.*}}) : (!tile_gpu.tile<64xf32>) -> !tile_gpu.tile<64xf32>
  %2 = tile_gpu.call "__nv_sinf"(%x) : (!tile_gpu.tile<64xf32>) -> !tile_gpu.tile<64xf32>
  // CHECK: tile_gpu.inline_ptx "tanh.approx.f32 $0, $1;" "=f,f"(%{{.*}}) : (f32) -> f32
  %3 = tile_gpu.inline_ptx "tanh.approx.f32 $0, $1;" "=f,f" (%s) : (f32) -> f32
  // CHECK: tile_gpu.ftof %{{.*}} "rn" : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf8E4M3FN>
  %4 = tile_gpu.ftof %x "rn" : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: !tile_gpu.tile<4x64xf32>, %v: !tile_gpu.tile<64xi32>) {
  // CHECK: tile_gpu.reduce %{{.*}} dim 1 identities [0.000000e+00 : f32] {
  // CHECK: tile_gpu.yield %{{.*}} : f32
  // CHECK: } : (!tile_gpu.tile<4x64xf32>) -> !tile_gpu.tile<4xf32>
  %0 = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
  ^bb0(%e: f32, %a: f32):
    %s = arith.addf %e, %a : f32
    tile_gpu.yield %s : f32
  } : (!tile_gpu.tile<4x64xf32>) -> !tile_gpu.tile<4xf32>
  // Two operands; a vector gives scalars.
  // CHECK: tile_gpu.reduce %{{.*}}, %{{.*}} dim 0 identities [0 : i32, 1 : i32] within_warp {
  // CHECK: } : (!tile_gpu.tile<64xi32>, !tile_gpu.tile<64xi32>) -> (i32, i32)
  %1:2 = tile_gpu.reduce %v, %v dim 0 identities [0 : i32, 1 : i32] within_warp {
  ^bb0(%e: i32, %a: i32, %f: i32, %b: i32):
    tile_gpu.yield %a, %b : i32, i32
  } : (!tile_gpu.tile<64xi32>, !tile_gpu.tile<64xi32>) -> (i32, i32)
  // CHECK: tile_gpu.scan %{{.*}} dim 0 identities [0 : i32] reverse {
  // CHECK: } : (!tile_gpu.tile<64xi32>) -> !tile_gpu.tile<64xi32>
  %2 = tile_gpu.scan %v dim 0 identities [0 : i32] reverse {
  ^bb0(%e: i32, %a: i32):
    tile_gpu.yield %a : i32
  } : (!tile_gpu.tile<64xi32>) -> !tile_gpu.tile<64xi32>
  return
}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%p: !llvm.ptr<1>, %i: i64, %x: !tile_gpu.tile<64x32xf16>) {
  // CHECK: tile_gpu.load %{{.*}}[%[[I:.*]], %[[I]]] sizes[%[[I]], %[[I]]] strides[%[[I]], %[[I]]] alignment 2 in_bounds [true, false] : !tile_gpu.tile<64x32xf16>
  %0 = tile_gpu.load %p[%i, %i] sizes [%i, %i] strides [%i, %i] alignment 2 in_bounds [true, false] : !tile_gpu.tile<64x32xf16>
  // CHECK: tile_gpu.load {{.*}} padding <neg_inf> alignment 16 extent_multiple 8 in_bounds [false] ordering <acquire> scope <device> ordered : !tile_gpu.tile<64xf16>
  %1 = tile_gpu.load %p[%i] sizes [%i] strides [%i] padding <neg_inf> alignment 16 extent_multiple 8 in_bounds [false] ordering <acquire> scope <device> ordered : !tile_gpu.tile<64xf16>
  // CHECK: tile_gpu.store %{{.*}}, %{{.*}}[%[[I]], %[[I]]] sizes[%[[I]], %[[I]]] strides[%[[I]], %[[I]]] alignment 16 extent_multiple 4 in_bounds [true, true] ordering <release> scope <system> : !tile_gpu.tile<64x32xf16>
  tile_gpu.store %x, %p[%i, %i] sizes [%i, %i] strides [%i, %i] alignment 16 extent_multiple 4 in_bounds [true, true] ordering <release> scope <system> : !tile_gpu.tile<64x32xf16>
  // CHECK: tile_gpu.atomic_red <addf> %{{.*}}, %{{.*}}[%[[I]], %[[I]]] {{.*}} alignment 2 in_bounds [false, false] scope <device> : !tile_gpu.tile<64x32xf16>
  tile_gpu.atomic_red <addf> %x, %p[%i, %i] sizes [%i, %i] strides [%i, %i] alignment 2 in_bounds [false, false] scope <device> : !tile_gpu.tile<64x32xf16>
  return
}

// CHECK-LABEL: func.func @addresses
func.func @addresses(%a: !tile_gpu.tile<64xi64>, %m: !tile_gpu.tile<64xi1>, %x: !tile_gpu.tile<64xf32>,
                     %i: i64, %s: i32, %scratch: !tile_gpu.buffer<1xi32>) {
  // CHECK: tile_gpu.gather %{{.*}} contiguity 1 alignment 4 : !tile_gpu.tile<64xi64> -> !tile_gpu.tile<64xf32>
  %0 = tile_gpu.gather %a contiguity 1 alignment 4 : !tile_gpu.tile<64xi64> -> !tile_gpu.tile<64xf32>
  // CHECK: tile_gpu.gather %{{.*}} mask %{{.*}} other %{{.*}} contiguity 4 alignment 16 ordering <relaxed> scope <block> : !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1> other !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf32>
  %1 = tile_gpu.gather %a mask %m other %x contiguity 4 alignment 16 ordering <relaxed> scope <block> : !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1> other !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf32>
  // CHECK: tile_gpu.scatter %{{.*}}, %{{.*}} mask %{{.*}} contiguity 2 alignment 8 : !tile_gpu.tile<64xf32>, !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1>
  tile_gpu.scatter %x, %a mask %m contiguity 2 alignment 8 : !tile_gpu.tile<64xf32>, !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1>
  // CHECK: tile_gpu.prefetch_lines %{{.*}} mask %{{.*}} : !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1>
  tile_gpu.prefetch_lines %a mask %m : !tile_gpu.tile<64xi64> mask !tile_gpu.tile<64xi1>
  // CHECK: tile_gpu.atomic_rmw <xchg> %{{.*}}, %{{.*}} scratch %{{.*}} ordering <acq_rel> scope <device> : i64, i32 scratch !tile_gpu.buffer<1xi32> -> i32
  %2 = tile_gpu.atomic_rmw <xchg> %i, %s scratch %scratch ordering <acq_rel> scope <device> : i64, i32 scratch !tile_gpu.buffer<1xi32> -> i32
  // CHECK: tile_gpu.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} ordering <relaxed> scope <device> : !tile_gpu.tile<64xi64>, !tile_gpu.tile<64xf32> mask !tile_gpu.tile<64xi1> -> !tile_gpu.tile<64xf32>
  %3 = tile_gpu.atomic_cas %a, %x, %x mask %m ordering <relaxed> scope <device> : !tile_gpu.tile<64xi64>, !tile_gpu.tile<64xf32> mask !tile_gpu.tile<64xi1> -> !tile_gpu.tile<64xf32>
  return
}

// CHECK-LABEL: func.func @heap
func.func @heap(%scratch: !tile_gpu.buffer<1xi64>) {
  // CHECK: %[[P:.*]] = tile_gpu.malloc bytes 1024 alignment 128
  %0 = tile_gpu.malloc bytes 1024 alignment 128
  // CHECK: tile_gpu.malloc bytes 1024 alignment 128 scratch %{{.*}} : !tile_gpu.buffer<1xi64>
  %1 = tile_gpu.malloc bytes 1024 alignment 128 scratch %scratch : !tile_gpu.buffer<1xi64>
  // CHECK: tile_gpu.free %[[P]]
  tile_gpu.free %0
  return
}

!ring = !tile_gpu.buffer<64x32xf16, swizzle = 64, stages = 3>
!stage = !tile_gpu.buffer<64x32xf16, swizzle = 64>
!tile = !tile_gpu.tile<64x32xf16>

// CHECK-LABEL: func.func @buffers
func.func @buffers(%x: !tile, %i: i32, %p: !llvm.ptr<1>, %n: i64, %c: i1) {
  // CHECK: %[[R:.*]] = tile_gpu.alloc : !tile_gpu.buffer<64x32xf16, swizzle = 64, stages = 3>
  %0 = tile_gpu.alloc : !ring
  // CHECK: tile_gpu.alloc offset 4096 : !tile_gpu.buffer<64x32xf16, swizzle = 64>
  %1 = tile_gpu.alloc offset 4096 : !stage
  // CHECK: tile_gpu.alloc per_warp offset 8192 : !tile_gpu.buffer<64x32xf16, swizzle = 64>
  %own = tile_gpu.alloc per_warp offset 8192 : !stage
  // CHECK: tile_gpu.stage %[[R]][%{{.*}}] : !tile_gpu.buffer<64x32xf16, swizzle = 64, stages = 3> -> !tile_gpu.buffer<64x32xf16, swizzle = 64>
  %2 = tile_gpu.stage %0[%i] : !ring -> !stage
  // CHECK: tile_gpu.to_shared %{{.*}} : !tile_gpu.tile<64x32xf16> -> !tile_gpu.buffer<64x32xf16, swizzle = 64>
  %3 = tile_gpu.to_shared %x : !tile -> !stage
  // CHECK: tile_gpu.local_store %{{.*}}, %{{.*}} : !tile_gpu.tile<64x32xf16>, !tile_gpu.buffer<64x32xf16, swizzle = 64>
  tile_gpu.local_store %x, %1 : !tile, !stage
  // CHECK: %[[S:.*]] = tile_gpu.local_load %{{.*}}[%{{.*}}, %{{.*}}] : !tile_gpu.buffer<64x32xf16, swizzle = 64> -> !tile_gpu.tile<16x32xf16>
  %4 = tile_gpu.local_load %1[%i, %i] : !stage -> !tile_gpu.tile<16x32xf16>
  // CHECK: tile_gpu.local_store %[[S]], %{{.*}}[%{{.*}}, %{{.*}}] : !tile_gpu.tile<16x32xf16>, !tile_gpu.buffer<64x32xf16, swizzle = 64>
  tile_gpu.local_store %4, %1[%i, %i] : !tile_gpu.tile<16x32xf16>, !stage
  // CHECK: tile_gpu.async_load %{{.*}}[%[[N:.*]], %[[N]]] sizes[%[[N]], %[[N]]] strides[%[[N]], %[[N]]], %{{.*}} if %{{.*}} alignment 16 in_bounds [true, true] : !tile_gpu.buffer<64x32xf16, swizzle = 64>
  tile_gpu.async_load %p[%n, %n] sizes [%n, %n] strides [%n, %n], %1 if %c alignment 16 in_bounds [true, true] : !stage
  // CHECK: tile_gpu.prefetch %{{.*}}[%[[N]], %[[N]]] sizes[%[[N]], %[[N]]] strides[%[[N]], %[[N]]] alignment 16 in_bounds [true, false] : !tile_gpu.tile<64x32xf16>
  tile_gpu.prefetch %p[%n, %n] sizes [%n, %n] strides [%n, %n] alignment 16 in_bounds [true, false] : !tile_gpu.tile<64x32xf16>
  // CHECK: tile_gpu.async_commit
  tile_gpu.async_commit
  // CHECK: tile_gpu.async_wait 1
  tile_gpu.async_wait 1
  // CHECK: tile_gpu.fence_async
  tile_gpu.fence_async
  // CHECK: tile_gpu.barrier
  tile_gpu.barrier
  // CHECK-NEXT: tile_gpu.warp_barrier
  tile_gpu.warp_barrier
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%a: !tile_gpu.buffer<64x32xf16, swizzle = 64>, %b: !tile_gpu.buffer<32x64xf16, swizzle = 128>,
                    %c: !tile_gpu.tile<64x64xf32>, %i: !tile_gpu.tile<2x64x32xi8>,
                    %j: !tile_gpu.tile<2x32x64xi8>, %k: !tile_gpu.tile<2x64x64xi32>) {
  // CHECK: tile_gpu.dot %{{.*}}, %{{.*}}, %{{.*}} : !tile_gpu.buffer<64x32xf16, swizzle = 64>, !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
  %0 = tile_gpu.dot %a, %b, %c : !tile_gpu.buffer<64x32xf16, swizzle = 64>, !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
  // CHECK: %[[D:.*]] = tile_gpu.dot {{.*}} fast_acc in_flight instruction <wgmma>
  %1 = tile_gpu.dot %a, %b, %c in_flight fast_acc instruction <wgmma> : !tile_gpu.buffer<64x32xf16, swizzle = 64>, !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
  // CHECK: tile_gpu.dot {{.*}} promoted instruction <wgmma>
  %p = tile_gpu.dot %a, %b, %c promoted instruction <wgmma> : !tile_gpu.buffer<64x32xf16, swizzle = 64>, !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
  // CHECK: tile_gpu.dot_wait 1
  tile_gpu.dot_wait 1
  // CHECK: tile_gpu.dot_wait 0, %[[D]] : !tile_gpu.tile<64x64xf32>
  %2 = tile_gpu.dot_wait 0, %1 : !tile_gpu.tile<64x64xf32>
  // CHECK: tile_gpu.dot_wait 0, %{{.*}}, %{{.*}} : !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>
  %3:2 = tile_gpu.dot_wait 0, %1, %0 : !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>
  // CHECK: tile_gpu.dot {{.*}} lhs_unsigned rhs_unsigned instruction <mma_sync> : !tile_gpu.tile<2x64x32xi8>
  %4 = tile_gpu.dot %i, %j, %k lhs_unsigned rhs_unsigned instruction <mma_sync> : !tile_gpu.tile<2x64x32xi8>, !tile_gpu.tile<2x32x64xi8>, !tile_gpu.tile<2x64x64xi32>
  return
}

// CHECK-LABEL: func.func @debugging
func.func @debugging(%x: !tile_gpu.tile<64xf32>, %i: i32, %b: !tile_gpu.buffer<4xi32>, %c: i1) {
  // CHECK: tile_gpu.print "hello"
  tile_gpu.print "hello"
  // CHECK: tile_gpu.print "%f %d %d", %{{.*}}, %{{.*}}, %{{.*}} : !tile_gpu.tile<64xf32>, i32, !tile_gpu.buffer<4xi32>
  tile_gpu.print "%f %d %d", %x, %i, %b : !tile_gpu.tile<64xf32>, i32, !tile_gpu.buffer<4xi32>
  // CHECK: tile_gpu.assert %{{.*}}, "no" : i1
  tile_gpu.assert %c, "no" : i1
  return
}
