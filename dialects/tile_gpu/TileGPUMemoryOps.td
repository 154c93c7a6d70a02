// Operations of the tile_gpu dialect on global and shared memory.

#ifndef TILE_GPU_MEMORY_OPS_TD
#define TILE_GPU_MEMORY_OPS_TD

include "TileGPUBase.td"

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

defvar TileGPU_TensorDescription = [{
    The tensor: `base` is the address of its first element; for each dimension
    of the tile, `starts` is the coordinate of the tile's first element, `sizes`
    the extent of the tensor and `strides` the distance in elements, all i64.
    Coordinates at or past the extent are outside, except in dimensions that
    `in_bounds` promises to be inside. Along the contiguous dimension (the last
    one of stride 1), `alignment` bytes divide the address of the tile's first
    element and of the same element of every other row, and `extent_multiple`
    elements divide both the start and the extent, so that such a group lies
    inside or outside as a whole.
}];

def TileGPU_LoadOp : TileGPU_Op<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "load a tile of a tensor";
  let description = TileGPU_TensorDescription # [{
    `ordered`: it may see what an operation before it wrote. Only such loads have to
    stay where they are in kernels with `tile_gpu.free_loads`.

    Example:
    ```mlir
    %t = tile_gpu.load %p[%i, %j] sizes [%m, %n] strides [%s, %one] padding <zero>
        alignment 16 in_bounds [false, true] : !tile_gpu.tile<64x32xf16>
    ```
  }];
  let arguments = (ins TileGPU_Pointer:$base, Variadic<I64>:$starts, Variadic<I64>:$sizes,
                       Variadic<I64>:$strides, OptionalAttr<TileGPU_PaddingAttr>:$padding,
                       I64Attr:$alignment, DefaultValuedAttr<I64Attr, "1">:$extent_multiple,
                       DenseBoolArrayAttr:$in_bounds,
                       DefaultValuedAttr<TileGPU_OrderingAttr, "::tile_gpu::Ordering::Weak">:$ordering,
                       OptionalAttr<TileGPU_ScopeAttr>:$scope, UnitAttr:$ordered);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]`
    (`padding` $padding^)? `alignment` $alignment
    (`extent_multiple` $extent_multiple^)? `in_bounds` $in_bounds
    (`ordering` $ordering^)? (`scope` $scope^)? (`ordered` $ordered^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_PrefetchOp : TileGPU_Op<"prefetch", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ask for a tile of a tensor to be brought into the second-level cache";
  let description = TileGPU_TensorDescription # [{

    Example: `tile_gpu.prefetch %p[%i, %j] sizes [%m, %n] strides [%s, %one] alignment 16
    in_bounds [false, true] : !tile_gpu.tile<128x128xf16>`
  }];
  let arguments = (ins TileGPU_Pointer:$base, Variadic<I64>:$starts, Variadic<I64>:$sizes,
                       Variadic<I64>:$strides, I64Attr:$alignment, DenseBoolArrayAttr:$in_bounds,
                       TypeAttr:$tile);
  let assemblyFormat = [{
    $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]`
    `alignment` $alignment `in_bounds` $in_bounds attr-dict `:` $tile
  }];
  let hasVerifier = 1;
}

