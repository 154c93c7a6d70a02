// Views of tensors in memory, and loads and stores of whole tiles.

#ifndef CUDA_TILE_VIEW_OPS_TD
#define CUDA_TILE_VIEW_OPS_TD

include "CudaTileMemoryOps.td"

def CudaTile_MakeTensorViewOp : CudaTile_Op<"make_tensor_view", [
    Pure, AttrSizedOperandSegments, CudaTile_ResultNames]> {
  let summary = "describe a tensor in memory";
  let description = [{
    One operand per dynamic dimension, then one per dynamic stride, all of one
    integer type and read as unsigned. Strides count elements.

    ```mlir
    %v = make_tensor_view %p, shape = [%n, 64], strides = [%s, 1]
      : tile<i32> -> tensor_view<?x64xf32, strides=[?,1]>
    ```
  }];
  let arguments = (ins CudaTile_PtrScalar:$base, Variadic<CudaTile_IntScalar>:$dynamic_shape,
                       Variadic<CudaTile_IntScalar>:$dynamic_strides);
  let results = (outs CudaTile_TensorView:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

class CudaTile_MakeViewOp<string mnemonic, Type view>
    : CudaTile_Op<mnemonic, [Pure, CudaTile_ResultNames]> {
  let arguments = (ins CudaTile_TensorView:$tensor_view);
  let results = (outs view:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_MakePartitionViewOp
    : CudaTile_MakeViewOp<"make_partition_view", CudaTile_PartitionView> {
  let summary = "cut a tensor into tiles";
  let description = [{
    Example: `%pv = make_partition_view %v : partition_view<tile=(8x16), tensor_view<...>>`
  }];
}

def CudaTile_MakeStridedViewOp : CudaTile_MakeViewOp<"make_strided_view", CudaTile_StridedView> {
  let summary = "cut a tensor into tiles at a given pace";
  let description = [{
    Tiles may overlap or leave gaps (13.3).

    ```mlir
    %v = make_strided_view %t
      : strided_view<tile=(8x16), traversal_strides=[4,3], tensor_view<...>>
    ```
  }];
}

def CudaTile_MakeGatherScatterViewOp
    : CudaTile_MakeViewOp<"make_gather_scatter_view", CudaTile_GatherScatterView> {
  let summary = "view with one dimension indexed by a tile";
  let description = [{
    Rows, say, in any order (13.3).

    ```mlir
    %v = make_gather_scatter_view %t
      : gather_scatter_view<tile=(4x16), tensor_view<...>, sparse_dim=0>
    ```
  }];
}

def CudaTile_GetIndexSpaceShapeOp : CudaTile_Op<"get_index_space_shape", [Pure]> {
  let summary = "number of tiles along each dimension";
  let description = [{
    Example: `%d:2 = get_index_space_shape %pv : partition_view<...> -> tile<i64>`
  }];
  let arguments = (ins CudaTile_TileView:$view);
  let results = (outs Variadic<CudaTile_IntScalar>:$results);
  let assemblyFormat = [{
    $view attr-dict `:` custom<TileIRType>(type($view)) `->`
    custom<OneTypeForAll>(type($results), ref(type($view)))
  }];
  let hasVerifier = 1;
}

def CudaTile_GetTensorShapeOp : CudaTile_Op<"get_tensor_shape", [Pure]> {
  let summary = "shape of a tensor view";
  let description = [{
    Example: `%d:2 = get_tensor_shape %v : tensor_view<...> -> tile<i32>`
  }];
  let arguments = (ins CudaTile_TensorView:$view);
  let results = (outs Variadic<CudaTile_IntScalar>:$results);
  let assemblyFormat = [{
    $view attr-dict `:` custom<TileIRType>(type($view)) `->`
    custom<OneTypeForAll>(type($results), ref(type($view)))
  }];
  let hasVerifier = 1;
}

def CudaTile_LoadViewTkoOp : CudaTile_Op<"load_view_tko", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "load a tile";
  let description = [{
    Elements outside the tensor get the view's padding value. An index outside
    the index space is undefined. `inbounds` (13.4) promises, per dimension,
    that the tile lies inside.

    ```mlir
    %x, %t = load_view_tko weak %pv[%i, %j] token = %t0 inbounds = [true, false]
      : partition_view<...>, tile<i32> -> tile<8x16xf32>, token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_TileView:$view, Variadic<CudaTile_IntTile>:$index,
                       Optional<CudaTile_Token>:$token,
                       OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_NumberTile:$tile, CudaTile_Token:$result_token);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def CudaTile_StoreViewTkoOp : CudaTile_Op<"store_view_tko", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "store a tile";
  let description = [{
    Elements outside the tensor are dropped. An index, which is unsigned,
    outside the index space is undefined; a GPU may trap.

    ```mlir
    %t = store_view_tko weak %x, %pv[%i, %j] token = %t0
      : tile<8x16xf32>, partition_view<...>, tile<i32> -> token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_NumberTile:$tile, CudaTile_TileView:$view,
                       Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
                       OptionalAttr<CudaTile_OptimizationHintsAttr>:$optimization_hints,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def CudaTile_AtomicRedViewTkoOp : CudaTile_AtomicOp<"atomic_red_view_tko"> {
  let summary = "atomic reduction of a tile into memory";
  let description = [{
    Relaxed, without result values, on a partition or strided view. Elements
    outside the tensor are dropped (13.3; `inbounds` from 13.5).

    ```mlir
    %t = atomic_red_view_tko relaxed device %pv[%i, %j], addf, %v token = %t0
      : tile<8x16xf32>, partition_view<...>, tile<i32> -> token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       CudaTile_MemoryScopeAttr:$memory_scope, CudaTile_AtomicRMWModeAttr:$mode,
                       CudaTile_TileView:$view, Variadic<CudaTile_IntTile>:$index,
                       CudaTile_NumberTile:$tile, Optional<CudaTile_Token>:$token,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
}

//===----------------------------------------------------------------------===//
// Multicast objects (13.5)
//===----------------------------------------------------------------------===//

def CudaTile_MultimemLoadReduceViewTkoOp
    : CudaTile_AtomicOp<"multimem_load_reduce_view_tko", [CudaTile_ResultNames]> {
  let summary = "load a tile reduced over the devices of a multicast object";
  let description = [{
    From a partition view of a multicast pointer (13.5; sm_100 and later).
    Elements are i32, i64, f16, bf16, f32 or f64; floats know `add`, and f16 and
    bf16 `min` and `max`.

    ```mlir
    %x, %t = multimem_load_reduce_view_tko relaxed sys %pv[%i, %j]
      : partition_view<...>, tile<i32> -> tile<8x16xf32>, token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_MultimemReductionAttr:$reduction,
                       CudaTile_TileView:$view, Variadic<CudaTile_IntTile>:$index,
                       Optional<CudaTile_Token>:$token,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_NumberTile:$tile, CudaTile_Token:$result_token);
}

def CudaTile_MultimemReduceViewTkoOp : CudaTile_AtomicOp<"multimem_reduce_view_tko"> {
  let summary = "reduce a tile into a multicast object";
  let description = [{
    On every device (13.5; sm_100 and later). Elements as in
    `multimem_load_reduce_view_tko`; floats know `add` only. Relaxed or release.

    ```mlir
    %t = multimem_reduce_view_tko relaxed sys %pv, %x[%i, %j]
      : partition_view<...>, tile<8x16xf32>, tile<i32> -> token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       CudaTile_MemoryScopeAttr:$memory_scope,
                       CudaTile_MultimemReductionAttr:$reduction,
                       CudaTile_TileView:$view, CudaTile_NumberTile:$tile,
                       Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
}

def CudaTile_MultimemStoreViewTkoOp : CudaTile_AtomicOp<"multimem_store_view_tko"> {
  let summary = "store a tile to all devices of a multicast object";
  let description = [{
    13.5; sm_100 and later. Weak, relaxed or release.

    ```mlir
    %t = multimem_store_view_tko weak %pv, %x[%i, %j]
      : partition_view<...>, tile<8x16xf32>, tile<i32> -> token
    ```
  }];
  let arguments = (ins CudaTile_MemoryOrderingAttr:$memory_ordering_semantics,
                       OptionalAttr<CudaTile_MemoryScopeAttr>:$memory_scope,
                       CudaTile_TileView:$view, CudaTile_NumberTile:$tile,
                       Variadic<CudaTile_IntTile>:$index, Optional<CudaTile_Token>:$token,
                       OptionalAttr<DenseBoolArrayAttr>:$inbounds);
  let results = (outs CudaTile_Token:$result_token);
}

#endif // CUDA_TILE_VIEW_OPS_TD
