// RUN: tile-opt %s --emit-ptx --split-input-file --verify-diagnostics | FileCheck %s

// A binary takes the place of the module. At level 3 a value that does not change leaves its loop,
// and functions of libdevice become part of the kernel.
// CHECK-LABEL: gpu.binary @optimised
// CHECK-SAME: #nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">
// CHECK-SAME: assembly = "
// CHECK-SAME: .version 8.0
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .entry waves
// CHECK-SAME: cvt.rn.f32.s32
// CHECK-SAME: $L__BB0_1:
// CHECK-NOT: call
// CHECK-NOT: cvt.rn.f32.s32
gpu.module @optimised [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @__nv_fabsf(f32) -> f32
  llvm.func @waves(%p: !llvm.ptr<1>, %n: i32, %a: i32) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    %f = llvm.sitofp %a : i32 to f32
    %r = llvm.call @__nv_fabsf(%f) : (f32) -> f32
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %r, %q : f32, !llvm.ptr<1>
    %next = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
}

// -----

// At level 0 it stays where it is.
// CHECK-LABEL: gpu.binary @selected
// CHECK-SAME: $L__BB0_1:
// CHECK-SAME: cvt.rn.f32.s32
gpu.module @selected [#nvvm.target<O = 0, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @waves(%p: !llvm.ptr<1>, %n: i32, %a: i32) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%c0 : i32)
  ^loop(%i: i32):
    %f = llvm.sitofp %a : i32 to f32
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %f, %q : f32, !llvm.ptr<1>
    %next = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %more, ^loop(%next : i32), ^end
  ^end:
    llvm.return
  }
}

// -----

// Sums of the same with several constants are one sum, to which instructions add theirs.
// CHECK-LABEL: gpu.binary @sums
// CHECK-SAME: .entry places
// CHECK-SAME: add.s32 \09%[[SUM:r[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}};
// CHECK-SAME: add.s32 \09%r{{[0-9]+}}, %[[SUM]], 8;
// CHECK-SAME: add.s32 \09%r{{[0-9]+}}, %[[SUM]], 16;
gpu.module @sums [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  llvm.func @places(%p: !llvm.ptr<1>, %lane: i32, %first: i32) attributes {gpu.kernel, nvvm.kernel} {
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %l8 = llvm.add %lane, %c8 : i32
    %l16 = llvm.add %lane, %c16 : i32
    %a = llvm.add %l8, %first : i32
    %b = llvm.add %l16, %first : i32
    llvm.store volatile %a, %p : i32, !llvm.ptr<1>
    llvm.store volatile %b, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+1 {{needs one #nvvm.target}}
gpu.module @without_target {
  llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
