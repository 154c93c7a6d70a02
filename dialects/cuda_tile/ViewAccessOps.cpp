// Loads, stores and reductions of tiles through views: syntax, verifiers,
// effects.

#include "MemoryFormat.h"
#include "Verify.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

namespace {

/// What an access names: `%view[%i, %j]`, perhaps a tile, perhaps a token.
struct ViewAccess {
  Unresolved view;
  SmallVector<Unresolved> index;
  std::optional<Unresolved> tile;
  std::optional<Unresolved> token;
  Type viewType, tileType;
  SmallVector<Type> indexTypes;
};

} // namespace

static ParseResult parseIndex(OpAsmParser &parser, ViewAccess &access) {
  return parser.parseOperandList(access.index, OpAsmParser::Delimiter::Square);
}

/// `token = %t optimization_hints = <...> inbounds = [...] attributes {...} :`
static ParseResult parseClauses(OpAsmParser &parser, OperationState &result, ViewAccess &access) {
  return failure(parseOptionalToken(parser, access.token) ||
                 parseOptionalHints(parser, result,
                                    StringAttr::get(parser.getContext(), "optimization_hints")) ||
                 parseOptionalInbounds(parser, result) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseColon());
}

/// The types of the indices, after a comma each: one for all, one for each, or,
/// where a tile indexes one dimension, that of the tile and of the others.
static ParseResult parseIndexTypes(OpAsmParser &parser, ViewAccess &access) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  while (succeeded(parser.parseOptionalComma())) {
    Type type;
    if (parseTileIRType(parser, type))
      return failure();
    // Some accesses list the type of their token last.
    if (!isa<TokenType>(type))
      types.push_back(type);
  }
  size_t count = access.index.size();
  if (types.size() == 1)
    access.indexTypes.assign(count, types.front());
  else
    access.indexTypes = types;
  if (access.indexTypes.size() != count)
    return parser.emitError(loc) << "expected one index type, or one for each of " << count
                                 << " indices, got " << types.size();
  return success();
}

static ParseResult resolveAccess(OpAsmParser &parser, OperationState &result,
                                 const ViewAccess &access, ArrayRef<StringRef> order) {
  OperandSegments segments(parser, result);
  for (StringRef each : order) {
    ParseResult resolved =
        each == "view"    ? segments.add(access.view, access.viewType)
        : each == "tile"  ? segments.add(*access.tile, access.tileType)
        : each == "index" ? segments.addAll(access.index, access.indexTypes)
                          : segments.addOptional(access.token, TokenType::get(parser.getContext()));
    if (resolved)
      return failure();
  }
  segments.finish();
  return failure(parser.parseArrow() || parseTileIRTypes(parser, result.types));
}

static ParseResult parseTile(OpAsmParser &parser, ViewAccess &access) {
  return parser.parseOperand(access.tile.emplace());
}

template <typename OpT>
static void printClauses(OpT op, OpAsmPrinter &printer, OptimizationHintsAttr hints,
                         ArrayRef<StringRef> elided) {
  if (op.getToken())
    printer << " token = " << op.getToken();
  printOptionalHints(printer, hints, " = ");
  printOptionalInbounds(printer, op.getInboundsAttr());
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << " : ";
}

/// One type if all indices have the same.
static void printIndexTypes(OpAsmPrinter &printer, OperandRange index) {
  if (index.empty())
    return;
  printer << ", ";
  if (llvm::all_equal(index.getTypes()))
    printTileIRType(printer, index.front().getType());
  else
    printTileIRTypes(printer, index.getTypes());
}

