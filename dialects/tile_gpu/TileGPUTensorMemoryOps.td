// Operations of the tile_gpu dialect for tensor memory accesses and specialised warps.

#ifndef TILE_GPU_TENSOR_MEMORY_OPS_TD
#define TILE_GPU_TENSOR_MEMORY_OPS_TD

include "TileGPUBase.td"

//===----------------------------------------------------------------------===//
// Tensor memory accesses and the warps that start them
//===----------------------------------------------------------------------===//

def TileGPU_TensorMapOp : TileGPU_Op<"tensor_map", [AttrSizedOperandSegments, Pure]> {
  let summary = "describe a tensor for tensor memory accesses";
  let description = [{
    `base` is the address of the tensor's first element, `sizes` its extents and
    `strides` the distances in elements, all i64; the box in the type says what
    one access moves. Elements outside read as zero. With `rows`, boxes have
    only so many (i64) in their slowest dimension: of a tensor with fewer rows
    than a box there is no more to move.

    Either the launcher makes it, or the block does: in `scratch`, from where it
    goes to the address `slot`; unless `found`, when it lies there already.
    Example:
    `%m = tile_gpu.tensor_map %p sizes[%m, %k] strides[%s, %one]
    : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>`
  }];
  let arguments = (ins TileGPU_Pointer:$base, Variadic<I64>:$sizes, Variadic<I64>:$strides,
                       Optional<I64>:$rows, Optional<I64>:$slot,
                       Optional<TileGPU_Buffer>:$scratch, Optional<I1>:$found);
  let results = (outs TileGPU_TensorMap:$result);
  let assemblyFormat = [{
    $base `sizes` `[` $sizes `]` `strides` `[` $strides `]` (`rows` $rows^)? (`slot` $slot^)?
    (`scratch` $scratch^)? (`unless` $found^)? attr-dict `:` qualified(type($result)) (`,` qualified(type($scratch))^)?
  }];
  let hasVerifier = 1;
}

def TileGPU_PrefetchMapOp : TileGPU_Op<"prefetch_map", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fetch a tensor map that the launcher made, before the first access needs it";
  let arguments = (ins TileGPU_TensorMap:$map);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

def TileGPU_AcquireMapSlotOp : TileGPU_Op<"acquire_map_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "global memory for `count` tensor maps";
  let description = [{
    The maps are a function of the values `key`. A table that outlives launches
    holds those made before, by their keys. `state` says what a block has got:

    * 0: maps with this key, made before; they never change.
    * 1: a free entry of the table, claimed for this key: for other blocks once
      this one has made the maps and called `publish_map_slot`.
    * 2: where no entry was free, or another block is at work on it: a slot of a
      pool, that no other running block uses, until `release_map_slot`.

    One warp takes it; all get address and state through `scratch`. Example:
    `%slot, %state = tile_gpu.acquire_map_slot 1 key(%p, %n : !llvm.ptr<1>, i32) scratch %s
    : !tile_gpu.buffer<1xi64>`
  }];
  let arguments = (ins I64Attr:$count, Variadic<AnyTypeOf<[TileGPU_Pointer, I32, I64]>>:$key,
                       TileGPU_Buffer:$scratch);
  let results = (outs I64:$slot, I32:$state);
  let assemblyFormat = [{
    $count `key` `(` $key `:` type($key) `)` `scratch` $scratch attr-dict
    `:` qualified(type($scratch))
  }];
  let hasVerifier = 1;
}

def TileGPU_ReadMapSlotOp : TileGPU_Op<"read_map_slot", [MemoryEffects<[MemRead]>]> {
  let summary = "what `acquire_map_slot` left in `scratch`";
  let description = [{
    For what comes much later: values that are kept cost registers. Example:
    `%slot, %state = tile_gpu.read_map_slot %s : !tile_gpu.buffer<1xi64>`
  }];
  let arguments = (ins TileGPU_Buffer:$scratch);
  let results = (outs I64:$slot, I32:$state);
  let assemblyFormat = "$scratch attr-dict `:` qualified(type($scratch))";
  let hasVerifier = 1;
}

def TileGPU_PublishMapSlotOp : TileGPU_Op<"publish_map_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "let other blocks find the maps in an entry that this one has claimed";
  let description = "All maps must be there, and all threads know it.";
  let arguments = (ins I64Attr:$count, Variadic<AnyTypeOf<[TileGPU_Pointer, I32, I64]>>:$key,
                       I64:$slot);
  let assemblyFormat = "$count `key` `(` $key `:` type($key) `)` `slot` $slot attr-dict";
}

