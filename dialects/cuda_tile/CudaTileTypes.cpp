// Types but for the views: syntax and invariants.

#include "TypeFormat.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
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
  return isBaseFloat(type) || isa<FloatTF32Type, Float8E4M3FNType, Float8E5M2Type,
                                  Float8E8M0FNUType, Float4E2M1FNType, F8E5M3FNUType>(type);
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
// Shared syntax and checks
//===----------------------------------------------------------------------===//

static void printShapeAndElement(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  printer.printDimensionList(shape);
  if (!shape.empty())
    printer << 'x';
  printTileIRType(printer, element);
}

static void writeInts(raw_ostream &stream, ArrayRef<int64_t> values, StringRef separator) {
  stream << '[';
  llvm::interleave(
      values, stream,
      [&](int64_t value) {
        if (ShapedType::isDynamic(value))
          stream << '?';
        else
          stream << value;
      },
      separator);
  stream << ']';
}

void cuda_tile::printInts(AsmPrinter &printer, ArrayRef<int64_t> values, StringRef separator) {
  writeInts(printer.getStream(), values, separator);
}

void cuda_tile::printInts(AsmPrinter &printer, ArrayRef<int32_t> values, StringRef separator) {
  printInts(printer, SmallVector<int64_t>(values.begin(), values.end()), separator);
}

std::string cuda_tile::toString(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  writeInts(stream, values, ", ");
  return text;
}

std::string cuda_tile::toString(ArrayRef<int32_t> values) {
  return toString(SmallVector<int64_t>(values.begin(), values.end()));
}

LogicalResult cuda_tile::verifyTileShape(function_ref<InFlightDiagnostic()> emitError,
                                         ArrayRef<int64_t> shape, Type element) {
  int64_t count = 1;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (dim <= 0)
      return emitError() << "tile dimension " << i << " must be positive, got " << dim;
    // Stops at the limit: the product does not overflow.
    count = std::min(count, TileType::kMaxElements) * std::min(dim, TileType::kMaxElements + 1);
  }
  if (count > TileType::kMaxElements)
    return emitError() << "tile of shape " << toString(shape) << " has more than "
                       << TileType::kMaxElements << " elements";
  if (isa<Float4E2M1FNType>(element) && count % 2 != 0)
    return emitError() << "a tile of f4E2M1FN must have an even number of elements, got shape "
                       << toString(shape);
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
  return verifyTileShape(emitError, shape, element);
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
  if (!shape.empty() &&
      (parser.parseComma() || parseNamedInts(parser, "strides", strides, /*allowDynamic=*/true)))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(kind))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorViewType>(loc, parser.getContext(), element, shape, strides, kind);
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
