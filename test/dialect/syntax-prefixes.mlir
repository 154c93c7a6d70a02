// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Types and predicates may carry the dialect's prefix, and are printed with it
// only outside of the dialect's own syntax.

cuda_tile.module @kernels {
  // CHECK: entry @prefixed(%arg0: tile<ptr<f32>>, %arg1: tile<i32>)
  // GENERIC: function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> ()
  cuda_tile.entry @prefixed(%p: !cuda_tile.tile<!cuda_tile.ptr<f32>>, %n: !cuda_tile.tile<i32>) {
    // CHECK-NEXT: assume div_by<16>, %arg0 : tile<ptr<f32>>
    // GENERIC: "cuda_tile.assume"(%{{.*}}) <{predicate = #cuda_tile.div_by<16>}>
    %0 = cuda_tile.assume #cuda_tile.div_by<16>, %p : !cuda_tile.tile<!cuda_tile.ptr<f32>>
    // CHECK-NEXT: make_tensor_view %assume, shape = [%arg1], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %1 = cuda_tile.make_tensor_view %0, shape = [%n], strides = [1]
      : !cuda_tile.tile<i32> -> !cuda_tile.tensor_view<?xf32, strides=[1]>
    // CHECK-NEXT: addi %arg1, %arg1 : tile<i32>
    // GENERIC: "cuda_tile.addi"(%{{.*}}) <{overflow = #cuda_tile.overflow<none>}> : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i32>
    %2 = cuda_tile.addi %n, %n : !cuda_tile.tile<i32>
    cuda_tile.return
  }
}

// Generic operations without the defaults that the custom syntax leaves out.
// CHECK: cuda_tile.module @generic
"cuda_tile.module"() <{sym_name = "generic"}> ({
  "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<f32>) -> (), sym_name = "k"}> ({
  ^bb0(%x: !cuda_tile.tile<f32>):
    // CHECK: addf %arg0, %arg0 : tile<f32>
    %0 = "cuda_tile.addf"(%x, %x) : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    // CHECK: addf %arg0, %arg0 rounding<zero> flush_to_zero : tile<f32>
    %1 = "cuda_tile.addf"(%x, %x) <{rounding_mode = #cuda_tile.rounding<zero>, flush_to_zero}> : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
