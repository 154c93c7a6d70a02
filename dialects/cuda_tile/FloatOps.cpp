// Verifiers of the floating-point operations.

#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

template <typename OpT>
static LogicalResult verifyRoundedOp(OpT op, ArrayRef<RoundingMode> f32Only = {}) {
  TileType type = op.getResult().getType();
  return failure(failed(verifyFloatRounding(op, op.getRoundingMode(), type, f32Only)) ||
                 failed(verifyFlushToZero(op, op.getFlushToZero(), type)));
}

template <typename OpT> static LogicalResult verifyFlushOp(OpT op) {
  return verifyFlushToZero(op, op.getFlushToZero(), op.getResult().getType());
}

/// `full`, or `approx` in f32.
template <typename OpT> static LogicalResult verifyFullOrApprox(OpT op) {
  RoundingMode mode = op.getRoundingMode();
  if (failed(verifyRounding(op, mode, {RoundingMode::Full, RoundingMode::Approx})))
    return failure();
  if (mode == RoundingMode::Approx)
    return verifyFloatRounding(op, mode, op.getResult().getType(), {RoundingMode::Approx});
  return success();
}

LogicalResult AddFOp::verify() { return verifyRoundedOp(*this); }
LogicalResult SubFOp::verify() { return verifyRoundedOp(*this); }
LogicalResult MulFOp::verify() { return verifyRoundedOp(*this); }
LogicalResult FmaOp::verify() { return verifyRoundedOp(*this); }
LogicalResult DivFOp::verify() {
  return verifyRoundedOp(*this, {RoundingMode::Approx, RoundingMode::Full});
}
LogicalResult SqrtOp::verify() { return verifyRoundedOp(*this, {RoundingMode::Approx}); }
LogicalResult MaxFOp::verify() { return verifyFlushOp(*this); }
LogicalResult MinFOp::verify() { return verifyFlushOp(*this); }
LogicalResult RsqrtOp::verify() { return verifyFlushOp(*this); }
LogicalResult Exp2Op::verify() { return verifyFlushOp(*this); }
LogicalResult ExpOp::verify() { return verifyFullOrApprox(*this); }
LogicalResult TanHOp::verify() { return verifyFullOrApprox(*this); }

LogicalResult PowOp::canonicalize(PowOp op, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<FPowFOp>(op, op.getSource(), op.getExponent());
  return success();
}

LogicalResult FPowIOp::verify() {
  TileType exponent = getExponent().getType();
  if (exponent.getElementType().isInteger(64))
    return emitOpError() << "exponent must have elements of i1, i8, i16 or i32, got " << exponent;
  return verifySameShape(*this, "exponent", exponent, "source", getSource().getType());
}

LogicalResult CmpFOp::verify() {
  return verifySameShape(*this, "result", getResult().getType(), "lhs", getLhs().getType());
}

//===----------------------------------------------------------------------===//
// Matrix multiplication
//===----------------------------------------------------------------------===//

/// Types of acc that go with the type of lhs and rhs; null where one is none.
static LogicalResult verifyMmaFTypes(MmaFOp op, Type operand, Type acc) {
  auto expect = [&](StringRef expected, bool ok) -> LogicalResult {
    if (ok)
      return success();
    return op.emitOpError() << "acc must have elements of " << expected << " for operands of "
                            << operand << ", got " << acc;
  };
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float16Type>(operand))
    return expect("f16 or f32", acc.isF16() || acc.isF32());
  if (isa<BFloat16Type, FloatTF32Type, Float32Type>(operand))
    return expect("f32", acc.isF32());
  if (operand.isF64())
    return expect("f64", acc.isF64());
  return op.emitOpError() << "operands must have elements of f8E4M3FN, f8E5M2, f16, bf16, tf32, "
                             "f32 or f64, got "
                          << operand;
}

LogicalResult MmaFOp::verify() {
  TileType lhs = getLhs().getType(), rhs = getRhs().getType(), acc = getAcc().getType();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError() << "lhs and rhs must have one element type, got " << lhs << " and " << rhs;
  if (failed(verifyMmaFTypes(*this, lhs.getElementType(), acc.getElementType())))
    return failure();
  return verifyMatmulShapes(*this, lhs, rhs, acc);
}

/// The block size V that `K` elements and `scales` scales along K give.
static LogicalResult verifyScaleTypes(MmaFScaledOp op, Type operand, Type scale, int64_t block) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(operand)) {
    if (isa<Float8E8M0FNUType>(scale) && block == 32)
      return success();
    return op.emitOpError() << "operands of " << operand
                            << " need scales of f8E8M0FNU for blocks of 32, got " << scale
                            << " for blocks of " << block;
  }
  if (isa<Float4E2M1FNType>(operand)) {
    if (isa<Float8E8M0FNUType>(scale) && (block == 16 || block == 32))
      return success();
    if (isa<Float8E4M3FNType, F8E5M3FNUType>(scale) && block == 16)
      return success();
    return op.emitOpError() << "operands of f4E2M1FN need scales of f8E8M0FNU for blocks of 16 or "
                               "32, or of f8E4M3FN or fnv8E5M3FNU for blocks of 16, got "
                            << scale << " for blocks of " << block;
  }
  return op.emitOpError() << "operands must have elements of f8E4M3FN, f8E5M2 or f4E2M1FN, got "
                          << operand;
}

LogicalResult MmaFScaledOp::verify() {
  TileType lhs = getLhs().getType(), rhs = getRhs().getType(), acc = getAcc().getType();
  TileType lhsScale = getLhsScale().getType(), rhsScale = getRhsScale().getType();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOpError() << "lhs and rhs must have one element type, got " << lhs << " and " << rhs;
  if (lhsScale.getElementType() != rhsScale.getElementType())
    return emitOpError() << "lhs_scale and rhs_scale must have one element type, got " << lhsScale
                         << " and " << rhsScale;
  if (!acc.getElementType().isF32())
    return emitOpError() << "acc must have elements of f32, got " << acc;
  if (failed(verifyMatmulShapes(*this, lhs, rhs, acc)))
    return failure();
  // Each scale has its operand's shape, but for the contraction dimension.
  int64_t rank = lhs.getRank();
  int64_t scales = lhsScale.getRank() == rank ? lhsScale.getDimSize(rank - 1) : 0;
  int64_t k = lhs.getDimSize(rank - 1);
  if (scales == 0 || k % scales != 0)
    return emitOpError() << "lhs_scale must have one scale for each block along the contraction "
                            "dimension of lhs, "
                         << lhs << ", got " << lhsScale;
  SmallVector<int64_t> lhsShape(lhs.getShape()), rhsShape(rhs.getShape());
  lhsShape[rank - 1] = rhsShape[rank - 2] = scales;
  for (auto [name, type, shape] :
       {std::tuple("lhs_scale", lhsScale, lhsShape), std::tuple("rhs_scale", rhsScale, rhsShape)})
    if (type.getShape() != ArrayRef<int64_t>(shape))
      return emitOpError() << name << " must be " << TileType::get(shape, type.getElementType())
                           << ", got " << type;
  return verifyScaleTypes(*this, lhs.getElementType(), lhsScale.getElementType(), k / scales);
}
