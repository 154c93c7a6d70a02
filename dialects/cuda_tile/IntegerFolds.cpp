// Folds of integer operations. A fold never turns undefined behaviour into a
// value: where a promise is broken, the operation stays.

#include "FoldUtils.h"

using namespace mlir;
using namespace cuda_tile;

using IntPair = ArrayRef<APInt>;

static bool promises(IntegerOverflow overflow, IntegerOverflow what) {
  return (static_cast<uint32_t>(overflow) & static_cast<uint32_t>(what)) != 0;
}

/// Folds with the signed and unsigned results, and whether they overflowed.
template <typename FnT>
static OpFoldResult foldWithOverflow(Type type, ArrayRef<Attribute> operands,
                                     IntegerOverflow overflow, FnT compute) {
  return foldElements<APInt>(type, operands, [&](IntPair values) -> std::optional<APInt> {
    bool signedOverflow = false, unsignedOverflow = false;
    APInt result = compute(values, signedOverflow, unsignedOverflow);
    if ((signedOverflow && promises(overflow, IntegerOverflow::NoSignedWrap)) ||
        (unsignedOverflow && promises(overflow, IntegerOverflow::NoUnsignedWrap)))
      return std::nullopt;
    return result;
  });
}

static OpFoldResult foldSimple(Type type, ArrayRef<Attribute> operands,
                               function_ref<APInt(const APInt &, const APInt &)> compute) {
  return foldElements<APInt>(type, operands, [&](IntPair values) -> std::optional<APInt> {
    return compute(values[0], values[1]);
  });
}

static OpFoldResult zeroOf(Type type) {
  unsigned width = cast<TileType>(type).getElementType().getIntOrFloatBitWidth();
  return getSplat(type, APInt::getZero(width));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult AddIOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return getLhs();
  return foldWithOverflow(getType(), adaptor.getOperands(), getOverflow(),
                          [](IntPair v, bool &signedWrap, bool &unsignedWrap) {
                            (void)v[0].uadd_ov(v[1], unsignedWrap);
                            return v[0].sadd_ov(v[1], signedWrap);
                          });
}

/// (x + c) + d becomes x + (c + d).
LogicalResult AddIOp::canonicalize(AddIOp op, PatternRewriter &rewriter) {
  auto inner = op.getLhs().getDefiningOp<AddIOp>();
  if (!inner || op.getOverflow() != IntegerOverflow::None ||
      inner.getOverflow() != IntegerOverflow::None)
    return failure();
  auto outerConstant = op.getRhs().getDefiningOp<ConstantOp>();
  auto innerConstant = inner.getRhs().getDefiningOp<ConstantOp>();
  if (!outerConstant || !innerConstant)
    return failure();
  DenseElementsAttr sum =
      foldElements<APInt>(op.getType(), {innerConstant.getValue(), outerConstant.getValue()},
                          [](IntPair v) -> std::optional<APInt> { return v[0] + v[1]; });
  if (!sum)
    return failure();
  Value constant = ConstantOp::create(rewriter, op.getLoc(), op.getType(), sum);
  rewriter.replaceOpWithNewOp<AddIOp>(op, op.getType(), inner.getLhs(), constant,
                                      IntegerOverflow::None);
  return success();
}

OpFoldResult SubIOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return zeroOf(getType());
  if (isZero(adaptor.getRhs()))
    return getLhs();
  return foldWithOverflow(getType(), adaptor.getOperands(), getOverflow(),
                          [](IntPair v, bool &signedWrap, bool &unsignedWrap) {
                            (void)v[0].usub_ov(v[1], unsignedWrap);
                            return v[0].ssub_ov(v[1], signedWrap);
                          });
}

OpFoldResult MulIOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()))
    return adaptor.getRhs();
  if (isOne(adaptor.getRhs()))
    return getLhs();
  return foldWithOverflow(getType(), adaptor.getOperands(), getOverflow(),
                          [](IntPair v, bool &signedWrap, bool &unsignedWrap) {
                            (void)v[0].umul_ov(v[1], unsignedWrap);
                            return v[0].smul_ov(v[1], signedWrap);
                          });
}

