// Module, entry and globals.

#include "AsmFormat.h"
#include "Verify.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

namespace {

/// Checks what only the module knows: whether operations beyond Tile IR are allowed, and
/// dimensions that are no powers of two.
class PlainChecker {
public:
  LogicalResult check(Operation *op) {
    if (isa<InlinePtxOp, PrefetchOp>(op))
      return op->emitOpError() << "is an extension of Tile IR; mark the module '"
                               << CudaTileDialect::kExtendedAttr << "' to allow it";
    for (Type type : op->getOperandTypes())
      if (failed(check(op, type)))
        return failure();
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return failure();
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (failed(check(op, type)))
          return failure();
    if (auto global = dyn_cast<GlobalOp>(op))
      return check(op, global.getValue().getType());
    return success();
  }

private:
  LogicalResult check(Operation *op, Type type) {
    if (!known.insert(type).second)
      return success();
    SmallVector<int64_t> shape = getTileShape(type);
    for (auto [i, dim] : llvm::enumerate(shape))
      if (!llvm::isPowerOf2_64(dim))
        return op->emitOpError() << "dimension " << i << " of " << type
                                 << " must be a power of two, got " << dim << "; mark the module '"
                                 << CudaTileDialect::kExtendedAttr << "' to allow it";
    return success();
  }

  static SmallVector<int64_t> getTileShape(Type type) {
    if (auto tile = dyn_cast<TileType>(type))
      return SmallVector<int64_t>(tile.getShape());
    ArrayRef<int32_t> shape;
    if (auto view = dyn_cast<PartitionViewType>(type))
      shape = view.getTileShape();
    else if (auto view = dyn_cast<StridedViewType>(type))
      shape = view.getTileShape();
    else if (auto view = dyn_cast<GatherScatterViewType>(type))
      shape = view.getTileShape();
    return SmallVector<int64_t>(shape.begin(), shape.end());
  }

  DenseSet<Type> known;
};

} // namespace

LogicalResult cuda_tile::ModuleOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<EntryOp, GlobalOp>(op))
      return op.emitOpError() << "must not stand directly in a cuda_tile.module, which holds "
                                 "entries and globals";
  if ((*this)->hasAttr(CudaTileDialect::kExtendedAttr))
    return success();
  PlainChecker checker;
  WalkResult result = walk([&](Operation *op) { return WalkResult(checker.check(op)); });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

ParseResult EntryOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parseArguments(parser, arguments))
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Type> types;
  SmallVector<Attribute> attrs;
  for (const OpAsmParser::Argument &argument : arguments) {
    types.push_back(argument.type);
    attrs.push_back(argument.attrs);
  }
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, {})));
  if (llvm::any_of(attrs, [](Attribute each) { return !cast<DictionaryAttr>(each).empty(); }))
    result.addAttribute(getArgAttrsAttrName(result.name), builder.getArrayAttr(attrs));
  if (parseOptionalHints(parser, result, getOptimizationHintsAttrName(result.name)) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  return parser.parseRegion(*body, arguments);
}

/// `%arg: type {attrs}` for each parameter.
static void printParameters(EntryOp op, OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(op.getBody().getArguments(), printer.getStream(),
                        [&](BlockArgument argument) {
                          printer << argument << ": ";
                          printTileIRType(printer, argument.getType());
                          printer.printOptionalAttrDict(
                              function_interface_impl::getArgAttrs(op, argument.getArgNumber()));
                        });
  printer << ')';
}

void EntryOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printParameters(*this, printer);
  printOptionalHints(printer, getOptimizationHintsAttr(), "=");
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getFunctionTypeAttrName(), getArgAttrsAttrName(),
                            getResAttrsAttrName(), getOptimizationHintsAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// A parameter is a rank-0 tile of a number, i4 or a pointer.
static LogicalResult verifyParameter(EntryOp op, unsigned i, Type type) {
  auto tile = dyn_cast<TileType>(type);
  if (tile && tile.getRank() == 0)
    return success();
  return op.emitOpError() << "parameter " << i << " must be a rank-0 tile, got " << type;
}

LogicalResult EntryOp::verify() {
  if (getFunctionType().getNumResults() != 0)
    return emitOpError() << "must return nothing, got results " << getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(getFunctionType().getInputs()))
    if (failed(verifyParameter(*this, i, type)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

ParseResult GlobalOp::parse(OpAsmParser &parser, OperationState &result) {
  MLIRContext *context = parser.getContext();
  StringAttr name;
  ElementsAttr value;
  int64_t alignment = 0;
  auto visibility = SymbolVisibility::Public;
  if (succeeded(parser.parseOptionalKeyword("private")))
    visibility = SymbolVisibility::Private;
  else
    (void)parser.parseOptionalKeyword("public");
  if (succeeded(parser.parseOptionalKeyword("constant")))
    result.addAttribute(getConstantAttrName(result.name), UnitAttr::get(context));
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("alignment")) &&
      (parser.parseEqual() || parser.parseInteger(alignment)))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parseConstantValue(parser, value))
    return failure();
  result.addAttribute(getValueAttrName(result.name), value);
  result.addAttribute(getAlignmentAttrName(result.name),
                      parser.getBuilder().getI64IntegerAttr(alignment));
  result.addAttribute(getSymbolVisibilityAttrName(result.name),
                      SymbolVisibilityAttr::get(context, visibility));
  return success();
}

void GlobalOp::print(OpAsmPrinter &printer) {
  if (getSymbolVisibility() == SymbolVisibility::Private)
    printer << " private";
  if (getConstant())
    printer << " constant";
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (getAlignment() != 0)
    printer << " alignment = " << getAlignment();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getSymNameAttrName(), getValueAttrName(), getAlignmentAttrName(),
                                 getSymbolVisibilityAttrName(), getConstantAttrName()});
  printer << ' ';
  printConstantValue(printer, getValue());
}

LogicalResult GlobalOp::verify() {
  auto type = dyn_cast<TileType>(getValue().getType());
  if (!type || !isa<DenseIntOrFPElementsAttr>(getValue()))
    return emitOpError() << "value must be a dense tile of numbers, got " << getValue();
  if (type.getRank() != 1)
    return emitOpError() << "value must have rank 1, got " << type;
  int64_t alignment = getAlignment();
  if (alignment != 0 && (alignment < 0 || !llvm::isPowerOf2_64(alignment)))
    return emitOpError() << "alignment must be 0 or a power of two, got " << alignment;
  if (isa<DILocAttr>(getLoc()))
    return emitOpError() << "must have no debug scope in its location";
  return success();
}

LogicalResult GetGlobalOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto global = symbolTable.lookupNearestSymbolFrom<GlobalOp>(*this, getNameAttr());
  if (!global)
    return emitOpError() << getNameAttr() << " does not name a global of this module";
  Type pointee = cast<PtrType>(getType().getElementType()).getPointeeType();
  Type element = cast<TileType>(global.getValue().getType()).getElementType();
  if (pointee != element)
    return emitOpError() << "result must point to elements of " << getNameAttr() << ", " << element
                         << ", got " << getType();
  return success();
}