static void printResults(OpAsmPrinter &printer, Operation *op) {
  printer << " -> ";
  printTileIRTypes(printer, op->getResultTypes());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {

/// What a view says about the tiles it gives.
struct ViewShape {
  SmallVector<int64_t> tileShape;
  TensorViewType tensorView;
  /// The dimension indexed by a tile, or -1.
  int64_t sparseDim = -1;
};

} // namespace

static ViewShape getViewShape(Type type) {
  auto make = [](auto view, int64_t sparseDim) {
    ArrayRef<int32_t> shape = view.getTileShape();
    return ViewShape{SmallVector<int64_t>(shape.begin(), shape.end()), view.getTensorView(),
                     sparseDim};
  };
  if (auto view = dyn_cast<PartitionViewType>(type))
    return make(view, -1);
  if (auto view = dyn_cast<StridedViewType>(type))
    return make(view, -1);
  auto view = cast<GatherScatterViewType>(type);
  return make(view, view.getSparseDim());
}

int64_t cuda_tile::getTileViewRank(Type view) {
  bool isView = isa<PartitionViewType, StridedViewType, GatherScatterViewType>(view);
  return isView ? getViewShape(view).tileShape.size() : 0;
}

TileType cuda_tile::getViewTileType(Type view) {
  ViewShape shape = getViewShape(view);
  return TileType::get(shape.tileShape, shape.tensorView.getElementType());
}

static LogicalResult verifyIndex(Operation *op, const ViewShape &view, OperandRange index) {
  size_t rank = view.tileShape.size();
  if (index.size() != rank)
    return op->emitOpError() << "needs one index for each of " << rank << " dimensions, got "
                             << index.size();
  Type scalar;
  for (auto [i, each] : llvm::enumerate(index)) {
    auto type = cast<TileType>(each.getType());
    if (static_cast<int64_t>(i) == view.sparseDim) {
      if (type.getShape() != ArrayRef<int64_t>{view.tileShape[i]})
        return op->emitOpError() << "index " << i << ", along sparse_dim, must be a tile of "
                                 << view.tileShape[i] << " integers, got " << type;
      continue;
    }
    if (type.getRank() != 0)
      return op->emitOpError() << "index " << i << " must be a rank-0 tile, got " << type;
    if (scalar && type != scalar)
      return op->emitOpError() << "indices must have one type, got " << scalar << " and " << type;
    scalar = type;
  }
  return success();
}

template <typename OpT> static LogicalResult verifyAccess(OpT op) {
  ViewShape view = getViewShape(op.getView().getType());
  TileType expected = getViewTileType(op.getView().getType());
  if (op.getTile().getType() != expected)
    return op.emitOpError() << "tile must be " << expected << ", as the view says, got "
                            << op.getTile().getType();
  if (op.getInbounds() && op.getInbounds()->size() != view.tileShape.size())
    return op.emitOpError() << "inbounds needs one value for each of " << view.tileShape.size()
                            << " dimensions, got " << op.getInbounds()->size();
  return verifyIndex(op, view, op.getIndex());
}

static bool isMulticast(Type view) {
  PtrKindAttr kind = getViewShape(view).tensorView.getKind();
  return kind && kind.getValue() == PtrKind::Multicast;
}

template <typename OpT> static LogicalResult verifyNotMulticast(OpT op) {
  if (isMulticast(op.getView().getType()))
    return op.emitOpError() << "takes no view of a multicast pointer; use the multimem operations";
  return success();
}

/// A partition view of a multicast pointer, to elements that multicast objects
/// hold.
template <typename OpT> static LogicalResult verifyMulticast(OpT op) {
  Type view = op.getView().getType();
  if (!isa<PartitionViewType>(view))
    return op.emitOpError() << "needs a partition view, got " << view;
  if (!isMulticast(view))
    return op.emitOpError() << "needs a view of a multicast pointer, got " << view;
  Type element = getViewShape(view).tensorView.getElementType();
  if (!isBaseFloat(element) && !element.isInteger(32) && !element.isInteger(64))
    return op.emitOpError() << "needs elements of i32, i64, f16, bf16, f32 or f64, got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// load_view_tko
//===----------------------------------------------------------------------===//

ParseResult LoadViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  ViewAccess access;
  if (parseOrdering(parser, result) || parser.parseOperand(access.view) ||
      parseIndex(parser, access) || parseClauses(parser, result, access) ||
      parseTileIRType(parser, access.viewType) || parseIndexTypes(parser, access))
    return failure();
  return resolveAccess(parser, result, access, {"view", "index", "token"});
}

void LoadViewTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getView() << '[' << getIndex() << ']';
  printClauses(*this, printer, getOptimizationHintsAttr(), getMemoryAttrNames());
  printTileIRType(printer, getView().getType());
  printIndexTypes(printer, getIndex());
  printResults(printer, *this);
}

LogicalResult LoadViewTkoOp::verify() {
  return failure(failed(verifyOrdering(
                     *this, getMemoryOrderingSemantics(), getMemoryScope(),
                     {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Acquire})) ||
                 failed(verifyNotMulticast(*this)) || failed(verifyAccess(*this)));
}

void LoadViewTkoOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  // Stronger orderings order other operations: none of them may be merged.
  if (getMemoryOrderingSemantics() != MemoryOrdering::Weak)
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// store_view_tko
//===----------------------------------------------------------------------===//

