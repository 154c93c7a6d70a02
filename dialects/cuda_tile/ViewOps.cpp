// Making views of tensors: syntax and verifiers.

#include "AsmFormat.h"
#include "Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cuda_tile;

using Unresolved = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// make_tensor_view
//===----------------------------------------------------------------------===//

/// `[%n, 64]`: numbers go to `sizes`, where an operand is marked as dynamic.
static ParseResult parseSizes(OpAsmParser &parser, StringRef name, SmallVectorImpl<int64_t> &sizes,
                              SmallVectorImpl<Unresolved> &operands) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
    Unresolved operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (!isOperand.has_value())
      return parser.parseInteger(sizes.emplace_back());
    operands.push_back(operand);
    sizes.push_back(ShapedType::kDynamic);
    return *isOperand;
  });
}

static ParseResult checkSizes(OpAsmParser &parser, llvm::SMLoc loc, StringRef name,
                              ArrayRef<int64_t> sizes, ArrayRef<int64_t> expected,
                              TensorViewType type) {
  if (sizes == expected)
    return success();
  return parser.emitError(loc) << name << " does not match the type of the result, " << type;
}

ParseResult MakeTensorViewOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved base;
  SmallVector<int64_t> shape, strides;
  SmallVector<Unresolved> dynamicShape, dynamicStrides;
  llvm::SMLoc shapeLoc, stridesLoc;
  if (parser.parseOperand(base) || parser.parseComma() || parser.getCurrentLocation(&shapeLoc) ||
      parseSizes(parser, "shape", shape, dynamicShape) || parser.parseComma() ||
      parser.getCurrentLocation(&stridesLoc) ||
      parseSizes(parser, "strides", strides, dynamicStrides) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon())
    return failure();

  // `[base type,] [index type ->] result type`: the first two only where needed.
  SmallVector<Type> types;
  llvm::SMLoc typesLoc = parser.getCurrentLocation();
  if (parseTileIRTypes(parser, types))
    return failure();
  TensorViewType view;
  if (succeeded(parser.parseOptionalArrow())) {
    if (parseTileIRType(parser, view, "a tensor_view"))
      return failure();
  } else {
    view = dyn_cast<TensorViewType>(types.pop_back_val());
    if (!view)
      return parser.emitError(typesLoc, "expected a tensor_view");
  }
  bool hasDynamic = !dynamicShape.empty() || !dynamicStrides.empty();
  if (types.size() > 2 || (types.size() < 1 && hasDynamic))
    return parser.emitError(typesLoc)
           << "expected the type of the dynamic sizes, got " << types.size() << " types";
  Type indexType = hasDynamic ? types.pop_back_val() : Type();
  Type baseType = types.empty()
                      ? TileType::get({}, PtrType::get(parser.getContext(), view.getElementType(),
                                                       view.getKind()))
                      : types.front();
  if (checkSizes(parser, shapeLoc, "shape", shape, view.getShape(), view) ||
      checkSizes(parser, stridesLoc, "strides", strides, view.getStrides(), view) ||
      parser.resolveOperand(base, baseType, result.operands) ||
      parser.resolveOperands(dynamicShape, indexType, result.operands) ||
      parser.resolveOperands(dynamicStrides, indexType, result.operands))
    return failure();
  result.addTypes(view);
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(
                                                 {1, static_cast<int32_t>(dynamicShape.size()),
                                                  static_cast<int32_t>(dynamicStrides.size())}));
  return success();
}

static void printSizes(OpAsmPrinter &printer, ArrayRef<int64_t> sizes, OperandRange operands) {
  auto next = operands.begin();
  printer << '[';
  llvm::interleaveComma(sizes, printer.getStream(), [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      printer << *next++;
    else
      printer << size;
  });
  printer << ']';
}

