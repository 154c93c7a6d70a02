// RUN: tile-opt --insert-barriers %s | FileCheck %s

#l = #tile_gpu.layout<[warp 4:1, lane 32:1]>
#t = #tile_gpu.layout<[lane 32:1, warp 4:1]>
!tile = !tile_gpu.tile<128xf32, #l>
!other = !tile_gpu.tile<128xf32, #t>
!buffer = !tile_gpu.buffer<128xf32>
!ring = !tile_gpu.buffer<128xf32, stages = 2>
gpu.module @kernels {
  // What one thread writes, another reads after a barrier; what is to be overwritten must have been
  // read.
  // CHECK-LABEL: gpu.func @write_read_write
  gpu.func @write_read_write(%x: i32) kernel {
    %v = arith.constant dense<1.0> : !tile
    // CHECK: tile_gpu.alloc
    %b = tile_gpu.alloc offset 0 : !buffer
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %v, %b : !tile, !buffer
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_load
    %y = tile_gpu.local_load %b : !buffer -> !other
    // Two loads need no order.
    // CHECK-NEXT: tile_gpu.local_load
    %z = tile_gpu.local_load %b : !buffer -> !tile
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %z, %b : !tile, !buffer
    // CHECK-NEXT: gpu.return
    gpu.return
  }

  // Bytes decide, not names.
  // CHECK-LABEL: gpu.func @aliases
  gpu.func @aliases() kernel {
    %v = arith.constant dense<1.0> : !tile
    %a = tile_gpu.alloc offset 0 : !buffer
    %b = tile_gpu.alloc offset 512 : !buffer
    %c = tile_gpu.alloc offset 256 : !buffer
    // CHECK: tile_gpu.local_store
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %v, %a : !tile, !buffer
    tile_gpu.local_store %v, %b : !tile, !buffer
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %v, %c : !tile, !buffer
    gpu.return
  }

  // A buffer of which each warp has its own part needs none but towards others.
  // CHECK-LABEL: gpu.func @per_warp
  gpu.func @per_warp(%n: index) kernel {
    %v = arith.constant dense<1.0> : !tile
    %a = tile_gpu.alloc per_warp offset 0 : !buffer
    %b = tile_gpu.alloc per_warp offset 0 : !buffer
    // CHECK: scf.for
    scf.for %i = %n to %n step %n {
      // CHECK-NEXT: tile_gpu.local_store
      // CHECK-NEXT: tile_gpu.local_load
      tile_gpu.local_store %v, %a : !tile, !buffer
      %y = tile_gpu.local_load %a : !buffer -> !tile
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %v, %b : !tile, !buffer
    gpu.return
  }

  // A barrier that is there already serves.
  // CHECK-LABEL: gpu.func @barrier_there
  gpu.func @barrier_there() kernel {
    %v = arith.constant dense<1.0> : !tile
    %a = tile_gpu.alloc offset 0 : !buffer
    // CHECK: tile_gpu.local_store
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_load
    tile_gpu.local_store %v, %a : !tile, !buffer
    tile_gpu.barrier
    %y = tile_gpu.local_load %a : !buffer -> !other
    gpu.return
  }

  // A round of a loop follows the one before.
  // CHECK-LABEL: gpu.func @loop
  gpu.func @loop(%n: index) kernel {
    %v = arith.constant dense<1.0> : !tile
    // CHECK: scf.for
    scf.for %i = %n to %n step %n {
      // CHECK-NEXT: tile_gpu.alloc
      %a = tile_gpu.alloc offset 0 : !buffer
      // CHECK-NEXT: tile_gpu.barrier
      // CHECK-NEXT: tile_gpu.local_store
      tile_gpu.local_store %v, %a : !tile, !buffer
      // CHECK-NEXT: tile_gpu.barrier
      // CHECK-NEXT: tile_gpu.local_load
      %y = tile_gpu.local_load %a : !buffer -> !other
    }
    gpu.return
  }

  // Either side of a branch may have run.
  // CHECK-LABEL: gpu.func @branch
  gpu.func @branch(%c: i1) kernel {
    %v = arith.constant dense<1.0> : !tile
    %a = tile_gpu.alloc offset 0 : !buffer
    // CHECK: scf.if
    // CHECK-NEXT: tile_gpu.local_store
    // CHECK-NEXT: }
    scf.if %c {
      tile_gpu.local_store %v, %a : !tile, !buffer
    }
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_load
    %y = tile_gpu.local_load %a : !buffer -> !other
    gpu.return
  }

  // Stages of one ring never meet; a ring and another buffer in its bytes do.
  // CHECK-LABEL: gpu.func @ring
  gpu.func @ring(%i: i32, %j: i32) kernel {
    %v = arith.constant dense<1.0> : !tile
    %r = tile_gpu.alloc offset 0 : !ring
    %s = tile_gpu.stage %r[%i] : !ring -> !buffer
    %t = tile_gpu.stage %r[%j] : !ring -> !buffer
    // CHECK: tile_gpu.local_store
    // CHECK-NEXT: tile_gpu.local_load
    tile_gpu.local_store %v, %s : !tile, !buffer
    %y = tile_gpu.local_load %t : !buffer -> !other
    %a = tile_gpu.alloc offset 512 : !buffer
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.local_store
    tile_gpu.local_store %v, %a : !tile, !buffer
    gpu.return
  }

  // An operation with scratch has a barrier of its own between writing and reading: what came before
  // is done, its own reads are not.
  // CHECK-LABEL: gpu.func @scratch
  gpu.func @scratch(%p: i64, %x: i32) kernel {
    %v = arith.constant dense<1.0> : !tile
    %a = tile_gpu.alloc offset 512 : !buffer
    %b = tile_gpu.alloc offset 0 : !tile_gpu.buffer<1xi32>
    // CHECK: tile_gpu.local_store
    tile_gpu.local_store %v, %a : !tile, !buffer
    // CHECK-NEXT: tile_gpu.atomic_rmw
    %o = tile_gpu.atomic_rmw <add> %p, %x scratch %b ordering <relaxed> scope <device> : i64, i32 scratch !tile_gpu.buffer<1xi32> -> i32
    // CHECK-NEXT: tile_gpu.local_load
    %y = tile_gpu.local_load %a : !buffer -> !other
    // CHECK-NEXT: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.atomic_rmw
    %q = tile_gpu.atomic_rmw <add> %p, %o scratch %b ordering <relaxed> scope <device> : i64, i32 scratch !tile_gpu.buffer<1xi32> -> i32
    gpu.return
  }

  // All threads read the slot's address from scratch before one of them makes a map in the same
  // bytes. Maps lie in lines of their own.
  // CHECK-LABEL: gpu.func @maps
  gpu.func @maps(%p: !llvm.ptr<1>, %n: i64, %i: i32, %j: i32) kernel {
    %address = tile_gpu.alloc offset 0 : !tile_gpu.buffer<1xi64>
    %lines = tile_gpu.alloc offset 0 : !tile_gpu.buffer<16xi64, stages = 2>
    // CHECK: tile_gpu.acquire_map_slot
    %slot, %state = tile_gpu.acquire_map_slot 2 key(%p, %n : !llvm.ptr<1>, i64) scratch %address : !tile_gpu.buffer<1xi64>
    %line = tile_gpu.stage %lines[%i] : !tile_gpu.buffer<16xi64, stages = 2> -> !tile_gpu.buffer<16xi64>
    %next = tile_gpu.stage %lines[%j] : !tile_gpu.buffer<16xi64, stages = 2> -> !tile_gpu.buffer<16xi64>
    // CHECK: tile_gpu.barrier
    // CHECK-NEXT: tile_gpu.tensor_map
    // CHECK-NEXT: tile_gpu.tensor_map
    %0 = tile_gpu.tensor_map %p sizes[%n] strides[%n] slot %slot scratch %line : !tile_gpu.tensor_map<64xf16, swizzle = 128>, !tile_gpu.buffer<16xi64>
    %1 = tile_gpu.tensor_map %p sizes[%n] strides[%n] slot %slot scratch %next : !tile_gpu.tensor_map<64xf16, swizzle = 128>, !tile_gpu.buffer<16xi64>
    gpu.return
  }
}
