// RUN: tile-opt --overlap-products --split-input-file %s | FileCheck %s

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>

// The round's product goes on while the next round starts: in the loop, a wait for all but the last;
// after the loop, for all. Where there is no round there is no product to wait for, but a wait all the
// same, for the two ends to meet after it.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @product
    // CHECK-SAME: (%{{.*}}, %{{.*}}, %{{.*}}, %[[N:.*]]: i32)
    gpu.func @product(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      // CHECK: %[[FIRST:.*]] = arith.constant 0 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[FIRST]], %[[N]]
      // CHECK: %[[RESULT:.*]]:2 = scf.if %[[SOME]]
      // CHECK-NEXT: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]], %{{.*}} = %[[FIRST]])
      %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %count = %c0) -> (!acc, i32) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %more = arith.addi %count, %c1 : i32
        // CHECK: %[[D:.*]] = tile_gpu.dot %{{.*}}, %{{.*}}, %[[ACC]] in_flight instruction <wgmma>
        // CHECK-NEXT: tile_gpu.dot_wait 1
        // CHECK-NEXT: scf.yield %[[D]],
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        scf.yield %d, %more : !acc, i32
      }
      // CHECK: %[[DONE:.*]] = tile_gpu.dot_wait 0, %[[LOOP]]#0
      // CHECK-NEXT: scf.yield %[[DONE]], %[[LOOP]]#1
      // CHECK-NEXT: } else {
      // CHECK-NEXT: %[[NONE:.*]] = tile_gpu.dot_wait 0, %[[ZERO]]
      // CHECK-NEXT: scf.yield %[[NONE]], %[[FIRST]]
      // CHECK: arith.addf %[[RESULT]]#0, %[[RESULT]]#0
      %use = arith.addf %r#0, %r#0 : !acc
      gpu.return
    }

    // Two products of a round; the loop counts without sign.
    // CHECK-LABEL: gpu.func @two
    gpu.func @two(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: arith.cmpi ult
      // CHECK: scf.if
      // CHECK: scf.for unsigned
      %r:2 = scf.for unsigned %k = %c0 to %n step %c1 iter_args(%acc = %zero, %other = %zero) -> (!acc, !acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        // CHECK: in_flight
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        // CHECK: in_flight
        %e = tile_gpu.dot %a, %a, %other instruction <wgmma> : !a, !a, !acc
        // CHECK: tile_gpu.dot_wait 2
        scf.yield %d, %e : !acc, !acc
      }
      // CHECK: tile_gpu.dot_wait 0, %{{.*}}#0, %{{.*}}#1 : !tile_gpu.tile<64x64xf32>, !tile_gpu.tile<64x64xf32>
      %use = arith.addf %r#0, %r#1 : !acc
      gpu.return
    }

    // What the next round adds to must be the product itself.
    // CHECK-LABEL: gpu.func @changed_between_rounds
    gpu.func @changed_between_rounds(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      // CHECK-NOT: dot_wait
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        %e = arith.addf %d, %d : !acc
        scf.yield %e : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // Nobody may look at an accumulator that is in flight.
    // CHECK-LABEL: gpu.func @seen_in_the_round
    gpu.func @seen_in_the_round(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      // CHECK-NOT: dot_wait
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %a, %acc instruction <wgmma> : !a, !a, !acc
        tile_gpu.print "%f", %d : !acc
        scf.yield %d : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // mma.sync is done when it is issued.
    // CHECK-LABEL: gpu.func @warp_product
    gpu.func @warp_product(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      // CHECK-NOT: dot_wait
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %a, %acc instruction <mma_sync> : !a, !a, !acc
        scf.yield %d : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // Registers of the left operand would be overwritten.
    // CHECK-LABEL: gpu.func @from_registers
    gpu.func @from_registers(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      // CHECK-NOT: dot_wait
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %x, %a, %acc instruction <wgmma> : !tile_gpu.tile<64x64xf16>, !a, !acc
        scf.yield %d : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // A buffer that the round itself fills is not a ring's stage.
    // CHECK-LABEL: gpu.func @written_in_the_round
    gpu.func @written_in_the_round(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      // CHECK-NOT: dot_wait
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %h = arith.addf %x, %x : !tile_gpu.tile<64x64xf16>
        %b = tile_gpu.to_shared %h : !tile_gpu.tile<64x64xf16> -> !a
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !a, !a, !acc
        scf.yield %d : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // Three rounds of operands must fit: the one that arrives, and two that are read.
    // CHECK-LABEL: gpu.func @too_large
    gpu.func @too_large(%p: !llvm.ptr<1>, %z: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK-NOT: in_flight
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!acc) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %x = tile_gpu.load %p[%z, %k64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x512xf16>
        %y = tile_gpu.load %p[%k64, %z] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<512x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x512xf16> -> !tile_gpu.buffer<64x512xf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<512x64xf16> -> !tile_gpu.buffer<512x64xf16, swizzle = 128>
        %d = tile_gpu.dot %a, %b, %acc instruction <wgmma> : !tile_gpu.buffer<64x512xf16, swizzle = 128>, !tile_gpu.buffer<512x64xf16, swizzle = 128>, !acc
        scf.yield %d : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }
  }
}