OpFoldResult MulhiIOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()) || isOne(adaptor.getRhs()))
    return zeroOf(getType());
  return foldSimple(getType(), adaptor.getOperands(), llvm::APIntOps::mulhu);
}

OpFoldResult NegIOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getSource().getDefiningOp<NegIOp>())
    return inner.getSource();
  return foldWithOverflow(getType(), adaptor.getOperands(), getOverflow(),
                          [](IntPair v, bool &signedWrap, bool &unsignedWrap) {
                            signedWrap = v[0].isMinSignedValue();
                            unsignedWrap = !v[0].isZero();
                            return -v[0];
                          });
}

OpFoldResult AbsIOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getSource().getDefiningOp<AbsIOp>())
    return inner.getResult();
  return foldElements<APInt>(getType(), adaptor.getOperands(),
                             [](IntPair v) -> std::optional<APInt> { return v[0].abs(); });
}

/// The quotient in a rounding mode, or none where it is undefined.
static std::optional<APInt> divide(const APInt &lhs, const APInt &rhs, Signedness signedness,
                                   RoundingMode rounding) {
  if (rhs.isZero())
    return std::nullopt;
  APInt::Rounding mode = rounding == RoundingMode::PositiveInf   ? APInt::Rounding::UP
                         : rounding == RoundingMode::NegativeInf ? APInt::Rounding::DOWN
                                                                 : APInt::Rounding::TOWARD_ZERO;
  if (signedness == Signedness::Unsigned)
    return llvm::APIntOps::RoundingUDiv(lhs, rhs, mode);
  if (lhs.isMinSignedValue() && rhs.isAllOnes())
    return std::nullopt;
  return llvm::APIntOps::RoundingSDiv(lhs, rhs, mode);
}

/// Whether a splat divides like one: 1, unless it is the signed i1 -1.
static bool isUnitDivisor(Attribute attr, Signedness signedness) {
  return isIntSplat(attr, [&](const APInt &value) {
    return value.isOne() && (signedness == Signedness::Unsigned || value.getBitWidth() > 1);
  });
}

OpFoldResult DivIOp::fold(FoldAdaptor adaptor) {
  if (isUnitDivisor(adaptor.getRhs(), getSignedness()))
    return getLhs();
  return foldElements<APInt>(getType(), adaptor.getOperands(), [&](IntPair v) {
    return divide(v[0], v[1], getSignedness(), getRounding());
  });
}

OpFoldResult RemIOp::fold(FoldAdaptor adaptor) {
  if (isUnitDivisor(adaptor.getRhs(), getSignedness()))
    return zeroOf(getType());
  return foldElements<APInt>(
      getType(), adaptor.getOperands(), [&](IntPair v) -> std::optional<APInt> {
        if (!divide(v[0], v[1], getSignedness(), RoundingMode::Zero))
          return std::nullopt;
        return getSignedness() == Signedness::Signed ? v[0].srem(v[1]) : v[0].urem(v[1]);
      });
}

/// max and min: `least` is the value that the other operand always beats.
template <typename OpT>
static OpFoldResult foldMinMax(OpT op, typename OpT::FoldAdaptor adaptor, bool isMax) {
  if (op.getLhs() == op.getRhs())
    return op.getLhs();
  bool isSigned = op.getSignedness() == Signedness::Signed;
  unsigned width = op.getType().getElementType().getIntOrFloatBitWidth();
  APInt lowest = isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  APInt highest = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  if (std::optional<APInt> rhs = getIntSplat(adaptor.getRhs())) {
    if (*rhs == (isMax ? lowest : highest))
      return op.getLhs();
    if (*rhs == (isMax ? highest : lowest))
      return op.getRhs();
  }
  return foldSimple(op.getType(), adaptor.getOperands(), [&](const APInt &a, const APInt &b) {
    bool less = isSigned ? a.slt(b) : a.ult(b);
    return less == isMax ? b : a;
  });
}

