// Pieces of textual syntax shared by operations.

#include "AsmFormat.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parseGridType(OpAsmParser &parser, Type &x, Type &y, Type &z) {
  if (parseTileIRType(parser, x))
    return failure();
  y = z = x;
  return success();
}

void cuda_tile::printGridType(OpAsmPrinter &printer, Operation *, Type x, Type, Type) {
  printTileIRType(printer, x);
}

ParseResult cuda_tile::parseOneTypeForAll(OpAsmParser &parser, SmallVectorImpl<Type> &types,
                                          Type view) {
  Type type;
  if (parseTileIRType(parser, type))
    return failure();
  auto tensorView = dyn_cast<TensorViewType>(view);
  types.append(tensorView ? tensorView.getRank() : getTileViewRank(view), type);
  return success();
}

void cuda_tile::printOneTypeForAll(OpAsmPrinter &printer, Operation *, TypeRange types, Type) {
  if (!types.empty())
    printTileIRType(printer, types.front());
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parsePlainInteger(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

void cuda_tile::printPlainInteger(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  printer << attr.getInt();
}

ParseResult cuda_tile::parseAssumePredicate(OpAsmParser &parser, Attribute &attr) {
  OptionalParseResult prefixed = parser.parseOptionalAttribute(attr);
  if (prefixed.has_value())
    return *prefixed;
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  if (parser.parseKeyword(&mnemonic))
    return failure();
  if (mnemonic == DivByAttr::getMnemonic())
    attr = DivByAttr::parse(parser, Type());
  else if (mnemonic == SameElementsAttr::getMnemonic())
    attr = SameElementsAttr::parse(parser, Type());
  else if (mnemonic == BoundedAttr::getMnemonic())
    attr = BoundedAttr::parse(parser, Type());
  else
    return parser.emitError(loc) << "expected div_by, same_elements or bounded, got '" << mnemonic
                                 << "'";
  return success(static_cast<bool>(attr));
}

void cuda_tile::printAssumePredicate(OpAsmPrinter &printer, Operation *, Attribute attr) {
  if (auto divBy = dyn_cast<DivByAttr>(attr)) {
    printer << DivByAttr::getMnemonic();
    divBy.print(printer);
  } else if (auto same = dyn_cast<SameElementsAttr>(attr)) {
    printer << SameElementsAttr::getMnemonic();
    same.print(printer);
  } else if (auto bounded = dyn_cast<BoundedAttr>(attr)) {
    printer << BoundedAttr::getMnemonic();
    bounded.print(printer);
  } else {
    printer.printAttribute(attr);
  }
}

ParseResult cuda_tile::parseOptionalHints(OpAsmParser &parser, OperationState &result,
                                          StringAttr name) {
  if (failed(parser.parseOptionalKeyword("optimization_hints")))
    return success();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseEqual())
    return failure();
  auto hints =
      dyn_cast_or_null<OptimizationHintsAttr>(OptimizationHintsAttr::parse(parser, Type()));
  if (!hints)
    return failure();
  warnAboutHints(parser.getEncodedSourceLoc(loc), hints,
                 result.name.getStringRef() == EntryOp::getOperationName());
  result.addAttribute(name, hints);
  return success();
}

void cuda_tile::printOptionalHints(OpAsmPrinter &printer, OptimizationHintsAttr hints,
                                   StringRef equals) {
  if (!hints)
    return;
  printer << " optimization_hints" << equals;
  hints.print(printer);
}

//===----------------------------------------------------------------------===//
// Operands and regions
//===----------------------------------------------------------------------===//

ParseResult cuda_tile::parseOptionalToken(OpAsmParser &parser,
                                          std::optional<OpAsmParser::UnresolvedOperand> &token) {
  if (failed(parser.parseOptionalKeyword("token")))
    return success();
  OpAsmParser::UnresolvedOperand operand;
  if (parser.parseEqual() || parser.parseOperand(operand))
    return failure();
  token = operand;
  return success();
}

ParseResult cuda_tile::parseArguments(OpAsmParser &parser,
                                      SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    NamedAttrList attrs;
    if (parser.parseOperand(argument.ssaName, /*allowResultNumber=*/false) || parser.parseColon() ||
        parseTileIRType(parser, argument.type) || parser.parseOptionalAttrDict(attrs) ||
        parser.parseOptionalLocationSpecifier(argument.sourceLoc))
      return failure();
    argument.attrs = attrs.getDictionary(parser.getContext());
    return success();
  });
}

void cuda_tile::printArguments(OpAsmPrinter &printer, Block::BlockArgListType arguments) {
  printer << '(';
  llvm::interleaveComma(arguments, printer.getStream(), [&](BlockArgument argument) {
    printer << argument << ": ";
    printTileIRType(printer, argument.getType());
  });
  printer << ')';
}

ParseResult
cuda_tile::parseOptionalIterValues(OpAsmParser &parser,
                                   SmallVectorImpl<OpAsmParser::Argument> &arguments,
                                   SmallVectorImpl<OpAsmParser::UnresolvedOperand> &initValues) {
  if (failed(parser.parseOptionalKeyword("iter_values")))
    return success();
  return parser.parseAssignmentList(arguments, initValues);
}

void cuda_tile::printIterValues(OpAsmPrinter &printer, Block::BlockArgListType arguments,
                                ValueRange initValues) {
  if (initValues.empty())
    return;
  printer << " iter_values(";
  llvm::interleaveComma(llvm::zip(arguments, initValues), printer.getStream(), [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ')';
}
