// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// Where a thread's tiles fill more registers than it can have (255, or what a block's threads leave each
// other of 65536), it spills, and ptxas must hear that one block on a multiprocessor will do.

#few = #tile_gpu.layout<[warp 4:1, lane 32:1, reg 64]>
#some = #tile_gpu.layout<[warp 4:1, lane 32:1, reg 128]>
#most = #tile_gpu.layout<[warp 16:1, lane 32:1, reg 64]>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Two tiles of 64 registers at once.
    // CHECK-LABEL: gpu.func @they_fit
    // CHECK-NOT: minctasm
    gpu.func @they_fit(%p: !llvm.ptr<1>, %z: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.load %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<8192xf32, #few>
      %b = tile_gpu.load %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<8192xf32, #few>
      %c = arith.addf %a, %b : !tile_gpu.tile<8192xf32, #few>
      tile_gpu.store %c, %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<8192xf32, #few>
      gpu.return
    }

    // Two of 128 are 256.
    // CHECK-LABEL: gpu.func @they_do_not
    // CHECK-SAME: nvvm.minctasm = 1 : i32
    gpu.func @they_do_not(%p: !llvm.ptr<1>, %z: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.load %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      %b = tile_gpu.load %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      %c = arith.addf %a, %b : !tile_gpu.tile<16384xf32, #some>
      tile_gpu.store %c, %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      gpu.return
    }

    // One after another they fit: the first is stored before the other is loaded.
    // CHECK-LABEL: gpu.func @one_after_another
    // CHECK-NOT: minctasm
    gpu.func @one_after_another(%p: !llvm.ptr<1>, %z: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.load %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      tile_gpu.store %a, %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      %b = tile_gpu.load %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      tile_gpu.store %b, %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      gpu.return
    }

    // 512 threads have 128 registers each. A tile from outside a loop lives as long as the loop.
    // CHECK-LABEL: gpu.func @through_a_loop
    // CHECK-SAME: nvvm.minctasm = 1 : i32
    gpu.func @through_a_loop(%p: !llvm.ptr<1>, %z: i64, %n: i64, %m: i32) kernel attributes {tile_gpu.num_warps = 16 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %a = tile_gpu.load %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<32768xf32, #most>
      scf.for %i = %c0 to %m step %c1 : i32 {
        tile_gpu.store %a, %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<32768xf32, #most>
        %b = tile_gpu.load %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<32768xf32, #most>
        tile_gpu.store %b, %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<32768xf32, #most>
      }
      gpu.return
    }

    // A program that asks for blocks gets what ptxas makes of it.
    // CHECK-LABEL: gpu.func @hinted
    // CHECK-NOT: minctasm
    gpu.func @hinted(%p: !llvm.ptr<1>, %z: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.optimization_hints = #cuda_tile.optimization_hints<sm_90 = {occupancy = 2}>} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.load %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      %b = tile_gpu.load %p[%n] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      %c = arith.addf %a, %b : !tile_gpu.tile<16384xf32, #some>
      tile_gpu.store %c, %p[%z] sizes [%n] strides [%one] alignment 4 in_bounds [true] : !tile_gpu.tile<16384xf32, #some>
      gpu.return
    }
  }
}