def TileGPU_StoreOp : TileGPU_Op<"store", [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "store a tile into a tensor";
  let description = "Elements outside are dropped." # TileGPU_TensorDescription;
  let arguments = (ins TileGPU_Tile:$value, TileGPU_Pointer:$base, Variadic<I64>:$starts,
                       Variadic<I64>:$sizes, Variadic<I64>:$strides,
                       I64Attr:$alignment, DefaultValuedAttr<I64Attr, "1">:$extent_multiple,
                       DenseBoolArrayAttr:$in_bounds,
                       DefaultValuedAttr<TileGPU_OrderingAttr, "::tile_gpu::Ordering::Weak">:$ordering,
                       OptionalAttr<TileGPU_ScopeAttr>:$scope);
  let assemblyFormat = [{
    $value `,` $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]`
    `alignment` $alignment
    (`extent_multiple` $extent_multiple^)? `in_bounds` $in_bounds
    (`ordering` $ordering^)? (`scope` $scope^)? attr-dict `:` qualified(type($value))
  }];
  let hasVerifier = 1;
}

def TileGPU_AtomicRedOp : TileGPU_Op<"atomic_red", [AttrSizedOperandSegments,
                                                    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomically reduce a tile into a tensor";
  let description = "Relaxed. Elements outside are dropped." # TileGPU_TensorDescription;
  let arguments = (ins TileGPU_AtomicKindAttr:$kind, TileGPU_Tile:$value, TileGPU_Pointer:$base,
                       Variadic<I64>:$starts, Variadic<I64>:$sizes, Variadic<I64>:$strides,
                       I64Attr:$alignment, DefaultValuedAttr<I64Attr, "1">:$extent_multiple,
                       DenseBoolArrayAttr:$in_bounds, TileGPU_ScopeAttr:$scope);
  let assemblyFormat = [{
    $kind $value `,` $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]`
    `alignment` $alignment (`extent_multiple` $extent_multiple^)? `in_bounds` $in_bounds
    `scope` $scope attr-dict `:` qualified(type($value))
  }];
  let hasVerifier = 1;
}

