// Loads, stores and atomics through pointers: syntax, verifiers, effects.

#include "MemoryFormat.h"
#include "Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Tokens and scratch memory
//===----------------------------------------------------------------------===//

LogicalResult JoinTokensOp::verify() {
  if (getTokens().size() < 2)
    return emitOpError() << "needs two tokens or more, got " << getTokens().size();
  return success();
}

LogicalResult AllocaOp::verify() {
  Type pointee = cast<PtrType>(getType().getElementType()).getPointeeType();
  int64_t bytes = llvm::divideCeil(getValueBitWidth(pointee), 8);
  if (isa<FloatTF32Type>(pointee))
    bytes = 4;
  int64_t count = getNumElem(), alignment = getAlignment();
  if (count <= 0)
    return emitOpError() << "num_elem must be positive, got " << count;
  if (alignment < bytes || !llvm::isPowerOf2_64(alignment))
    return emitOpError() << "alignment must be a power of two and at least the size of " << pointee
                         << ", " << bytes << ", got " << alignment;
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax: operands after a comma each, then their types
//===----------------------------------------------------------------------===//

namespace {

/// `%a, %b, ... token=%t optimization_hints = <...> {attrs} : types`.
struct PointerOperands {
  SmallVector<Unresolved> operands;
  SmallVector<Type> types;
  std::optional<Unresolved> token;
  llvm::SMLoc loc;

  /// Parses operands after those that are there already.
  ParseResult parseRest(OpAsmParser &parser, OperationState &result) {
    while (succeeded(parser.parseOptionalComma()))
      if (parser.parseOperand(operands.emplace_back()))
        return failure();
    if (parseOptionalToken(parser, token) ||
        parseOptionalHints(parser, result,
                           StringAttr::get(parser.getContext(), "optimization_hints")) ||
        parser.parseOptionalAttrDict(result.attributes) || parser.parseColon())
      return failure();
    loc = parser.getCurrentLocation();
    return parseTileIRTypes(parser, types);
  }

  ParseResult checkCounts(OpAsmParser &parser, size_t minOperands, size_t maxOperands,
                          size_t numTypes) const {
    if (operands.size() < minOperands || operands.size() > maxOperands)
      return parser.emitError(loc) << "expected " << minOperands << " to " << maxOperands
                                   << " operands, got " << operands.size();
    if (types.size() != numTypes)
      return parser.emitError(loc)
             << "expected " << numTypes << " operand types, got " << types.size();
    return success();
  }

  std::optional<Unresolved> get(size_t i) const {
    return i < operands.size() ? std::optional(operands[i]) : std::nullopt;
  }
  Type getType(size_t i) const { return i < types.size() ? types[i] : Type(); }
};

} // namespace

static void printTokenAndHints(OpAsmPrinter &printer, Operation *op, Value token,
                               OptimizationHintsAttr hints) {
  if (token)
    printer << " token=" << token;
  printOptionalHints(printer, hints, " = ");
  printer.printOptionalAttrDict(op->getAttrs(), getMemoryAttrNames());
}

static void printResultTypes(OpAsmPrinter &printer, Operation *op) {
  printer << " -> ";
  printTileIRTypes(printer, op->getResultTypes());
}

static ParseResult parseResultTypes(OpAsmParser &parser, OperationState &result) {
  return failure(parser.parseArrow() || parseTileIRTypes(parser, result.types));
}

//===----------------------------------------------------------------------===//
// load_ptr_tko
//===----------------------------------------------------------------------===//

ParseResult LoadPtrTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  PointerOperands parsed;
  if (parseOrdering(parser, result) || parser.parseOperand(parsed.operands.emplace_back()) ||
      parsed.parseRest(parser, result) ||
      parsed.checkCounts(parser, 1, 3, parsed.operands.size()) || parseResultTypes(parser, result))
    return failure();
  // A lone second operand is a mask if it is a tile of i1.
  auto second = dyn_cast_or_null<TileType>(parsed.getType(1));
  bool hasMask = parsed.operands.size() == 3 || (second && second.getElementType().isInteger(1));
  size_t paddingIndex = hasMask ? 2 : 1;
  OperandSegments segments(parser, result);
  if (segments.add(parsed.operands[0], parsed.types[0]) ||
      segments.addOptional(hasMask ? parsed.get(1) : std::nullopt, parsed.getType(1)) ||
      segments.addOptional(parsed.get(paddingIndex), parsed.getType(paddingIndex)) ||
      segments.addOptional(parsed.token, TokenType::get(parser.getContext())))
    return failure();
  segments.finish();
  return success();
}

void LoadPtrTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  SmallVector<Value> operands{getSource()};
  for (Value operand : {Value(getMask()), Value(getPaddingValue())})
    if (operand)
      operands.push_back(operand);
  printer << operands;
  printTokenAndHints(printer, *this, getToken(), getOptimizationHintsAttr());
  printer << " : ";
  printTileIRTypes(printer, ValueRange(operands).getTypes());
  printResultTypes(printer, *this);
}

LogicalResult LoadPtrTkoOp::verify() {
  TileType pointers = getSource().getType(), result = getResult().getType();
  if (failed(verifyOrdering(
          *this, getMemoryOrderingSemantics(), getMemoryScope(),
          {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Acquire})) ||
      failed(verifyPointee(*this, pointers, "result", result)) ||
      failed(verifyMask(*this, pointers, getMask())))
    return failure();
  if (Value padding = getPaddingValue(); padding && padding.getType() != result)
    return emitOpError() << "padding must have the type of the result, " << result << ", got "
                         << padding.getType();
  return success();
}

void LoadPtrTkoOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  // Stronger orderings order other operations: none of them may be merged.
  if (getMemoryOrderingSemantics() != MemoryOrdering::Weak)
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// store_ptr_tko
//===----------------------------------------------------------------------===//

ParseResult StorePtrTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  PointerOperands parsed;
  if (parseOrdering(parser, result) || parser.parseOperand(parsed.operands.emplace_back()) ||
      parsed.parseRest(parser, result) ||
      parsed.checkCounts(parser, 2, 3, parsed.operands.size()) || parseResultTypes(parser, result))
    return failure();
  OperandSegments segments(parser, result);
  if (segments.add(parsed.operands[0], parsed.types[0]) ||
      segments.add(parsed.operands[1], parsed.types[1]) ||
      segments.addOptional(parsed.get(2), parsed.getType(2)) ||
      segments.addOptional(parsed.token, TokenType::get(parser.getContext())))
    return failure();
  segments.finish();
  return success();
}

void StorePtrTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  SmallVector<Value> operands{getDestination(), getValue()};
  if (getMask())
    operands.push_back(getMask());
  printer << operands;
  printTokenAndHints(printer, *this, getToken(), getOptimizationHintsAttr());
  printer << " : ";
  printTileIRTypes(printer, ValueRange(operands).getTypes());
  printResultTypes(printer, *this);
}

LogicalResult StorePtrTkoOp::verify() {
  TileType pointers = getDestination().getType();
  return failure(failed(verifyOrdering(
                     *this, getMemoryOrderingSemantics(), getMemoryScope(),
                     {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Release})) ||
                 failed(verifyPointee(*this, pointers, "value", getValue().getType())) ||
                 failed(verifyMask(*this, pointers, getMask())));
}

void StorePtrTkoOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  if (getMemoryOrderingSemantics() != MemoryOrdering::Weak)
    effects.emplace_back(MemoryEffects::Read::get());
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Orderings of a read-modify-write.
static LogicalResult verifyAtomicOrdering(Operation *op, MemoryOrdering ordering,
                                          MemoryScope scope) {
  return verifyOrdering(op, ordering, scope,
                        {MemoryOrdering::Relaxed, MemoryOrdering::Acquire, MemoryOrdering::Release,
                         MemoryOrdering::AcqRel});
}

static bool is32Or64BitNumber(Type type) {
  return type.isInteger(32) || type.isInteger(64) || type.isF32() || type.isF64();
}

