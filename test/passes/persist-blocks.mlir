// RUN: tile-opt --persist-blocks --split-input-file %s | FileCheck %s

// Any launcher starts the program's grid: those of its blocks that work do so in rounds, the others
// end at once.

!acc = !tile_gpu.tile<64x64xf32>
!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @plain(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i32) kernel
    // CHECK-NOT: tile_gpu.launch_grid
    gpu.func @plain(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK: %[[X:.*]] = nvvm.read.ptx.sreg.nctaid.x
      // CHECK: %[[Y:.*]] = nvvm.read.ptx.sreg.nctaid.y
      // CHECK: %[[PLANE:.*]] = arith.muli %[[X]], %[[Y]]
      // CHECK: %[[COUNT:.*]] = arith.muli %[[PLANE]],
      // CHECK: %[[PLACES:.*]] = nvvm.read.ptx.sreg.nsmid
      // Most end before the divisions.
      // CHECK: %[[FAR:.*]] = arith.cmpi uge, %[[FIRST:.*]], %[[PLACES]]
      // CHECK-NEXT: tile_gpu.exit_if %[[FAR]]
      // A grid for which there is room needs none.
      // CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[COUNT]], %[[PLACES]]
      // CHECK-NEXT: %[[WORKERS:.*]] = scf.if %[[FITS]] -> (i32) {
      // CHECK-NEXT: scf.yield %[[COUNT]]
      // CHECK: %[[ROUNDS:.*]] = arith.ceildivui %[[COUNT]], %[[PLACES]]
      // CHECK: %[[FEWER:.*]] = arith.ceildivui %[[COUNT]], %[[ROUNDS]]
      // CHECK: scf.yield %[[FEWER]]
      // CHECK: %[[BEYOND:.*]] = arith.cmpi uge, %[[FIRST]], %[[WORKERS]]
      // CHECK: tile_gpu.exit_if %[[BEYOND]]
      // CHECK: scf.for %[[BLOCK:.*]] = %[[FIRST]] to %[[COUNT]] step %[[WORKERS]]
      // The program's block index, of which x runs fastest, and its grid.
      // CHECK: %[[REST:.*]] = arith.divui %[[BLOCK]], %[[X]]
      // CHECK: %[[I:.*]] = arith.remui %[[BLOCK]], %[[X]]
      // CHECK: %[[J:.*]] = arith.remui %[[REST]], %[[Y]]
      // CHECK-NOT: nvvm.read.ptx.sreg
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      %j = nvvm.read.ptx.sreg.ctaid.y : i32
      %n = nvvm.read.ptx.sreg.nctaid.x : i32
      // CHECK: arith.extui %[[I]]
      %i64 = arith.extui %i : i32 to i64
      // CHECK: arith.extui %[[J]]
      %j64 = arith.extui %j : i32 to i64
      // CHECK: arith.extui %[[X]]
      %n64 = arith.extui %n : i32 to i64
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%i64, %j64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      tile_gpu.store %d, %p[%i64, %j64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      // CHECK: tile_gpu.store
      // Later passes may take the blocks in another order.
      // CHECK-NEXT: } {tile_gpu.blocks}
      // CHECK-NEXT: gpu.return
      gpu.return
    }
  }
}

// -----

// Our launcher passes the program's grid and starts as many blocks as shall work: at most one for each
// multiprocessor, and no more than give all blocks the same number of rounds.