def TileGPU_ReleaseMapSlotOp : TileGPU_Op<"release_map_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "give back a slot of the pool";
  let description = "All copies that use the maps must be complete, and all threads know it.";
  let arguments = (ins I64Attr:$count, I64:$slot);
  let assemblyFormat = "$count `slot` $slot attr-dict";
}

def TileGPU_TmaLoadOp : TileGPU_Op<"tma_load", [AttrSizedOperandSegments]> {
  let summary = "start copying a tile of a tensor to a buffer, by one thread";
  let description = [{
    With `cp.async.bulk.tensor`, one instruction for each box. The bytes count
    towards the transactions that `barrier` expects. `policy` is a cache policy
    of the second-level cache, as `createpolicy` encodes it.

    With `half`, 0 or 1, the two blocks of a cluster share the work: only that
    half of the boxes is fetched, into the buffers of both blocks and counting
    towards the barriers of both.
    Example: `tile_gpu.tma_load %map[%i, %j], %buffer, %barrier : !tile_gpu.tensor_map<...>,
    !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<1xi64>`
  }];
  let arguments = (ins TileGPU_TensorMap:$map, Variadic<I64>:$starts,
                       Arg<TileGPU_Buffer, "", [MemWrite]>:$buffer,
                       Arg<TileGPU_Buffer, "", [MemWrite]>:$barrier, Optional<I64>:$policy,
                       Optional<I32>:$half);
  let assemblyFormat = [{
    $map `[` $starts `]` `,` $buffer `,` $barrier (`policy` $policy^)? (`half` $half^)? attr-dict
    `:` qualified(type($map)) `,` qualified(type($buffer)) `,` qualified(type($barrier))
  }];
  let hasVerifier = 1;
}

