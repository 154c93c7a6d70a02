// Syntax of constants, `<f32: [0.5, 1.0]> : tile<2xf32>`, and identities.

#include "AsmFormat.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cuda_tile;

namespace {

/// Above this many elements, a value that is no splat is printed as a string of
/// hexadecimal digits: the bytes of its elements in order.
constexpr int64_t kMaxListedElements = 100;

/// Parses the part between `<` and `>`.
class ValueParser {
public:
  ValueParser(OpAsmParser &parser, Type element) : parser(parser), element(element) {}

  ParseResult parse() {
    std::string text;
    loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalString(&text)))
      return parseHex(text);
    return parseList(/*depth=*/0);
  }

  /// The attribute of `type`, or null after an error.
  DenseElementsAttr get(TileType type) const;

private:
  DenseElementsAttr getRaw(TileType type) const;
  ParseResult parseList(unsigned depth);
  ParseResult parseElement();
  ParseResult parseHex(StringRef text);

  OpAsmParser &parser;
  Type element;
  llvm::SMLoc loc;
  /// Sizes of the nested lists; empty for a splat.
  SmallVector<int64_t> shape;
  SmallVector<Attribute> values;
  std::optional<std::string> rawBytes;
  /// Deepest list that has been closed, so that ragged lists are found.
  bool shapeIsKnown = false;
};

} // namespace

ParseResult ValueParser::parseList(unsigned depth) {
  llvm::SMLoc start = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare())) {
    if (depth != shape.size() || (shapeIsKnown && depth == 0))
      return parser.emitError(start, "lists of a constant must be nested to one depth");
    shapeIsKnown = true;
    return parseElement();
  }
  if (depth >= shape.size()) {
    if (shapeIsKnown)
      return parser.emitError(start, "lists of a constant must be nested to one depth");
    shape.push_back(-1);
  }
  int64_t count = 0;
  if (failed(parser.parseOptionalRSquare())) {
    if (parser.parseCommaSeparatedList([&] {
          ++count;
          return parseList(depth + 1);
        }) ||
        parser.parseRSquare())
      return failure();
  }
  if (shape[depth] >= 0 && shape[depth] != count)
    return parser.emitError(start)
           << "expected a list of " << shape[depth] << " elements, got " << count;
  shape[depth] = count;
  return success();
}

/// Whether a width holds a number; both readings of the bits are accepted: -1
/// and 255 are the same i8.
static bool fitsIn(const APInt &value, unsigned width) {
  return value.isNegative() ? value.getSignificantBits() <= width : value.getActiveBits() <= width;
}

/// Whether the next token is written in hexadecimal: the bits of a float.
static bool isHexadecimal(OpAsmParser &parser) {
  const char *text = parser.getCurrentLocation().getPointer();
  return text[0] == '0' && text[1] == 'x';
}

/// Whether the next token is a number with a point.
static bool isFloatLiteral(OpAsmParser &parser) {
  const char *text = parser.getCurrentLocation().getPointer();
  if (*text == '-')
    ++text;
  while (llvm::isDigit(*text))
    ++text;
  return *text == '.';
}

/// The nearest number of a format. Beyond the range of a format without
/// infinity is an error; MLIR's own parser would abort.
static ParseResult roundTo(OpAsmParser &parser, llvm::SMLoc loc, FloatType type, APFloat &number) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  bool hasInfinity = APFloat::semanticsHasInf(semantics), losesInfo;
  bool fits = (hasInfinity || number.isFinite()) &&
              (APFloat::semanticsHasSignedRepr(semantics) || !number.isNegative()) &&
              (APFloat::semanticsHasZero(semantics) || !number.isZero());
  if (fits) {
    APFloat::opStatus status = number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    fits = hasInfinity || !(status & APFloat::opOverflow);
  }
  if (!fits)
    return parser.emitError(loc) << "number is out of the range of " << type;
  return success();
}

