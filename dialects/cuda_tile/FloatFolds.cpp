// Folds of floating-point operations: only where the result is exactly that of
// the operation. NaN results are not folded, as the bits of a NaN are the
// target's; nor is anything that flushes subnormals.

#include "FoldUtils.h"

#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace cuda_tile;

using llvm::APFloat;
using FloatPair = ArrayRef<APFloat>;

/// APFloat's name for an IEEE rounding mode; none for approximations.
static std::optional<llvm::RoundingMode> toAPFloat(RoundingMode mode) {
  switch (mode) {
  case RoundingMode::NearestEven:
    return llvm::RoundingMode::NearestTiesToEven;
  case RoundingMode::Zero:
    return llvm::RoundingMode::TowardZero;
  case RoundingMode::NegativeInf:
    return llvm::RoundingMode::TowardNegative;
  case RoundingMode::PositiveInf:
    return llvm::RoundingMode::TowardPositive;
  case RoundingMode::NearestAway:
    return llvm::RoundingMode::NearestTiesToAway;
  default:
    return std::nullopt;
  }
}

static std::optional<APFloat> unlessNaN(const APFloat &value) {
  return value.isNaN() ? std::nullopt : std::optional(value);
}

/// Folds an arithmetic operation in its rounding mode.
template <typename OpT>
static OpFoldResult foldRounded(OpT op, ArrayRef<Attribute> operands,
                                APFloat::opStatus (APFloat::*compute)(const APFloat &,
                                                                      llvm::RoundingMode)) {
  std::optional<llvm::RoundingMode> mode = toAPFloat(op.getRoundingMode());
  if (op.getFlushToZero() || !mode)
    return {};
  return foldElements<APFloat>(op.getType(), operands, [&](FloatPair v) {
    APFloat result = v[0];
    (result.*compute)(v[1], *mode);
    return unlessNaN(result);
  });
}

static bool isFloatSplat(Attribute attr, double expected) {
  std::optional<APFloat> value = getFloatSplat(attr);
  if (!value)
    return false;
  APFloat wanted(expected);
  bool losesInfo;
  wanted.convert(value->getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value->bitwiseIsEqual(wanted);
}

/// Whether a zero of the right sign is neutral: the sum of zeros of both signs
/// is -0 when rounding down, +0 in the other modes.
template <typename OpT> static bool keepsZeros(OpT op) {
  return !op.getFlushToZero() && op.getRoundingMode() != RoundingMode::NegativeInf;
}

OpFoldResult AddFOp::fold(FoldAdaptor adaptor) {
  if (keepsZeros(*this) && isFloatSplat(adaptor.getRhs(), -0.0))
    return getLhs();
  return foldRounded(*this, {adaptor.getLhs(), adaptor.getRhs()}, &APFloat::add);
}

OpFoldResult SubFOp::fold(FoldAdaptor adaptor) {
  if (keepsZeros(*this) && isFloatSplat(adaptor.getRhs(), 0.0))
    return getLhs();
  return foldRounded(*this, {adaptor.getLhs(), adaptor.getRhs()}, &APFloat::subtract);
}

OpFoldResult MulFOp::fold(FoldAdaptor adaptor) {
  if (!getFlushToZero() && isFloatSplat(adaptor.getRhs(), 1.0))
    return getLhs();
  return foldRounded(*this, {adaptor.getLhs(), adaptor.getRhs()}, &APFloat::multiply);
}

OpFoldResult DivFOp::fold(FoldAdaptor adaptor) {
  if (!getFlushToZero() && toAPFloat(getRoundingMode()) && isFloatSplat(adaptor.getRhs(), 1.0))
    return getLhs();
  return foldRounded(*this, {adaptor.getLhs(), adaptor.getRhs()}, &APFloat::divide);
}

OpFoldResult NegFOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getSource().getDefiningOp<NegFOp>())
    return inner.getSource();
  return foldElements<APFloat>(getType(), adaptor.getOperands(),
                               [](FloatPair v) { return unlessNaN(llvm::neg(v[0])); });
}

OpFoldResult AbsFOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getSource().getDefiningOp<AbsFOp>())
    return inner.getResult();
  if (auto negation = getSource().getDefiningOp<NegFOp>()) {
    getSourceMutable().assign(negation.getSource());
    return getResult();
  }
  return foldElements<APFloat>(getType(), adaptor.getOperands(),
                               [](FloatPair v) { return unlessNaN(llvm::abs(v[0])); });
}

static OpFoldResult foldToIntegral(Type type, ArrayRef<Attribute> operands,
                                   llvm::RoundingMode mode) {
  return foldElements<APFloat>(type, operands, [&](FloatPair v) {
    APFloat result = v[0];
    result.roundToIntegral(mode);
    return unlessNaN(result);
  });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldToIntegral(getType(), adaptor.getOperands(), llvm::RoundingMode::TowardPositive);
}

OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldToIntegral(getType(), adaptor.getOperands(), llvm::RoundingMode::TowardNegative);
}

template <typename OpT>
static OpFoldResult foldMinMax(OpT op, ArrayRef<Attribute> operands,
                               APFloat (*compute)(const APFloat &, const APFloat &)) {
  if (op.getFlushToZero())
    return {};
  return foldElements<APFloat>(op.getType(), operands, [&](FloatPair v) -> std::optional<APFloat> {
    if (v[0].isNaN() || v[1].isNaN())
      return std::nullopt;
    return compute(v[0], v[1]);
  });
}

OpFoldResult MaxFOp::fold(FoldAdaptor adaptor) {
  return foldMinMax(*this, adaptor.getOperands(), llvm::maximum);
}
OpFoldResult MinFOp::fold(FoldAdaptor adaptor) {
  return foldMinMax(*this, adaptor.getOperands(), llvm::minimum);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool holds(ComparisonPredicate predicate, ComparisonOrdering ordering,
                  APFloat::cmpResult order) {
  if (order == APFloat::cmpUnordered)
    return ordering == ComparisonOrdering::Unordered;
  bool less = order == APFloat::cmpLessThan, equal = order == APFloat::cmpEqual;
  switch (predicate) {
  case ComparisonPredicate::Equal:
    return equal;
  case ComparisonPredicate::NotEqual:
    return !equal;
  case ComparisonPredicate::LessThan:
    return less;
  case ComparisonPredicate::LessThanOrEqual:
    return less || equal;
  case ComparisonPredicate::GreaterThan:
    return !less && !equal;
  case ComparisonPredicate::GreaterThanOrEqual:
    return !less;
  }
  llvm_unreachable("all predicates are covered");
}

OpFoldResult CmpFOp::fold(FoldAdaptor adaptor) {
  ComparisonPredicate predicate = getComparisonPredicate();
  ComparisonOrdering ordering = getComparisonOrdering();
  // With itself, a value is equal or unordered.
  if (getLhs() == getRhs()) {
    bool ifEqual = holds(predicate, ordering, APFloat::cmpEqual);
    if (ifEqual == holds(predicate, ordering, APFloat::cmpUnordered))
      return getSplat(getType(), APInt(1, ifEqual));
  }
  return foldElements<APFloat, APInt>(
      getType(), {adaptor.getLhs(), adaptor.getRhs()}, [&](FloatPair v) -> std::optional<APInt> {
        return APInt(1, holds(predicate, ordering, v[0].compare(v[1])));
      });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

OpFoldResult FToFOp::fold(FoldAdaptor adaptor) {
  Type from = getSource().getType().getElementType(), to = getType().getElementType();
  if (!isBaseFloat(from) || !isBaseFloat(to))
    return {};
  // Widening is exact, so that narrowing to the original type undoes it.
  if (auto inner = getSource().getDefiningOp<FToFOp>()) {
    Type original = inner.getSource().getType().getElementType();
    bool widens = from.isF64() || (from.isF32() && !original.isF64());
    if (inner.getSource().getType() == getType() && widens)
      return inner.getSource();
  }
  std::optional<llvm::RoundingMode> mode = toAPFloat(getRoundingMode());
  if (!mode)
    return {};
  const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
  return foldElements<APFloat>(getType(), adaptor.getOperands(), [&](FloatPair v) {
    APFloat result = v[0];
    bool losesInfo;
    result.convert(semantics, *mode, &losesInfo);
    return unlessNaN(result);
  });
}

OpFoldResult FToIOp::fold(FoldAdaptor adaptor) {
  unsigned width = getType().getElementType().getIntOrFloatBitWidth();
  bool isUnsigned = getSignedness() == Signedness::Unsigned;
  return foldElements<APFloat, APInt>(
      getType(), adaptor.getOperands(), [&](FloatPair v) -> std::optional<APInt> {
        llvm::APSInt result(width, isUnsigned);
        bool isExact;
        // Out of range is undefined, or clamped; leave both to the operation.
        if (v[0].convertToInteger(result, APFloat::rmTowardZero, &isExact) & APFloat::opInvalidOp)
          return std::nullopt;
        return result;
      });
}

OpFoldResult IToFOp::fold(FoldAdaptor adaptor) {
  Type to = getType().getElementType();
  if (!isBaseFloat(to))
    return {};
  const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
  bool isSigned = getSignedness() == Signedness::Signed;
  return foldElements<APInt, APFloat>(
      getType(), adaptor.getOperands(), [&](ArrayRef<APInt> v) -> std::optional<APFloat> {
        APFloat result(semantics);
        result.convertFromAPInt(v[0], isSigned, APFloat::rmNearestTiesToEven);
        return result;
      });
}
