// RUN: tile-opt --swizzle-blocks --split-input-file %s | FileCheck %s
// RUN: tile-opt --swizzle-blocks --remarks --split-input-file %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Blocks go down runs of 16 tiles, which share one of B: 16 of them fetch 17 tiles. In rectangles of 2
// x 4 tiles, of which two lie below each other, they fetch 8.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x64xf16, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @runs
    gpu.func @runs(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[COUNT:.*]] step
      // CHECK-DAG: %[[LENGTH:.*]] = arith.constant 16 : i32
      // CHECK-DAG: %[[ROWS:.*]] = arith.constant 2 : i32
      // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 4 : i32
      // As many runs as a rectangle is wide.
      // CHECK: %[[PANEL:.*]] = arith.muli %[[LENGTH]], %[[COLUMNS]] : i32
      // CHECK-NEXT: %[[PANELS:.*]] = arith.divui %[[N]], %[[PANEL]]
      // CHECK-NEXT: %[[PLACE:.*]] = arith.remui %[[N]], %[[PANEL]]
      // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[PANELS]], %[[PANEL]]
      // CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i32
      // CHECK-NEXT: %[[RECTANGLE:.*]] = arith.divui %[[PLACE]], %[[EIGHT]]
      // CHECK-NEXT: %[[WITHIN:.*]] = arith.remui %[[PLACE]], %[[EIGHT]]
      // CHECK-NEXT: %[[RIGHT:.*]] = arith.divui %[[WITHIN]], %[[ROWS]]
      // CHECK-NEXT: %[[DOWN:.*]] = arith.remui %[[WITHIN]], %[[ROWS]]
      // Every other panel goes upwards.
      // CHECK: %[[ODD:.*]] = arith.andi %[[PANELS]], %{{.*}}
      // CHECK: %[[UPWARDS:.*]] = arith.cmpi ne, %[[ODD]], %{{.*}}
      // CHECK: %[[HEIGHT:.*]] = arith.divui %[[LENGTH]], %[[ROWS]]
      // CHECK: %[[LAST:.*]] = arith.subi %[[HEIGHT]], %{{.*}}
      // CHECK-NEXT: %[[FLIPPED:.*]] = arith.subi %[[LAST]], %[[RECTANGLE]]
      // CHECK-NEXT: %[[TURN:.*]] = arith.select %[[UPWARDS]], %[[FLIPPED]], %[[RECTANGLE]]
      // CHECK-NEXT: %[[TOP:.*]] = arith.muli %[[TURN]], %[[ROWS]]
      // CHECK-NEXT: %[[ALONG:.*]] = arith.addi %[[TOP]], %[[DOWN]]
      // CHECK-NEXT: %[[ACROSS:.*]] = arith.muli %[[RIGHT]], %[[LENGTH]]
      // CHECK-NEXT: %[[THERE:.*]] = arith.addi %[[BEFORE]], %[[ACROSS]]
      // CHECK-NEXT: %[[MOVED:.*]] = arith.addi %[[THERE]], %[[ALONG]]
      // The rest, too little for that, stays.
      // CHECK-NEXT: %[[END:.*]] = arith.addi %[[BEFORE]], %[[PANEL]]
      // CHECK-NEXT: %[[WHOLE:.*]] = arith.cmpi ule, %[[END]], %[[COUNT]]
      // CHECK-NEXT: %[[REST:.*]] = arith.remui %[[LENGTH]], %[[ROWS]]
      // CHECK-NEXT: %[[NONE:.*]] = arith.constant 0 : i32
      // CHECK-NEXT: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %[[NONE]]
      // CHECK-NEXT: %[[FITS:.*]] = arith.andi %[[WHOLE]], %[[EVEN]]
      // CHECK-NEXT: %[[BLOCK:.*]] = arith.select %[[FITS]], %[[MOVED]], %[[N]]
      // All that was computed from the number is computed from the new one.
      // CHECK-NEXT: arith.remui %[[BLOCK]], %{{.*}}
      // CHECK-NEXT: arith.divui %[[BLOCK]], %{{.*}}
      // CHECK-NOT: %[[N]]
      // CHECK: tile_gpu.blocks
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          // REMARK: swizzle-blocks.mlir:{{[0-9]+}}:19: remark: blocks that run next to each other take rectangles of 4x4 tiles
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      gpu.return
    }

    // Runs of A's tiles: what is shared is the left operand.
    // CHECK-LABEL: gpu.func @rows
    gpu.func @rows(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 8 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: scf.for %[[N:.*]] = %{{.*}} to
      // CHECK: %[[BLOCK:.*]] = arith.select %{{.*}}, %{{.*}}, %[[N]]
      // CHECK-NEXT: arith.remui %[[BLOCK]],
      scf.for %block = %first to %count step %workers : i32 {
        %j = arith.remui %block, %run : i32
        %i = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      gpu.return
    }
  }
}

