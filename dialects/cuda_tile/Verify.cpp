// Checks that several operations share.

#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

static std::string listModes(ArrayRef<RoundingMode> modes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(modes, stream,
                        [&](RoundingMode mode) { stream << stringifyRoundingMode(mode); });
  return text;
}

LogicalResult cuda_tile::verifyRounding(Operation *op, RoundingMode mode,
                                        ArrayRef<RoundingMode> allowed) {
  if (llvm::is_contained(allowed, mode))
    return success();
  return op->emitOpError() << "rounding mode must be " << (allowed.size() == 1 ? "" : "one of ")
                           << listModes(allowed) << ", got " << stringifyRoundingMode(mode);
}

LogicalResult cuda_tile::verifyFloatRounding(Operation *op, RoundingMode mode, TileType type,
                                             ArrayRef<RoundingMode> f32Only) {
  if (llvm::is_contained(f32Only, mode)) {
    if (type.getElementType().isF32())
      return success();
    return op->emitOpError() << "rounding mode " << stringifyRoundingMode(mode)
                             << " needs f32 elements, got " << type.getElementType();
  }
  SmallVector<RoundingMode> allowed(std::begin(kIEEERounding), std::end(kIEEERounding));
  allowed.append(f32Only.begin(), f32Only.end());
  return verifyRounding(op, mode, allowed);
}

LogicalResult cuda_tile::verifyFlushToZero(Operation *op, bool flushToZero, TileType type) {
  if (flushToZero && !type.getElementType().isF32())
    return op->emitOpError() << "flush_to_zero needs f32 elements, got " << type.getElementType();
  return success();
}

LogicalResult cuda_tile::verifySameShape(Operation *op, StringRef name, TileType type,
                                         StringRef otherName, TileType other) {
  if (type.getShape() == other.getShape())
    return success();
  return op->emitOpError() << name << " must have the shape of " << otherName << ", " << other
                           << ", got " << type;
}

LogicalResult cuda_tile::verifyMatmulShapes(Operation *op, TileType lhs, TileType rhs,
                                            TileType acc) {
  int64_t rank = lhs.getRank();
  if (rank != 2 && rank != 3)
    return op->emitOpError() << "lhs must have rank 2, or 3 with a batch dimension, got " << lhs;
  for (auto [name, type] : {std::pair("rhs", rhs), std::pair("acc", acc)})
    if (type.getRank() != rank)
      return op->emitOpError() << name << " must have the rank of lhs, " << rank << ", got "
                               << type;
  auto check = [&](StringRef what, TileType a, int64_t aDim, TileType b,
                   int64_t bDim) -> LogicalResult {
    if (a.getDimSize(aDim) == b.getDimSize(bDim))
      return success();
    return op->emitOpError() << what << " differ: " << a.getDimSize(aDim) << " and "
                             << b.getDimSize(bDim);
  };
  if (rank == 3 && (failed(check("batch dimensions of lhs and rhs", lhs, 0, rhs, 0)) ||
                    failed(check("batch dimensions of lhs and acc", lhs, 0, acc, 0))))
    return failure();
  return failure(
      failed(check("contraction dimensions of lhs and rhs", lhs, rank - 1, rhs, rank - 2)) ||
      failed(check("rows of lhs and acc", lhs, rank - 2, acc, rank - 2)) ||
      failed(check("columns of rhs and acc", rhs, rank - 1, acc, rank - 1)));
}

LogicalResult cuda_tile::verifyOrdering(Operation *op, MemoryOrdering ordering,
                                        std::optional<MemoryScope> scope,
                                        ArrayRef<MemoryOrdering> allowed) {
  if (!llvm::is_contained(allowed, ordering)) {
    InFlightDiagnostic diag = op->emitOpError() << "memory ordering must be one of ";
    llvm::interleaveComma(allowed, diag,
                          [&](MemoryOrdering each) { diag << stringifyMemoryOrdering(each); });
    return diag << ", got " << stringifyMemoryOrdering(ordering);
  }
  if (ordering == MemoryOrdering::Weak && scope)
    return op->emitOpError() << "weak ordering takes no memory scope, got "
                             << stringifyMemoryScope(*scope);
  if (ordering != MemoryOrdering::Weak && !scope)
    return op->emitOpError() << stringifyMemoryOrdering(ordering)
                             << " ordering needs a memory scope (tl_blk, device or sys)";
  return success();
}

LogicalResult cuda_tile::verifyPointee(Operation *op, TileType pointers, StringRef name,
                                       TileType value) {
  auto pointer = cast<PtrType>(pointers.getElementType());
  if (pointer.getKind() && pointer.getKind().getValue() == PtrKind::Multicast)
    return op->emitOpError() << "takes no multicast pointers; use the multimem operations";
  Type pointee = pointer.getPointeeType();
  if (value.getShape() == pointers.getShape() && value.getElementType() == pointee)
    return success();
  return op->emitOpError() << name << " must be " << pointers.withElementType(pointee)
                           << " to match the pointers " << pointers << ", got " << value;
}

LogicalResult cuda_tile::verifyMask(Operation *op, TileType pointers, Value mask) {
  if (!mask)
    return success();
  return verifySameShape(op, "mask", cast<TileType>(mask.getType()), "the pointers", pointers);
}
