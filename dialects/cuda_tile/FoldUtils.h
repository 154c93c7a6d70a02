// Constants as folds see them. Element-wise results are computed once for a
// splat, and element by element only for small tiles.

#ifndef TILEIR_DIALECTS_CUDA_TILE_FOLDUTILS_H
#define TILEIR_DIALECTS_CUDA_TILE_FOLDUTILS_H

#include "CudaTile.h"

namespace cuda_tile {

/// Larger constants that are no splats are left alone.
inline constexpr int64_t kMaxFoldedElements = 4096;

/// The value of an integer splat, or none.
std::optional<llvm::APInt> getIntSplat(mlir::Attribute attr);
/// The value of a float splat, or none.
std::optional<llvm::APFloat> getFloatSplat(mlir::Attribute attr);

/// Whether all elements are integers with a property.
bool isIntSplat(mlir::Attribute attr, llvm::function_ref<bool(const llvm::APInt &)> holds);
inline bool isZero(mlir::Attribute attr) {
  return isIntSplat(attr, [](const llvm::APInt &value) { return value.isZero(); });
}
inline bool isOne(mlir::Attribute attr) {
  return isIntSplat(attr, [](const llvm::APInt &value) { return value.isOne(); });
}
inline bool isAllOnes(mlir::Attribute attr) {
  return isIntSplat(attr, [](const llvm::APInt &value) { return value.isAllOnes(); });
}

/// The value of a constant scalar or splat operand, looking at its definition.
std::optional<llvm::APInt> getConstantInt(mlir::Value value);

/// A tile of one value.
mlir::DenseElementsAttr getSplat(mlir::Type type, const llvm::APInt &value);
mlir::DenseElementsAttr getSplat(mlir::Type type, const llvm::APFloat &value);

namespace detail {

template <typename ValueT> mlir::DenseElementsAttr foldable(mlir::Attribute attr) {
  using AttrT = std::conditional_t<std::is_same_v<ValueT, llvm::APInt>, mlir::DenseIntElementsAttr,
                                   mlir::DenseFPElementsAttr>;
  auto elements = llvm::dyn_cast_or_null<AttrT>(attr);
  if (!elements || (!elements.isSplat() && elements.getNumElements() > kMaxFoldedElements))
    return {};
  return elements;
}

} // namespace detail

/// Computes `fn` on the elements of constants; null if an operand is no
/// constant or `fn` gives none for an element.
template <typename OperandT, typename ResultT = OperandT, typename FnT>
mlir::DenseElementsAttr foldElements(mlir::Type type, llvm::ArrayRef<mlir::Attribute> operands,
                                     FnT fn) {
  llvm::SmallVector<mlir::DenseElementsAttr, 3> constants;
  for (mlir::Attribute operand : operands) {
    constants.push_back(detail::foldable<OperandT>(operand));
    if (!constants.back())
      return {};
  }
  auto tile = llvm::cast<TileType>(type);
  bool splat = llvm::all_of(constants, [](auto each) { return each.isSplat(); });
  int64_t count = splat ? 1 : tile.getNumElements();
  llvm::SmallVector<ResultT> results;
  results.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallVector<OperandT, 3> values;
    for (mlir::DenseElementsAttr each : constants)
      values.push_back(each.isSplat() ? each.getSplatValue<OperandT>()
                                      : *(each.value_begin<OperandT>() + i));
    std::optional<ResultT> result = fn(llvm::ArrayRef<OperandT>(values));
    if (!result)
      return {};
    results.push_back(*result);
  }
  return mlir::DenseElementsAttr::get(tile, results);
}

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_FOLDUTILS_H