// -----

// A raster in groups of 8 rows, the last of which may be lower: that is not seen in a large grid.

!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x128xf16, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<128x128xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @groups
    gpu.func @groups(%p: !llvm.ptr<1>, %s: i64, %m: i32, %n: i32, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 8 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 128 : i64
      %depth = arith.constant 64 : i64
      %group = arith.constant 8 : i32
      %c128 = arith.constant 128 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      %rows = arith.ceildivsi %m, %c128 : i32
      %columns = arith.ceildivsi %n, %c128 : i32
      // CHECK: scf.for %[[N:.*]] = %{{.*}} to
      // CHECK-DAG: %[[LENGTH:.*]] = arith.constant 8 : i32
      // CHECK-DAG: %[[ROWS:.*]] = arith.constant 2 : i32
      // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 4 : i32
      // CHECK: %[[PANEL:.*]] = arith.muli %[[LENGTH]], %[[COLUMNS]] : i32
      // CHECK: arith.divui %[[N]], %[[PANEL]]
      // CHECK: arith.remui %[[LENGTH]], %[[ROWS]]
      // CHECK: %[[BLOCK:.*]] = arith.select %{{.*}}, %{{.*}}, %[[N]]
      // CHECK: arith.divsi %[[BLOCK]],
      scf.for %block = %first to %count step %workers : i32 {
        %in_group = arith.muli %columns, %group : i32
        %g = arith.divsi %block, %in_group : i32
        %top = arith.muli %g, %group : i32
        %left = arith.subi %rows, %top : i32
        %height = arith.minsi %left, %group : i32
        %before = arith.muli %g, %in_group : i32
        %place = arith.subi %block, %before : i32
        %below = arith.remsi %place, %height : i32
        %i = arith.addi %top, %below : i32
        %j = arith.divsi %place, %height : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %depth : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x128xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x128xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      gpu.return
    }
  }
}

// -----

// In a grid of two dimensions, runs are as long as the first is wide.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x64xf16, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @plane
    gpu.func @plane(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[WIDE:.*]] = nvvm.read.ptx.sreg.nctaid.x
      %wide = nvvm.read.ptx.sreg.nctaid.x : i32
      %high = nvvm.read.ptx.sreg.nctaid.y : i32
      %first = nvvm.read.ptx.sreg.ctaid.x : i32
      %workers = nvvm.read.ptx.sreg.nsmid : i32
      %count = arith.muli %wide, %high : i32
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      // CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[COUNT:.*]] step
      // CHECK-DAG: %[[ROWS:.*]] = arith.constant 2 : i32
      // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 4 : i32
      // CHECK: %[[PANEL:.*]] = arith.muli %[[WIDE]], %[[COLUMNS]] : i32
      // CHECK: arith.muli %{{.*}}, %[[WIDE]] : i32
      // Where rectangles do not divide it, blocks stay in order.
      // CHECK: %[[WHOLE:.*]] = arith.cmpi ule, %{{.*}}, %[[COUNT]]
      // CHECK: %[[REST:.*]] = arith.remui %[[WIDE]], %[[ROWS]]
      // CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[REST]],
      // CHECK: %[[FITS:.*]] = arith.andi %[[WHOLE]], %[[EVEN]]
      // CHECK: %[[BLOCK:.*]] = arith.select %[[FITS]], %{{.*}}, %[[N]]
      // CHECK-NEXT: arith.remui %[[BLOCK]], %[[WIDE]]
      // CHECK-NEXT: arith.divui %[[BLOCK]], %[[WIDE]]
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %wide : i32
        %j = arith.divui %block, %wide : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      gpu.return
    }
  }
}