OpFoldResult MaxIOp::fold(FoldAdaptor adaptor) {
  return foldMinMax(*this, adaptor, /*isMax=*/true);
}
OpFoldResult MinIOp::fold(FoldAdaptor adaptor) {
  return foldMinMax(*this, adaptor, /*isMax=*/false);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

OpFoldResult ShLIOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()) || isZero(adaptor.getLhs()))
    return getLhs();
  return foldElements<APInt>(
      getType(), adaptor.getOperands(), [&](IntPair v) -> std::optional<APInt> {
        bool signedWrap = false, unsignedWrap = false;
        // An amount of the width or more is unspecified.
        if (v[1].uge(v[1].getBitWidth()))
          return std::nullopt;
        (void)v[0].ushl_ov(v[1], unsignedWrap);
        (void)v[0].sshl_ov(v[1], signedWrap);
        if ((signedWrap && promises(getOverflow(), IntegerOverflow::NoSignedWrap)) ||
            (unsignedWrap && promises(getOverflow(), IntegerOverflow::NoUnsignedWrap)))
          return std::nullopt;
        return v[0].shl(v[1]);
      });
}

OpFoldResult ShRIOp::fold(FoldAdaptor adaptor) {
  if (isZero(adaptor.getRhs()) || isZero(adaptor.getLhs()))
    return getLhs();
  return foldElements<APInt>(
      getType(), adaptor.getOperands(), [&](IntPair v) -> std::optional<APInt> {
        if (v[1].uge(v[1].getBitWidth()))
          return std::nullopt;
        return getSignedness() == Signedness::Signed ? v[0].ashr(v[1]) : v[0].lshr(v[1]);
      });
}

OpFoldResult AndIOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isAllOnes(adaptor.getRhs()))
    return getLhs();
  if (isZero(adaptor.getRhs()))
    return adaptor.getRhs();
  return foldSimple(getType(), adaptor.getOperands(),
                    [](const APInt &a, const APInt &b) { return a & b; });
}

OpFoldResult OrIOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isZero(adaptor.getRhs()))
    return getLhs();
  if (isAllOnes(adaptor.getRhs()))
    return adaptor.getRhs();
  return foldSimple(getType(), adaptor.getOperands(),
                    [](const APInt &a, const APInt &b) { return a | b; });
}

OpFoldResult XOrIOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return zeroOf(getType());
  if (isZero(adaptor.getRhs()))
    return getLhs();
  // (x ^ y) ^ y is x.
  if (auto inner = getLhs().getDefiningOp<XOrIOp>())
    if (inner.getRhs() == getRhs())
      return inner.getLhs();
  return foldSimple(getType(), adaptor.getOperands(),
                    [](const APInt &a, const APInt &b) { return a ^ b; });
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The predicate on the outcome of a three-way comparison.
static bool holds(ComparisonPredicate predicate, int order) {
  switch (predicate) {
  case ComparisonPredicate::Equal:
    return order == 0;
  case ComparisonPredicate::NotEqual:
    return order != 0;
  case ComparisonPredicate::LessThan:
    return order < 0;
  case ComparisonPredicate::LessThanOrEqual:
    return order <= 0;
  case ComparisonPredicate::GreaterThan:
    return order > 0;
  case ComparisonPredicate::GreaterThanOrEqual:
    return order >= 0;
  }
  llvm_unreachable("all predicates are covered");
}

OpFoldResult CmpIOp::fold(FoldAdaptor adaptor) {
  ComparisonPredicate predicate = getComparisonPredicate();
  if (getLhs() == getRhs())
    return getSplat(getType(), APInt(1, holds(predicate, 0)));
  bool isSigned = getSignedness() == Signedness::Signed;
  return foldSimple(getType(), {adaptor.getLhs(), adaptor.getRhs()},
                    [&](const APInt &a, const APInt &b) {
                      bool less = isSigned ? a.slt(b) : a.ult(b);
                      return APInt(1, holds(predicate, a == b ? 0 : less ? -1 : 1));
                    });
}