!acc = !tile_gpu.tile<64x64xf32>
!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a", tile_gpu.managed} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @managed
    // CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i32, %[[X:[^ :]*]]: i32, %[[Y:[^ :]*]]: i32, %[[Z:[^ :]*]]: i32) kernel
    // CHECK-SAME: tile_gpu.hidden_parameters = ["{\22kind\22: \22scalar\22, \22value\22: \22grid:0\22}", "{{[^"]*}}grid:1{{[^"]*}}", "{{[^"]*}}grid:2{{[^"]*}}"]
    // CHECK-SAME: tile_gpu.launch_grid = ["[\22ceildiv\22, [\22mul\22, [\22mul\22, \22grid:0\22, \22grid:1\22], \22grid:2\22], [\22max\22, 1, [\22ceildiv\22, {{.*}}, \22multiprocessors\22]]]", "1", "1"]
    gpu.func @managed(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      // CHECK-DAG: %[[PLANE:.*]] = arith.muli %[[X]], %[[Y]]
      // CHECK-DAG: %[[COUNT:.*]] = arith.muli %[[PLANE]], %[[Z]]
      // CHECK-DAG: %[[FIRST:.*]] = nvvm.read.ptx.sreg.ctaid.x
      // CHECK-DAG: %[[WORKERS:.*]] = nvvm.read.ptx.sreg.nctaid.x
      // CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[COUNT]] step %[[WORKERS]]
      // CHECK-NOT: nvvm.read.ptx.sreg
      // CHECK: } {tile_gpu.blocks}
      // CHECK: gpu.return
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      %i64 = arith.extui %i : i32 to i64
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%i64, %i64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      gpu.return
    }
  }
}

// -----

// A block may not do the work of several where somebody could tell: the order of atomics, of ordered
// accesses and of what is printed.

!acc = !tile_gpu.tile<64x64xf32>
!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @atomic
    // CHECK-NOT: nctaid
    gpu.func @atomic(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      tile_gpu.atomic_red <addf> %d, %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [false, false] scope <device> : !acc
      gpu.return
    }

    // CHECK-LABEL: gpu.func @ordered
    // CHECK-NOT: nctaid
    gpu.func @ordered(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      tile_gpu.store %d, %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 4 in_bounds [false, false] ordering <release> scope <device> : !acc
      gpu.return
    }

    // CHECK-LABEL: gpu.func @printed
    // CHECK-NOT: nctaid
    gpu.func @printed(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      tile_gpu.print "%f", %d : !acc
      gpu.return
    }

    // Nothing is gained where no producer runs ahead.
    // CHECK-LABEL: gpu.func @warp_products
    // CHECK-NOT: nctaid
    // CHECK-NOT: tile_gpu.blocks
    gpu.func @warp_products(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32} {
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%s, %s] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <mma_sync> : !a, !a, !acc
        scf.yield %next : !acc
      }
      // CHECK: gpu.return
      gpu.return
    }
  }
}

// -----

// The hint `occupancy`: two blocks of a single warpgroup share a multiprocessor.

!acc = !tile_gpu.tile<64x64xf32>
!a = !tile_gpu.buffer<64x64xf16, swizzle = 128>

module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @shared
    gpu.func @shared(%p: !llvm.ptr<1>, %s: i64, %rounds: i32) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.optimization_hints = #cuda_tile.optimization_hints<sm_90 = {occupancy = 2}>} {
      // CHECK: %[[PLACES:.*]] = nvvm.read.ptx.sreg.nsmid
      // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
      // CHECK: %[[ROOM:.*]] = arith.muli %[[PLACES]], %[[TWO]]
      // CHECK: arith.ceildivui %{{.*}}, %[[ROOM]]
      %i = nvvm.read.ptx.sreg.ctaid.x : i32
      %i64 = arith.extui %i : i32 to i64
      %one = arith.constant 1 : i64
      %zero = arith.constant dense<0.0> : !acc
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %d = scf.for %k = %c0 to %rounds step %c1 iter_args(%sum = %zero) -> (!acc) : i32 {
        %x = tile_gpu.load %p[%i64, %i64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !tile_gpu.tile<64x64xf16>
        %a = tile_gpu.to_shared %x : !tile_gpu.tile<64x64xf16> -> !a
        %next = tile_gpu.dot %a, %a, %sum instruction <wgmma> : !a, !a, !acc
        scf.yield %next : !acc
      }
      tile_gpu.store %d, %p[%i64, %i64] sizes [%s, %s] strides [%s, %one] alignment 16 in_bounds [false, false] : !acc
      gpu.return
    }
  }
}