void MakeTensorViewOp::print(OpAsmPrinter &printer) {
  TensorViewType type = getType();
  printer << ' ' << getBase() << ", shape = ";
  printSizes(printer, type.getShape(), getDynamicShape());
  printer << ", strides = ";
  printSizes(printer, type.getStrides(), getDynamicStrides());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  printer << " : ";
  SmallVector<Type> types;
  if (type.getKind())
    types.push_back(getBase().getType());
  if (getNumOperands() > 1)
    types.push_back(getOperand(1).getType());
  if (!types.empty()) {
    printTileIRTypes(printer, types);
    printer << " -> ";
  }
  printTileIRType(printer, type);
}

LogicalResult MakeTensorViewOp::verify() {
  TensorViewType type = getType();
  auto pointer = cast<PtrType>(getBase().getType().getElementType());
  auto expected = PtrType::get(getContext(), type.getElementType(), type.getKind());
  if (pointer != expected)
    return emitOpError() << "base must point to elements of the result, "
                         << TileType::get({}, expected) << ", got " << getBase().getType();
  if (getDynamicShape().size() != type.getNumDynamicDims())
    return emitOpError() << "needs one operand for each of " << type.getNumDynamicDims()
                         << " dynamic dimensions, got " << getDynamicShape().size();
  if (getDynamicStrides().size() != type.getNumDynamicStrides())
    return emitOpError() << "needs one operand for each of " << type.getNumDynamicStrides()
                         << " dynamic strides, got " << getDynamicStrides().size();
  for (Value operand : llvm::drop_begin((*this)->getOperands()))
    if (operand.getType() != getOperand(1).getType())
      return emitOpError() << "dynamic dimensions and strides must have one type, got "
                           << getOperand(1).getType() << " and " << operand.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Tile views
//===----------------------------------------------------------------------===//

template <typename ViewT>
static ParseResult parseMakeView(OpAsmParser &parser, OperationState &result, StringRef expected) {
  Unresolved tensorView;
  ViewT view;
  if (parser.parseOperand(tensorView) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon() || parseTileIRType(parser, view, expected) ||
      parser.resolveOperand(tensorView, view.getTensorView(), result.operands))
    return failure();
  result.addTypes(view);
  return success();
}

template <typename OpT> static void printMakeView(OpT op, OpAsmPrinter &printer) {
  printer << ' ' << op.getTensorView();
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : ";
  printTileIRType(printer, op.getType());
}

template <typename OpT> static LogicalResult verifyMakeView(OpT op) {
  TensorViewType expected = op.getType().getTensorView();
  if (op.getTensorView().getType() == expected)
    return success();
  return op.emitOpError() << "operand must have the tensor view type of the result, " << expected
                          << ", got " << op.getTensorView().getType();
}

ParseResult MakePartitionViewOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseMakeView<PartitionViewType>(parser, result, "a partition_view");
}
void MakePartitionViewOp::print(OpAsmPrinter &printer) { printMakeView(*this, printer); }
LogicalResult MakePartitionViewOp::verify() { return verifyMakeView(*this); }

ParseResult MakeStridedViewOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseMakeView<StridedViewType>(parser, result, "a strided_view");
}
void MakeStridedViewOp::print(OpAsmPrinter &printer) { printMakeView(*this, printer); }
LogicalResult MakeStridedViewOp::verify() { return verifyMakeView(*this); }

ParseResult MakeGatherScatterViewOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseMakeView<GatherScatterViewType>(parser, result, "a gather_scatter_view");
}
void MakeGatherScatterViewOp::print(OpAsmPrinter &printer) { printMakeView(*this, printer); }
LogicalResult MakeGatherScatterViewOp::verify() { return verifyMakeView(*this); }

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult verifyDims(Operation *op, int64_t rank, ResultRange results) {
  if (static_cast<int64_t>(results.size()) != rank)
    return op->emitOpError() << "needs one result for each of " << rank << " dimensions, got "
                             << results.size();
  if (!llvm::all_equal(results.getTypes()))
    return op->emitOpError() << "results must have one type, got (" << results.getTypes() << ")";
  return success();
}

LogicalResult GetIndexSpaceShapeOp::verify() {
  return verifyDims(*this, getTileViewRank(getView().getType()), getResults());
}

LogicalResult GetTensorShapeOp::verify() {
  return verifyDims(*this, getView().getType().getRank(), getResults());
}