// -----

// Little would be gained where the tiles of a run are half as large as the one that they share: 8 of
// one and 2 of the other are as much as 4 of each.

!a = !tile_gpu.buffer<128x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x256xf16, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<128x256xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @wide
    // CHECK-NOT: arith.select
    gpu.func @wide(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 8 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<128x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x256xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<128x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x256xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }
  }
}

// -----

// Loops that stay as they are.

!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>
!b = !tile_gpu.buffer<64x64xf16, order = [1, 0], swizzle = 128>
!acc = !tile_gpu.tile<64x64xf32>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // Others than those of persist-blocks.
    // CHECK-LABEL: gpu.func @unmarked
    // CHECK-NOT: arith.select
    gpu.func @unmarked(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }

    // Programs with other loads than those of the operands of one product.
    // CHECK-LABEL: gpu.func @one_load
    // CHECK-NOT: arith.select
    gpu.func @one_load(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.alloc : !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }

    // CHECK-LABEL: gpu.func @three_loads
    // CHECK-NOT: arith.select
    gpu.func @three_loads(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %v = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %c = tile_gpu.to_shared %v : !tile_gpu.tile<64x64xf16> -> !a
          %some = tile_gpu.dot %c, %b, %sum instruction <wgmma> : !a, !b, !acc
          %next = tile_gpu.dot %a, %b, %some instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }

    // No rectangle divides runs of seven.
    // CHECK-LABEL: gpu.func @odd
    // CHECK-NOT: arith.select
    gpu.func @odd(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 7 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.divui %block, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }

    // Nothing is shared by neighbours.
    // CHECK-LABEL: gpu.func @scattered
    // CHECK-NOT: arith.select
    gpu.func @scattered(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %j = arith.addi %i, %c1 : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }

    // All is.
    // CHECK-LABEL: gpu.func @slow
    // CHECK-NOT: arith.select
    gpu.func @slow(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.divui %block, %run : i32
        %j = arith.remui %i, %run : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }

    // Where the tiles lie cannot be found out.
    // CHECK-LABEL: gpu.func @unknown
    // CHECK-NOT: arith.select
    gpu.func @unknown(%p: !llvm.ptr<1>, %s: i64, %rounds: i32, %first: i32, %count: i32, %workers: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %size = arith.constant 64 : i64
      %run = arith.constant 16 : i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : !acc
      scf.for %block = %first to %count step %workers : i32 {
        %i = arith.remui %block, %run : i32
        %c4 = arith.constant 4 : i32
        %j = arith.shrui %block, %c4 : i32
        %i64 = arith.extui %i : i32 to i64
        %j64 = arith.extui %j : i32 to i64
        %row = arith.muli %i64, %size : i64
        %column = arith.muli %j64, %size : i64
        %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
          %k64 = arith.extui %k : i32 to i64
          %start = arith.muli %k64, %size : i64
          %x = tile_gpu.load %p[%row, %start] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %y = tile_gpu.load %p[%start, %column] sizes [%s, %s] strides [%one, %s] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
          %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
          %b = tile_gpu.to_shared %y : !tile_gpu.tile<64x64xf16> -> !b
          %next = tile_gpu.dot %a, %b, %sum instruction <wgmma> : !a, !b, !acc
          scf.yield %next : !acc
        }
        tile_gpu.store %d, %p[%row, %column] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      } {tile_gpu.blocks}
      // CHECK: gpu.return
      gpu.return
    }
  }
}
