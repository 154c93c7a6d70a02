// RUN: tile-opt --convert-tile-gpu %s | FileCheck %s

// Maps that a block finds in the kernel's table, or makes for itself: in an entry of the table or a
// slot of a pool, the fields of the map by instructions.

// CHECK: #nvvm.target<{{.*}}features = "+ptx83"
// CHECK-DAG: llvm.mlir.global internal @[[TAKEN:.*]]() {addr_space = 1 : i32, alignment = 4 : i64} : !llvm.array<1024 x i8>
// CHECK-DAG: llvm.mlir.global internal @[[PLACES:__tileir_tensor_maps_1]]() {addr_space = 1 : i32, alignment = 128 : i64} : !llvm.array<131072 x i8>
module attributes {tile_gpu.target = "sm_90a"} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @maps
    // CHECK-SAME: (%[[P:.*]]: !llvm.ptr<1>, %[[M:.*]]: i64, %[[N:.*]]: i64)
    gpu.func @maps(%p: !llvm.ptr<1>, %m: i64, %n: i64) kernel attributes {tile_gpu.num_warps = 4 : i32, tile_gpu.shared_bytes = 1024 : i64} {
      %one = arith.constant 1 : i64
      %a = tile_gpu.alloc offset 512 : !tile_gpu.buffer<1xi64>
      %l = tile_gpu.alloc offset 0 : !tile_gpu.buffer<16xi64>
      // A warp compares a word a lane with an entry's key, and with the next one's if that is another;
      // maps are prefetched meanwhile. One thread claims an entry that is free. Otherwise it sets a bit
      // that nobody has set, first among those of its multiprocessor. All get the address.
      // CHECK: scf.if
      // CHECK: llvm.inline_asm {{.*}}prefetch.global.L2{{.*}}@more ld.acquire.gpu.global.b64{{.*}}vote.sync.all.pred{{.*}}@more ld.acquire.gpu.global.b64{{.*}}vote.sync.all.pred
      // CHECK: scf.if
      // CHECK: llvm.inline_asm {{.*}}atom.global.relaxed.gpu.cas.b64{{.*}}%smid{{.*}}atom.global.acquire.gpu.or.b32
      // CHECK: memref.store
      // CHECK: gpu.barrier
      // CHECK: %[[BOTH:.*]] = memref.load
      // CHECK: %[[SLOT:.*]] = arith.subi %[[BOTH]]
      %slot, %state = tile_gpu.acquire_map_slot 1 key(%p, %m, %n : !llvm.ptr<1>, i64, i64) scratch %a : !tile_gpu.buffer<1xi64>
      // Zeros, and in the third word what has the second-level cache fetch two lines at once, if rows start
      // on lines.
      // CHECK: %[[OFF:.*]] = arith.andi %{{.*}}, %c127_i64
      // CHECK: %[[ON:.*]] = arith.cmpi eq, %[[OFF]],
      // CHECK: arith.cmpi eq, %{{.*}}, %c2_i32
      // CHECK: %[[WORD:.*]] = arith.select %{{.*}}, %c393216_i32,
      // CHECK: llvm.inline_asm {{.*}}"st.shared.b32 [$0], $1; bar.warp.sync -1;"{{.*}}, %[[WORD]] :
      // The box is 64 wide and 32 high, the columns are the fastest dimension of the tensor.
      // CHECK: tensormap.replace.tile.global_address
      // CHECK: tensormap.replace.tile.rank{{.*}} [$0], 1;
      // CHECK: tensormap.replace.tile.box_dim{{.*}} [$0], 0, 64;
      // CHECK: %[[COLUMNS:.*]] = arith.trunci %[[N]]
      // CHECK: tensormap.replace.tile.global_dim{{.*}} [$0], 0, $1;{{.*}} %[[COLUMNS]] :
      // CHECK: tensormap.replace.tile.box_dim{{.*}} [$0], 1, 32;
      // CHECK: %[[BYTES:.*]] = arith.muli %[[N]],
      // CHECK: tensormap.replace.tile.global_stride{{.*}} [$0], 0, $1;{{.*}} %[[BYTES]] :
      // f16, a swizzle of 128 bytes, zeros outside.
      // CHECK: tensormap.replace.tile.elemtype{{.*}} [$0], 6;
      // CHECK: tensormap.replace.tile.swizzle_mode{{.*}} [$0], 3;
      // CHECK: tensormap.replace.tile.fill_mode{{.*}} [$0], 0;
      // CHECK: tensormap.cp_fenceproxy.global.shared::cta{{.*}}, 128; fence.proxy.async
      // Found or made, it is made known to the copy engine.
      // CHECK: fence.proxy.tensormap::generic.acquire.gpu
      // CHECK: llvm.inttoptr %[[SLOT]] : i64 to !llvm.ptr
      %zero = arith.constant 0 : i32
      %found = arith.cmpi eq, %state, %zero : i32
      %map = tile_gpu.tensor_map %p sizes[%m, %n] strides[%n, %one] slot %slot scratch %l unless %found : !tile_gpu.tensor_map<32x64xf16, swizzle = 128>, !tile_gpu.buffer<16xi64>
      // CHECK: llvm.inline_asm {{.*}}st.release.gpu.global.b64
      tile_gpu.publish_map_slot 1 key(%p, %m, %n : !llvm.ptr<1>, i64, i64) slot %slot
      // CHECK: %[[AGAIN:.*]] = memref.load
      // CHECK: %[[LOW:.*]] = arith.andi %[[AGAIN]],
      // CHECK: %[[TAKEN_SLOT:.*]] = arith.subi %[[AGAIN]], %[[LOW]]
      %taken, %now = tile_gpu.read_map_slot %a : !tile_gpu.buffer<1xi64>
      // CHECK: arith.subi %[[TAKEN_SLOT]],
      // CHECK: llvm.inline_asm {{.*}}red.global.release.gpu.and.b32
      tile_gpu.release_map_slot 1 slot %taken
      gpu.return
    }
  }
}
