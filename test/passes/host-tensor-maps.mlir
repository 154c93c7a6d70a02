// RUN: tile-opt --host-tensor-maps --split-input-file %s | FileCheck %s

// Maps that follow from the parameters become parameters. How our launcher makes each is written on
// the kernel: in terms of the parameters, fastest dimension first, strides in bytes.

module attributes {tile_gpu.target = "sm_90a", tile_gpu.managed} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @from_parameters(
    // CHECK-SAME: %[[MAP:[^ :]*]]: !tile_gpu.tensor_map<128x64xf16, swizzle = 128>) kernel
    // CHECK-SAME: \22kind\22: \22tensor_map\22, \22dtype\22: \22f16\22, \22base\22: 1, \22offset\22: 0,
    // CHECK-SAME: \22dims\22: [\22param:3\22, \22param:2\22],
    // CHECK-SAME: \22strides\22: [[\22mul\22, \22param:4\22, 2]],
    // CHECK-SAME: \22box\22: [64, 128], \22element_strides\22: [1, 1], \22swizzle\22: 128, \22fill\22: \22zero\22
    gpu.func @from_parameters(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %m: i32, %n: i32, %s: i64) kernel {
      %one = arith.constant 1 : i64
      %rows = arith.extui %m : i32 to i64
      %columns = arith.extui %n : i32 to i64
      // CHECK-NOT: tile_gpu.tensor_map %
      %map = tile_gpu.tensor_map %q sizes[%rows, %columns] strides[%s, %one] : !tile_gpu.tensor_map<128x64xf16, swizzle = 128>
      %b = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128>
      %f = tile_gpu.alloc : !tile_gpu.buffer<1xi64>
      // CHECK: tile_gpu.tma_load %[[MAP]][
      tile_gpu.tma_load %map[%s, %s], %b, %f : !tile_gpu.tensor_map<128x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>
      gpu.return
    }

    // Constants, arithmetic, and an offset from a pointer. The fast dimension is the first here.
    // CHECK-LABEL: gpu.func @expressions
    // CHECK-SAME: \22base\22: 0, \22offset\22: [\22add\22, 0, [\22mul\22, \22param:1\22, 4]],
    // CHECK-SAME: \22dims\22: [[\22mul\22, \22param:1\22, 3], 256],
    // CHECK-SAME: \22strides\22: [[\22mul\22, 512, 4]], \22box\22: [32, 8]
    gpu.func @expressions(%p: !llvm.ptr<1>, %n: i64) kernel {
      %one = arith.constant 1 : i64
      %c3 = arith.constant 3 : i64
      %c256 = arith.constant 256 : i64
      %c512 = arith.constant 512 : i64
      %rows = arith.muli %n, %c3 : i64
      %q = llvm.getelementptr %p[%n] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<4 x i8>
      %map = tile_gpu.tensor_map %q sizes[%rows, %c256] strides[%one, %c512] : !tile_gpu.tensor_map<32x8xf32, order = [1, 0], swizzle = 128>
      gpu.return
    }

    // What the launcher passes itself: here, the extent of the program's grid.
    // CHECK-LABEL: gpu.func @hidden
    // CHECK-SAME: \22dims\22: [\22param:1\22, \22grid:0\22]
    gpu.func @hidden(%p: !llvm.ptr<1>, %n: i64, %grid: i32) kernel attributes {tile_gpu.hidden_parameters = ["{\22kind\22: \22scalar\22, \22value\22: \22grid:0\22}"]} {
      %one = arith.constant 1 : i64
      %rows = arith.extui %grid : i32 to i64
      %map = tile_gpu.tensor_map %p sizes[%rows, %n] strides[%n, %one] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      gpu.return
    }

    // Eight doublings are no deeper than others, but would be 255 sums.
    // CHECK-LABEL: gpu.func @doublings(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64) kernel {
    gpu.func @doublings(%p: !llvm.ptr<1>, %n: i64) kernel {
      %one = arith.constant 1 : i64
      %0 = arith.addi %n, %n : i64
      %1 = arith.addi %0, %0 : i64
      %2 = arith.addi %1, %1 : i64
      %3 = arith.addi %2, %2 : i64
      %4 = arith.addi %3, %3 : i64
      %5 = arith.addi %4, %4 : i64
      %6 = arith.addi %5, %5 : i64
      %7 = arith.addi %6, %6 : i64
      // CHECK: tile_gpu.tensor_map
      %map = tile_gpu.tensor_map %p sizes[%7, %n] strides[%n, %one] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      gpu.return
    }

    // What a block computes, or reads from memory, no launcher knows.
    // CHECK-LABEL: gpu.func @unknown(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64) kernel {
    gpu.func @unknown(%p: !llvm.ptr<1>, %n: i64) kernel {
      %one = arith.constant 1 : i64
      %block = nvvm.read.ptx.sreg.ctaid.x : i32
      %rows = arith.extui %block : i32 to i64
      // CHECK: tile_gpu.tensor_map
      %map = tile_gpu.tensor_map %p sizes[%rows, %n] strides[%n, %one] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      // CHECK: tile_gpu.tensor_map
      %a = tile_gpu.gather %n contiguity 1 alignment 8 : i64 -> i64
      %q = llvm.inttoptr %a : i64 to !llvm.ptr<1>
      %other = tile_gpu.tensor_map %q sizes[%n, %n] strides[%n, %one] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      gpu.return
    }
  }
}

// -----

// Another launcher passes the entry's parameters only.
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @plain(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64) kernel {
    gpu.func @plain(%p: !llvm.ptr<1>, %n: i64) kernel {
      %one = arith.constant 1 : i64
      // CHECK: tile_gpu.tensor_map
      %map = tile_gpu.tensor_map %p sizes[%n, %n] strides[%n, %one] : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>
      gpu.return
    }
  }
}
