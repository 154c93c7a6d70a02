// RUN: tile-opt --regroup-rounds --split-input-file %s | FileCheck %s
// RUN: tile-opt --regroup-rounds --remarks --split-input-file %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Shallow rounds are put together.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Rounds of 64 bytes: two make a line. The first begins with one that is missing if their number is odd.
    // CHECK-LABEL: gpu.func @two_in_one
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[ROW:[^:]*]]: i64, %[[COLUMN:[^:]*]]: i64, %[[S:[^:]*]]: i64, %[[N:[^:]*]]: i32)
    gpu.func @two_in_one(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-DAG: %[[FIRST:.*]] = arith.constant 0 : i32
      // CHECK-DAG: %[[STEP:.*]] = arith.constant 1 : i32
      // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0
      // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
      // CHECK: %[[SOME:.*]] = arith.maxsi %[[N]], %{{.*}} : i32
      // CHECK-NEXT: %[[COUNT:.*]] = arith.ceildivui %[[SOME]], %[[TWO]] : i32
      // CHECK-NEXT: %[[WHOLE:.*]] = arith.muli %[[COUNT]], %[[TWO]] : i32
      // CHECK-NEXT: %[[MISSING:.*]] = arith.subi %[[WHOLE]], %[[SOME]] : i32
      // CHECK-NEXT: %[[LOOP:.*]] = scf.for %[[R:.*]] = %[[FIRST]] to %[[COUNT]] step %[[STEP]] iter_args(%[[SUM:.*]] = %[[ZERO]])
      // CHECK: %[[WIDE:.*]] = arith.extui %[[R]] : i32 to i64
      // CHECK: %[[NEW:.*]] = arith.constant 64 : i64
      // CHECK: %[[END:.*]] = arith.muli %[[WIDE]], %[[NEW]] : i64
      // CHECK: %[[SKIPPED:.*]] = arith.extui %[[MISSING]] : i32 to i64
      // CHECK: %[[OLD:.*]] = arith.constant 32 : i64
      // CHECK: %[[BEFORE:.*]] = arith.muli %[[SKIPPED]], %[[OLD]] : i64
      // CHECK: %[[START:.*]] = arith.subi %[[END]], %[[BEFORE]] : i64
      // Along k, tiles may now stand out of the tensor.
      // CHECK: %[[X:.*]] = tile_gpu.load %[[P]][%[[ROW]], %[[START]]] {{.*}} in_bounds [true, false] : !tile_gpu.tile<64x64xbf16>
      // CHECK: %[[A:.*]] = tile_gpu.to_shared %[[X]] : {{.*}} -> !tile_gpu.buffer<64x64xbf16, swizzle = 128>
      // CHECK: %[[Y:.*]] = tile_gpu.load %[[P]][%[[START]], %[[COLUMN]]] {{.*}} in_bounds [false, true] : !tile_gpu.tile<64x64xbf16>
      // CHECK: %[[B:.*]] = tile_gpu.to_shared %[[Y]] : {{.*}} -> !tile_gpu.buffer<64x64xbf16, order = [1, 0], swizzle = 128>
      // CHECK: %[[NEXT:.*]] = tile_gpu.dot %[[A]], %[[B]], %[[SUM]] instruction <wgmma>
      // CHECK: scf.yield %[[NEXT]]
      // CHECK-NOT: scf.for
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [true, true] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, true] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        // REMARK: regroup-rounds.mlir:{{[0-9]+}}:17: remark: a round fetches 64 elements of k, a cache line, not 32
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      // CHECK: tile_gpu.print {{.*}}, %[[LOOP]]
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // B's rows lie along n: its tiles get more of them.
    // CHECK-LABEL: gpu.func @row_major
    gpu.func @row_major(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x128xf32>
      // CHECK: arith.ceildivui
      // CHECK: scf.for
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xbf16>
      // CHECK: tile_gpu.load %{{.*}}[%[[START:.*]], %{{.*}}] {{.*}} in_bounds [false, false] : !tile_gpu.tile<64x128xbf16>
      // CHECK: tile_gpu.to_shared {{.*}} -> !tile_gpu.buffer<64x128xbf16, swizzle = 128>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x128xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x128xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x128xbf16> -> !tile_gpu.buffer<32x128xbf16, swizzle = 128>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x128xbf16, swizzle = 128>, !tile_gpu.tile<64x128xf32>
        scf.yield %next : !tile_gpu.tile<64x128xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x128xf32>
      gpu.return
    }

    // Rounds of 32 bytes.
    // CHECK-LABEL: gpu.func @four_in_one
    gpu.func @four_in_one(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 16 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
      // CHECK: arith.ceildivui %{{.*}}, %[[FOUR]]
      // CHECK: scf.for
      // CHECK: arith.constant 64 : i64
      // CHECK: arith.constant 16 : i64
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extsi %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x16xf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<16x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x16xf16> -> !tile_gpu.buffer<64x16xf16, swizzle = 32>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<16x64xf16> -> !tile_gpu.buffer<16x64xf16, order = [1, 0], swizzle = 32>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x16xf16, swizzle = 32>, !tile_gpu.buffer<16x64xf16, order = [1, 0], swizzle = 32>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Lines of one-byte elements are 128 deep.
    // CHECK-LABEL: gpu.func @bytes
    gpu.func @bytes(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0> : !tile_gpu.tile<64x64xi32>
      // CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
      // CHECK: arith.ceildivui %{{.*}}, %[[FOUR]]
      // CHECK: scf.for
      // CHECK: arith.constant 128 : i64
      // CHECK: arith.constant 32 : i64
      // CHECK: tile_gpu.to_shared {{.*}} -> !tile_gpu.buffer<64x128xi8, swizzle = 128>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xi32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xi8>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xi8>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xi8> -> !tile_gpu.buffer<64x32xi8, swizzle = 32>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xi8> -> !tile_gpu.buffer<32x64xi8, order = [1, 0], swizzle = 32>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xi8, swizzle = 32>, !tile_gpu.buffer<32x64xi8, order = [1, 0], swizzle = 32>, !tile_gpu.tile<64x64xi32>
        scf.yield %next : !tile_gpu.tile<64x64xi32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xi32>
      gpu.return
    }

    // A counter of 64 bits needs no extension.
    // CHECK-LABEL: gpu.func @wide_counter
    gpu.func @wide_counter(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: arith.ceildivui %{{.*}}, %{{.*}} : i64
      // CHECK: %[[MISSING:.*]] = arith.subi
      // CHECK-NOT: arith.extui
      // CHECK: scf.for %[[R:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
      // CHECK: arith.muli %[[R]], %{{.*}} : i64
      // CHECK: arith.muli %[[MISSING]], %{{.*}} : i64
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i64 {
        %start = arith.muli %k, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}

// -----

// Deep rounds are divided.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Rounds of two lines become two.
    // CHECK-LABEL: gpu.func @halves
    // CHECK-SAME: (%[[P:[^:]*]]: !llvm.ptr<1>, %[[ROW:[^:]*]]: i64, %[[COLUMN:[^:]*]]: i64, %[[S:[^:]*]]: i64, %[[N:[^:]*]]: i32)
    gpu.func @halves(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 128 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
      // CHECK-NEXT: %[[COUNT:.*]] = arith.muli %[[N]], %[[TWO]] : i32
      // CHECK-NEXT: %[[LOOP:.*]] = scf.for %[[R:.*]] = %{{.*}} to %[[COUNT]] step
      // CHECK: %[[WIDE:.*]] = arith.extui %[[R]]
      // CHECK: %[[NEW:.*]] = arith.constant 64 : i64
      // CHECK-NEXT: %[[START:.*]] = arith.muli %[[WIDE]], %[[NEW]]
      // CHECK-NEXT: tile_gpu.load %[[P]][%[[ROW]], %[[START]]] {{.*}} : !tile_gpu.tile<64x64xbf16>
      // CHECK: tile_gpu.load %[[P]][%[[START]], %[[COLUMN]]] {{.*}} : !tile_gpu.tile<64x64xbf16>
      // CHECK: tile_gpu.dot
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x128xbf16> -> !tile_gpu.buffer<64x128xbf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<128x64xbf16> -> !tile_gpu.buffer<128x64xbf16, swizzle = 128>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x128xbf16, swizzle = 128>, !tile_gpu.buffer<128x64xbf16, swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      // CHECK: tile_gpu.print {{.*}}, %[[LOOP]]
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Whatever the sum starts with.
    // CHECK-LABEL: gpu.func @halves_of_a_sum
    gpu.func @halves_of_a_sum(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32, %old: !tile_gpu.tile<64x64xf32>) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 128 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[OLD:.*]])
      // CHECK: !tile_gpu.tile<64x64xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %old) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x128xbf16> -> !tile_gpu.buffer<64x128xbf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<128x64xbf16> -> !tile_gpu.buffer<128x64xbf16, order = [1, 0], swizzle = 128>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x128xbf16, swizzle = 128>, !tile_gpu.buffer<128x64xbf16, order = [1, 0], swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}

// -----

// Loops that stay as they are.

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // What fetches lines already.
    // CHECK-LABEL: gpu.func @lines
    gpu.func @lines(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x64xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xbf16> -> !tile_gpu.buffer<64x64xbf16, swizzle = 128>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xbf16> -> !tile_gpu.buffer<64x64xbf16, order = [1, 0], swizzle = 128>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x64xbf16, swizzle = 128>, !tile_gpu.buffer<64x64xbf16, order = [1, 0], swizzle = 128>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Zeros added to a sum may change it: minus zero becomes zero.
    // CHECK-LABEL: gpu.func @old_sum
    gpu.func @old_sum(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32, %old: !tile_gpu.tile<64x64xf32>) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %old) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @minus_zero
    gpu.func @minus_zero(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %minus = arith.constant dense<-0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %minus) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Loops that do not count from zero by one.
    // CHECK-LABEL: gpu.func @later_start
    gpu.func @later_start(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c1 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @unknown_start
    gpu.func @unknown_start(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32, %from: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %from to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @other_step
    gpu.func @other_step(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      %c2 = arith.constant 2 : i32
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c2 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Products whose sums end with the round.
    // CHECK-LABEL: gpu.func @promoted
    gpu.func @promoted(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum promoted instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // What is done to the sum after every round.
    // CHECK-LABEL: gpu.func @second_operation
    gpu.func @second_operation(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        %twice = arith.addf %next, %next : !tile_gpu.tile<64x64xf32>
        scf.yield %twice : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @shown
    gpu.func @shown(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        tile_gpu.print "%f", %next : !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // What is no sum.
    // CHECK-LABEL: gpu.func @other_sum
    gpu.func @other_sum(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %zero instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Starts that are not the counter times the depth: with gaps, or a distance.
    // CHECK-LABEL: gpu.func @other_start
    gpu.func @other_start(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @distance
    gpu.func @distance(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %far = arith.muli %k64, %size : i64
        %start = arith.addi %far, %row : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @standing
    gpu.func @standing(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%row, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Or that depend on the counter across k, too.
    // CHECK-LABEL: gpu.func @diagonal
    gpu.func @diagonal(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%start, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // What no tensor memory access can fetch, which would give zeros for what is before a tensor.
    // CHECK-LABEL: gpu.func @misaligned
    gpu.func @misaligned(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 8 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 8 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // Only one operand that a tensor memory access can fetch: the other's load would read what is before
    // the tensor.
    // CHECK-LABEL: gpu.func @left_misaligned
    gpu.func @left_misaligned(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 8 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }

    // CHECK-LABEL: gpu.func @right_misaligned
    gpu.func @right_misaligned(%p: !llvm.ptr<1>, %row: i64, %column: i64, %s: i64, %n: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 32 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !tile_gpu.tile<64x64xf32>
      // CHECK-NOT: arith.ceildivui
      // CHECK: tile_gpu.load {{.*}} : !tile_gpu.tile<64x32xbf16>
      %d = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!tile_gpu.tile<64x64xf32>) : i32 {
        %k64 = arith.extui %k : i32 to i64
        %start = arith.muli %k64, %size : i64
        %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x32xbf16>
        %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 8 in_bounds [false, false] : !tile_gpu.tile<32x64xbf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x32xbf16> -> !tile_gpu.buffer<64x32xbf16, swizzle = 64>
        %b = tile_gpu.to_shared %y : !tile_gpu.tile<32x64xbf16> -> !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>
        %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !tile_gpu.buffer<64x32xbf16, swizzle = 64>, !tile_gpu.buffer<32x64xbf16, order = [1, 0], swizzle = 64>, !tile_gpu.tile<64x64xf32>
        scf.yield %next : !tile_gpu.tile<64x64xf32>
      }
      tile_gpu.print "%f", %d : !tile_gpu.tile<64x64xf32>
      gpu.return
    }
  }
}
