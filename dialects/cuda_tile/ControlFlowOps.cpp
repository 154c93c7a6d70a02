// Structured control flow: syntax and verifiers.

#include "AsmFormat.h"
#include "ControlFlow.h"
#include "Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Parses a region; a block without terminator gets an empty `TerminatorT`.
template <typename TerminatorT>
static ParseResult parseBody(OpAsmParser &parser, Region &region,
                             ArrayRef<OpAsmParser::Argument> arguments = {}) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(region, arguments))
    return failure();
  OpBuilder builder(parser.getContext());
  Location location = parser.getEncodedSourceLoc(loc);
  if (region.empty()) {
    Block *block = builder.createBlock(&region);
    for (const OpAsmParser::Argument &argument : arguments)
      block->addArgument(argument.type, location);
  }
  Block &block = region.back();
  if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
    builder.setInsertionPointToEnd(&block);
    TerminatorT::create(builder, location, ValueRange());
  }
  return success();
}

/// Prints a region, leaving out a terminator that the parser adds.
template <typename TerminatorT> static void printBody(OpAsmPrinter &printer, Region &region) {
  bool implicit = !region.front().empty() && isa<TerminatorT>(region.front().back()) &&
                  region.front().back().getNumOperands() == 0;
  printer << ' ';
  printer.printRegion(region, /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!implicit);
}

static LogicalResult verifyOperandTypes(Operation *op, TypeRange expected, StringRef what) {
  if (op->getOperandTypes() == expected)
    return success();
  return op->emitOpError() << "operands must have the types of " << what << ", (" << expected
                           << "), got (" << op->getOperandTypes() << ")";
}

/// The last operation of `region`, which must be one of `TerminatorTs`.
template <typename... TerminatorTs>
static LogicalResult verifyTerminator(Operation *op, Region &region, StringRef bodyName,
                                      StringRef expected) {
  Block &block = region.front();
  if (!block.empty() && isa<TerminatorTs...>(block.back()))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << bodyName << " must end in " << expected;
  if (!block.empty())
    diag << ", got " << block.back().getName();
  return diag;
}

static LogicalResult verifyBlockArguments(Operation *op, Block &block, TypeRange expected) {
  if (TypeRange(block.getArgumentTypes()) == expected)
    return success();
  return op->emitOpError() << "body must have arguments of types (" << expected << "), got ("
                           << block.getArgumentTypes() << ")";
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand bounds[3];
  SmallVector<OpAsmParser::Argument> arguments(1);
  SmallVector<OpAsmParser::UnresolvedOperand> initValues;
  if (succeeded(parser.parseOptionalKeyword("unsigned")))
    result.addAttribute(getUnsignedCmpAttrName(result.name), parser.getBuilder().getUnitAttr());
  if (parser.parseOperand(arguments[0].ssaName, /*allowResultNumber=*/false) ||
      parser.parseKeyword("in") || parser.parseLParen() || parser.parseOperand(bounds[0]) ||
      parser.parseKeyword("to") || parser.parseOperand(bounds[1]) || parser.parseComma() ||
      parser.parseKeyword("step") || parser.parseOperand(bounds[2]) || parser.parseRParen() ||
      parser.parseColon() || parseTileIRType(parser, arguments[0].type))
    return failure();
  llvm::SMLoc initLoc = parser.getCurrentLocation();
  if (parseOptionalIterValues(parser, arguments, initValues))
    return failure();
  if (!initValues.empty() && (parser.parseArrow() || parser.parseLParen() ||
                              parseTileIRTypes(parser, result.types) || parser.parseRParen()))
    return failure();
  if (result.types.size() != initValues.size())
    return parser.emitError(initLoc) << "expected one type for each of " << initValues.size()
                                     << " carried values, got " << result.types.size();
  for (auto [argument, type] : llvm::zip(llvm::drop_begin(arguments), result.types))
    argument.type = type;
  for (const OpAsmParser::UnresolvedOperand &bound : bounds)
    if (parser.resolveOperand(bound, arguments[0].type, result.operands))
      return failure();
  return failure(parser.resolveOperands(initValues, result.types, initLoc, result.operands) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parseBody<ContinueOp>(parser, *result.addRegion(), arguments));
}

void ForOp::print(OpAsmPrinter &printer) {
  Block &body = getBody().front();
  if (getUnsignedCmp())
    printer << " unsigned";
  printer << ' ' << body.getArgument(0) << " in (" << getLowerBound() << " to " << getUpperBound()
          << ", step " << getStep() << ") : ";
  printTileIRType(printer, getLowerBound().getType());
  if (!getInitValues().empty()) {
    printIterValues(printer, body.getArguments().drop_front(), getInitValues());
    printer << " -> (";
    printTileIRTypes(printer, getResultTypes());
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getUnsignedCmpAttrName()});
  printBody<ContinueOp>(printer, getBody());
}

LogicalResult ForOp::verifyRegions() {
  Type type = getLowerBound().getType();
  for (auto [name, bound] :
       {std::pair("upper bound", getUpperBound()), std::pair("step", getStep())})
    if (bound.getType() != type)
      return emitOpError() << name << " must have the type of the lower bound, " << type << ", got "
                           << bound.getType();
  if (getResultTypes() != getInitValues().getTypes())
    return emitOpError() << "results must have the types of the initial values, ("
                         << getInitValues().getTypes() << "), got (" << getResultTypes() << ")";
  SmallVector<Type> arguments{type};
  llvm::append_range(arguments, getInitValues().getTypes());
  if (failed(verifyBlockArguments(*this, getBody().front(), arguments)))
    return failure();
  return verifyTerminator<ContinueOp>(*this, getBody(), "body", "continue");
}

