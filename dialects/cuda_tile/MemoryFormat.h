// Syntax that the memory operations share.

#ifndef TILEIR_DIALECTS_CUDA_TILE_MEMORYFORMAT_H
#define TILEIR_DIALECTS_CUDA_TILE_MEMORYFORMAT_H

#include "AsmFormat.h"

namespace cuda_tile {

using Unresolved = mlir::OpAsmParser::UnresolvedOperand;

/// `weak`, or an ordering and a scope: `acquire device`.
mlir::ParseResult parseOrdering(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printOrdering(mlir::OpAsmPrinter &printer, MemoryOrderingAttr ordering, MemoryScopeAttr scope);

/// The mode of an atomic: `addf`.
mlir::ParseResult parseMode(mlir::OpAsmParser &parser, mlir::OperationState &result);

/// `inbounds = [true, false]`, which may be absent.
mlir::ParseResult parseOptionalInbounds(mlir::OpAsmParser &parser, mlir::OperationState &result);
void printOptionalInbounds(mlir::OpAsmPrinter &printer, mlir::DenseBoolArrayAttr inbounds);

/// Operands by segment, resolved in the order of the operation's segments.
class OperandSegments {
public:
  OperandSegments(mlir::OpAsmParser &parser, mlir::OperationState &result)
      : parser(parser), result(result), loc(parser.getCurrentLocation()) {}

  /// One operand.
  mlir::ParseResult add(const Unresolved &operand, mlir::Type type);
  /// One operand or none.
  mlir::ParseResult addOptional(const std::optional<Unresolved> &operand, mlir::Type type);
  /// Any number of operands.
  mlir::ParseResult addAll(llvm::ArrayRef<Unresolved> operands, mlir::TypeRange types);
  /// Records the sizes.
  void finish();

private:
  mlir::OpAsmParser &parser;
  mlir::OperationState &result;
  llvm::SMLoc loc;
  llvm::SmallVector<int32_t> sizes;
};

/// Names of attributes that the hand-written syntax covers.
llvm::ArrayRef<llvm::StringRef> getMemoryAttrNames();

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_MEMORYFORMAT_H
