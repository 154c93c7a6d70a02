// RUN: tile-opt --annotate-parameters %s | FileCheck %s

// Tensor maps, the generic pointers among a kernel's parameters, are passed by value and read where
// they lie, at multiples of 64 bytes.

gpu.module @kernels {
  // CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: i32)
  llvm.func @kernel(%p: !llvm.ptr<1>, %map: !llvm.ptr, %n: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }

  // CHECK: llvm.func @no_maps(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i32) attributes
  llvm.func @no_maps(%p: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }

  // What is never negative has a range, that of the positive numbers.
  // CHECK: llvm.func @sizes(%{{.*}}: i32 {llvm.range = #llvm.constant_range<i32, 0, -2147483648>}, %{{.*}}: i32, %{{.*}}: i64 {llvm.range = #llvm.constant_range<i64, 0, -9223372036854775808>}) attributes {gpu.kernel, nvvm.kernel} {
  llvm.func @sizes(%m: i32, %n: i32, %k: i64) attributes {gpu.kernel, nvvm.kernel, tile_gpu.nonnegative = array<i64: 0, 2>} {
    llvm.return
  }

  // Other functions are not kernels.
  // CHECK: llvm.func @helper(%{{.*}}: !llvm.ptr)
  // CHECK-NOT: byval
  llvm.func @helper(%p: !llvm.ptr) {
    llvm.return
  }
}
