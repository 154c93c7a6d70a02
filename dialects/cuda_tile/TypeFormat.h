// Syntax and checks that the types share.

#ifndef TILEIR_DIALECTS_CUDA_TILE_TYPEFORMAT_H
#define TILEIR_DIALECTS_CUDA_TILE_TYPEFORMAT_H

#include "AsmFormat.h"

namespace cuda_tile {

/// `[1,?,4]`; prints `?` for dynamic.
void printInts(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> values,
               llvm::StringRef separator);
void printInts(mlir::AsmPrinter &printer, llvm::ArrayRef<int32_t> values,
               llvm::StringRef separator);

/// `name=[1, 2]`, with `?` for dynamic where that is allowed.
template <typename IntT>
mlir::ParseResult parseNamedInts(mlir::AsmParser &parser, llvm::StringRef name,
                                 llvm::SmallVectorImpl<IntT> &values, bool allowDynamic = false) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return mlir::failure();
  return parser.parseCommaSeparatedList(
      mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
        if (allowDynamic && mlir::succeeded(parser.parseOptionalQuestion())) {
          values.push_back(static_cast<IntT>(mlir::ShapedType::kDynamic));
          return mlir::success();
        }
        return parser.parseInteger(values.emplace_back());
      });
}

/// `[1, ?, 4]`, for messages.
std::string toString(llvm::ArrayRef<int64_t> values);
std::string toString(llvm::ArrayRef<int32_t> values);

/// The dimensions are positive and give no more elements than a tile may have.
mlir::LogicalResult verifyTileShape(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    llvm::ArrayRef<int64_t> shape, mlir::Type element);

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_TYPEFORMAT_H