ParseResult StoreViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  ViewAccess access;
  if (parseOrdering(parser, result) || parseTile(parser, access) || parser.parseComma() ||
      parser.parseOperand(access.view) || parseIndex(parser, access) ||
      parseClauses(parser, result, access) || parseTileIRType(parser, access.tileType) ||
      parser.parseComma() || parseTileIRType(parser, access.viewType) ||
      parseIndexTypes(parser, access))
    return failure();
  return resolveAccess(parser, result, access, {"tile", "view", "index", "token"});
}

void StoreViewTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getTile() << ", " << getView() << '[' << getIndex() << ']';
  printClauses(*this, printer, getOptimizationHintsAttr(), getMemoryAttrNames());
  printTileIRType(printer, getTile().getType());
  printer << ", ";
  printTileIRType(printer, getView().getType());
  printIndexTypes(printer, getIndex());
  printResults(printer, *this);
}

LogicalResult StoreViewTkoOp::verify() {
  return failure(failed(verifyOrdering(
                     *this, getMemoryOrderingSemantics(), getMemoryScope(),
                     {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Release})) ||
                 failed(verifyNotMulticast(*this)) || failed(verifyAccess(*this)));
}

void StoreViewTkoOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
  if (getMemoryOrderingSemantics() != MemoryOrdering::Weak)
    effects.emplace_back(MemoryEffects::Read::get());
}

//===----------------------------------------------------------------------===//
// atomic_red_view_tko
//===----------------------------------------------------------------------===//

ParseResult AtomicRedViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  ViewAccess access;
  if (parseOrdering(parser, result) || parser.parseOperand(access.view) ||
      parseIndex(parser, access) || parser.parseComma() || parseMode(parser, result) ||
      parser.parseComma() || parseTile(parser, access) || parseClauses(parser, result, access) ||
      parseTileIRType(parser, access.tileType) || parser.parseComma() ||
      parseTileIRType(parser, access.viewType) || parseIndexTypes(parser, access))
    return failure();
  return resolveAccess(parser, result, access, {"view", "index", "tile", "token"});
}

void AtomicRedViewTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getView() << '[' << getIndex() << "], " << getMode() << ", " << getTile();
  printClauses(*this, printer, {}, getMemoryAttrNames());
  printTileIRType(printer, getTile().getType());
  printer << ", ";
  printTileIRType(printer, getView().getType());
  printIndexTypes(printer, getIndex());
  printResults(printer, *this);
}

LogicalResult AtomicRedViewTkoOp::verify() {
  if (failed(verifyOrdering(*this, getMemoryOrderingSemantics(), getMemoryScope(),
                            {MemoryOrdering::Relaxed})))
    return failure();
  if (getMemoryScope() == MemoryScope::System)
    return emitOpError() << "memory scope must be tl_blk or device, got sys";
  if (getMode() == AtomicRMWMode::Xchg)
    return emitOpError() << "mode must not be xchg, as there is no result";
  Type view = getView().getType();
  if (isa<GatherScatterViewType>(view))
    return emitOpError() << "needs a partition or strided view, got " << view;
  return failure(failed(verifyNotMulticast(*this)) || failed(verifyAccess(*this)) ||
                 failed(verifyAtomicMode(*this, getMode(), getTile().getType().getElementType())));
}

//===----------------------------------------------------------------------===//
// multimem_load_reduce_view_tko
//===----------------------------------------------------------------------===//

/// `attributes {reduction = ...}` is there for kinds other than add.
static void setDefaultReduction(OpAsmParser &parser, OperationState &result, StringAttr name) {
  if (!result.attributes.get(name))
    result.addAttribute(name,
                        MultimemReductionAttr::get(parser.getContext(), MultimemReduction::Add));
}

/// Attributes that `attributes {...}` leaves out.
static SmallVector<StringRef> getElided(MultimemReduction reduction) {
  SmallVector<StringRef> names(getMemoryAttrNames());
  if (reduction != MultimemReduction::Add)
    llvm::erase(names, "reduction");
  return names;
}

ParseResult MultimemLoadReduceViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  ViewAccess access;
  if (parseOrdering(parser, result) || parser.parseOperand(access.view) ||
      parseIndex(parser, access) || parseClauses(parser, result, access) ||
      parseTileIRType(parser, access.viewType) || parseIndexTypes(parser, access))
    return failure();
  setDefaultReduction(parser, result, getReductionAttrName(result.name));
  return resolveAccess(parser, result, access, {"view", "index", "token"});
}

