// Memory operations. Order between them exists only through tokens.

#ifndef CUDA_TILE_MEMORY_OPS_TD
#define CUDA_TILE_MEMORY_OPS_TD

include "CudaTileOpBase.td"

def CudaTile_MakeTokenOp : CudaTile_Op<"make_token", [Pure]> {
  let summary = "a token ordered after nothing";
  let description = "Example: `%t = make_token : token`";
  let results = (outs CudaTile_Token:$result);
  let assemblyFormat = "attr-dict `:` custom<TileIRType>(type($result))";
}

def CudaTile_JoinTokensOp : CudaTile_Op<"join_tokens", [Pure]> {
  let summary = "a token ordered after all its operands";
  let description = "Example: `%t = join_tokens %a, %b : token`";
  let arguments = (ins Variadic<CudaTile_Token>:$tokens);
  let results = (outs CudaTile_Token:$result);
  let assemblyFormat = "$tokens attr-dict `:` custom<TileIRType>(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CudaTile_LoadPtrTkoOp : CudaTile_Op<"load_ptr_tko", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gather";
  let description = [{
    Loads one element per pointer. Elements whose mask is false get the padding
    (unspecified without one). Addresses must be aligned to the element.
    Ordering: weak, relaxed or acquire; a scope goes with all but weak.

    ```mlir
    %v, %t = load_ptr_tko acquire device %p, %m, %pad token=%t0
      : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_PtrTile:$source, Optional<CudaTile_BoolTile>:$mask,
                       Optional<CudaTile_NumberTile>:$padding_value,
                       Optional<CudaTile_Token>:$token,
                       OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
  let results = (outs CudaTile_NumberTile:$result, CudaTile_Token:$result_token);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def CudaTile_StorePtrTkoOp : CudaTile_Op<"store_ptr_tko", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "scatter";
  let description = [{
    Stores one element per pointer whose mask is true. Ordering: weak, relaxed
    or release. Elements with one address race.

    ```mlir
    %t = store_ptr_tko weak %p, %v, %m token=%t0
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_PtrTile:$destination, CudaTile_NumberTile:$value,
                       Optional<CudaTile_BoolTile>:$mask, Optional<CudaTile_Token>:$token,
                       OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints);
  let results = (outs CudaTile_Token:$result_token);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_AllocaOp : CudaTile_Op<"alloca"> {
  let summary = "scratch memory";
  let description = [{
    Valid until the enclosing block ends; private to the tile thread unless
    `global` (13.3).
    Example: `%p = alloca num_elem = 64, alignment = 128 global : tile<ptr<f32>>`
  }];
  let arguments = (ins I64Attr:$num_elem, I64Attr:$alignment, UnitAttr:$global);
  let results = (outs Res<CudaTile_PtrScalar, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    `num_elem` `=` custom<PlainInteger>($num_elem) `,`
    `alignment` `=` custom<PlainInteger>($alignment)
    (`global` $global^)? attr-dict `:` custom<TileIRType>(type($result))
  }];
  let hasVerifier = 1;
}

class CudaTile_GridDependencyOp<string mnemonic>
    : CudaTile_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = [{
    (`token` `=` $token^)? attr-dict `->` custom<TileIRType>(type($result_token))
  }];
}

def CudaTile_GdcLaunchDependentsTkoOp : CudaTile_GridDependencyOp<"gdc_launch_dependents_tko"> {
  let summary = "let dependent grids start";
  let description = [{
    Programmatic dependent launch (13.4); no effect below sm_90, nor unless the
    dependent grid was launched with the attribute for it.
    Example: `%t = gdc_launch_dependents_tko token = %t0 -> token`
  }];
}

def CudaTile_GdcWaitTkoOp : CudaTile_GridDependencyOp<"gdc_wait_tko"> {
  let summary = "wait for the grids this one depends on";
  let description = [{
    Programmatic dependent launch (13.4). What those grids wrote is visible to
    operations ordered after the token. Example: `%t = gdc_wait_tko -> token`
  }];
}

def CudaTile_MemoryFenceAliasTkoOp : CudaTile_Op<"memory_fence_alias_tko",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "fence between aliases of one buffer";
  let description = [{
    Orders accesses to one buffer through different mappings, such as a unicast
    and a multicast one (13.4). Example: `%t = memory_fence_alias_tko %t0`
  }];
  let arguments = (ins CudaTile_Token:$token);
  let results = (outs CudaTile_Token:$result_token);
  let assemblyFormat = "$token attr-dict";
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

class CudaTile_AtomicOp<string mnemonic, list<Trait> traits = []>
    : CudaTile_Op<mnemonic, !listconcat([
          AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>], traits)> {
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_AtomicCASTkoOp : CudaTile_AtomicOp<"atomic_cas_tko"> {
  let summary = "atomic compare and swap";
  let description = [{
    Compares bits and returns the old value; an element whose mask is false
    returns its `cmp`.

    ```mlir
    %o, %t = atomic_cas_tko acq_rel device %p, %c, %v
      : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       CudaTile_MemoryScopeAttr:$memory_scope, CudaTile_PtrTile:$pointers,
                       CudaTile_NumberTile:$cmp, CudaTile_NumberTile:$val,
                       Optional<CudaTile_BoolTile>:$mask, Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_NumberTile:$result, CudaTile_Token:$result_token);
}

def CudaTile_AtomicRMWTkoOp : CudaTile_AtomicOp<"atomic_rmw_tko"> {
  let summary = "atomic read-modify-write";
  let description = [{
    One atomic transaction per element; returns the old values.

    ```mlir
    %o, %t = atomic_rmw_tko relaxed device %p, addf, %v, %m token=%t0
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       CudaTile_MemoryScopeAttr:$memory_scope, CudaTile_AtomicRMWModeAttr:$mode,
                       CudaTile_PtrTile:$pointers, CudaTile_NumberTile:$arg,
                       Optional<CudaTile_BoolTile>:$mask, Optional<CudaTile_Token>:$token);
  let results = (outs CudaTile_NumberTile:$result, CudaTile_Token:$result_token);
}

#endif // CUDA_TILE_MEMORY_OPS_TD
