// RUN: tile-opt --assign-layouts --split-input-file %s | FileCheck %s

// Loads and stores get coalesced layouts: 16 bytes in a thread, neighbours in neighbouring threads.

// CHECK: #[[ROWS:.*]] = #tile_gpu.layout<[reg 4, warp 4:1, lane 4:8], [lane 8:1, reg 8]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @copy
    gpu.func @copy(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: %[[X:.*]] = tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xf16, #[[ROWS]]>
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x64xf16>
      // Elementwise operations keep it; a constant takes what its user has.
      // CHECK: arith.constant {{.*}} : !tile_gpu.tile<64x64xf16, #[[ROWS]]>
      %h = arith.constant dense<0.5> : !tile_gpu.tile<64x64xf16>
      // CHECK: arith.mulf {{.*}} : !tile_gpu.tile<64x64xf16, #[[ROWS]]>
      %y = arith.mulf %x, %h : !tile_gpu.tile<64x64xf16>
      // CHECK-NOT: convert_layout
      // CHECK: tile_gpu.store {{.*}} : !tile_gpu.tile<64x64xf16, #[[ROWS]]>
      tile_gpu.store %y, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x64xf16>
      gpu.return
    }
  }
}

// -----

// A transpose: each side is coalesced along its own contiguous dimension; a conversion between.

// CHECK-DAG: #[[IN:.*]] = #tile_gpu.layout<[reg 8, warp 4:1, lane 2:16], [lane 16:1, reg 4]>
// CHECK-DAG: #[[TURNED:.*]] = #tile_gpu.layout<[lane 16:1, reg 4], [reg 8, warp 4:1, lane 2:16]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @transpose
    gpu.func @transpose(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xf32, #[[IN]]>
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[T:.*]] = tile_gpu.permute {{.*}} -> !tile_gpu.tile<64x64xf32, #[[TURNED]]>
      %t = tile_gpu.permute %x [1, 0] : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xf32>
      // CHECK: %[[C:.*]] = tile_gpu.convert_layout %[[T]] : {{.*}} -> !tile_gpu.tile<64x64xf32, #[[IN]]>
      // CHECK: tile_gpu.store %[[C]]
      tile_gpu.store %t, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}

// -----

// Alignment and edges limit the vectors: 4 bytes where addresses are multiples of four, one element
// where an edge may cut anywhere.

// CHECK-DAG: #[[PAIRS:.*]] = #tile_gpu.layout<[reg 16], [lane 32:1, reg 2]>
// CHECK-DAG: #[[SINGLE:.*]] = #tile_gpu.layout<[reg 16], [reg 2, lane 32:1]>
// CHECK-DAG: #[[EIGHTS:.*]] = #tile_gpu.layout<[reg 4, lane 4:8], [lane 8:1, reg 8]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @narrow
    gpu.func @narrow(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: tile_gpu.load {{.*}} alignment 4 {{.*}}, #[[PAIRS]]>
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [true, true] : !tile_gpu.tile<16x64xf16>
      // CHECK: tile_gpu.load {{.*}} in_bounds [true, false] {{.*}}, #[[SINGLE]]>
      %y = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, false] : !tile_gpu.tile<16x64xf16>
      // Groups of eight lie inside or outside as a whole.
      // CHECK: tile_gpu.load {{.*}} extent_multiple 8 {{.*}}, #[[EIGHTS]]>
      %w = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [true, false] : !tile_gpu.tile<16x64xf16>
      gpu.return
    }
  }
}

// -----

// A product's accumulator has the layout of the instruction; what is added to it follows.

// CHECK: #[[ACC:.*]] = #tile_gpu.layout<[warp 2:1, reg 4, lane 8:4], [warp 2:2, reg 4, lane 4:1, reg 2]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @product
    gpu.func @product() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %a = tile_gpu.alloc : !tile_gpu.buffer<64x32xf16, swizzle = 64>
      %b = tile_gpu.alloc : !tile_gpu.buffer<32x64xf16, swizzle = 128>
      // CHECK: arith.constant {{.*}} : !tile_gpu.tile<64x64xf32, #[[ACC]]>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.dot {{.*}} !tile_gpu.tile<64x64xf32, #[[ACC]]>
      %d = tile_gpu.dot %a, %b, %c instruction <mma_sync> : !tile_gpu.buffer<64x32xf16, swizzle = 64>, !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
      // CHECK: arith.addf {{.*}} : !tile_gpu.tile<64x64xf32, #[[ACC]]>
      %e = arith.addf %d, %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}

