// Pieces of textual syntax: the directives that the TableGen assembly formats
// name, and helpers for the operations parsed by hand.

#ifndef TILEIR_DIALECTS_CUDA_TILE_ASMFORMAT_H
#define TILEIR_DIALECTS_CUDA_TILE_ASMFORMAT_H

#include "CudaTile.h"

#include "mlir/IR/DialectImplementation.h"

namespace cuda_tile {

//===----------------------------------------------------------------------===//
// Types without the dialect prefix
//===----------------------------------------------------------------------===//

/// Parses a type; `tile<...>` and its kin need no `!cuda_tile.` in front.
mlir::ParseResult parseTileIRType(mlir::AsmParser &parser, mlir::Type &type);
void printTileIRType(mlir::AsmPrinter &printer, mlir::Type type);

/// Parses a type and requires it to be of class `T`.
template <typename T>
mlir::ParseResult parseTileIRType(mlir::AsmParser &parser, T &type, llvm::StringRef expected) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::Type parsed;
  if (parseTileIRType(parser, parsed))
    return mlir::failure();
  type = llvm::dyn_cast<T>(parsed);
  if (!type)
    return parser.emitError(loc) << "expected " << expected << ", got " << parsed;
  return mlir::success();
}

inline void printTileIRType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type type) {
  printTileIRType(printer, type);
}

/// Comma-separated types.
mlir::ParseResult parseTileIRTypes(mlir::AsmParser &parser,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
void printTileIRTypes(mlir::AsmPrinter &printer, mlir::TypeRange types);
inline void printTileIRTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                             mlir::TypeRange types) {
  printTileIRTypes(printer, types);
}

/// The one type of all three results of get_tile_block_id and its kin.
mlir::ParseResult parseGridType(mlir::OpAsmParser &parser, mlir::Type &x, mlir::Type &y,
                                mlir::Type &z);
void printGridType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type x, mlir::Type y,
                   mlir::Type z);

/// One type that stands for as many results as `view` has dimensions.
mlir::ParseResult parseOneTypeForAll(mlir::OpAsmParser &parser,
                                     llvm::SmallVectorImpl<mlir::Type> &types, mlir::Type view);
void printOneTypeForAll(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange types,
                        mlir::Type view);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// An enumeration attribute as its bare keyword.
template <typename EnumAttrT>
mlir::ParseResult parseKeyword(mlir::AsmParser &parser, EnumAttrT &attr) {
  using Enum = decltype(attr.getValue());
  auto value = mlir::FieldParser<Enum>::parse(parser);
  if (mlir::failed(value))
    return mlir::failure();
  attr = EnumAttrT::get(parser.getContext(), *value);
  return mlir::success();
}

template <typename EnumAttrT>
void printKeyword(mlir::OpAsmPrinter &printer, mlir::Operation *, EnumAttrT attr) {
  printer << attr.getValue();
}

/// A 64-bit integer attribute as a bare number.
mlir::ParseResult parsePlainInteger(mlir::OpAsmParser &parser, mlir::IntegerAttr &attr);
void printPlainInteger(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr attr);

/// `div_by<...>`, `same_elements<...>` or `bounded<...>`, with or without prefix.
mlir::ParseResult parseAssumePredicate(mlir::OpAsmParser &parser, mlir::Attribute &attr);
void printAssumePredicate(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Attribute attr);

/// `<f32: [0.5, 1.0]> : tile<2xf32>`, the value of a constant or global.
mlir::ParseResult parseConstantValue(mlir::OpAsmParser &parser, mlir::ElementsAttr &value);
void printConstantValue(mlir::OpAsmPrinter &printer, mlir::ElementsAttr value);

/// `[0.0 : f32, -1 : i32]`, the identities of a reduction.
mlir::ParseResult parseIdentities(mlir::OpAsmParser &parser, mlir::ArrayAttr &identities);

/// `optimization_hints=<...>`, which may be absent.
mlir::ParseResult parseOptionalHints(mlir::OpAsmParser &parser, mlir::OperationState &result,
                                     mlir::StringAttr name);
/// Warns of hints that the compiler ignores.
void warnAboutHints(mlir::Location loc, OptimizationHintsAttr hints, bool onEntry);
/// Prints ` optimization_hints`, `equals`, and the hints.
void printOptionalHints(mlir::OpAsmPrinter &printer, OptimizationHintsAttr hints,
                        llvm::StringRef equals);

//===----------------------------------------------------------------------===//
// Operands and regions
//===----------------------------------------------------------------------===//

/// `token=%t` (any spacing), which may be absent.
mlir::ParseResult parseOptionalToken(mlir::OpAsmParser &parser,
                                     std::optional<mlir::OpAsmParser::UnresolvedOperand> &token);

/// `(%a: T, %b: T)` and a region with these arguments.
mlir::ParseResult parseArguments(mlir::OpAsmParser &parser,
                                 llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &arguments);
void printArguments(mlir::OpAsmPrinter &printer, mlir::Block::BlockArgListType arguments);

/// `iter_values(%a = %x, ...)`, which may be absent.
mlir::ParseResult
parseOptionalIterValues(mlir::OpAsmParser &parser,
                        llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &arguments,
                        llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &initValues);
void printIterValues(mlir::OpAsmPrinter &printer, mlir::Block::BlockArgListType arguments,
                     mlir::ValueRange initValues);

} // namespace cuda_tile

#endif // TILEIR_DIALECTS_CUDA_TILE_ASMFORMAT_H