//===----------------------------------------------------------------------===//
// loop
//===----------------------------------------------------------------------===//

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> initValues;
  SmallVector<Type> initTypes;
  llvm::SMLoc initLoc = parser.getCurrentLocation();
  if (parseOptionalIterValues(parser, arguments, initValues))
    return failure();
  // `: initial types -> result types`; a loop without the ones has the others
  // alone.
  if (succeeded(parser.parseOptionalColon())) {
    bool hasInits = !initValues.empty();
    if (hasInits && parseTileIRTypes(parser, initTypes))
      return failure();
    if ((!hasInits || succeeded(parser.parseOptionalArrow())) &&
        parseTileIRTypes(parser, result.types))
      return failure();
  }
  if (initTypes.size() != initValues.size())
    return parser.emitError(initLoc) << "expected one type for each of " << initValues.size()
                                     << " carried values, got " << initTypes.size();
  for (auto [argument, type] : llvm::zip(arguments, initTypes))
    argument.type = type;
  return failure(parser.resolveOperands(initValues, initTypes, initLoc, result.operands) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parseBody<ContinueOp>(parser, *result.addRegion(), arguments));
}

void LoopOp::print(OpAsmPrinter &printer) {
  printIterValues(printer, getBody().getArguments(), getInitValues());
  if (!getInitValues().empty()) {
    printer << " : ";
    printTileIRTypes(printer, getInitValues().getTypes());
  }
  if (getNumResults() != 0) {
    printer << (getInitValues().empty() ? " : " : " -> ");
    printTileIRTypes(printer, getResultTypes());
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printBody<ContinueOp>(printer, getBody());
}

LogicalResult LoopOp::verifyRegions() {
  if (failed(verifyBlockArguments(*this, getBody().front(), getInitValues().getTypes())))
    return failure();
  return verifyTerminator<ContinueOp, BreakOp, ReturnOp>(*this, getBody(), "body",
                                                         "continue, break or return");
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand condition;
  auto conditionType = TileType::get({}, parser.getBuilder().getI1Type());
  if (parser.parseOperand(condition) ||
      parser.resolveOperand(condition, conditionType, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) &&
      (parser.parseLParen() || parseTileIRTypes(parser, result.types) || parser.parseRParen()))
    return failure();
  Region *thenRegion = result.addRegion(), *elseRegion = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parseBody<YieldOp>(parser, *thenRegion))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("else")))
    return parseBody<YieldOp>(parser, *elseRegion);
  return success();
}

void IfOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCondition();
  if (getNumResults() != 0) {
    printer << " -> (";
    printTileIRTypes(printer, getResultTypes());
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printBody<YieldOp>(printer, getThenRegion());
  if (!getElseRegion().empty()) {
    printer << " else";
    printBody<YieldOp>(printer, getElseRegion());
  }
}

LogicalResult IfOp::verifyRegions() {
  if (getNumResults() != 0 && getElseRegion().empty())
    return emitOpError() << "with results needs an else branch";
  for (auto [name, region] :
       {std::pair("then branch", &getThenRegion()), std::pair("else branch", &getElseRegion())}) {
    if (region->empty())
      continue;
    if (region->getNumArguments() != 0)
      return emitOpError() << name << " must have no arguments, got " << region->getNumArguments();
    if (failed(verifyTerminator<YieldOp, ContinueOp, BreakOp, ReturnOp>(
            *this, *region, name, "yield, continue, break or return")))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Terminators
//===----------------------------------------------------------------------===//

LogicalResult YieldOp::verify() {
  // reduce and scan check their own yield.
  if (auto ifOp = dyn_cast<IfOp>((*this)->getParentOp()))
    return verifyOperandTypes(*this, ifOp.getResultTypes(), "the results of if");
  return success();
}

LogicalResult ContinueOp::verify() {
  Operation *loop = getEnclosingLoop(*this);
  if (!loop)
    return emitOpError() << "must stand in a for or loop, directly or within if";
  if (auto forOp = dyn_cast<ForOp>(loop))
    return verifyOperandTypes(*this, forOp.getInitValues().getTypes(),
                              "the values that for carries");
  return verifyOperandTypes(*this, cast<LoopOp>(loop).getInitValues().getTypes(),
                            "the values that loop carries");
}

LogicalResult BreakOp::verify() {
  auto loop = dyn_cast_or_null<LoopOp>(getEnclosingLoop(*this));
  if (!loop)
    return emitOpError() << "must stand in a loop, directly or within if; a for has no break";
  return verifyOperandTypes(*this, loop.getResultTypes(), "the results of loop");
}

LogicalResult ReturnOp::verify() {
  if (getNumOperands() != 0)
    return emitOpError() << "must have no operands, as entries return nothing, got "
                         << getNumOperands();
  if (!isa<EntryOp, IfOp, LoopOp>((*this)->getParentOp()))
    return emitOpError() << "must stand in an entry, if or loop, got "
                         << (*this)->getParentOp()->getName();
  return success();
}
