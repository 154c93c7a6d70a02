// Verifiers of the integer operations.

#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

LogicalResult NegIOp::verify() {
  if (getOverflow() == IntegerOverflow::NoUnsignedWrap)
    return emitOpError() << "overflow must be none, no_signed_wrap or no_wrap, got "
                            "no_unsigned_wrap";
  return success();
}

LogicalResult DivIOp::verify() {
  if (failed(verifyRounding(
          *this, getRounding(),
          {RoundingMode::Zero, RoundingMode::PositiveInf, RoundingMode::NegativeInf})))
    return failure();
  if (getSignedness() == Signedness::Unsigned && getRounding() == RoundingMode::NegativeInf)
    return emitOpError() << "rounding mode negative_inf needs signed operands; an unsigned "
                            "division rounds down with zero";
  return success();
}

LogicalResult CmpIOp::verify() {
  return verifySameShape(*this, "result", getResult().getType(), "lhs", getLhs().getType());
}

LogicalResult MmaIOp::verify() {
  return verifyMatmulShapes(*this, getLhs().getType(), getRhs().getType(), getAcc().getType());
}
