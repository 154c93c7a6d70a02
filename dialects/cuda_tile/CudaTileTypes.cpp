// Types: syntax and invariants.

#include "AsmFormat.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cuda_tile;

#define GET_TYPEDEF_CLASSES
#include "CudaTileTypes.cpp.inc"

void CudaTileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "CudaTileTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Classes of element types
//===----------------------------------------------------------------------===//

bool cuda_tile::isBaseInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

bool cuda_tile::isBaseFloat(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

bool cuda_tile::isAnyFloat(Type type) {
  return isBaseFloat(type) ||
         isa<FloatTF32Type, Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType,
             Float4E2M1FNType, F8E5M3FNUType>(type);
}

bool cuda_tile::isNumber(Type type) { return isBaseInteger(type) || isAnyFloat(type); }

unsigned cuda_tile::getValueBitWidth(Type type) {
  if (isa<PtrType>(type))
    return 64;
  if (isa<F8E5M3FNUType>(type))
    return 8;
  return type.getIntOrFloatBitWidth();
}

bool cuda_tile::isTileIRType(Type type) { return isa<CudaTileDialect>(type.getDialect()); }

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

Type CudaTileDialect::parseType(DialectAsmParser &parser) const {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return type;
  parser.emitError(loc) << "unknown cuda_tile type '" << mnemonic << "'";
  return {};
}

void CudaTileDialect::printType(Type type, DialectAsmPrinter &printer) const {
  (void)generatedTypePrinter(type, printer);
}

ParseResult cuda_tile::parseTileIRType(AsmParser &parser, Type &type) {
  // A keyword that is no builtin type must be a type of this dialect.
  OptionalParseResult builtin = parser.parseOptionalType(type);
  if (builtin.has_value())
    return *builtin;
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return *result;
  return parser.emitError(loc) << "expected a type, got '" << mnemonic << "'";
}

void cuda_tile::printTileIRType(AsmPrinter &printer, Type type) {
  if (!isTileIRType(type) || failed(generatedTypePrinter(type, printer)))
    printer.printType(type);
}

ParseResult cuda_tile::parseTileIRTypes(AsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(
      [&] { return parseTileIRType(parser, types.emplace_back()); });
}

void cuda_tile::printTileIRTypes(AsmPrinter &printer, TypeRange types) {
  llvm::interleaveComma(types, printer.getStream(),
                        [&](Type type) { printTileIRType(printer, type); });
}

//===----------------------------------------------------------------------===//
// Shared syntax
//===----------------------------------------------------------------------===//

static void printShapeAndElement(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer.printDimensionList(shape);
  if (!shape.empty())
    printer << 'x';
  printTileIRType(printer, element);
}

/// `[1,?,4]`; prints `?` for dynamic.
static void printInts(AsmPrinter &printer, ArrayRef<int64_t> values, StringRef separator) {
  printer << '[';
  llvm::interleave(
      values, printer.getStream(),
      [&](int64_t value) {
        if (ShapedType::isDynamic(value))
          printer << '?';
        else
          printer << value;
      },
      separator);
  printer << ']';
}

static void printInts(AsmPrinter &printer, ArrayRef<int32_t> values, StringRef separator) {
  printInts(printer, SmallVector<int64_t>(values.begin(), values.end()), separator);
}

template <typename IntT>
static ParseResult parseInts(AsmParser &parser, SmallVectorImpl<IntT> &values,
                             bool allowDynamic = false) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    if (allowDynamic && succeeded(parser.parseOptionalQuestion())) {
      values.push_back(static_cast<IntT>(ShapedType::kDynamic));
      return success();
    }
    return parser.parseInteger(values.emplace_back());
  });
}

/// `name=[...]` after a comma.
template <typename IntT>
static ParseResult parseNamedInts(AsmParser &parser, StringRef name, SmallVectorImpl<IntT> &values,
                                  bool allowDynamic = false) {
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parseInts(parser, values, allowDynamic));
}

static std::string toString(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(values, stream, [&](int64_t value) {
    if (ShapedType::isDynamic(value))
      stream << '?';
    else
      stream << value;
  });
  stream << ']';
  return text;
}

static std::string toString(ArrayRef<int32_t> values) {
  return toString(SmallVector<int64_t>(values.begin(), values.end()));
}

/// The number of elements, or -1 if a dimension is not positive or the product
/// exceeds the limit of a tile.
static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim <= 0 || dim > TileType::kMaxElements)
      return -1;
    count *= dim;
    if (count > TileType::kMaxElements)
      return -1;
  }
  return count;
}

static LogicalResult verifyTileShape(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> shape, StringRef what) {
  for (auto [i, dim] : llvm::enumerate(shape))
    if (dim <= 0)
      return emitError() << what << " dimension " << i << " must be positive, got " << dim;
  if (countElements(shape) < 0)
    return emitError() << what << " of shape " << toString(shape) << " has more than "
                       << TileType::kMaxElements << " elements";
  return success();
}

//===----------------------------------------------------------------------===//
// Pointer
//===----------------------------------------------------------------------===//

Type PtrType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  Type pointee;
  PtrKindAttr kind;
  if (parser.parseLess() || parseTileIRType(parser, pointee))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    // `<multicast>`, or the attribute with its prefix.
    OptionalParseResult prefixed = parser.parseOptionalAttribute(kind, Type());
    if (prefixed.has_value()) {
      if (failed(*prefixed))
        return {};
    } else if (!(kind = dyn_cast_or_null<PtrKindAttr>(PtrKindAttr::parse(parser, Type())))) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<PtrType>(loc, parser.getContext(), pointee, kind);
}

