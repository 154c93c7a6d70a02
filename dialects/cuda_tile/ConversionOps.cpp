// Verifiers of the conversions.

#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

template <typename OpT> static LogicalResult verifyShapeKept(OpT op) {
  return verifySameShape(op, "result", op.getResult().getType(), "source",
                         op.getSource().getType());
}

template <typename OpT> static std::pair<Type, Type> getElementTypes(OpT op) {
  return {op.getSource().getType().getElementType(), op.getResult().getType().getElementType()};
}

LogicalResult BitcastOp::verify() {
  auto [source, result] = getElementTypes(*this);
  unsigned sourceWidth = getValueBitWidth(source), resultWidth = getValueBitWidth(result);
  if (sourceWidth != resultWidth)
    return emitOpError() << "source and result elements must have one width, got " << source
                         << " of " << sourceWidth << " bits and " << result << " of " << resultWidth
                         << " bits";
  return verifyShapeKept(*this);
}

LogicalResult ExtIOp::verify() {
  auto [source, result] = getElementTypes(*this);
  if (getValueBitWidth(result) <= getValueBitWidth(source))
    return emitOpError() << "result elements must be wider than those of the source, " << source
                         << ", got " << result;
  return verifyShapeKept(*this);
}

LogicalResult TruncIOp::verify() {
  auto [source, result] = getElementTypes(*this);
  if (getValueBitWidth(result) >= getValueBitWidth(source))
    return emitOpError() << "result elements must be narrower than those of the source, " << source
                         << ", got " << result;
  return verifyShapeKept(*this);
}

/// Whether every value of `source` is one of `result`.
static bool isWidening(Type source, Type result) {
  // MLIR has no semantics for the preview format.
  if (isa<F8E5M3FNUType>(source) || isa<F8E5M3FNUType>(result))
    return false;
  const llvm::fltSemantics &from = cast<FloatType>(source).getFloatSemantics();
  const llvm::fltSemantics &to = cast<FloatType>(result).getFloatSemantics();
  return llvm::APFloat::semanticsPrecision(from) <= llvm::APFloat::semanticsPrecision(to) &&
         llvm::APFloat::semanticsMaxExponent(from) <= llvm::APFloat::semanticsMaxExponent(to) &&
         llvm::APFloat::semanticsMinExponent(from) >= llvm::APFloat::semanticsMinExponent(to);
}

/// The modes in which `source` converts to `result`.
static SmallVector<RoundingMode> getFToFModes(Type source, Type result) {
  if (isa<Float8E8M0FNUType>(result))
    return {RoundingMode::Zero, RoundingMode::PositiveInf};
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType, F8E5M3FNUType>(result))
    return {RoundingMode::NearestEven};
  // Exact in any mode.
  if (isWidening(source, result))
    return {RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NegativeInf,
            RoundingMode::PositiveInf, RoundingMode::NearestAway};
  if (source.isF64() && result.isF32())
    return SmallVector<RoundingMode>(std::begin(kIEEERounding), std::end(kIEEERounding));
  if (source.isF32() && isa<FloatTF32Type>(result))
    return {RoundingMode::NearestEven, RoundingMode::Zero, RoundingMode::NearestAway};
  return {RoundingMode::NearestEven, RoundingMode::Zero};
}

LogicalResult FToFOp::verify() {
  auto [source, result] = getElementTypes(*this);
  if (source == result)
    return emitOpError() << "source and result must have different element types, got " << source;
  if (failed(verifyShapeKept(*this)))
    return failure();
  return verifyRounding(*this, getRoundingMode(), getFToFModes(source, result));
}

LogicalResult FToIOp::verify() {
  if (failed(verifyRounding(*this, getRoundingMode(), {RoundingMode::NearestIntToZero})))
    return failure();
  return verifyShapeKept(*this);
}

LogicalResult IToFOp::verify() {
  if (failed(verifyRounding(*this, getRoundingMode(), {RoundingMode::NearestEven})))
    return failure();
  Type result = getResult().getType().getElementType();
  if (isa<Float8E8M0FNUType>(result))
    return emitOpError() << "result elements must not be f8E8M0FNU";
  return verifyShapeKept(*this);
}

LogicalResult IntToPtrOp::verify() { return verifyShapeKept(*this); }
LogicalResult PtrToIntOp::verify() { return verifyShapeKept(*this); }
LogicalResult PtrToPtrOp::verify() { return verifyShapeKept(*this); }