// -----

// Layouts spread through operations that only regroup: a row statistic has the rows of the tile it
// came from and goes back to it without any data moving between threads.

// CHECK-DAG: #[[TILE:.*]] = #tile_gpu.layout<[reg 4, warp 4:1, lane 2:16], [lane 16:1, reg 4]>
// CHECK-DAG: #[[ROW:.*]] = #tile_gpu.layout<[reg 4, warp 4:1, lane 2:16]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @statistic
    // CHECK-NOT: convert_layout
    gpu.func @statistic(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<32x64xf32, #[[TILE]]>
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf32>
      // CHECK: } : (!tile_gpu.tile<32x64xf32, #[[TILE]]>) -> !tile_gpu.tile<32xf32, #[[ROW]]>
      %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
      ^bb0(%e: f32, %a: f32):
        %m = arith.maximumf %e, %a : f32
        tile_gpu.yield %m : f32
      } : (!tile_gpu.tile<32x64xf32>) -> !tile_gpu.tile<32xf32>
      %c = tile_gpu.reshape %r : !tile_gpu.tile<32xf32> -> !tile_gpu.tile<32x1xf32>
      // CHECK: tile_gpu.broadcast {{.*}} -> !tile_gpu.tile<32x64xf32, #[[TILE]]>
      %b = tile_gpu.broadcast %c : !tile_gpu.tile<32x1xf32> -> !tile_gpu.tile<32x64xf32>
      %y = arith.subf %x, %b : !tile_gpu.tile<32x64xf32>
      tile_gpu.store %y, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf32>
      gpu.return
    }
  }
}

// -----

// A scan wants its dimension within a warp.

// CHECK: #[[SCAN:.*]] = #tile_gpu.layout<[warp 4:1], [reg 8, lane 32:1, reg 4]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @scan
    gpu.func @scan() kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %x = arith.constant dense<1.0> : !tile_gpu.tile<4x1024xf32>
      // CHECK: } : (!tile_gpu.tile<4x1024xf32, #[[SCAN]]>) -> !tile_gpu.tile<4x1024xf32, #[[SCAN]]>
      %r = tile_gpu.scan %x dim 1 identities [0.0 : f32] {
      ^bb0(%e: f32, %a: f32):
        %m = arith.addf %e, %a : f32
        tile_gpu.yield %m : f32
      } : (!tile_gpu.tile<4x1024xf32>) -> !tile_gpu.tile<4x1024xf32>
      gpu.return
    }
  }
}

// -----

// A carried tile has one layout around the loop, as has what branches yield.

// CHECK: #[[L:.*]] = #tile_gpu.layout<[lane 32:1, reg 4]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @carried
    // CHECK-NOT: convert_layout
    gpu.func @carried(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: index, %c: i1) kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<128xf32>
      // CHECK: scf.for {{.*}} -> (!tile_gpu.tile<128xf32, #[[L]]>)
      %r = scf.for %i = %n to %n step %n iter_args(%a = %zero) -> (!tile_gpu.tile<128xf32>) {
        %x = tile_gpu.load %p[%z] sizes [%s] strides [%one] alignment 16 in_bounds [true] : !tile_gpu.tile<128xf32>
        // CHECK: scf.if {{.*}} -> (!tile_gpu.tile<128xf32, #[[L]]>)
        %y = scf.if %c -> (!tile_gpu.tile<128xf32>) {
          %t = arith.addf %a, %x : !tile_gpu.tile<128xf32>
          scf.yield %t : !tile_gpu.tile<128xf32>
        } else {
          scf.yield %a : !tile_gpu.tile<128xf32>
        }
        scf.yield %y : !tile_gpu.tile<128xf32>
      }
      gpu.return
    }
  }
}

// -----