void PtrType::print(AsmPrinter &printer) const {
  printer << '<';
  printTileIRType(printer, getPointeeType());
  if (getKind())
    printer << ", <" << getKind().getValue() << '>';
  printer << '>';
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee,
                              PtrKindAttr) {
  if (!isNumber(pointee))
    return emitError() << "pointee type must be a number type other than i4, got " << pointee;
  return success();
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parseTileIRType(parser, element) || parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(loc, parser.getContext(), shape, element);
}

void TileType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapeAndElement(printer, getShape(), getElementType());
  printer << '>';
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element) {
  if (!isNumber(element) && !element.isSignlessInteger(4) && !isa<PtrType>(element))
    return emitError() << "tile element type must be an integer (i1, i4, i8, i16, i32, i64), a "
                          "float (f16, bf16, f32, f64, tf32, f8E4M3FN, f8E5M2, f8E8M0FNU, "
                          "f4E2M1FN) or a pointer, got "
                       << element;
  if (failed(verifyTileShape(emitError, shape, "tile")))
    return failure();
  if (isa<Float4E2M1FNType>(element) && countElements(shape) % 2 != 0)
    return emitError() << "a tile of f4E2M1FN must have an even number of elements, got shape "
                       << toString(shape);
  return success();
}

ShapedType TileType::cloneWith(std::optional<ArrayRef<int64_t>> shape, Type element) const {
  return TileType::get(shape.value_or(getShape()), element);
}

bool TileType::hasRank() const { return true; }

//===----------------------------------------------------------------------===//
// Tensor view
//===----------------------------------------------------------------------===//

Type TensorViewType::parse(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, strides;
  Type element;
  PtrKindAttr kind;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parseTileIRType(parser, element))
    return {};
  if (!shape.empty() && (parser.parseComma() ||
                         parseNamedInts(parser, "strides", strides, /*allowDynamic=*/true)))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(kind))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorViewType>(loc, parser.getContext(), element, shape, strides,
                                           kind);
}

void TensorViewType::print(AsmPrinter &printer) const {
  printer << '<';
  printShapeAndElement(printer, getShape(), getElementType());
  if (!getShape().empty()) {
    printer << ", strides=";
    printInts(printer, getStrides(), ",");
  }
  if (getKind())
    printer << ", " << getKind();
  printer << '>';
}

LogicalResult TensorViewType::verify(function_ref<InFlightDiagnostic()> emitError, Type element,
                                     ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                     PtrKindAttr) {
  if (!isNumber(element))
    return emitError() << "tensor view element type must be a number type other than i4, got "
                       << element;
  if (shape.size() != strides.size())
    return emitError() << "tensor view of rank " << shape.size() << " needs as many strides, got "
                       << strides.size();
  for (auto [i, dim] : llvm::enumerate(shape))
    if (!ShapedType::isDynamic(dim) && dim <= 0)
      return emitError() << "tensor view dimension " << i << " must be positive or ?, got " << dim;
  for (auto [i, stride] : llvm::enumerate(strides))
    if (!ShapedType::isDynamic(stride) && stride <= 0)
      return emitError() << "tensor view stride " << i << " must be positive or ?, got " << stride;
  return success();
}

unsigned TensorViewType::getNumDynamicDims() const {
  return llvm::count_if(getShape(), ShapedType::isDynamic);
}

unsigned TensorViewType::getNumDynamicStrides() const {
  return llvm::count_if(getStrides(), ShapedType::isDynamic);
}

//===----------------------------------------------------------------------===//
// Tile views
//===----------------------------------------------------------------------===//

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
  if (failed(verifyTileShape(emitError, shape, "tile")))
    return failure();
  Type element = tensorView.getElementType();
  if (padding && padding.getValue() != PaddingValue::Zero && !isAnyFloat(element))
    return emitError() << "padding value " << stringifyPaddingValue(padding.getValue())
                       << " needs float elements, got " << element;
  if (isa<Float4E2M1FNType>(element) && countElements(shape) % 2 != 0)
    return emitError() << "a tile of f4E2M1FN must have an even number of elements, got shape "
                       << toString(shape);
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
  return parser.getChecked<PartitionViewType>(loc, parser.getContext(), parts.tileShape,
                                              parts.tensorView, parts.dimMap, parts.padding);
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
      parseNamedInts(parser, "traversal_strides", parts.traversalStrides) ||
      parser.parseComma() || parseOptionalPadding(parser, parts.padding) ||
      parseTensorView(parser, parts) || parseOptionalDimMap(parser, parts) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<StridedViewType>(loc, parser.getContext(), parts.tileShape,
                                            parts.traversalStrides, parts.tensorView,
                                            parts.dimMap, parts.padding);
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
                                      ArrayRef<int32_t> traversalStrides,
                                      TensorViewType tensorView, ArrayRef<int32_t> dimMap,
                                      PaddingValueAttr padding) {
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
  return parser.getChecked<GatherScatterViewType>(loc, parser.getContext(), parts.tileShape,
                                                  parts.tensorView, parts.sparseDim,
                                                  parts.padding);
}

void GatherScatterViewType::print(AsmPrinter &printer) const {
  printTileShape(printer, getTileShape());
  printPaddingAndTensor(printer, getPaddingValue(), getTensorView());
  printer << ", sparse_dim=" << getSparseDim() << '>';
}

LogicalResult GatherScatterViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                                            ArrayRef<int32_t> tileShape,
                                            TensorViewType tensorView, int32_t sparseDim,
                                            PaddingValueAttr padding) {
  if (failed(verifyViewTile(emitError, tileShape, tensorView, padding)))
    return failure();
  if (sparseDim < 0 || sparseDim >= static_cast<int32_t>(tileShape.size()))
    return emitError() << "sparse_dim must be in [0, " << tileShape.size() << "), got "
                       << sparseDim;
  return success();
}
