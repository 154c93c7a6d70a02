// RUN: tile-opt --fold-permutes %s | FileCheck %s

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // A tile that is loaded and permuted is a tile of the permuted tensor. What is known of its rows
    // stays true.
    // CHECK-LABEL: gpu.func @operand
    // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[J:.*]]: i64, %[[K:.*]]: i64, %[[N:.*]]: i64, %[[D:.*]]: i64,
    gpu.func @operand(%p: !llvm.ptr<1>, %j: i64, %k: i64, %n: i64, %d: i64, %a: !tile_gpu.tile<64x32xf16>) kernel {
      %one = arith.constant 1 : i64
      // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
      %b = tile_gpu.load %p[%j, %k] sizes [%n, %d] strides [%d, %one] padding <zero> alignment 16 extent_multiple 8 in_bounds [true, false] ordered : !tile_gpu.tile<64x32xf16>
      %t = tile_gpu.permute %b [1, 0] : !tile_gpu.tile<64x32xf16> -> !tile_gpu.tile<32x64xf16>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[B:.*]] = tile_gpu.load %[[P]][%[[K]], %[[J]]] sizes[%[[D]], %[[N]]] strides[%[[ONE]], %[[D]]] padding <zero> alignment 16 extent_multiple 8 in_bounds [false, true] ordered : !tile_gpu.tile<32x64xf16>
      // CHECK-NOT: permute
      // CHECK: tile_gpu.dot %{{.*}}, %[[B]],
      %r = tile_gpu.dot %a, %t, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Past conversions, and dimensions of size 1, which the program adds around.
    // CHECK-LABEL: gpu.func @converted_operand
    gpu.func @converted_operand(%p: !llvm.ptr<1>, %z: i64, %s: i64, %a: !tile_gpu.tile<64x32xtf32>) kernel {
      %one = arith.constant 1 : i64
      // CHECK: %[[B:.*]] = tile_gpu.load {{.*}} : !tile_gpu.tile<32x64xf32>
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf32>
      // CHECK-NEXT: %[[F:.*]] = tile_gpu.ftof %[[B]] "rn" : !tile_gpu.tile<32x64xf32> -> !tile_gpu.tile<32x64xtf32>
      %f = tile_gpu.ftof %b "rn" : !tile_gpu.tile<64x32xf32> -> !tile_gpu.tile<64x32xtf32>
      %f1 = tile_gpu.reshape %f : !tile_gpu.tile<64x32xtf32> -> !tile_gpu.tile<1x64x32xtf32>
      %t1 = tile_gpu.permute %f1 [0, 2, 1] : !tile_gpu.tile<1x64x32xtf32> -> !tile_gpu.tile<1x32x64xtf32>
      %t = tile_gpu.reshape %t1 : !tile_gpu.tile<1x32x64xtf32> -> !tile_gpu.tile<32x64xtf32>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: reshape
      // CHECK: tile_gpu.dot %{{.*}}, %[[F]],
      %r = tile_gpu.dot %a, %t, %c : !tile_gpu.tile<64x32xtf32>, !tile_gpu.tile<32x64xtf32>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Not of a tile that is needed as it is, too; nor of one whose neighbours are adjacent along both
    // dimensions, of which the alignment is about the last.
    // CHECK-LABEL: gpu.func @not
    gpu.func @not(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel {
      %one = arith.constant 1 : i64
      // CHECK: %[[A:.*]] = tile_gpu.load
      %a = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      // CHECK: %[[T:.*]] = tile_gpu.permute %[[A]]
      %t = tile_gpu.permute %a [1, 0] : !tile_gpu.tile<64x32xf16> -> !tile_gpu.tile<32x64xf16>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: tile_gpu.dot %[[A]], %[[T]],
      %r = tile_gpu.dot %a, %t, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
      // CHECK: %[[B:.*]] = tile_gpu.load
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%one, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      // CHECK: tile_gpu.permute %[[B]]
      %u = tile_gpu.permute %b [1, 0] : !tile_gpu.tile<64x32xf16> -> !tile_gpu.tile<32x64xf16>
      %q = tile_gpu.dot %a, %u, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Without products, nobody would copy the tile.
    // CHECK-LABEL: gpu.func @no_product
    gpu.func @no_product(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel {
      %one = arith.constant 1 : i64
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      // CHECK: tile_gpu.permute
      %t = tile_gpu.permute %b [1, 0] : !tile_gpu.tile<64x32xf16> -> !tile_gpu.tile<32x64xf16>
      tile_gpu.store %t, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x64xf16>
      gpu.return
    }

    // A product that is only stored transposed is that of the transposed operands, in the other
    // order, and so is what the loop carries. A bias along the rows of what is stored is along its
    // columns then.
    // CHECK-LABEL: gpu.func @transposed_product
    gpu.func @transposed_product(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32, %bias: !tile_gpu.tile<1x128xf32>) kernel {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : !tile_gpu.tile<128x64xf32>
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x128xf32>
      // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (!tile_gpu.tile<128x64xf32>)
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (!tile_gpu.tile<64x128xf32>) : i32 {
        // CHECK: %[[A:.*]] = tile_gpu.load {{.*}} strides[%[[ONE:.*]], %[[S:.*]]] {{.*}} : !tile_gpu.tile<32x64xi8>
        %a = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xi8>
        // CHECK: %[[B:.*]] = tile_gpu.load {{.*}} strides[%[[S]], %[[ONE]]] {{.*}} : !tile_gpu.tile<128x32xi8>
        %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x128xi8>
        // CHECK: %[[D:.*]] = tile_gpu.dot %[[B]], %[[A]], %[[Z:.*]] rhs_unsigned : !tile_gpu.tile<128x32xi8>, !tile_gpu.tile<32x64xi8>, !tile_gpu.tile<128x64xi32>
        %zero = arith.constant dense<0> : !tile_gpu.tile<64x128xi32>
        %d = tile_gpu.dot %a, %b, %zero lhs_unsigned : !tile_gpu.tile<64x32xi8>, !tile_gpu.tile<32x128xi8>, !tile_gpu.tile<64x128xi32>
        %f = tile_gpu.cast <sitofp> %d : !tile_gpu.tile<64x128xi32> -> !tile_gpu.tile<64x128xf32>
        // CHECK: arith.addf %[[ACC]], %{{.*}} : !tile_gpu.tile<128x64xf32>
        %e = arith.addf %acc, %f : !tile_gpu.tile<64x128xf32>
        scf.yield %e : !tile_gpu.tile<64x128xf32>
      }
      // CHECK: %[[COLUMN:.*]] = tile_gpu.permute %{{.*}} [1, 0] : !tile_gpu.tile<1x128xf32> -> !tile_gpu.tile<128x1xf32>
      // CHECK: %[[BIAS:.*]] = tile_gpu.broadcast %[[COLUMN]] : !tile_gpu.tile<128x1xf32> -> !tile_gpu.tile<128x64xf32>
      %row = tile_gpu.broadcast %bias : !tile_gpu.tile<1x128xf32> -> !tile_gpu.tile<64x128xf32>
      // CHECK: %[[R:.*]] = arith.addf %[[SUM]], %[[BIAS]] : !tile_gpu.tile<128x64xf32>
      %with_bias = arith.addf %sum, %row : !tile_gpu.tile<64x128xf32>
      %t = tile_gpu.permute %with_bias [1, 0] : !tile_gpu.tile<64x128xf32> -> !tile_gpu.tile<128x64xf32>
      // CHECK: tile_gpu.store %[[R]], %{{.*}} strides[%[[S]], %[[ONE]]]
      tile_gpu.store %t, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<128x64xf32>
      gpu.return
    }

    // The same product stored by columns is the same kernel.
    // CHECK-LABEL: gpu.func @stored_by_columns
    gpu.func @stored_by_columns(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel {
      %one = arith.constant 1 : i64
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x128xf32>
      %a = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x128xf16>
      // CHECK: %[[D:.*]] = tile_gpu.dot {{.*}} : !tile_gpu.tile<128x32xf16>, !tile_gpu.tile<32x64xf16>, !tile_gpu.tile<128x64xf32>
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x128xf16>, !tile_gpu.tile<64x128xf32>
      // CHECK: tile_gpu.store %[[D]], %{{.*}} strides[%{{.*}}, %{{.*}}] alignment 16 in_bounds [true, false] : !tile_gpu.tile<128x64xf32>
      tile_gpu.store %d, %p[%z, %z] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, true] : !tile_gpu.tile<64x128xf32>
      gpu.return
    }

    // Here the product is needed as it is, too: its transpose is stored by columns.
    // CHECK-LABEL: gpu.func @both
    gpu.func @both(%p: !llvm.ptr<1>, %z: i64, %s: i64, %a: !tile_gpu.tile<64x32xf16>, %b: !tile_gpu.tile<32x128xf16>) kernel {
      // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
      %one = arith.constant 1 : i64
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x128xf32>
      // CHECK: %[[D:.*]] = tile_gpu.dot {{.*}} : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x128xf16>, !tile_gpu.tile<64x128xf32>
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x128xf16>, !tile_gpu.tile<64x128xf32>
      // CHECK-NOT: permute
      %t = tile_gpu.permute %d [1, 0] : !tile_gpu.tile<64x128xf32> -> !tile_gpu.tile<128x64xf32>
      // CHECK: %[[H:.*]] = tile_gpu.cast <truncf> %[[D]] : !tile_gpu.tile<64x128xf32> -> !tile_gpu.tile<64x128xf16>
      %h = tile_gpu.cast <truncf> %t : !tile_gpu.tile<128x64xf32> -> !tile_gpu.tile<128x64xf16>
      // CHECK: tile_gpu.store %[[H]], %{{.*}} strides[%[[ONE]], %{{.*}}] alignment 16 in_bounds [false, true] : !tile_gpu.tile<64x128xf16>
      tile_gpu.store %h, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, false] : !tile_gpu.tile<128x64xf16>
      // CHECK: tile_gpu.store %[[D]], %{{.*}} strides[%{{.*}}, %[[ONE]]]
      tile_gpu.store %d, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x128xf32>
      gpu.return
    }

    // And here a tile with the product's rows is added to it.
    // CHECK-LABEL: gpu.func @upright_residual
    gpu.func @upright_residual(%p: !llvm.ptr<1>, %z: i64, %s: i64) kernel {
      %one = arith.constant 1 : i64
      %c = arith.constant dense<0.0> : !tile_gpu.tile<64x128xf32>
      %a = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xf16>
      %b = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<32x128xf16>
      // CHECK: tile_gpu.dot {{.*}} : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x128xf16>, !tile_gpu.tile<64x128xf32>
      %d = tile_gpu.dot %a, %b, %c : !tile_gpu.tile<64x32xf16>, !tile_gpu.tile<32x128xf16>, !tile_gpu.tile<64x128xf32>
      %r = tile_gpu.load %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x128xf32>
      // CHECK: %[[SUM:.*]] = arith.addf {{.*}} : !tile_gpu.tile<64x128xf32>
      %sum = arith.addf %d, %r : !tile_gpu.tile<64x128xf32>
      %t = tile_gpu.permute %sum [1, 0] : !tile_gpu.tile<64x128xf32> -> !tile_gpu.tile<128x64xf32>
      // CHECK-NEXT: tile_gpu.store %[[SUM]], {{.*}} : !tile_gpu.tile<64x128xf32>
      tile_gpu.store %t, %p[%z, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<128x64xf32>
      gpu.return
    }
  }
}