// 20x48 and 8x2x60 have no chain of digits in common between 48 and 60: registers hold that part
// whole, lanes the rest.

// CHECK: #[[BEFORE:.*]] = #tile_gpu.layout<[lane 4:4, reg 5], [reg 12, lane 4:1]>
// CHECK: #[[AFTER:.*]] = #tile_gpu.layout<[lane 4:4, reg 2], [reg 2], [reg 15, lane 4:1]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @odd_reshape
    gpu.func @odd_reshape(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %one = arith.constant 1 : i64
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [true, true] : !tile_gpu.tile<20x48xf32>
      // CHECK: %[[C:.*]] = tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<20x48xf32, #[[BEFORE]]>
      // CHECK-NEXT: %[[R:.*]] = tile_gpu.reshape %[[C]] : {{.*}} -> !tile_gpu.tile<8x2x60xf32, #[[AFTER]]>
      %y = tile_gpu.reshape %x : !tile_gpu.tile<20x48xf32> -> !tile_gpu.tile<8x2x60xf32>
      tile_gpu.store %y, %p[%z, %z, %z] sizes [%s, %s, %s] strides [%s, %s, %one] alignment 4 in_bounds [true, true, true] : !tile_gpu.tile<8x2x60xf32>
      gpu.return
    }
  }
}

// -----

// Accumulators are stored by the warps that hold them, in whole cache lines: of 16 rows each, four
// at a time.

// CHECK: #[[OWN:.*]] = #tile_gpu.layout<[warp 4:1, reg 4, lane 4:8], [lane 8:1, reg 8]>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK: gpu.func @stored
    gpu.func @stored(%q: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.alloc : !tile_gpu.buffer<64x64xf16, swizzle = 128>
      %b = tile_gpu.alloc : !tile_gpu.buffer<64x64xf16, swizzle = 128>
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %d = tile_gpu.dot %a, %b, %zero instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
      %h = tile_gpu.cast <truncf> %d : !tile_gpu.tile<64x64xf32> -> !tile_gpu.tile<64x64xf16>
      // CHECK: %[[C:.*]] = tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<64x64xf16, #[[OWN]]>
      // CHECK-NEXT: tile_gpu.store %[[C]]
      tile_gpu.store %h, %q[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 extent_multiple 8 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
      gpu.return
    }
  }
}

// -----

// A tile with a part replaced lies as it did, whatever reads it next.

module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @replaced
    gpu.func @replaced(%p: !llvm.ptr<1>, %z: i64, %s: i64, %i: i32) kernel attributes {tile_gpu.num_warps = 1 : i32} {
      %one = arith.constant 1 : i64
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [true, true] : !tile_gpu.tile<8x16xf32>
      %part = arith.constant dense<7.0> : !tile_gpu.tile<4x16xf32>
      // CHECK: %[[X:.*]] = tile_gpu.load {{.*}} : !tile_gpu.tile<8x16xf32, #[[L:.*]]>
      // CHECK: %[[Y:.*]] = tile_gpu.insert %{{.*}}, %[[X]]{{.*}}, !tile_gpu.tile<8x16xf32, #[[L]]>
      %y = tile_gpu.insert %part, %x[%i, %i] : !tile_gpu.tile<4x16xf32>, !tile_gpu.tile<8x16xf32>
      // CHECK: tile_gpu.permute
      %t = tile_gpu.permute %y [1, 0] : !tile_gpu.tile<8x16xf32> -> !tile_gpu.tile<16x8xf32>
      tile_gpu.store %t, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [true, true] : !tile_gpu.tile<16x8xf32>
      gpu.return
    }
  }
}

// -----

