// Partition, strided and gather/scatter views: syntax and invariants.

#include "TypeFormat.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace cuda_tile;

namespace {

/// The parts that the views share, as parsed.
struct ViewParts {
  SmallVector<int32_t> tileShape;
  SmallVector<int32_t> traversalStrides;
  PaddingValueAttr padding;
  TensorViewType tensorView;
  SmallVector<int32_t> dimMap;
  int32_t sparseDim = 0;
};

} // namespace

/// `tile=(8x16), `
static ParseResult parseTileShape(AsmParser &parser, SmallVectorImpl<int32_t> &tileShape) {
  SmallVector<int64_t> dims;
  llvm::SMLoc loc;
  if (parser.parseKeyword("tile") || parser.parseEqual() || parser.parseLParen() ||
      parser.getCurrentLocation(&loc) ||
      parser.parseDimensionList(dims, /*allowDynamic=*/false, /*withTrailingX=*/false) ||
      parser.parseRParen() || parser.parseComma())
    return failure();
  for (int64_t dim : dims) {
    if (dim > std::numeric_limits<int32_t>::max())
      return parser.emitError(loc) << "tile dimension " << dim << " does not fit in 32 bits";
    tileShape.push_back(static_cast<int32_t>(dim));
  }
  return success();
}

/// `padding_value = zero, `, which may be absent.
static ParseResult parseOptionalPadding(AsmParser &parser, PaddingValueAttr &padding) {
  if (failed(parser.parseOptionalKeyword("padding_value")))
    return success();
  return failure(parser.parseEqual() || parseKeyword(parser, padding) || parser.parseComma());
}

/// `, dim_map=[...]`, the identity if absent.
static ParseResult parseOptionalDimMap(AsmParser &parser, ViewParts &parts) {
  if (succeeded(parser.parseOptionalComma()))
    return parseNamedInts(parser, "dim_map", parts.dimMap);
  llvm::append_range(parts.dimMap, llvm::seq<int32_t>(0, parts.tileShape.size()));
  return success();
}

static ParseResult parseTensorView(AsmParser &parser, ViewParts &parts) {
  return parseTileIRType(parser, parts.tensorView, "a tensor_view");
}

static void printTileShape(AsmPrinter &printer, ArrayRef<int32_t> tileShape) {
  printer << "<tile=(";
  llvm::interleave(tileShape, printer.getStream(), "x");
  printer << "), ";
}

static void printPaddingAndTensor(AsmPrinter &printer, PaddingValueAttr padding,
                                  TensorViewType tensorView) {
  if (padding)
    printer << "padding_value = " << padding.getValue() << ", ";
  printTileIRType(printer, tensorView);
}

static void printDimMap(AsmPrinter &printer, ArrayRef<int32_t> dimMap) {
  if (llvm::equal(dimMap, llvm::seq<int32_t>(0, dimMap.size())))
    return;
  printer << ", dim_map=";
  printInts(printer, dimMap, ", ");
}

static LogicalResult verifyViewTile(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<int32_t> tileShape, TensorViewType tensorView,
                                    PaddingValueAttr padding) {
  SmallVector<int64_t> shape(tileShape.begin(), tileShape.end());
  if (shape.empty())
    return emitError() << "a view needs a tile of rank 1 or more";
  if (tensorView.getRank() != static_cast<int64_t>(shape.size()))
    return emitError() << "tile of rank " << shape.size() << " does not match tensor view of rank "
                       << tensorView.getRank();
  Type element = tensorView.getElementType();
  if (failed(verifyTileShape(emitError, shape, element)))
    return failure();
  if (padding && padding.getValue() != PaddingValue::Zero && !isAnyFloat(element))
    return emitError() << "padding value " << stringifyPaddingValue(padding.getValue())
                       << " needs float elements, got " << element;
  return success();
}

static LogicalResult verifyDimMap(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int32_t> dimMap, size_t rank) {
  if (dimMap.size() != rank)
    return emitError() << "dim_map needs one entry for each of " << rank << " dimensions, got "
                       << toString(dimMap);
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : dimMap) {
    if (dim < 0 || dim >= static_cast<int32_t>(rank) || seen.test(dim))
      return emitError() << "dim_map must be a permutation of 0 to " << rank - 1 << ", got "
                         << toString(dimMap);
    seen.set(dim);
  }
  return success();
}

