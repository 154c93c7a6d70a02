// RUN: tile-opt --convert-cuda-tile %s | FileCheck %s

// Constants, shape manipulation, the grid, promises.

cuda_tile.module @kernels {
  // CHECK-LABEL: gpu.func @constants
  entry @constants() {
    // CHECK-NEXT: arith.constant 2.500000e+00 : f32
    %0 = constant <f32: 2.5> : tile<f32>
    // CHECK-NEXT: arith.constant dense<-1> : !tile_gpu.tile<4x8xi16>
    %1 = constant <i16: -1> : tile<4x8xi16>
    // CHECK-NEXT: arith.constant dense<[1, 2]> : !tile_gpu.tile<2xi32>
    %2 = constant <i32: [1, 2]> : tile<2xi32>
    return
  }

  // A tile of one value is a splat of a scalar; further reshapes and broadcasts keep it one.
  // CHECK-LABEL: gpu.func @splat
  // CHECK-SAME: (%[[X:.*]]: f32)
  entry @splat(%x: tile<f32>) {
    // CHECK-NEXT: tile_gpu.splat %[[X]] : f32 -> !tile_gpu.tile<1x1xf32>
    %0 = reshape %x : tile<f32> -> tile<1x1xf32>
    // CHECK-NEXT: %[[S:.*]] = tile_gpu.splat %[[X]] : f32 -> !tile_gpu.tile<4x8xf32>
    %1 = broadcast %0 : tile<1x1xf32> -> tile<4x8xf32>
    // CHECK-NEXT: arith.addf %[[S]], %[[S]]
    %2 = addf %1, %1 : tile<4x8xf32>
    return
  }

  // A pointer that fills a tile becomes its address.
  // CHECK-LABEL: gpu.func @pointers
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>)
  entry @pointers(%p: tile<ptr<f32>>) {
    // CHECK-NEXT: %[[A:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr<1> to i64
    // CHECK-NEXT: tile_gpu.splat %[[A]] : i64 -> !tile_gpu.tile<1xi64>
    %0 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    return
  }

  // CHECK-LABEL: gpu.func @regrouping
  entry @regrouping() {
    // CHECK-NEXT: %[[I:.*]] = tile_gpu.iota : !tile_gpu.tile<32xi32>
    %0 = iota : tile<32xi32>
    // CHECK-NEXT: %[[R:.*]] = tile_gpu.reshape %[[I]] : !tile_gpu.tile<32xi32> -> !tile_gpu.tile<4x1x8xi32>
    %1 = reshape %0 : tile<32xi32> -> tile<4x1x8xi32>
    // CHECK-NEXT: %[[B:.*]] = tile_gpu.broadcast %[[R]] : !tile_gpu.tile<4x1x8xi32> -> !tile_gpu.tile<4x2x8xi32>
    %2 = broadcast %1 : tile<4x1x8xi32> -> tile<4x2x8xi32>
    // CHECK-NEXT: tile_gpu.permute %[[B]] [2, 0, 1] : !tile_gpu.tile<4x2x8xi32> -> !tile_gpu.tile<8x4x2xi32>
    %3 = permute %2 [2, 0, 1] : tile<4x2x8xi32> -> tile<8x4x2xi32>
    return
  }

  // CHECK-LABEL: gpu.func @one_element
  entry @one_element() {
    // CHECK-NEXT: %[[I:.*]] = tile_gpu.iota
    %0 = iota : tile<1xi32>
    // CHECK-NEXT: %[[S:.*]] = tile_gpu.extract_scalar %[[I]] : !tile_gpu.tile<1xi32> -> i32
    %1 = reshape %0 : tile<1xi32> -> tile<i32>
    // CHECK-NEXT: arith.addi %[[S]], %[[S]] : i32
    %2 = addi %1, %1 : tile<i32>
    return
  }

  // CHECK-LABEL: gpu.func @grid
  entry @grid() {
    // CHECK-NEXT: nvvm.read.ptx.sreg.ctaid.x : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.ctaid.y : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.ctaid.z : i32
    %x, %y, %z = get_tile_block_id : tile<i32>
    // CHECK-NEXT: nvvm.read.ptx.sreg.nctaid.x : i32
    %a, %b, %c = get_num_tile_blocks : tile<i32>
    return
  }

  // A promise leaves no operation; what it says is used where it matters (see views.mlir).
  // CHECK-LABEL: gpu.func @promise
  // CHECK-SAME: (%[[N:.*]]: i32)
  entry @promise(%n: tile<i32>) {
    // CHECK-NEXT: arith.addi %[[N]], %[[N]]
    %0 = assume div_by<16>, %n : tile<i32>
    %1 = addi %0, %0 : tile<i32>
    return
  }
}
