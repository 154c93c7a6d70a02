// Reductions and scans: syntax and verifiers.

#include "AsmFormat.h"
#include "Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// `%x, %y dim=0`
static ParseResult parseOperandsAndDim(OpAsmParser &parser, OperationState &result,
                                       SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                       StringAttr dimName) {
  int64_t dim;
  if (parser.parseOperandList(operands) || parser.parseKeyword("dim") || parser.parseEqual() ||
      parser.parseInteger(dim))
    return failure();
  result.addAttribute(dimName, parser.getBuilder().getI64IntegerAttr(dim));
  return success();
}

/// `identities=[0.0 : f32] : types -> types (arguments) { body }`
static ParseResult parseIdentitiesAndBody(OpAsmParser &parser, OperationState &result,
                                          ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                                          StringAttr identitiesName) {
  ArrayAttr identities;
  SmallVector<Type> types;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseKeyword("identities") || parser.parseEqual() ||
      parseIdentities(parser, identities) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseColon())
    return failure();
  llvm::SMLoc typesLoc = parser.getCurrentLocation();
  if (parseTileIRTypes(parser, types) || parser.parseArrow() ||
      parseTileIRTypes(parser, result.types) ||
      parser.resolveOperands(operands, types, typesLoc, result.operands))
    return failure();
  result.addAttribute(identitiesName, identities);
  return failure(parseArguments(parser, arguments) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

template <typename OpT>
static void printIdentitiesAndBody(OpT op, OpAsmPrinter &printer, ArrayRef<StringRef> elided) {
  printer << " identities=" << op.getIdentities();
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " : ";
  printTileIRTypes(printer, op.getOperands().getTypes());
  printer << " -> ";
  printTileIRTypes(printer, op.getResultTypes());
  printer.printNewline();
  printArguments(printer, op.getBody().getArguments());
  printer << ' ';
  printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parseOperandsAndDim(parser, result, operands, getDimAttrName(result.name)))
    return failure();
  return parseIdentitiesAndBody(parser, result, operands, getIdentitiesAttrName(result.name));
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " dim=" << getDim();
  printIdentitiesAndBody(*this, printer, {getDimAttrName(), getIdentitiesAttrName()});
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  BoolAttr reverse;
  if (parseOperandsAndDim(parser, result, operands, getDimAttrName(result.name)) ||
      parser.parseKeyword("reverse") || parser.parseEqual() || parser.parseAttribute(reverse))
    return failure();
  result.addAttribute(getReverseAttrName(result.name), reverse);
  return parseIdentitiesAndBody(parser, result, operands, getIdentitiesAttrName(result.name));
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOperands() << " dim=" << getDim()
          << " reverse=" << (getReverse() ? "true" : "false");
  printIdentitiesAndBody(*this, printer,
                         {getDimAttrName(), getReverseAttrName(), getIdentitiesAttrName()});
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifyIdentities(OpT op) {
  if (op.getIdentities().size() != op.getOperands().size())
    return op.emitOpError() << "needs one identity for each of " << op.getOperands().size()
                            << " operands, got " << op.getIdentities().size();
  for (auto [i, identity, operand] : llvm::enumerate(op.getIdentities(), op.getOperands())) {
    auto typed = dyn_cast<TypedAttr>(identity);
    Type element = cast<TileType>(operand.getType()).getElementType();
    if (!typed || !isa<IntegerAttr, FloatAttr>(identity) || typed.getType() != element)
      return op.emitOpError() << "identity " << i << " must be a number of type " << element
                              << ", got " << identity;
  }
  return success();
}

/// Two rank-0 arguments for each operand, and a yield of one value for each.
template <typename OpT> static LogicalResult verifyCombiner(OpT op) {
  SmallVector<Type> scalars, arguments;
  for (Value operand : op.getOperands()) {
    auto scalar = TileType::get({}, cast<TileType>(operand.getType()).getElementType());
    scalars.push_back(scalar);
    arguments.append(2, scalar);
  }
  Block &body = op.getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments))
    return op.emitOpError() << "body must have arguments of types (" << arguments << "), got ("
                            << body.getArgumentTypes() << ")";
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return op.emitOpError() << "body must end in yield";
  if (yield.getOperandTypes() != TypeRange(scalars))
    return yield.emitOpError() << "operands must have the types (" << scalars << "), got ("
                               << yield.getOperandTypes() << ")";
  for (Operation &each : body.without_terminator())
    if (!isMemoryEffectFree(&each) || isa<ForOp, LoopOp, AssumeOp>(each))
      return each.emitOpError() << "must not stand in the body of " << op->getName()
                                << ", which is free of side effects, loops and promises";
  return success();
}

/// Operands of one shape, that has dimension `dim`.
template <typename OpT> static LogicalResult verifyOperands(OpT op) {
  if (op.getOperands().empty())
    return op.emitOpError() << "needs at least one operand";
  auto first = cast<TileType>(op.getOperands().front().getType());
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    if (failed(verifySameShape(op, ("operand " + Twine(i)).str(), cast<TileType>(operand.getType()),
                               "operand 0", first)))
      return failure();
  int64_t dim = op.getDim();
  if (dim < 0 || dim >= first.getRank())
    return op.emitOpError() << "dim must be a dimension of " << first << ", got " << dim;
  return success();
}

template <typename OpT> static LogicalResult verifyResults(OpT op, ArrayRef<int64_t> shape) {
  if (op.getNumResults() != op.getOperands().size())
    return op.emitOpError() << "needs one result for each of " << op.getOperands().size()
                            << " operands, got " << op.getNumResults();
  for (auto [i, operand, result] : llvm::enumerate(op.getOperands(), op.getResultTypes())) {
    auto expected = TileType::get(shape, cast<TileType>(operand.getType()).getElementType());
    if (result != expected)
      return op.emitOpError() << "result " << i << " must be " << expected << ", got " << result;
  }
  return success();
}

template <typename OpT> static LogicalResult verifyAggregate(OpT op, bool keepsDim) {
  if (failed(verifyOperands(op)))
    return failure();
  SmallVector<int64_t> shape(cast<TileType>(op.getOperands().front().getType()).getShape());
  if (!keepsDim)
    shape.erase(shape.begin() + op.getDim());
  return failure(failed(verifyResults(op, shape)) || failed(verifyIdentities(op)) ||
                 failed(verifyCombiner(op)));
}

LogicalResult ReduceOp::verifyRegions() { return verifyAggregate(*this, /*keepsDim=*/false); }
LogicalResult ScanOp::verifyRegions() { return verifyAggregate(*this, /*keepsDim=*/true); }