Type PartitionViewType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  ViewParts parts;
  if (parser.parseLess() || parseTileShape(parser, parts.tileShape) ||
      parseOptionalPadding(parser, parts.padding) || parseTensorView(parser, parts) ||
      parseOptionalDimMap(parser, parts) || parser.parseGreater())
    return {};
  return parser.getChecked<PartitionViewType>(loc, parser.getContext(), ArrayRef(parts.tileShape),
                                              parts.tensorView, ArrayRef(parts.dimMap),
                                              parts.padding);
}

void PartitionViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printPaddingAndTensor(printer, getPaddingValue(), getTensorView());
  printDimMap(printer, getDimMap());
  printer << '>';
}

LogicalResult PartitionViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                                        ArrayRef<int32_t> tileShape, TensorViewType tensorView,
                                        ArrayRef<int32_t> dimMap, PaddingValueAttr padding) {
  if (failed(verifyViewTile(emitError, tileShape, tensorView, padding)))
    return failure();
  return verifyDimMap(emitError, dimMap, tileShape.size());
}

Type StridedViewType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  ViewParts parts;
  if (parser.parseLess() || parseTileShape(parser, parts.tileShape) ||
      parseNamedInts(parser, "traversal_strides", parts.traversalStrides) || parser.parseComma() ||
      parseOptionalPadding(parser, parts.padding) || parseTensorView(parser, parts) ||
      parseOptionalDimMap(parser, parts) || parser.parseGreater())
    return {};
  return parser.getChecked<StridedViewType>(loc, parser.getContext(), ArrayRef(parts.tileShape),
                                            ArrayRef(parts.traversalStrides), parts.tensorView,
                                            ArrayRef(parts.dimMap), parts.padding);
}

void StridedViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printer << "traversal_strides=";
  printInts(printer, getTraversalStrides(), ",");
  printer << ", ";
  printPaddingAndTensor(printer, getPaddingValue(), getTensorView());
  printDimMap(printer, getDimMap());
  printer << '>';
}

LogicalResult StridedViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                                      ArrayRef<int32_t> tileShape,
                                      ArrayRef<int32_t> traversalStrides, TensorViewType tensorView,
                                      ArrayRef<int32_t> dimMap, PaddingValueAttr padding) {
  if (failed(verifyViewTile(emitError, tileShape, tensorView, padding)))
    return failure();
  if (traversalStrides.size() != tileShape.size())
    return emitError() << "traversal_strides needs one entry for each of " << tileShape.size()
                       << " dimensions, got " << toString(traversalStrides);
  for (auto [i, stride] : llvm::enumerate(traversalStrides))
    if (stride <= 0)
      return emitError() << "traversal stride " << i << " must be positive, got " << stride;
  return verifyDimMap(emitError, dimMap, tileShape.size());
}

Type GatherScatterViewType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  ViewParts parts;
  if (parser.parseLess() || parseTileShape(parser, parts.tileShape) ||
      parseOptionalPadding(parser, parts.padding) || parseTensorView(parser, parts) ||
      parser.parseComma() || parser.parseKeyword("sparse_dim") || parser.parseEqual() ||
      parser.parseInteger(parts.sparseDim) || parser.parseGreater())
    return {};
  return parser.getChecked<GatherScatterViewType>(loc, parser.getContext(),
                                                  ArrayRef(parts.tileShape), parts.tensorView,
                                                  parts.sparseDim, parts.padding);
}

void GatherScatterViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printPaddingAndTensor(printer, getPaddingValue(), getTensorView());
  printer << ", sparse_dim=" << getSparseDim() << '>';
}

LogicalResult GatherScatterViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                                            ArrayRef<int32_t> tileShape, TensorViewType tensorView,
                                            int32_t sparseDim, PaddingValueAttr padding) {
  if (failed(verifyViewTile(emitError, tileShape, tensorView, padding)))
    return failure();
  if (sparseDim < 0 || sparseDim >= static_cast<int32_t>(tileShape.size()))
    return emitError() << "sparse_dim must be in [0, " << tileShape.size() << "), got "
                       << sparseDim;
  return success();
}
