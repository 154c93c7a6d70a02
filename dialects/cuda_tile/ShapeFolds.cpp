// Folds of constants, shape manipulation, select, offset and assume.

#include "FoldUtils.h"

using namespace mlir;
using namespace cuda_tile;

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult IotaOp::fold(FoldAdaptor) {
  if (getType().getNumElements() != 1)
    return {};
  return getSplat(getType(), APInt::getZero(getType().getElementType().getIntOrFloatBitWidth()));
}

/// The same splat in another shape; null if `attr` is no splat.
static DenseElementsAttr resizeSplat(Attribute attr, TileType type) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return {};
  return elements.resizeSplat(type);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  return resizeSplat(adaptor.getSource(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ReshapeOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getSource()))
    return elements.reshape(getType());
  return {};
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int32_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int32_t>(0, permutation.size())))
    return getSource();
  if (auto inner = getSource().getDefiningOp<PermuteOp>()) {
    SmallVector<int32_t> composed;
    for (int32_t dim : permutation)
      composed.push_back(inner.getPermutation()[dim]);
    getSourceMutable().assign(inner.getSource());
    setPermutation(composed);
    return getResult();
  }
  return resizeSplat(adaptor.getSource(), getType());
}

OpFoldResult CatOp::fold(FoldAdaptor adaptor) {
  DenseElementsAttr lhs = resizeSplat(adaptor.getLhs(), getType());
  return lhs && lhs == resizeSplat(adaptor.getRhs(), getType()) ? lhs : DenseElementsAttr();
}

OpFoldResult ExtractOp::fold(FoldAdaptor adaptor) {
  // The only slice of full size is the tile itself.
  if (getSource().getType() == getType())
    return getSource();
  return resizeSplat(adaptor.getSource(), getType());
}

OpFoldResult InsertOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult PackOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<UnpackOp>())
    return inner.getSource();
  return {};
}

OpFoldResult UnpackOp::fold(FoldAdaptor) {
  if (auto inner = getSource().getDefiningOp<PackOp>())
    if (inner.getSource().getType() == getType())
      return inner.getSource();
  return {};
}

//===----------------------------------------------------------------------===//
// Select, offset
//===----------------------------------------------------------------------===//

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getTrueValue() == getFalseValue())
    return getTrueValue();
  if (std::optional<APInt> condition = getIntSplat(adaptor.getCondition()))
    return condition->isOne() ? getTrueValue() : getFalseValue();
  // A choice of true and false is the condition.
  if (getType() == getCondition().getType() && isOne(adaptor.getTrueValue()) &&
      isZero(adaptor.getFalseValue()))
    return getCondition();
  auto condition = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getCondition());
  auto onTrue = dyn_cast_or_null<DenseElementsAttr>(adaptor.getTrueValue());
  auto onFalse = dyn_cast_or_null<DenseElementsAttr>(adaptor.getFalseValue());
  if (!condition || !onTrue || !onFalse || getType().getNumElements() > kMaxFoldedElements)
    return {};
  SmallVector<Attribute> values;
  for (auto [c, t, f] : llvm::zip(condition.getValues<bool>(), onTrue.getValues<Attribute>(),
                                  onFalse.getValues<Attribute>()))
    values.push_back(c ? t : f);
  return DenseElementsAttr::get(getType(), values);
}

OpFoldResult OffsetOp::fold(FoldAdaptor adaptor) {
  return isZero(adaptor.getOffset()) ? OpFoldResult(getPointer()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Assume
//===----------------------------------------------------------------------===//

/// Whether every value of the type keeps the promise.
static bool isTrivial(Attribute predicate, Type type) {
  if (auto divBy = dyn_cast<DivByAttr>(predicate))
    return divBy.getDivisor() == 1 && divBy.getEvery().value_or(1) == 1;
  if (auto same = dyn_cast<SameElementsAttr>(predicate))
    return llvm::all_of(same.getValues().asArrayRef(), [](int64_t each) { return each == 1; });
  auto bounded = dyn_cast<BoundedAttr>(predicate);
  auto tile = dyn_cast<TileType>(type);
  if (!bounded || !tile || !tile.getElementType().isSignlessInteger())
    return false;
  unsigned width = tile.getElementType().getIntOrFloatBitWidth();
  auto lowest = APInt::getSignedMinValue(width).getSExtValue();
  auto highest = APInt::getSignedMaxValue(width).getSExtValue();
  return bounded.getLowerBound().value_or(lowest) == lowest &&
         bounded.getUpperBound().value_or(highest) == highest;
}

/// Whether what `known` promises includes `predicate`.
static bool implies(Attribute known, Attribute predicate) {
  if (known == predicate)
    return true;
  if (auto divBy = dyn_cast<DivByAttr>(predicate)) {
    // Divisors are powers of two: the greater one is a multiple.
    auto other = dyn_cast<DivByAttr>(known);
    return other && other.getEvery() == divBy.getEvery() && other.getAlong() == divBy.getAlong() &&
           other.getDivisor() >= divBy.getDivisor();
  }
  auto bounded = dyn_cast<BoundedAttr>(predicate), other = dyn_cast<BoundedAttr>(known);
  if (!bounded || !other)
    return false;
  auto lower = bounded.getLowerBound(), upper = bounded.getUpperBound();
  return (!lower || (other.getLowerBound() && *other.getLowerBound() >= *lower)) &&
         (!upper || (other.getUpperBound() && *other.getUpperBound() <= *upper));
}

OpFoldResult AssumeOp::fold(FoldAdaptor) {
  if (isTrivial(getPredicate(), getType()))
    return getValue();
  for (auto outer = getValue().getDefiningOp<AssumeOp>(); outer;
       outer = outer.getValue().getDefiningOp<AssumeOp>())
    if (implies(outer.getPredicate(), getPredicate()))
      return getValue();
  return {};
}
