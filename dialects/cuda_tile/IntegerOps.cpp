// Verifiers of the integer operations.

#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

LogicalResult NegIOp::verify() {
  IntegerOverflow overflow = getOverflow();
  if (overflow == IntegerOverflow::NoUnsignedWrap || overflow == IntegerOverflow::NoWrap)
    return emitOpError() << "overflow must be none or no_signed_wrap, got "
                         << stringifyIntegerOverflow(overflow);
  return success();
}

LogicalResult DivIOp::verify() {
  if (failed(verifyRounding(*this, getRounding(),
                            {RoundingMode::Zero, RoundingMode::PositiveInf,
                             RoundingMode::NegativeInf})))
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