def TileGPU_AsPanelsOp : TileGPU_Op<"as_panels", [Pure]> {
  let summary = "a buffer's bytes as a buffer of another shape and element type";
  let description = [{
    One stage, of as many bytes or more, with rows of the same swizzle: panels
    of one buffer are panels of the other.
    Example: `%p = tile_gpu.as_panels %b : !tile_gpu.buffer<64x256xf16, swizzle = 128> ->
    !tile_gpu.buffer<128x128xf16, swizzle = 128>`
  }];
  let arguments = (ins TileGPU_Buffer:$buffer);
  let results = (outs TileGPU_Buffer:$result);
  let assemblyFormat = "$buffer attr-dict `:` qualified(type($buffer)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_TakeTileOp : TileGPU_Op<"take_tile", [
    SameVariadicOperandSize, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a tile that another warp fetches, from stages of a ring";
  let description = [{
    `parts` hold the tile's columns from left to right. Each is there when its
    barrier in `full` has completed the phase of that parity, and is given back
    at its barrier in `empty` after all of the parts that name this barrier were
    read, by the first lane of each warp; with `cluster`, to both blocks of a
    pair. What only leaves by `tma_store` is read slice by slice, when that
    writes it.
    Example: `%t = tile_gpu.take_tile %p, %q full %f, %f parity %x, %x empty %e, %e :
    !tile_gpu.buffer<128x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128>
    full !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64>
    empty !tile_gpu.buffer<1xi64>, !tile_gpu.buffer<1xi64> -> !tile_gpu.tile<128x128xf16>`
  }];
  let arguments = (ins Variadic<TileGPU_Buffer>:$parts, Variadic<TileGPU_Buffer>:$full,
                       Variadic<I32>:$parity, Variadic<TileGPU_Buffer>:$empty, UnitAttr:$cluster);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $parts `full` $full `parity` $parity `empty` $empty (`cluster` $cluster^)? attr-dict
    `:` qualified(type($parts)) `full` qualified(type($full)) `empty` qualified(type($empty))
    `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_ZeroRowsOp : TileGPU_Op<"zero_rows"> {
  let summary = "write zeros to all rows of a buffer's stages from `first` on";
  let description = [{
    Rows are those of the slowest dimension. For rows that no copy writes, see
    `rows` of `tensor_map`.
    Example: `tile_gpu.zero_rows %ring from %n : !tile_gpu.buffer<64x64xf16, swizzle = 128, stages = 4>`
  }];
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemWrite]>:$buffer, I64:$first);
  let assemblyFormat = "$buffer `from` $first attr-dict `:` qualified(type($buffer))";
}

def TileGPU_TmaStoreOp : TileGPU_Op<"tma_store", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "store a tile into a tensor by way of a ring of buffers";
  let description = [{
    The tile goes out in slices as large as a stage of `ring`: wait until the
    stage is free, write it, and start a copy with `cp.async.bulk.tensor`.
    Elements beyond the tensor are dropped; starts must be below 2^31, and
    negative ones trap. The copies may still read shared memory afterwards, see
    `tma_store_wait`.
    Example: `tile_gpu.tma_store %t, %map[%i, %j] through %ring : !tile_gpu.tile<128x256xf16, #mma>,
    !tile_gpu.tensor_map<64x64xf16, swizzle = 128>, !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 2>`
  }];
  let arguments = (ins TileGPU_Tile:$value, TileGPU_TensorMap:$map, Variadic<I64>:$starts,
                       TileGPU_Buffer:$ring);
  let assemblyFormat = [{
    $value `,` $map `[` $starts `]` `through` $ring attr-dict
    `:` qualified(type($value)) `,` qualified(type($map)) `,` qualified(type($ring))
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreWaitOp : TileGPU_Op<"tma_store_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until no copy of `tma_store` reads shared memory any more";
  let description = "With `complete`, until all have also written their tensors.";
  let arguments = (ins UnitAttr:$complete);
  let assemblyFormat = "(`complete` $complete^)? attr-dict";
}

def TileGPU_MbarrierInitOp : TileGPU_Op<"mbarrier_init"> {
  let summary = "make barriers of each stage, to complete after `count` arrivals";
  let description = [{
    A thread of a warp that has nothing else to do makes them. `producer` may use
    them after `mbarrier_ready`, others among `consumers`, or after a barrier.
    Example: `tile_gpu.mbarrier_init %b, %count : !tile_gpu.buffer<1xi64, stages = 4>`
  }];
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemWrite]>:$barrier, I32:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def TileGPU_MbarrierReadyOp : TileGPU_Op<"mbarrier_ready", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "let `producer` use the barriers that have been made";
  let description = [{
    Stands once, after all `mbarrier_init`. `producer` waits for it when it starts.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_MbarrierExpectOp : TileGPU_Op<"mbarrier_expect"> {
  let summary = "arrive, and have the phase wait for `bytes` of copies";
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemRead, MemWrite]>:$barrier, I32:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def TileGPU_MbarrierArriveOp : TileGPU_Op<"mbarrier_arrive"> {
  let summary = "arrive, once for each warp";
  let description = [{
    With `cluster`, also at the same barrier of the other block, if the cluster
    has two.
  }];
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemRead, MemWrite]>:$barrier,
                       Optional<I1>:$predicate, UnitAttr:$cluster);
  let assemblyFormat = "$barrier (`if` $predicate^)? attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def TileGPU_MbarrierWaitOp : TileGPU_Op<"mbarrier_wait"> {
  let summary = "wait until the phase of parity `parity` has completed";
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemRead, MemWrite]>:$barrier, I32:$parity);
  let assemblyFormat = "$barrier `,` $parity attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def TileGPU_SpecializeOp : TileGPU_Op<"specialize", [
    RecursiveMemoryEffects, SingleBlock, NoTerminator]> {
  let summary = "give warps different work";
  let description = [{
    The warps of the kernel run `consumers`; one thread of four more warps runs
    `producer`. The consumers begin when the producer's warps have come here, which
    do not wait for them: barriers that its thread has made exist. Barriers
    inside `consumers` are among its warps. `registers` are
    those that a thread of the producer and of a consumer gets, where the even
    share of all threads does not do.

    With `replicas`, so many sets of the kernel's warps run `consumers`, each on
    tiles of its own: `replica` says which one this is. They take turns
    (`take_turn`, `pass_turn`) at what only one of them should do at a time.

    ```mlir
    tile_gpu.specialize registers [40, 232] producer {
      ...
    } consumers {
      ...
    }
    ```
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$replicas);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumers);
  let assemblyFormat = [{
    (`registers` $registers^)? (`replicas` $replicas^)? `producer` $producer
    `consumers` $consumers attr-dict
  }];
  let hasVerifier = 1;
}

def TileGPU_FirstLaneOp : TileGPU_Op<"first_lane", [Pure, SameOperandsAndResultType]> {
  let summary = "what the first lane of each warp holds";
  let description = [{
    Of a value that is the same for all threads, the value itself; but computed
    here, which no later pass puts off until it is used.
  }];
  let arguments = (ins AnyTypeOf<[I32, I64]>:$operand);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def TileGPU_ReplicaOp : TileGPU_Op<"replica", [Pure]> {
  let summary = "which set of consumers this is";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_TakeTurnOp : TileGPU_Op<"take_turn", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the replica before this one passes the turn";
  let description = "The first turn is that of replica 0.";
  let assemblyFormat = "attr-dict";
}

def TileGPU_PassTurnOp : TileGPU_Op<"pass_turn", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "let the next replica take its turn";
  let arguments = (ins Optional<I1>:$predicate);
  let assemblyFormat = "(`if` $predicate^)? attr-dict";
}

#endif // TILE_GPU_TENSOR_MEMORY_OPS_TD