void MultimemLoadReduceViewTkoOp::print(OpAsmPrinter &printer) {
  printOrdering(printer, getMemoryOrderingSemanticsAttr(), getMemoryScopeAttr());
  printer << getView() << '[' << getIndex() << ']';
  printClauses(*this, printer, {}, getElided(getReduction()));
  printTileIRType(printer, getView().getType());
  printIndexTypes(printer, getIndex());
  printResults(printer, *this);
}

LogicalResult MultimemLoadReduceViewTkoOp::verify() {
  if (failed(verifyOrdering(
          *this, getMemoryOrderingSemantics(), getMemoryScope(),
          {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Acquire})) ||
      failed(verifyMulticast(*this)) || failed(verifyAccess(*this)))
    return failure();
  Type element = getTile().getType().getElementType();
  MultimemReduction kind = getReduction();
  if (kind == MultimemReduction::Add || isBaseInteger(element))
    return success();
  bool isMinMax = kind == MultimemReduction::Min || kind == MultimemReduction::Max;
  if (isMinMax && (element.isF16() || element.isBF16()))
    return success();
  return emitOpError() << "reduction " << stringifyMultimemReduction(kind)
                       << " needs elements of an integer type" << (isMinMax ? ", f16 or bf16" : "")
                       << ", got " << element;
}

//===----------------------------------------------------------------------===//
// multimem_reduce_view_tko, multimem_store_view_tko
//===----------------------------------------------------------------------===//

/// `weak %view, %tile[%i, %j] ... : view, tile, index, token`.
static ParseResult parseMultimemWrite(OpAsmParser &parser, OperationState &result) {
  ViewAccess access;
  if (parseOrdering(parser, result) || parser.parseOperand(access.view) || parser.parseComma() ||
      parseTile(parser, access) || parseIndex(parser, access) ||
      parseClauses(parser, result, access) || parseTileIRType(parser, access.viewType) ||
      parser.parseComma() || parseTileIRType(parser, access.tileType) ||
      parseIndexTypes(parser, access))
    return failure();
  return resolveAccess(parser, result, access, {"view", "tile", "index", "token"});
}

template <typename OpT>
static void printMultimemWrite(OpT op, OpAsmPrinter &printer, ArrayRef<StringRef> elided) {
  printOrdering(printer, op.getMemoryOrderingSemanticsAttr(), op.getMemoryScopeAttr());
  printer << op.getView() << ", " << op.getTile() << '[' << op.getIndex() << ']';
  printClauses(op, printer, {}, elided);
  printTileIRType(printer, op.getView().getType());
  printer << ", ";
  printTileIRType(printer, op.getTile().getType());
  printIndexTypes(printer, op.getIndex());
  if (op.getToken()) {
    printer << ", ";
    printTileIRType(printer, op.getToken().getType());
  }
  printResults(printer, op);
}

ParseResult MultimemReduceViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parseMultimemWrite(parser, result))
    return failure();
  setDefaultReduction(parser, result, getReductionAttrName(result.name));
  return success();
}

void MultimemReduceViewTkoOp::print(OpAsmPrinter &printer) {
  printMultimemWrite(*this, printer, getElided(getReduction()));
}

LogicalResult MultimemReduceViewTkoOp::verify() {
  if (failed(verifyOrdering(*this, getMemoryOrderingSemantics(), getMemoryScope(),
                            {MemoryOrdering::Relaxed, MemoryOrdering::Release})) ||
      failed(verifyMulticast(*this)) || failed(verifyAccess(*this)))
    return failure();
  Type element = getTile().getType().getElementType();
  if (getReduction() != MultimemReduction::Add && !isBaseInteger(element))
    return emitOpError() << "reduction " << stringifyMultimemReduction(getReduction())
                         << " needs elements of an integer type, got " << element;
  return success();
}

ParseResult MultimemStoreViewTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseMultimemWrite(parser, result);
}

void MultimemStoreViewTkoOp::print(OpAsmPrinter &printer) {
  printMultimemWrite(*this, printer, getMemoryAttrNames());
}

LogicalResult MultimemStoreViewTkoOp::verify() {
  return failure(failed(verifyOrdering(
                     *this, getMemoryOrderingSemantics(), getMemoryScope(),
                     {MemoryOrdering::Weak, MemoryOrdering::Relaxed, MemoryOrdering::Release})) ||
                 failed(verifyMulticast(*this)) || failed(verifyAccess(*this)));
}