def TileGPU_GatherOp : TileGPU_Op<"gather", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>]> {
  let summary = "load from a tile of addresses";
  let description = [{
    `contiguity` is the number of consecutive elements, along the last
    dimension, whose addresses follow each other, that share a mask value and
    start at a multiple of `alignment` bytes. Addresses are i64; a scalar address
    gives a scalar. With `scratch`, one thread loads each element and all holders
    get the same value.
  }];
  let arguments = (ins TileGPU_TileOrScalar:$addresses, Optional<TileGPU_TileOrScalar>:$mask,
                       Optional<TileGPU_TileOrScalar>:$other,
                       Optional<TileGPU_Buffer>:$scratch, I64Attr:$contiguity, I64Attr:$alignment,
                       DefaultValuedAttr<TileGPU_OrderingAttr, "::tile_gpu::Ordering::Weak">:$ordering,
                       OptionalAttr<TileGPU_ScopeAttr>:$scope);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = [{
    $addresses (`mask` $mask^)? (`other` $other^)? (`scratch` $scratch^)?
    `contiguity` $contiguity `alignment` $alignment
    (`ordering` $ordering^)? (`scope` $scope^)? attr-dict `:`
    qualified(type($addresses)) (`mask` qualified(type($mask))^)? (`other` qualified(type($other))^)?
    (`scratch` qualified(type($scratch))^)? `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_ScatterOp : TileGPU_Op<"scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "store to a tile of addresses";
  let description = "As `gather`.";
  let arguments = (ins TileGPU_TileOrScalar:$value, TileGPU_TileOrScalar:$addresses,
                       Optional<TileGPU_TileOrScalar>:$mask, I64Attr:$contiguity, I64Attr:$alignment,
                       DefaultValuedAttr<TileGPU_OrderingAttr, "::tile_gpu::Ordering::Weak">:$ordering,
                       OptionalAttr<TileGPU_ScopeAttr>:$scope);
  let assemblyFormat = [{
    $value `,` $addresses (`mask` $mask^)? `contiguity` $contiguity `alignment` $alignment
    (`ordering` $ordering^)? (`scope` $scope^)? attr-dict `:`
    qualified(type($value)) `,` qualified(type($addresses)) (`mask` qualified(type($mask))^)?
  }];
  let hasVerifier = 1;
}

def TileGPU_PrefetchLinesOp : TileGPU_Op<"prefetch_lines", [MemoryEffects<[MemWrite]>]> {
  let summary = "bring the cache lines of a tile of addresses into L2";
  let description = "Where the mask is true; a hint. Addresses are i64.";
  let arguments = (ins TileGPU_TileOrScalar:$addresses, TileGPU_TileOrScalar:$mask);
  let assemblyFormat = [{
    $addresses `mask` $mask attr-dict `:` qualified(type($addresses)) `mask` qualified(type($mask))
  }];
  let hasVerifier = 1;
}

def TileGPU_AtomicRMWOp : TileGPU_Op<"atomic_rmw", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "atomic read-modify-write at a tile of addresses";
  let description = [{
    Once for each element, by one thread; through `scratch`, all holders of the
    element get the old value. A scalar address means one transaction for the
    whole block.
  }];
  let arguments = (ins TileGPU_AtomicKindAttr:$kind, TileGPU_TileOrScalar:$addresses,
                       TileGPU_TileOrScalar:$value, Optional<TileGPU_TileOrScalar>:$mask,
                       Optional<TileGPU_Buffer>:$scratch,
                       TileGPU_OrderingAttr:$ordering, TileGPU_ScopeAttr:$scope);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = [{
    $kind $addresses `,` $value (`mask` $mask^)? (`scratch` $scratch^)?
    `ordering` $ordering `scope` $scope attr-dict `:` qualified(type($addresses)) `,` qualified(type($value))
    (`mask` qualified(type($mask))^)? (`scratch` qualified(type($scratch))^)? `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_AtomicCASOp : TileGPU_Op<"atomic_cas", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["compare", "value"]>]> {
  let summary = "atomic compare and swap at a tile of addresses";
  let description = "Compares bits. As `atomic_rmw`.";
  let arguments = (ins TileGPU_TileOrScalar:$addresses, TileGPU_TileOrScalar:$compare,
                       TileGPU_TileOrScalar:$value, Optional<TileGPU_TileOrScalar>:$mask,
                       Optional<TileGPU_Buffer>:$scratch,
                       TileGPU_OrderingAttr:$ordering, TileGPU_ScopeAttr:$scope);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = [{
    $addresses `,` $compare `,` $value (`mask` $mask^)? (`scratch` $scratch^)?
    `ordering` $ordering `scope` $scope attr-dict `:` qualified(type($addresses)) `,` qualified(type($value))
    (`mask` qualified(type($mask))^)? (`scratch` qualified(type($scratch))^)? `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_MallocOp : TileGPU_Op<"malloc", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "global memory for the block, from the device's heap";
  let description = [{
    One thread allocates, all get the address, which passes through `scratch`.
    The kernel traps if there is not enough memory.
    Example: `%p = tile_gpu.malloc bytes 1024 alignment 128`
  }];
  let arguments = (ins I64Attr:$bytes, I64Attr:$alignment, Optional<TileGPU_Buffer>:$scratch);
  let results = (outs TileGPU_Pointer:$result);
  let assemblyFormat = [{
    `bytes` $bytes `alignment` $alignment (`scratch` $scratch^ `:` qualified(type($scratch)))?
    attr-dict
  }];
}

def TileGPU_FreeOp : TileGPU_Op<"free", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "give memory of `malloc` back, when all threads have come here";
  let arguments = (ins TileGPU_Pointer:$pointer);
  let assemblyFormat = "$pointer attr-dict";
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def TileGPU_AllocOp : TileGPU_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in shared memory";
  let description = [{
    `offset`, in bytes from the start of the block's shared memory, is set by
    `allocate-shared-memory`. With `per_warp`, each warp reads only what it wrote
    itself, and `warp_barrier` orders that.
    Example: `%b = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 3>`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, UnitAttr:$per_warp);
  let results = (outs TileGPU_Buffer:$result);
  let assemblyFormat = [{
    (`per_warp` $per_warp^)? (`offset` $offset^)? attr-dict `:` qualified(type($result))
  }];
}

def TileGPU_StageOp : TileGPU_Op<"stage", [Pure]> {
  let summary = "one stage of a buffer";
  let description = "Example: `%s = tile_gpu.stage %b[%i] : !tile_gpu.buffer<..., stages = 3> -> !tile_gpu.buffer<...>`";
  let arguments = (ins TileGPU_Buffer:$source, I32:$index);
  let results = (outs TileGPU_Buffer:$result);
  let assemblyFormat = "$source `[` $index `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_ToSharedOp : TileGPU_Op<"to_shared", [Pure]> {
  let summary = "a tile's value as an operand in shared memory";
  let description = [{
    Value semantics, used before buffers are placed: `stage-operands` makes them,
    `pipeline-loads` turns those fed by loads into asynchronous copies, and
    `place-buffers` the others into stores.
  }];
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Buffer:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_LocalStoreOp : TileGPU_Op<"local_store"> {
  let summary = "write a tile to a buffer";
  let description = [{
    With `offsets`, a part of the buffer that starts there; they are multiples of
    the tile's extents.
    Example: `tile_gpu.local_store %x, %b[%i, %j] : !tile_gpu.tile<8x8xf32, #layout>,
    !tile_gpu.buffer<16x32xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$value, Arg<TileGPU_Buffer, "", [MemWrite]>:$buffer,
                       Variadic<I32>:$offsets);
  let assemblyFormat = [{
    $value `,` $buffer (`[` $offsets^ `]`)? attr-dict `:`
    qualified(type($value)) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def TileGPU_LocalLoadOp : TileGPU_Op<"local_load"> {
  let summary = "read a tile from a buffer";
  let description = "With `offsets`, a part of the buffer, as in `local_store`.";
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemRead]>:$buffer, Variadic<I32>:$offsets);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $buffer (`[` $offsets^ `]`)? attr-dict `:` qualified(type($buffer)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncLoadOp : TileGPU_Op<"async_load", [AttrSizedOperandSegments]> {
  let summary = "start copying a tile of a tensor to a buffer";
  let description = "With `cp.async`; elements outside become zero." # TileGPU_TensorDescription;
  let arguments = (ins TileGPU_Pointer:$base, Variadic<I64>:$starts, Variadic<I64>:$sizes,
                       Variadic<I64>:$strides, Arg<TileGPU_Buffer, "", [MemWrite]>:$buffer,
                       I64Attr:$alignment, DenseBoolArrayAttr:$in_bounds,
                       Optional<I1>:$predicate);
  let assemblyFormat = [{
    $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]` `,` $buffer
    (`if` $predicate^)? `alignment` $alignment `in_bounds` $in_bounds attr-dict `:` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def TileGPU_AsyncCommitOp : TileGPU_Op<"async_commit", [MemoryEffects<[MemWrite]>]> {
  let summary = "close the group of asynchronous copies started since the last one";
  let assemblyFormat = "attr-dict";
}

def TileGPU_AsyncWaitOp : TileGPU_Op<"async_wait", [MemoryEffects<[MemWrite]>]> {
  let summary = "wait until at most `pending` groups of this thread are in flight";
  let description = "Other threads see the data after a barrier. Example: `tile_gpu.async_wait 1`";
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def TileGPU_FenceAsyncOp : TileGPU_Op<"fence_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "let asynchronous operations see what this thread wrote to shared memory";
  let description = [{
    `wgmma` and tensor memory accesses read shared memory past the path of
    ordinary accesses. A fence of every writer, then a barrier, comes first.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_BarrierOp : TileGPU_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the block; orders their memory accesses";
  let assemblyFormat = "attr-dict";
}

def TileGPU_WarpBarrierOp : TileGPU_Op<"warp_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the warp; orders their memory accesses";
  let assemblyFormat = "attr-dict";
}

def TileGPU_ExitIfOp : TileGPU_Op<"exit_if", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "end all threads of the block where `condition` holds";
  let description = "It is the same for all threads, and nothing they share is in use yet.";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def TileGPU_ClusterBarrierOp : TileGPU_Op<"cluster_barrier", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the cluster";
  let description = [{
    Orders what its blocks did with mbarriers and shared memory of each other:
    before a block uses those of another, and before one ends that others use.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TILE_GPU_MEMORY_OPS_TD
