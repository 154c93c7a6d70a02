// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Conversions: arith on scalars, tile_gpu.cast on tiles, tile_gpu.ftof for what arith lacks.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @floats
  entry @floats(%x: tile<f32>, %h: tile<f16>, %d: tile<f64>) {
    // CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
    %0 = ftof %x : tile<f32> -> tile<f16>
    // CHECK-NEXT: arith.extf %{{.*}} : f16 to f64
    %1 = ftof %h : tile<f16> -> tile<f64>
    // CHECK-NEXT: tile_gpu.ftof %{{.*}} "rz" : f64 -> f32
    %2 = ftof %d rounding<zero> : tile<f64> -> tile<f32>
    // CHECK-NEXT: tile_gpu.ftof %{{.*}} "rn" : f32 -> f8E4M3FN
    %3 = ftof %x : tile<f32> -> tile<f8E4M3FN>
    // CHECK-NEXT: tile_gpu.ftof %{{.*}} "rn" : f32 -> tf32
    %4 = ftof %x : tile<f32> -> tile<tf32>
    // Neither f16 nor bf16 holds the other; f32 holds both.
    // CHECK-NEXT: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
    // CHECK-NEXT: arith.truncf %[[W]] : f32 to bf16
    %5 = ftof %h : tile<f16> -> tile<bf16>
    return
  }

  // CHECK-LABEL: gpu.func @tiles
  entry @tiles(%n: tile<i32>) {
    %x = constant <f32: 0.5> : tile<8xf32>
    // CHECK: tile_gpu.cast <truncf> %{{.*}} : !tile_gpu.tile<8xf32> -> !tile_gpu.tile<8xf16>
    %0 = ftof %x : tile<8xf32> -> tile<8xf16>
    // CHECK-NEXT: tile_gpu.cast <fptosi>
    %1 = ftoi %x signed : tile<8xf32> -> tile<8xi32>
    // CHECK-NEXT: tile_gpu.cast <sitofp>
    %2 = itof %1 signed : tile<8xi32> -> tile<8xf32>
    // CHECK-NEXT: tile_gpu.cast <extui>
    %3 = exti %1 unsigned : tile<8xi32> -> tile<8xi64>
    // CHECK-NEXT: tile_gpu.cast <trunci>
    %4 = trunci %1 : tile<8xi32> -> tile<8xi8>
    // CHECK-NEXT: tile_gpu.cast <bitcast>
    %5 = bitcast %1 : tile<8xi32> -> tile<8xf32>
    return
  }

  // CHECK-LABEL: gpu.func @integers
  entry @integers(%x: tile<f32>, %b: tile<bf16>, %i: tile<i32>) {
    // CHECK-NEXT: arith.fptoui %{{.*}} : f32 to i64
    %0 = ftoi %x unsigned : tile<f32> -> tile<i64>
    // CHECK-NEXT: tile_gpu.call "llvm.fptosi.sat"(%{{.*}}) : (f32) -> i32
    %1 = ftoi %x signed saturating : tile<f32> -> tile<i32>
    // CHECK-NEXT: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
    // CHECK-NEXT: arith.fptosi %[[W]] : f32 to i32
    %2 = ftoi %b signed : tile<bf16> -> tile<i32>
    // By way of f64, which holds the integer, so that it rounds once.
    // CHECK-NEXT: %[[D:.*]] = arith.sitofp %{{.*}} : i32 to f64
    // CHECK-NEXT: arith.truncf %[[D]] : f64 to f16
    %3 = itof %i signed : tile<i32> -> tile<f16>
    return
  }

  // Scalar pointers are pointers, tiles of pointers are tiles of addresses.
  // CHECK-LABEL: gpu.func @pointers
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>)
  entry @pointers(%p: tile<ptr<f32>>) {
    // CHECK-NEXT: %[[A:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr<1> to i64
    %0 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    // CHECK-NEXT: llvm.inttoptr %[[A]] : i64 to !llvm.ptr<1>
    %1 = int_to_ptr %0 : tile<i64> -> tile<ptr<f32>>
    // CHECK-NEXT: gpu.return
    %2 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
    return
  }
}
