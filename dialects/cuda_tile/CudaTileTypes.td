// Types. Their text is written without the dialect prefix inside the
// operations of this dialect: `tile<64x32xf16>` for `!cuda_tile.tile<64x32xf16>`.

#ifndef CUDA_TILE_TYPES_TD
#define CUDA_TILE_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/BuiltinTypes.td"
include "CudaTileAttrs.td"

class CudaTile_TypeDef<string name, string mnemonic_, list<Trait> traits = []>
    : TypeDef<CudaTile_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def CudaTile_F8E5M3FNUType : CudaTile_TypeDef<"F8E5M3FNU", "fnv8E5M3FNU"> {
  let summary = "unsigned 8-bit float with 5 exponent and 3 mantissa bits";
  let description = "Scale type of `mmaf_scaled` on sm_107 (13.4, preview). All ones is NaN.";
}

def CudaTile_PtrType : CudaTile_TypeDef<"Ptr", "ptr"> {
  let summary = "pointer to global memory";
  let description = [{
    The element type of a tile of 64-bit global addresses: `tile<8xptr<f32>>`.
    From 13.4 on a pointer may name the mapping it goes through:
    `ptr<f32, <multicast>>`.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, OptionalParameter<"PtrKindAttr">:$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def CudaTile_TileType : CudaTile_TypeDef<"Tile", "tile",
    [DeclareTypeInterfaceMethods<ShapedTypeInterface, ["cloneWith", "hasRank", "getShape"]>,
     ValueSemantics]> {
  let summary = "tile";
  let description = [{
    A tile of statically known shape: `tile<64x32xf16>`; a scalar is a tile of
    rank 0, `tile<f32>`. At most 2^24 elements; every dimension is a power of
    two, unless the module is marked `cuda_tile.extended`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                                      "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxElements = int64_t(1) << 24;
    /// The same shape with another element type.
    TileType withElementType(::mlir::Type elementType) const {
      return TileType::get(getShape(), elementType);
    }
  }];
}

def CudaTile_TokenType : CudaTile_TypeDef<"Token", "token"> {
  let summary = "token";
  let description = "Orders memory operations; no value at run time.";
}

def CudaTile_TensorViewType : CudaTile_TypeDef<"TensorView", "tensor_view"> {
  let summary = "tensor view";
  let description = [{
    A tensor in global memory: element type, shape, strides in elements. `?`
    stands for a value known at run time. Example:
    `tensor_view<?x64xf32, strides=[?,1]>`.
  }];
  let parameters = (ins "::mlir::Type":$elementType, ArrayRefParameter<"int64_t">:$shape,
                        ArrayRefParameter<"int64_t">:$strides,
                        OptionalParameter<"PtrKindAttr">:$kind);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    unsigned getNumDynamicDims() const;
    unsigned getNumDynamicStrides() const;
  }];
}

class CudaTile_ViewType<string name, string mnemonic_> : CudaTile_TypeDef<name, mnemonic_> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def CudaTile_PartitionViewType : CudaTile_ViewType<"PartitionView", "partition_view"> {
  let summary = "partition view";
  let description = [{
    A tensor cut into a grid of tiles. Tile dimension `i` walks tensor dimension
    `dim_map[i]`. Loads of elements outside the tensor give `padding_value`
    (unspecified without one), stores drop them.

    ```mlir
    partition_view<tile=(64x32), padding_value = zero, tensor_view<?x?xf16, strides=[?,1]>,
                   dim_map=[1, 0]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$tileShape, "TensorViewType":$tensorView,
                        ArrayRefParameter<"int32_t">:$dimMap,
                        OptionalParameter<"PaddingValueAttr">:$paddingValue);
}

def CudaTile_StridedViewType : CudaTile_ViewType<"StridedView", "strided_view"> {
  let summary = "strided view";
  let description = [{
    As a partition view, but consecutive indices lie `traversal_strides[i]`
    elements apart, so that tiles may overlap or leave gaps (13.3).
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$tileShape,
                        ArrayRefParameter<"int32_t">:$traversalStrides,
                        "TensorViewType":$tensorView, ArrayRefParameter<"int32_t">:$dimMap,
                        OptionalParameter<"PaddingValueAttr">:$paddingValue);
}

def CudaTile_GatherScatterViewType
    : CudaTile_ViewType<"GatherScatterView", "gather_scatter_view"> {
  let summary = "gather/scatter view";
  let description = [{
    Along `sparse_dim` the index is a 1-D tile of element positions; along the
    other dimensions it is the position of the tile's first element, so that
    tiles may start anywhere, unlike those of a partition view (13.3).
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$tileShape, "TensorViewType":$tensorView,
                        "int32_t":$sparseDim, OptionalParameter<"PaddingValueAttr">:$paddingValue);
}

//===----------------------------------------------------------------------===//
// Constraints on operands and results
//===----------------------------------------------------------------------===//

class CudaTile_TileOf<string elementPredicate, string summary>
    : Type<CPred<"::llvm::isa<::cuda_tile::TileType>($_self) && [](::mlir::Type e) { return "
                 # elementPredicate
                 # "; }(::llvm::cast<::cuda_tile::TileType>($_self).getElementType())">,
           summary, "::cuda_tile::TileType">;

class CudaTile_ScalarOf<string elementPredicate, string summary>
    : Type<CPred<"::llvm::isa<::cuda_tile::TileType>($_self) && "
                 "::llvm::cast<::cuda_tile::TileType>($_self).getShape().empty() && "
                 "[](::mlir::Type e) { return " # elementPredicate
                 # "; }(::llvm::cast<::cuda_tile::TileType>($_self).getElementType())">,
           summary, "::cuda_tile::TileType">;

def CudaTile_AnyTile : CudaTile_TileOf<"true", "tile">;
def CudaTile_NumberTile : CudaTile_TileOf<"::cuda_tile::isNumber(e)", "tile of numbers">;
def CudaTile_FloatTile : CudaTile_TileOf<"::cuda_tile::isBaseFloat(e)",
    "tile of f16, bf16, f32 or f64">;
def CudaTile_AnyFloatTile : CudaTile_TileOf<"::cuda_tile::isAnyFloat(e)", "tile of floats">;
def CudaTile_IntTile : CudaTile_TileOf<"::cuda_tile::isBaseInteger(e)",
    "tile of i1, i8, i16, i32 or i64">;
def CudaTile_AnyIntTile : CudaTile_TileOf<"e.isSignlessInteger()", "tile of integers">;
def CudaTile_BoolTile : CudaTile_TileOf<"e.isSignlessInteger(1)", "tile of i1">;
def CudaTile_PackableTile : CudaTile_TileOf<
    "::cuda_tile::isNumber(e) || e.isSignlessInteger(4)", "tile of numbers">;
def CudaTile_PrintableTile : CudaTile_TileOf<
    "::cuda_tile::isNumber(e) || ::llvm::isa<::cuda_tile::PtrType>(e)",
    "tile of numbers or pointers">;
def CudaTile_I8Tile : CudaTile_TileOf<"e.isSignlessInteger(8)", "tile of i8">;
def CudaTile_I32Tile : CudaTile_TileOf<"e.isSignlessInteger(32)", "tile of i32">;
def CudaTile_I64Tile : CudaTile_TileOf<"e.isSignlessInteger(64)", "tile of i64">;
def CudaTile_PtrTile : CudaTile_TileOf<"::llvm::isa<::cuda_tile::PtrType>(e)", "tile of pointers">;
def CudaTile_IntScalar : CudaTile_ScalarOf<"::cuda_tile::isBaseInteger(e)",
    "rank-0 tile of i1, i8, i16, i32 or i64">;
def CudaTile_PtrScalar : CudaTile_ScalarOf<"::llvm::isa<::cuda_tile::PtrType>(e)",
    "rank-0 tile of a pointer">;

def CudaTile_BoolScalar : CudaTile_ScalarOf<"e.isSignlessInteger(1)", "rank-0 tile of i1">,
    BuildableType<"::cuda_tile::TileType::get({}, $_builder.getI1Type())">;
def CudaTile_I32Scalar : CudaTile_ScalarOf<"e.isSignlessInteger(32)", "rank-0 tile of i32">,
    BuildableType<"::cuda_tile::TileType::get({}, $_builder.getI32Type())">;

def CudaTile_Token : Type<CPred<"::llvm::isa<::cuda_tile::TokenType>($_self)">, "token",
                          "::cuda_tile::TokenType">,
    BuildableType<"$_builder.getType<::cuda_tile::TokenType>()">;
def CudaTile_TensorView : Type<CPred<"::llvm::isa<::cuda_tile::TensorViewType>($_self)">,
                               "tensor view", "::cuda_tile::TensorViewType">;
def CudaTile_PartitionView : Type<CPred<"::llvm::isa<::cuda_tile::PartitionViewType>($_self)">,
                                  "partition view", "::cuda_tile::PartitionViewType">;
def CudaTile_StridedView : Type<CPred<"::llvm::isa<::cuda_tile::StridedViewType>($_self)">,
                                "strided view", "::cuda_tile::StridedViewType">;
def CudaTile_GatherScatterView
    : Type<CPred<"::llvm::isa<::cuda_tile::GatherScatterViewType>($_self)">,
           "gather/scatter view", "::cuda_tile::GatherScatterViewType">;
def CudaTile_TileView : AnyTypeOf<
    [CudaTile_PartitionView, CudaTile_StridedView, CudaTile_GatherScatterView],
    "partition, strided or gather/scatter view">;

/// What control flow may carry: views may not be block arguments.
def CudaTile_CarriedType : AnyTypeOf<[CudaTile_AnyTile, CudaTile_Token], "tile or token">;

#endif // CUDA_TILE_TYPES_TD
