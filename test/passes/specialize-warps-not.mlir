// RUN: tile-opt --specialize-warps --split-input-file %s | FileCheck %s

// Kernels that stay as they are.

// Other targets have no warpgroups that share tensor cores.
// CHECK-LABEL: gpu.func @ampere
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_80"} {
  gpu.module @kernels {
    gpu.func @ampere(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <mma_sync> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Products of single warps.
// CHECK-LABEL: gpu.func @warp_products
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @warp_products(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <mma_sync> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Tensor memory accesses want rows at multiples of 16 bytes.
// CHECK-LABEL: gpu.func @misaligned
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @misaligned(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 8 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Where a load starts depends on memory: one thread cannot follow all of the kernel.
// CHECK-LABEL: gpu.func @indirect
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @indirect(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %i = tile_gpu.gather %k64 contiguity 1 alignment 8 : i64 -> i64
        %x = tile_gpu.load %p[%z, %i] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Loads that wait for what other threads wrote may not go ahead.
// CHECK-LABEL: gpu.func @barrier
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @barrier(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        tile_gpu.barrier
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Consumers are whole warpgroups.
// CHECK-LABEL: gpu.func @two_warps
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @two_warps(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 2 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// A load that may see what was written before it, among others that need not wait.
// CHECK-LABEL: gpu.func @ordered
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @ordered(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.free_loads} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      tile_gpu.barrier
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] ordered : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}

// -----

// Barriers, and nobody knows what they order.
// CHECK-LABEL: gpu.func @barriers
// CHECK-NOT: tile_gpu.specialize
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    gpu.func @barriers(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      tile_gpu.barrier
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !tile_gpu.buffer<64x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.buffer<64x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %d : !tile_gpu.tile<64x64xf32>
      }
      gpu.return
    }
  }
}