ParseResult AtomicCASTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  PointerOperands parsed;
  if (parseOrdering(parser, result) || parser.parseOperand(parsed.operands.emplace_back()) ||
      parsed.parseRest(parser, result) ||
      parsed.checkCounts(parser, 3, 4, parsed.operands.size() - 1) ||
      parseResultTypes(parser, result))
    return failure();
  // One type serves `cmp` and `val`.
  OperandSegments segments(parser, result);
  if (segments.add(parsed.operands[0], parsed.types[0]) ||
      segments.add(parsed.operands[1], parsed.types[1]) ||
      segments.add(parsed.operands[2], parsed.types[1]) ||
      segments.addOptional(parsed.get(3), parsed.getType(2)) ||
      segments.addOptional(parsed.token, TokenType::get(parser.getContext())))
    return failure();
  segments.finish();
  return success();
}

void AtomicCASTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getPointers() << ", " << getCmp() << ", " << getVal();
  SmallVector<Type> types{getPointers().getType(), getCmp().getType()};
  if (getMask()) {
    printer << ", " << getMask();
    types.push_back(getMask().getType());
  }
  printTokenAndHints(printer, *this, getToken(), {});
  printer << " : ";
  printTileIRTypes(printer, types);
  printResultTypes(printer, *this);
}

LogicalResult AtomicCASTkoOp::verify() {
  TileType pointers = getPointers().getType(), value = getVal().getType();
  if (failed(verifyAtomicOrdering(*this, getMemoryOrderingSemantics(), getMemoryScope())) ||
      failed(verifyPointee(*this, pointers, "cmp", getCmp().getType())) ||
      failed(verifyPointee(*this, pointers, "val", value)) ||
      failed(verifyPointee(*this, pointers, "result", getResult().getType())) ||
      failed(verifyMask(*this, pointers, getMask())))
    return failure();
  if (!is32Or64BitNumber(value.getElementType()))
    return emitOpError() << "val must have elements of i32, i64, f32 or f64, got " << value;
  return success();
}

ParseResult AtomicRMWTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  PointerOperands parsed;
  if (parseOrdering(parser, result) || parser.parseOperand(parsed.operands.emplace_back()) ||
      parser.parseComma() || parseMode(parser, result) || parsed.parseRest(parser, result) ||
      parsed.checkCounts(parser, 2, 3, parsed.operands.size()) || parseResultTypes(parser, result))
    return failure();
  OperandSegments segments(parser, result);
  if (segments.add(parsed.operands[0], parsed.types[0]) ||
      segments.add(parsed.operands[1], parsed.types[1]) ||
      segments.addOptional(parsed.get(2), parsed.getType(2)) ||
      segments.addOptional(parsed.token, TokenType::get(parser.getContext())))
    return failure();
  segments.finish();
  return success();
}

void AtomicRMWTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getPointers() << ", " << getMode() << ", " << getArg();
  SmallVector<Type> types{getPointers().getType(), getArg().getType()};
  if (getMask()) {
    printer << ", " << getMask();
    types.push_back(getMask().getType());
  }
  printTokenAndHints(printer, *this, getToken(), {});
  printer << " : ";
  printTileIRTypes(printer, types);
  printResultTypes(printer, *this);
}

LogicalResult AtomicRMWTkoOp::verify() {
  TileType pointers = getPointers().getType(), arg = getArg().getType();
  return failure(
      failed(verifyAtomicOrdering(*this, getMemoryOrderingSemantics(), getMemoryScope())) ||
      failed(verifyPointee(*this, pointers, "arg", arg)) ||
      failed(verifyPointee(*this, pointers, "result", getResult().getType())) ||
      failed(verifyMask(*this, pointers, getMask())) ||
      failed(verifyAtomicMode(*this, getMode(), arg.getElementType())));
}

LogicalResult cuda_tile::verifyAtomicMode(Operation *op, AtomicRMWMode mode, Type element) {
  auto expect = [&](StringRef expected, bool ok) -> LogicalResult {
    if (ok)
      return success();
    return op->emitOpError() << "mode " << stringifyAtomicRMWMode(mode) << " needs elements of "
                             << expected << ", got " << element;
  };
  switch (mode) {
  case AtomicRMWMode::AddF:
    return expect("f16, bf16, f32 or f64", isBaseFloat(element));
  case AtomicRMWMode::Xchg:
    return expect("i32, i64, f32 or f64", is32Or64BitNumber(element));
  default:
    return expect("i32 or i64", element.isInteger(32) || element.isInteger(64));
  }
}
