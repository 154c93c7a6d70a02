// Constants, shape manipulation, reductions, modules and entries.

#ifndef CUDA_TILE_CORE_OPS_TD
#define CUDA_TILE_CORE_OPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "CudaTileOpBase.td"

/// Operations with regions print and parse their bodies without the dialect
/// prefix.
class CudaTile_RegionOp<string mnemonic, list<Trait> traits = [OpAsmOpInterface]>
    : CudaTile_Op<mnemonic, traits> {
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "cuda_tile"; }
  }];
}

//===----------------------------------------------------------------------===//
// Module, entry, globals
//===----------------------------------------------------------------------===//

def CudaTile_ModuleOp : CudaTile_RegionOp<"module", [
    OpAsmOpInterface, IsolatedFromAbove, NoRegionArguments, SymbolTable, Symbol, NoTerminator,
    SingleBlock]> {
  let summary = "Tile IR module";
  let description = [{
    Holds entries and globals. The attribute `cuda_tile.extended` allows tile
    dimensions that are not powers of two, `inline_ptx`, `prefetch`.
    Example: `cuda_tile.module @kernels { ... }`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$producer);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`producer` $producer^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def CudaTile_EntryOp : CudaTile_RegionOp<"entry", [
    OpAsmOpInterface, IsolatedFromAbove, FunctionOpInterface, HasParent<"ModuleOp">]> {
  let summary = "kernel";
  let description = [{
    A kernel that the host launches on a grid of tile blocks. Parameters are
    rank-0 tiles of numbers or pointers; there are no results.

    ```mlir
    entry @k(%p: tile<ptr<f32>>) optimization_hints=<sm_90 = {occupancy = 2}> {
      return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "cuda_tile"; }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def CudaTile_GlobalOp : CudaTile_Op<"global", [
    DeclareOpInterfaceMethods<Symbol, ["getVisibility", "setVisibility"]>, HasParent<"ModuleOp">]> {
  let summary = "global variable";
  let description = [{
    Device memory with an initial value of rank 1; `alignment` in bytes, 0 for
    the natural one. From 13.3 on a global may be `private` to the device and `constant`.
    Example: `global private constant @g alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>`
  }];
  let arguments = (ins
      SymbolNameAttr:$sym_name, ElementsAttr:$value,
      DefaultValuedAttr<I64Attr, "0">:$alignment,
      DefaultValuedAttr<CudaTile_SymbolVisibilityAttr,
                        "::cuda_tile::SymbolVisibility::Public">:$symbol_visibility,
      UnitAttr:$constant);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_GetGlobalOp : CudaTile_Op<"get_global", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "address of a global";
  let description = "Example: `%p = get_global @g : tile<ptr<f32>>`";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs CudaTile_PtrScalar:$result);
  let assemblyFormat = "$name attr-dict `:` custom<TileIRType>(type($result))";
}

//===----------------------------------------------------------------------===//
// Constants and shape
//===----------------------------------------------------------------------===//

def CudaTile_ConstantOp : CudaTile_Op<"constant", [
    Pure, ConstantLike, CudaTile_ResultNames]> {
  let summary = "constant tile";
  let description = [{
    One value for all elements, or a nested list of values.
    Example: `%c = constant <f32: [0.5, 1.0]> : tile<2xf32>`
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs CudaTile_NumberTile:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
}

def CudaTile_IotaOp : CudaTile_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ...";
  let description = "Example: `%r = iota : tile<128xi32>`";
  let results = (outs CudaTile_IntTile:$result);
  let assemblyFormat = "attr-dict `:` custom<TileIRType>(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class CudaTile_ShapeOp<string mnemonic>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_ResultNames]> {
  let arguments = (ins CudaTile_AnyTile:$source);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_BroadcastOp : CudaTile_ShapeOp<"broadcast"> {
  let summary = "repeat along dimensions of size 1";
  let description = [{
    Ranks are equal; every source dimension is 1 or that of the result.
    Example: `%r = broadcast %x : tile<1x4xf32> -> tile<8x4xf32>`
  }];
}

def CudaTile_ReshapeOp : CudaTile_ShapeOp<"reshape"> {
  let summary = "change the shape, keeping the row-major order";
  let description = "Example: `%r = reshape %x : tile<4xf32> -> tile<2x2xf32>`";
}

def CudaTile_PermuteOp : CudaTile_Op<"permute", [Pure]> {
  let summary = "permute dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source.
    Example: `%r = permute %x [1, 0] : tile<2x4xf32> -> tile<4x2xf32>`
  }];
  let arguments = (ins CudaTile_AnyTile:$source, DenseI32ArrayAttr:$permutation);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source $permutation attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_CatOp : CudaTile_Op<"cat", [Pure]> {
  let summary = "concatenate two tiles";
  let description = [{
    Example: `%r = cat %a, %b dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>`
  }];
  let arguments = (ins CudaTile_AnyTile:$lhs, CudaTile_AnyTile:$rhs, I64Attr:$dim);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `dim` `=` custom<PlainInteger>($dim) attr-dict `:`
    custom<TileIRType>(type($lhs)) `,`
    custom<TileIRType>(type($rhs)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_ExtractOp : CudaTile_Op<"extract", CudaTile_PureWhereDefined> {
  let summary = "take one slice of a tile";
  let description = [{
    The result's dimensions divide those of the source; index k picks the k-th
    slice. Out of range is undefined.
    Example: `%r = extract %x[%i, %j] : tile<8x8xf32> -> tile<2x4xf32>`
  }];
  let arguments = (ins CudaTile_AnyTile:$source, Variadic<CudaTile_I32Scalar>:$indices);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:`
    custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_InsertOp : CudaTile_Op<"insert", !listconcat(
    CudaTile_PureWhereDefined, [AllTypesMatch<["destination", "result"]>])> {
  let summary = "replace one slice of a tile";
  let description = [{
    The inverse of `extract`: a new tile, `destination` with one slice replaced
    (13.4). Example: `%r = insert %s, %d[%i, %j] : tile<1x2xf32>, tile<2x4xf32>`
  }];
  let arguments = (ins CudaTile_AnyTile:$source, CudaTile_AnyTile:$destination,
                       Variadic<CudaTile_I32Scalar>:$indices);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $source `,` $destination `[` $indices `]` attr-dict `:`
    custom<TileIRType>(type($source)) `,` custom<TileIRType>(type($destination))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_SelectOp : CudaTile_Op<"select", [
    Pure, AllTypesMatch<["true_value", "false_value", "result"]>]> {
  let summary = "elementwise choice";
  let description = "Example: `%r = select %c, %a, %b : tile<4xi1>, tile<4xf32>`";
  let arguments = (ins CudaTile_BoolTile:$condition, CudaTile_AnyTile:$true_value,
                       CudaTile_AnyTile:$false_value);
  let results = (outs CudaTile_AnyTile:$result);
  let assemblyFormat = [{
    $condition `,` $true_value `,` $false_value attr-dict `:`
    custom<TileIRType>(type($condition)) `,` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_OffsetOp : CudaTile_Op<"offset", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "move pointers by a number of elements";
  let description = [{
    pointer + sext(offset) * sizeof(pointee), in bytes; the result of an overflow
    is undefined.
    Example: `%q = offset %p, %n : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>`
  }];
  let arguments = (ins CudaTile_PtrTile:$pointer, CudaTile_IntTile:$offset);
  let results = (outs CudaTile_PtrTile:$result);
  let assemblyFormat = [{
    $pointer `,` $offset attr-dict `:` custom<TileIRType>(type($pointer)) `,`
    custom<TileIRType>(type($offset)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_PackOp : CudaTile_Op<"pack", [Pure]> {
  let summary = "the bytes of a tile";
  let description = [{
    Little endian; elements narrower than a byte start at the low bits; i1
    counts one bit, tf32 32 bits (13.3).
    Example: `%b = pack %x : tile<4xf32> -> tile<16xi8>`
  }];
  let arguments = (ins CudaTile_PackableTile:$source);
  let results = (outs CudaTile_I8Tile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_UnpackOp : CudaTile_Op<"unpack", [Pure]> {
  let summary = "a tile from its bytes";
  let description = [{
    The inverse of `pack` (13.3). Example: `%x = unpack %b : tile<16xi8> -> tile<8xf16>`
  }];
  let arguments = (ins CudaTile_I8Tile:$source);
  let results = (outs CudaTile_PackableTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` custom<TileIRType>(type($source)) `->` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Grid, promises, debugging
//===----------------------------------------------------------------------===//

class CudaTile_GridOp<string mnemonic>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_ResultNames]> {
  let results = (outs CudaTile_I32Scalar:$x, CudaTile_I32Scalar:$y, CudaTile_I32Scalar:$z);
  let assemblyFormat = "attr-dict `:` custom<GridType>(type($x), type($y), type($z))";
}

def CudaTile_GetTileBlockIdOp : CudaTile_GridOp<"get_tile_block_id"> {
  let summary = "coordinates of this tile block in the grid";
  let description = "Example: `%x, %y, %z = get_tile_block_id : tile<i32>`";
}

def CudaTile_GetNumTileBlocksOp : CudaTile_GridOp<"get_num_tile_blocks"> {
  let summary = "size of the grid";
  let description = "Each below 2^24. Example: `%x, %y, %z = get_num_tile_blocks : tile<i32>`";
}

def CudaTile_AssumeOp : CudaTile_Op<"assume", !listconcat(
    CudaTile_PureWhereDefined, [AllTypesMatch<["value", "result"]>, CudaTile_ResultNames])> {
  let summary = "promise about a value";
  let description = [{
    Returns the value; a broken promise is undefined. The predicate is
    `div_by`, `same_elements` or `bounded`.
    Example: `%q = assume div_by<16>, %p : tile<ptr<f32>>`
  }];
  let arguments = (ins AnyAttr:$predicate,
                       AnyTypeOf<[CudaTile_AnyTile, CudaTile_TensorView]>:$value);
  let results = (outs AnyTypeOf<[CudaTile_AnyTile, CudaTile_TensorView]>:$result);
  let assemblyFormat = [{
    custom<AssumePredicate>($predicate) `,` $value attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_AssertOp : CudaTile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "run-time check";
  let description = [{
    Each false element prints the message and its index and signals an error to
    the host. Example: `assert %c, "bad" : tile<4xi1>`
  }];
  let arguments = (ins CudaTile_BoolTile:$condition, StrAttr:$message);
  let assemblyFormat = [{
    $condition `,` $message attr-dict `:` custom<TileIRType>(type($condition))
  }];
}

class CudaTile_PrintBase<string mnemonic>
    : CudaTile_Op<mnemonic, [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let arguments = (ins StrAttr:$str, Variadic<CudaTile_PrintableTile>:$args,
                       Optional<CudaTile_Token>:$token);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_PrintTkoOp : CudaTile_PrintBase<"print_tko"> {
  let summary = "formatted print";
  let description = [{
    A C format string with one conversion per operand (13.2).
    Example: `%t = print_tko "x=%f\n", %x token=%t0 : tile<4xf32> -> token`
  }];
  let results = (outs CudaTile_Token:$result_token);
}

def CudaTile_PrintOp : CudaTile_PrintBase<"print"> {
  let summary = "`print_tko` of 13.1, without tokens";
  let description = "Example: `print \"x=%f\\n\", %x : tile<4xf32>`";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class CudaTile_AggregateOp<string mnemonic, Trait names> : CudaTile_RegionOp<mnemonic, [
    names, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<CudaTile_NumberTile>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def CudaTile_ReduceOp : CudaTile_AggregateOp<"reduce", DeclareOpInterfaceMethods<
    OpAsmOpInterface, ["getAsmResultNames", "getAsmBlockArgumentNames"]>> {
  let summary = "reduce along one dimension";
  let description = [{
    Drops dimension `dim`. The body combines, for each operand, an element and
    an accumulator (both rank 0); it must be associative. The order is
    unspecified, and the identity may take part any number of times.

    ```mlir
    %r = reduce %x dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
    (%element: tile<f32>, %accumulator: tile<f32>) {
      %s = addf %element, %accumulator : tile<f32>
      yield %s : tile<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<CudaTile_NumberTile>:$operands, I64Attr:$dim,
                       ArrayAttr:$identities);
}

def CudaTile_ScanOp : CudaTile_AggregateOp<"scan", OpAsmOpInterface> {
  let summary = "inclusive prefix along one dimension";
  let description = [{
    As `reduce`, but keeps every partial result; `reverse` runs from the high
    end of the dimension.

    ```mlir
    %r = scan %x dim=1 reverse=false identities=[0.0 : f32] : tile<2x8xf32> -> tile<2x8xf32>
    (%element: tile<f32>, %accumulator: tile<f32>) { ... yield ... }
    ```
  }];
  let arguments = (ins Variadic<CudaTile_NumberTile>:$operands, I64Attr:$dim, BoolAttr:$reverse,
                       ArrayAttr:$identities);
}

#endif // CUDA_TILE_CORE_OPS_TD
