// Operations of the tile_gpu dialect.

#ifndef TILE_GPU_OPS_TD
#define TILE_GPU_OPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "TileGPUTypes.td"

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

def TileGPU_SplatOp : TileGPU_Op<"splat", [Pure]> {
  let summary = "tile of one value";
  let description = "Example: `%t = tile_gpu.splat %x : f32 -> !tile_gpu.tile<64x32xf32>`";
  let arguments = (ins TileGPU_Scalar:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_IotaOp : TileGPU_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ... along the only dimension";
  let description = "Example: `%t = tile_gpu.iota : !tile_gpu.tile<128xi32>`";
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

class TileGPU_ShapeOp<string mnemonic> : TileGPU_Op<mnemonic, [Pure]> {
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_BroadcastOp : TileGPU_ShapeOp<"broadcast"> {
  let summary = "repeat along dimensions of size 1";
  let description = [{
    Moves no data: every thread that needs an element holds it, since the source
    has no digits in the repeated dimensions.
  }];
}

def TileGPU_ReshapeOp : TileGPU_ShapeOp<"reshape"> {
  let summary = "change the shape, keeping the row-major order";
  let description = "Moves no data: the digits are grouped anew.";
}

def TileGPU_ConvertLayoutOp : TileGPU_ShapeOp<"convert_layout"> {
  let summary = "give a tile another layout";
  let description = "Through shared memory, unless both layouts put the elements in the same places.";
}

def TileGPU_PermuteOp : TileGPU_Op<"permute", [Pure]> {
  let summary = "permute dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source. Moves
    no data. Example:
    `%t = tile_gpu.permute %x [1, 0] : !tile_gpu.tile<2x4xf32> -> !tile_gpu.tile<4x2xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_ExtractScalarOp : TileGPU_Op<"extract_scalar", [Pure]> {
  let summary = "the element of a tile with one element";
  let description = "Example: `%x = tile_gpu.extract_scalar %t : !tile_gpu.tile<1x1xf32> -> f32`";
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Scalar:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_ExtractOp : TileGPU_Op<"extract", [Pure]> {
  let summary = "one slice of a tile";
  let description = [{
    The extents of the result divide those of the source; `indices` are the
    numbers of the slice. Through shared memory. Example:
    `%r = tile_gpu.extract %x[%i, %j] : !tile_gpu.tile<16x32xf32> -> !tile_gpu.tile<8x8xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$source, Variadic<I32>:$indices);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_InsertOp : TileGPU_Op<"insert", [Pure, AllTypesMatch<["destination", "result"]>]> {
  let summary = "a tile with one slice replaced";
  let description = [{
    As `extract`. Example:
    `%r = tile_gpu.insert %s, %x[%i, %j] : !tile_gpu.tile<8x8xf32>, !tile_gpu.tile<16x32xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$source, TileGPU_Tile:$destination, Variadic<I32>:$indices);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $source `,` $destination `[` $indices `]` attr-dict `:`
    qualified(type($source)) `,` qualified(type($destination))
  }];
  let hasVerifier = 1;
}

def TileGPU_CatOp : TileGPU_Op<"cat", [Pure]> {
  let summary = "two tiles, one after the other";
  let description = [{
    Through shared memory. Example: `%r = tile_gpu.cat %a, %b dim 0 :
    !tile_gpu.tile<8xf32>, !tile_gpu.tile<8xf32> -> !tile_gpu.tile<16xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$lhs, TileGPU_Tile:$rhs, I64Attr:$dim);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `dim` $dim attr-dict `:`
    qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_ReinterpretOp : TileGPU_Op<"reinterpret", [Pure]> {
  let summary = "read the bits of neighbouring elements as elements of another width";
  let description = [{
    Rank 1, little endian; i1 counts one bit. One width divides the other, and a
    thread holds the narrow elements of each wide one. Example:
    `%b = tile_gpu.reinterpret %x : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<256xi8>`
  }];
  let arguments = (ins TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def TileGPU_CastOp : TileGPU_Op<"cast", [Pure]> {
  let summary = "convert each element";
  let description = [{
    What the operations of `arith` for conversions do; those take vectors and
    tensors only. Example:
    `%r = tile_gpu.cast <truncf> %x : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf16>`
  }];
  let arguments = (ins TileGPU_CastKindAttr:$kind, TileGPU_Tile:$source);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $kind $source attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_SelectOp : TileGPU_Op<"select", [
    Pure, AllTypesMatch<["true_value", "false_value", "result"]>]> {
  let summary = "choose between two tiles, element by element";
  let description = [{
    As `arith.select`, which takes vectors and tensors only. Example:
    `%r = tile_gpu.select %c, %a, %b : !tile_gpu.tile<64xi1>, !tile_gpu.tile<64xf32>`
  }];
  let arguments = (ins TileGPU_Tile:$condition, TileGPU_Tile:$true_value,
                       TileGPU_Tile:$false_value);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $condition `,` $true_value `,` $false_value attr-dict `:`
    qualified(type($condition)) `,` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_CallOp : TileGPU_Op<"call", [Pure]> {
  let summary = "apply an LLVM intrinsic or a libdevice function to each element";
  let description = [{
    `callee` is an intrinsic (`llvm.nvvm.add.rz.f`) or a function of libdevice
    (`__nv_sinf`). All operands and the result have one shape and layout.
    Example: `%r = tile_gpu.call "__nv_sinf"(%x) : (!tile_gpu.tile<64xf32>) -> !tile_gpu.tile<64xf32>`
  }];
  let arguments = (ins StrAttr:$callee, Variadic<TileGPU_TileOrScalar>:$operands);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let hasVerifier = 1;
}

def TileGPU_InlinePtxOp : TileGPU_Op<"inline_ptx", [Pure]> {
  let summary = "apply PTX instructions to each element";
  let description = [{
    `$0` is the result, `$1`, `$2`, ... are the operands; `constraints` are those
    of LLVM inline assembly. The instructions must have no side effects.
    Example: `%r = tile_gpu.inline_ptx "tanh.approx.f32 $0, $1;" "=f,f" (%x)
    : (!tile_gpu.tile<64xf32>) -> !tile_gpu.tile<64xf32>`
  }];
  let arguments = (ins StrAttr:$ptx, StrAttr:$constraints,
                       Variadic<TileGPU_TileOrScalar>:$operands);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = [{
    $ptx $constraints `(` $operands `)` attr-dict `:`
    functional-type($operands, results)
  }];
  let hasVerifier = 1;
}

def TileGPU_FToFOp : TileGPU_Op<"ftof", [Pure]> {
  let summary = "convert between float formats that `arith` cannot";
  let description = [{
    To and from the 8-bit formats and tf32, and narrowing in a rounding mode.
    `rounding` is that of PTX `cvt`: `rn`, `rz`, `rm`, `rp`, `rna`.
    Example: `%r = tile_gpu.ftof %x "rn" : !tile_gpu.tile<64xf32> -> !tile_gpu.tile<64xf8E4M3FN>`
  }];
  let arguments = (ins TileGPU_TileOrScalar:$source, StrAttr:$rounding);
  let results = (outs TileGPU_TileOrScalar:$result);
  let assemblyFormat = "$source $rounding attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class TileGPU_AggregateOp<string mnemonic> : TileGPU_Op<mnemonic, [
    RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
}

def TileGPU_ReduceOp : TileGPU_AggregateOp<"reduce"> {
  let summary = "reduce along one dimension";
  let description = [{
    The body takes, for each operand, an element and an accumulator, and yields
    the new accumulators. `within_warp` leaves one partial result for each warp
    digit of the dimension; the dimension then stays, with that size.

    ```mlir
    %r = tile_gpu.reduce %x dim 1 identities [0.0 : f32] {
    ^bb0(%e: f32, %a: f32):
      %s = arith.addf %e, %a : f32
      tile_gpu.yield %s : f32
    } : (!tile_gpu.tile<4x64xf32>) -> !tile_gpu.tile<4xf32>
    ```
  }];
  let arguments = (ins Variadic<TileGPU_Tile>:$operands, I64Attr:$dim, ArrayAttr:$identities,
                       UnitAttr:$within_warp);
  let results = (outs Variadic<TileGPU_TileOrScalar>:$results);
  let assemblyFormat = [{
    $operands `dim` $dim `identities` $identities (`within_warp` $within_warp^)? $body attr-dict
    `:` functional-type($operands, results)
  }];
}

def TileGPU_ScanOp : TileGPU_AggregateOp<"scan"> {
  let summary = "inclusive prefix along one dimension";
  let description = "As `reduce`; no warp digits may lie in the dimension.";
  let arguments = (ins Variadic<TileGPU_Tile>:$operands, I64Attr:$dim, ArrayAttr:$identities,
                       UnitAttr:$reverse);
  let results = (outs Variadic<TileGPU_Tile>:$results);
  let assemblyFormat = [{
    $operands `dim` $dim `identities` $identities (`reverse` $reverse^)? $body attr-dict
    `:` functional-type($operands, results)
  }];
}

def TileGPU_YieldOp : TileGPU_Op<"yield", [Pure, Terminator, ReturnLike,
                                           ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "end of a combiner";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` qualified(type($operands)))? attr-dict";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

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
                       OptionalAttr<TileGPU_ScopeAttr>:$scope);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $base `[` $starts `]` `sizes` `[` $sizes `]` `strides` `[` $strides `]`
    (`padding` $padding^)? `alignment` $alignment
    (`extent_multiple` $extent_multiple^)? `in_bounds` $in_bounds
    (`ordering` $ordering^)? (`scope` $scope^)? attr-dict `:` qualified(type($result))
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
    `allocate-shared-memory`.
    Example: `%b = tile_gpu.alloc : !tile_gpu.buffer<128x64xf16, swizzle = 128, stages = 3>`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs TileGPU_Buffer:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` qualified(type($result))";
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
    goes to the address `slot`. Example:
    `%m = tile_gpu.tensor_map %p sizes[%m, %k] strides[%s, %one]
    : !tile_gpu.tensor_map<64x64xf16, swizzle = 128>`
  }];
  let arguments = (ins TileGPU_Pointer:$base, Variadic<I64>:$sizes, Variadic<I64>:$strides,
                       Optional<I64>:$rows, Optional<I64>:$slot,
                       Optional<TileGPU_Buffer>:$scratch);
  let results = (outs TileGPU_TensorMap:$result);
  let assemblyFormat = [{
    $base `sizes` `[` $sizes `]` `strides` `[` $strides `]` (`rows` $rows^)? (`slot` $slot^)?
    (`scratch` $scratch^)? attr-dict `:` qualified(type($result)) (`,` qualified(type($scratch))^)?
  }];
  let hasVerifier = 1;
}

def TileGPU_PrefetchMapOp : TileGPU_Op<"prefetch_map", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fetch a tensor map that the launcher made, before the first access needs it";
  let arguments = (ins TileGPU_TensorMap:$map);
  let assemblyFormat = "$map attr-dict `:` qualified(type($map))";
}

def TileGPU_AcquireMapSlotOp : TileGPU_Op<"acquire_map_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "global memory for `count` tensor maps that no other running block uses";
  let description = [{
    One thread takes it from the kernel's pool; all get its address through
    `scratch`. Example:
    `%slot = tile_gpu.acquire_map_slot 3 scratch %s : !tile_gpu.buffer<1xi64>`
  }];
  let arguments = (ins I64Attr:$count, TileGPU_Buffer:$scratch);
  let results = (outs I64:$result);
  let assemblyFormat = "$count `scratch` $scratch attr-dict `:` qualified(type($scratch))";
  let hasVerifier = 1;
}

def TileGPU_ReleaseMapSlotOp : TileGPU_Op<"release_map_slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "give back what `acquire_map_slot` gave";
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
    Elements outside the tensor are dropped. The copies may still read shared
    memory afterwards, see `tma_store_wait`.
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
    Other threads may use them after a `barrier`.
    Example: `tile_gpu.mbarrier_init %b, %count : !tile_gpu.buffer<1xi64, stages = 4>`
  }];
  let arguments = (ins Arg<TileGPU_Buffer, "", [MemWrite]>:$barrier, I32:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
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
    `producer`. Barriers inside `consumers` are among its warps. `registers` are
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

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

def TileGPU_DotOp : TileGPU_Op<"dot", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product plus accumulator";
  let description = [{
    lhs is M x K, rhs K x N, both in registers or in shared memory; or all three
    have a batch dimension in front.
    `instruction`, set by `choose-products`, says how: scalar multiply-adds,
    `mma.sync` of a warp, or `wgmma` of four warps. A product `in_flight` has
    been issued only: its result may go to another product or to `dot_wait`.
    A `promoted` product is summed on its own before it is added to `acc`.
    `lhs_unsigned`, `rhs_unsigned` say how 8-bit integers are read; `fast_acc`
    lets fp8 keep the accumulator of the tensor core.

    ```mlir
    %d = tile_gpu.dot %a, %b, %c : !tile_gpu.buffer<64x32xf16, swizzle = 64>,
        !tile_gpu.buffer<32x64xf16, swizzle = 128>, !tile_gpu.tile<64x64xf32, #mma>
    ```
  }];
  let arguments = (ins Arg<TileGPU_TileOrBuffer, "", [MemRead]>:$lhs,
                       Arg<TileGPU_TileOrBuffer, "", [MemRead]>:$rhs, TileGPU_Tile:$acc,
                       UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned, UnitAttr:$fast_acc,
                       OptionalAttr<TileGPU_InstructionAttr>:$instruction, UnitAttr:$in_flight,
                       UnitAttr:$promoted);
  let results = (outs TileGPU_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc
    oilist(`lhs_unsigned` $lhs_unsigned | `rhs_unsigned` $rhs_unsigned | `fast_acc` $fast_acc
           | `in_flight` $in_flight | `promoted` $promoted)
    (`instruction` $instruction^)?
    attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `,` qualified(type($acc))
  }];
  let hasVerifier = 1;
}

def TileGPU_DotWaitOp : TileGPU_Op<"dot_wait", [
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "wait until at most `pending` products of this thread are in flight";
  let description = [{
    The accumulators of products that are done then pass through and become
    readable. Example: `%r = tile_gpu.dot_wait 0, %d : !tile_gpu.tile<64x64xf32>`
  }];
  let arguments = (ins I64Attr:$pending, Variadic<TileGPU_Tile>:$operands);
  let results = (outs Variadic<TileGPU_Tile>:$results);
  let assemblyFormat = "$pending (`,` $operands^ `:` qualified(type($operands)))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def TileGPU_PrintOp : TileGPU_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "formatted print, once for the block";
  let description = [{
    A tile prints all its elements, in nested brackets; `place-buffers` puts it
    into a buffer, from where one thread prints it.
  }];
  let arguments = (ins StrAttr:$format, Variadic<TileGPU_Printable>:$operands);
  let assemblyFormat = "$format (`,` $operands^ `:` qualified(type($operands)))? attr-dict";
}

def TileGPU_AssertOp : TileGPU_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "print a message and trap where an element is false";
  let arguments = (ins TileGPU_TileOrScalar:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` qualified(type($condition))";
}

#endif // TILE_GPU_OPS_TD
