// Constants as folds see them.

#include "FoldUtils.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace cuda_tile;

std::optional<APInt> cuda_tile::getIntSplat(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>();
}

std::optional<APFloat> cuda_tile::getFloatSplat(Attribute attr) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>();
}

bool cuda_tile::isIntSplat(Attribute attr, function_ref<bool(const APInt &)> holds) {
  std::optional<APInt> value = getIntSplat(attr);
  return value && holds(*value);
}

std::optional<APInt> cuda_tile::getConstantInt(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? getIntSplat(constant.getValue()) : std::nullopt;
}

DenseElementsAttr cuda_tile::getSplat(Type type, const APInt &value) {
  return DenseElementsAttr::get(cast<TileType>(type), value);
}

DenseElementsAttr cuda_tile::getSplat(Type type, const APFloat &value) {
  return DenseElementsAttr::get(cast<TileType>(type), value);
}
