// Verifiers of the operations beyond Tile IR.

#include "Verify.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cuda_tile;

/// The types that registers of PTX hold.
static bool isRegister(Type type) {
  if (type.isSignlessInteger())
    return type.getIntOrFloatBitWidth() >= 16;
  return isBaseFloat(type);
}

/// Each `$N` names the result or an operand, and the result is named.
static LogicalResult verifyPlaceholders(InlinePtxOp op) {
  size_t last = op.getOperands().size();
  bool namesResult = false;
  StringRef rest = op.getPtx();
  for (size_t at = rest.find('$'); at != StringRef::npos; at = rest.find('$')) {
    rest = rest.drop_front(at + 1);
    if (rest.consume_front("$"))
      continue;
    StringRef digits = rest.take_while(llvm::isDigit);
    size_t number;
    if (digits.empty() || digits.getAsInteger(10, number) || number > last)
      return op.emitOpError() << "after a dollar sign expected the number of a register, 0 to "
                              << last << ", or another dollar sign, got '" << rest.take_front(8)
                              << "'";
    namesResult |= number == 0;
  }
  if (!namesResult)
    return op.emitOpError() << "must set the result, $0";
  return success();
}

LogicalResult PrefetchOp::verify() {
  return verifyMask(*this, getPointers().getType(), getMask());
}

LogicalResult InlinePtxOp::verify() {
  TileType result = getResult().getType();
  if (getOperands().empty())
    return emitOpError() << "needs an operand";
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    auto type = cast<TileType>(operand.getType());
    std::string name = "operand " + std::to_string(i + 1);
    if (!isRegister(type.getElementType()))
      return emitOpError() << name << " must be a tile of i16, i32, i64, f16, bf16, f32 or f64, got "
                           << type;
    if (failed(verifySameShape(*this, name, type, "the result", result)))
      return failure();
  }
  if (!isRegister(result.getElementType()))
    return emitOpError() << "result must be a tile of i16, i32, i64, f16, bf16, f32 or f64, got "
                         << result;
  return verifyPlaceholders(*this);
}
