// Syntax that the memory operations share.

#include "MemoryFormat.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

static constexpr StringRef kOrderingName = "memory_ordering_semantics";
static constexpr StringRef kScopeName = "memory_scope";
static constexpr StringRef kModeName = "mode";
static constexpr StringRef kInboundsName = "inbounds";

ParseResult cuda_tile::parseOrdering(OpAsmParser &parser, OperationState &result) {
  MemoryOrderingAttr ordering;
  if (parseKeyword(parser, ordering))
    return failure();
  result.addAttribute(kOrderingName, ordering);
  StringRef scope;
  if (failed(parser.parseOptionalKeyword(&scope, {"tl_blk", "device", "sys"})))
    return success();
  result.addAttribute(kScopeName,
                      MemoryScopeAttr::get(parser.getContext(), *symbolizeMemoryScope(scope)));
  return success();
}

void cuda_tile::printOrdering(OpAsmPrinter &printer, MemoryOrderingAttr ordering,
                              MemoryScopeAttr scope) {
  printer << ' ' << ordering.getValue();
  if (scope)
    printer << ' ' << scope.getValue();
  printer << ' ';
}

ParseResult cuda_tile::parseMode(OpAsmParser &parser, OperationState &result) {
  AtomicRMWModeAttr mode;
  if (parseKeyword(parser, mode))
    return failure();
  result.addAttribute(kModeName, mode);
  return success();
}

ParseResult cuda_tile::parseOptionalInbounds(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalKeyword(kInboundsName)))
    return success();
  if (parser.parseEqual())
    return failure();
  auto inbounds = dyn_cast_or_null<DenseBoolArrayAttr>(DenseBoolArrayAttr::parse(parser, Type()));
  if (!inbounds)
    return failure();
  result.addAttribute(kInboundsName, inbounds);
  return success();
}

void cuda_tile::printOptionalInbounds(OpAsmPrinter &printer, DenseBoolArrayAttr inbounds) {
  if (!inbounds)
    return;
  printer << ' ' << kInboundsName << " = ";
  inbounds.print(printer);
}

ParseResult OperandSegments::add(const Unresolved &operand, Type type) {
  sizes.push_back(1);
  return parser.resolveOperand(operand, type, result.operands);
}

ParseResult OperandSegments::addOptional(const std::optional<Unresolved> &operand, Type type) {
  sizes.push_back(operand ? 1 : 0);
  return operand ? parser.resolveOperand(*operand, type, result.operands) : success();
}

ParseResult OperandSegments::addAll(ArrayRef<Unresolved> operands, TypeRange types) {
  sizes.push_back(operands.size());
  return parser.resolveOperands(operands, types, loc, result.operands);
}

void OperandSegments::finish() {
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(sizes));
}

ArrayRef<StringRef> cuda_tile::getMemoryAttrNames() {
  static constexpr StringRef names[] = {kOrderingName, kScopeName,           kModeName,
                                        kInboundsName, "optimization_hints", "operandSegmentSizes",
                                        "reduction"};
  return names;
}
