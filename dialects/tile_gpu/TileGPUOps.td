// Operations of the tile_gpu dialect.

#ifndef TILE_GPU_OPS_TD
#define TILE_GPU_OPS_TD

include "TileGPUBase.td"
include "TileGPUMemoryOps.td"
include "TileGPUTensorMemoryOps.td"

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
    digit of the dimension; the dimension then stays, with that size. Lanes that
    have parts of the same results all get them, or, where the result's layout
    has lanes of the dimension in another one, share them out.

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