/// Parses a float; 0x and digits are its bits.
static ParseResult parseFloat(OpAsmParser &parser, FloatType type, APFloat &value) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (isHexadecimal(parser) || APFloat::semanticsHasInf(semantics))
    return parser.parseFloat(semantics, value);
  return failure(parser.parseFloat(APFloat::IEEEquad(), value) ||
                 roundTo(parser, loc, type, value));
}

ParseResult ValueParser::parseElement() {
  llvm::SMLoc start = parser.getCurrentLocation();
  if (auto floatType = dyn_cast<FloatType>(element)) {
    APFloat value(floatType.getFloatSemantics());
    if (parseFloat(parser, floatType, value))
      return failure();
    values.push_back(FloatAttr::get(floatType, value));
    return success();
  }
  auto integerType = cast<IntegerType>(element);
  unsigned width = integerType.getWidth();
  if (width == 1) {
    for (auto [keyword, value] : {std::pair("true", 1), std::pair("false", 0)})
      if (succeeded(parser.parseOptionalKeyword(keyword))) {
        values.push_back(IntegerAttr::get(integerType, value));
        return success();
      }
  }
  APInt value;
  OptionalParseResult result = parser.parseOptionalInteger(value);
  if (!result.has_value())
    return parser.emitError(start) << "expected a value of type " << element;
  if (failed(*result))
    return failure();
  if (!fitsIn(value, width))
    return parser.emitError(start) << "integer does not fit in " << element;
  values.push_back(IntegerAttr::get(integerType, value.sextOrTrunc(width)));
  return success();
}

ParseResult ValueParser::parseHex(StringRef text) {
  std::string bytes;
  if (!text.consume_front("0x") || !llvm::tryGetFromHex(text, bytes))
    return parser.emitError(loc, "expected a string of hexadecimal digits after 0x");
  rawBytes = bytes;
  return success();
}

/// One byte per i1, as text has it; MLIR packs eight into one.
static SmallVector<bool> unpackBools(StringRef bytes) {
  SmallVector<bool> values;
  for (char byte : bytes)
    values.push_back(byte != 0);
  return values;
}

