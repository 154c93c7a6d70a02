// RUN: tile-opt --pass-maps-by-value %s | FileCheck %s

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

  // Other functions are not kernels.
  // CHECK: llvm.func @helper(%{{.*}}: !llvm.ptr)
  // CHECK-NOT: byval
  llvm.func @helper(%p: !llvm.ptr) {
    llvm.return
  }
}