// Accumulators that leave by tensor memory accesses as their transpose lie as they did: a warpgroup has
// columns of what leaves.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-DAG: #[[ACC:.*]] = #tile_gpu.layout<[warp 8:1, reg 2, lane 8:4], [reg 16, lane 4:1, reg 2]>
    // CHECK-DAG: #[[TRANSPOSED:.*]] = #tile_gpu.layout<[reg 16, lane 4:1, reg 2], [warp 8:1, reg 2, lane 8:4]>
    // CHECK: gpu.func @by_columns
    gpu.func @by_columns(%m: !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, %z: i64) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %a = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128>
      %b = tile_gpu.alloc : !tile_gpu.buffer<64x128xf16, swizzle = 128>
      %ring = tile_gpu.alloc : !tile_gpu.buffer<64x128xf16, swizzle = 128, stages = 2>
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<128x128xf32>
      // CHECK: tile_gpu.dot {{.*}} !tile_gpu.tile<128x128xf32, #[[ACC]]>
      %d = tile_gpu.dot %a, %b, %zero instruction <wgmma> : !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<64x128xf16, swizzle = 128>, !tile_gpu.tile<128x128xf32>
      %h = tile_gpu.cast <truncf> %d : !tile_gpu.tile<128x128xf32> -> !tile_gpu.tile<128x128xf16>
      // CHECK: %[[T:.*]] = tile_gpu.permute {{.*}} : !tile_gpu.tile<128x128xf16, #[[ACC]]> -> !tile_gpu.tile<128x128xf16, #[[TRANSPOSED]]>
      %t = tile_gpu.permute %h [1, 0] : !tile_gpu.tile<128x128xf16> -> !tile_gpu.tile<128x128xf16>
      // CHECK-NEXT: tile_gpu.tma_store %[[T]],
      tile_gpu.tma_store %t, %m[%z, %z] through %ring : !tile_gpu.tile<128x128xf16>, !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x128xf16, swizzle = 128, stages = 2>
      gpu.return
    }
  }
}

// -----

// Sums of columns of which each thread has parts of many lie as the store likes, not as copies in all
// threads that have parts.

// CHECK-DAG: #[[SPREAD:.*]] = #tile_gpu.layout<[warp 2:1, lane 32:1]>
// CHECK-DAG: #[[COPIES:.*]] = #tile_gpu.layout<[lane 16:1, reg 4]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @sums
    gpu.func @sums(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf32>
      // CHECK: } : {{.*}} -> !tile_gpu.tile<64xf32, #[[COPIES]]>
      %r = tile_gpu.reduce %x dim 0 identities [0.0 : f32] {
      ^bb0(%e: f32, %a: f32):
        %m = arith.addf %e, %a : f32
        tile_gpu.yield %m : f32
      } : (!tile_gpu.tile<32x64xf32>) -> !tile_gpu.tile<64xf32>
      // CHECK-NEXT: tile_gpu.convert_layout {{.*}} -> !tile_gpu.tile<64xf32, #[[SPREAD]]>
      // CHECK-NEXT: tile_gpu.store {{.*}} : !tile_gpu.tile<64xf32, #[[SPREAD]]>
      tile_gpu.store %r, %p[%z] sizes [%s] strides [%one] alignment 16 in_bounds [true] : !tile_gpu.tile<64xf32>
      gpu.return
    }
  }
}

// -----

// Where only lanes have parts, they share out the results, and store them as they lie.

// CHECK-DAG: #[[TILE:.*]] = #tile_gpu.layout<[reg 4, warp 4:1, lane 2:16], [lane 16:1, reg 4]>
// CHECK-DAG: #[[SHARED:.*]] = #tile_gpu.layout<[lane 4:1, warp 4:1, lane 2:16]>
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    // CHECK: gpu.func @sums_of_rows
    gpu.func @sums_of_rows(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %x = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf32>
      // CHECK: } : (!tile_gpu.tile<32x64xf32, #[[TILE]]>) -> !tile_gpu.tile<32xf32, #[[SHARED]]>
      %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
      ^bb0(%e: f32, %a: f32):
        %m = arith.addf %e, %a : f32
        tile_gpu.yield %m : f32
      } : (!tile_gpu.tile<32x64xf32>) -> !tile_gpu.tile<32xf32>
      // CHECK: arith.negf {{.*}} : !tile_gpu.tile<32xf32, #[[SHARED]]>
      %n = arith.negf %r : !tile_gpu.tile<32xf32>
      tile_gpu.store %n, %p[%z] sizes [%s] strides [%one] alignment 16 in_bounds [true] : !tile_gpu.tile<32xf32>
      gpu.return
    }
  }
}