DenseElementsAttr ValueParser::getRaw(TileType type) const {
  if (element.isInteger(1) && static_cast<int64_t>(rawBytes->size()) == type.getNumElements())
    return DenseElementsAttr::get(type, unpackBools(*rawBytes));
  bool isSplat = false;
  ArrayRef<char> bytes(rawBytes->data(), rawBytes->size());
  if (!element.isInteger(1) && DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  parser.emitError(loc) << "hexadecimal data does not match " << type;
  return {};
}

DenseElementsAttr ValueParser::get(TileType type) const {
  if (rawBytes)
    return getRaw(type);
  if (!shape.empty() && ArrayRef<int64_t>(shape) != type.getShape()) {
    parser.emitError(loc) << "nested lists do not match the shape of " << type;
    return {};
  }
  return DenseElementsAttr::get(type, values);
}

ParseResult cuda_tile::parseConstantValue(OpAsmParser &parser, ElementsAttr &value) {
  Type element, type;
  if (parser.parseLess())
    return failure();
  llvm::SMLoc elementLoc = parser.getCurrentLocation();
  if (parseTileIRType(parser, element))
    return failure();
  if (!isNumber(element) || isa<F8E5M3FNUType>(element))
    return parser.emitError(elementLoc) << "constants of type " << element << " do not exist";
  ValueParser values(parser, element);
  if (parser.parseColon() || values.parse() || parser.parseGreater() || parser.parseColon())
    return failure();
  llvm::SMLoc typeLoc = parser.getCurrentLocation();
  TileType tileType;
  if (parseTileIRType(parser, tileType, "a tile"))
    return failure();
  if (tileType.getElementType() != element)
    return parser.emitError(typeLoc) << "expected a tile of " << element << ", got " << tileType;
  value = values.get(tileType);
  return success(static_cast<bool>(value));
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

/// `0.0 : f32`, `-1 : i32`, `true`. The type comes last, so that a float is read
/// with ample precision first.
static ParseResult parseScalar(OpAsmParser &parser, Attribute &result) {
  Builder &builder = parser.getBuilder();
  for (auto [keyword, value] : {std::pair("true", true), std::pair("false", false)})
    if (succeeded(parser.parseOptionalKeyword(keyword))) {
      result = builder.getBoolAttr(value);
      return success();
    }
  llvm::SMLoc loc = parser.getCurrentLocation();
  bool isBits = isHexadecimal(parser), isFloat = isFloatLiteral(parser);
  APInt integer;
  APFloat number(APFloat::IEEEquad());
  if (isFloat ? parser.parseFloat(APFloat::IEEEquad(), number) : parser.parseInteger(integer))
    return failure();
  Type type;
  if (parser.parseColonType(type))
    return failure();
  if (auto floatType = dyn_cast<FloatType>(type)) {
    if (isFloat) {
      if (roundTo(parser, loc, floatType, number))
        return failure();
    } else if (!isBits || integer.getActiveBits() > floatType.getWidth()) {
      return parser.emitError(loc) << "expected a floating-point number of type " << type;
    } else {
      number = APFloat(floatType.getFloatSemantics(), integer.zextOrTrunc(floatType.getWidth()));
    }
    result = FloatAttr::get(floatType, number);
    return success();
  }
  auto integerType = dyn_cast<IntegerType>(type);
  if (!integerType || isFloat || !fitsIn(integer, integerType.getWidth()))
    return parser.emitError(loc) << "expected an integer that fits in " << type;
  result = IntegerAttr::get(integerType, integer.sextOrTrunc(integerType.getWidth()));
  return success();
}

ParseResult cuda_tile::parseIdentities(OpAsmParser &parser, ArrayAttr &identities) {
  SmallVector<Attribute> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parseScalar(parser, values.emplace_back()); }))
    return failure();
  identities = parser.getBuilder().getArrayAttr(values);
  return success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printElement(OpAsmPrinter &printer, Attribute element) {
  if (auto value = dyn_cast<FloatAttr>(element))
    return printer.printFloat(value.getValue());
  auto value = cast<IntegerAttr>(element);
  if (value.getType().isInteger(1))
    printer << (value.getValue().isZero() ? "false" : "true");
  else
    value.getValue().print(printer.getStream(), /*isSigned=*/true);
}

/// The bytes of all elements, with one for each i1.
static std::string getBytes(DenseElementsAttr dense) {
  if (!dense.getElementType().isInteger(1)) {
    ArrayRef<char> bytes = dense.getRawData();
    return std::string(bytes.begin(), bytes.end());
  }
  std::string bytes;
  for (bool value : dense.getValues<bool>())
    bytes.push_back(value);
  return bytes;
}

/// Prints elements from `next` on as nested lists of the given shape.
static void printList(OpAsmPrinter &printer, ArrayRef<int64_t> shape,
                      DenseElementsAttr::AttributeElementIterator &next) {
  if (shape.empty()) {
    printElement(printer, *next);
    ++next;
    return;
  }
  printer << '[';
  for (int64_t i = 0; i < shape.front(); ++i) {
    if (i != 0)
      printer << ", ";
    printList(printer, shape.drop_front(), next);
  }
  printer << ']';
}

void cuda_tile::printConstantValue(OpAsmPrinter &printer, ElementsAttr value) {
  auto dense = cast<DenseElementsAttr>(value);
  auto type = cast<TileType>(dense.getType());
  printer << '<';
  printTileIRType(printer, type.getElementType());
  printer << ": ";
  if (dense.isSplat()) {
    printElement(printer, dense.getSplatValue<Attribute>());
  } else if (dense.getNumElements() > kMaxListedElements) {
    printer << "\"0x" << llvm::toHex(getBytes(dense)) << '"';
  } else {
    auto next = dense.getValues<Attribute>().begin();
    printList(printer, type.getShape(), next);
  }
  printer << "> : ";
  printTileIRType(printer, type);
}
