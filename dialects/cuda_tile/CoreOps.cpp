// Constants, shape manipulation, promises and printing: verifiers and syntax.

#include "AsmFormat.h"
#include "Verify.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cuda_tile;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) || parseConstantValue(parser, value))
    return failure();
  result.addAttribute(getValueAttrName(result.name), value);
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {getValueAttrName()});
  printer << ' ';
  printConstantValue(printer, getValue());
}

LogicalResult ConstantOp::verify() {
  if (!isa<DenseIntOrFPElementsAttr>(getValue()))
    return emitOpError() << "value must be a dense list of numbers, got " << getValue();
  if (getValue().getType() != getType())
    return emitOpError() << "value must have the type of the result, " << getType() << ", got "
                         << getValue().getType();
  return success();
}

LogicalResult IotaOp::verify() {
  TileType type = getType();
  if (type.getRank() != 1)
    return emitOpError() << "result must have rank 1, got " << type;
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  if (width < 32 && type.getDimSize(0) > (int64_t(1) << width))
    return emitOpError() << "result must have at most 2^" << width << " elements to hold them in "
                         << type.getElementType() << ", got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// Source and result have one element type.
template <typename OpT> static LogicalResult verifyElementKept(OpT op) {
  TileType source = op.getSource().getType(), result = op.getResult().getType();
  if (source.getElementType() == result.getElementType())
    return success();
  return op.emitOpError() << "result must have the element type of source, "
                          << source.getElementType() << ", got " << result;
}

LogicalResult BroadcastOp::verify() {
  TileType source = getSource().getType(), result = getType();
  if (failed(verifyElementKept(*this)))
    return failure();
  if (source.getRank() != result.getRank())
    return emitOpError() << "result must have the rank of source, " << source << ", got " << result;
  for (auto [i, from, to] : llvm::enumerate(source.getShape(), result.getShape()))
    if (from != 1 && from != to)
      return emitOpError() << "dimension " << i << " of source must be 1 or " << to << ", got "
                           << from;
  return success();
}

LogicalResult ReshapeOp::verify() {
  TileType source = getSource().getType(), result = getType();
  if (failed(verifyElementKept(*this)))
    return failure();
  if (source.getNumElements() != result.getNumElements())
    return emitOpError() << "result must have " << source.getNumElements()
                         << " elements as source, " << source << ", got " << result.getNumElements()
                         << " in " << result;
  return success();
}

LogicalResult PermuteOp::verify() {
  TileType source = getSource().getType(), result = getType();
  int64_t rank = source.getRank();
  ArrayRef<int32_t> permutation = getPermutation();
  if (failed(verifyElementKept(*this)))
    return failure();
  if (rank < 2)
    return emitOpError() << "source must have rank 2 or more, got " << source;
  llvm::SmallBitVector seen(rank);
  for (int32_t dim : permutation)
    if (dim >= 0 && dim < rank)
      seen.set(dim);
  if (static_cast<int64_t>(permutation.size()) != rank || !seen.all())
    return emitOpError() << "permutation must hold each of 0 to " << rank - 1 << " once, got ["
                         << permutation << "]";
  SmallVector<int64_t> shape;
  for (int32_t dim : permutation)
    shape.push_back(source.getDimSize(dim));
  if (result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "result must be " << TileType::get(shape, source.getElementType())
                         << ", got " << result;
  return success();
}

LogicalResult CatOp::verify() {
  TileType lhs = getLhs().getType(), rhs = getRhs().getType(), result = getType();
  int64_t rank = lhs.getRank(), dim = getDim();
  for (auto [name, type] : {std::pair("rhs", rhs), std::pair("result", result)}) {
    if (type.getElementType() != lhs.getElementType())
      return emitOpError() << name << " must have the element type of lhs, " << lhs.getElementType()
                           << ", got " << type;
    if (type.getRank() != rank)
      return emitOpError() << name << " must have the rank of lhs, " << lhs << ", got " << type;
  }
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dim must be in [0, " << rank << "), got " << dim;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != dim && rhs.getDimSize(i) != lhs.getDimSize(i))
      return emitOpError() << "dimension " << i << " of rhs must be that of lhs, "
                           << lhs.getDimSize(i) << ", got " << rhs.getDimSize(i);
    int64_t expected = lhs.getDimSize(i) + (i == dim ? rhs.getDimSize(i) : 0);
    if (result.getDimSize(i) != expected)
      return emitOpError() << "dimension " << i << " of result must be " << expected << ", got "
                           << result.getDimSize(i);
  }
  return success();
}

/// One index per dimension; the slice's dimensions divide those of the tile.
static LogicalResult verifySlice(Operation *op, StringRef tileName, TileType tile,
                                 StringRef sliceName, TileType slice, size_t numIndices) {
  if (slice.getElementType() != tile.getElementType())
    return op->emitOpError() << sliceName << " must have the element type of " << tileName << ", "
                             << tile.getElementType() << ", got " << slice;
  if (slice.getRank() != tile.getRank())
    return op->emitOpError() << sliceName << " must have the rank of " << tileName << ", " << tile
                             << ", got " << slice;
  if (static_cast<int64_t>(numIndices) != tile.getRank())
    return op->emitOpError() << "expected " << tile.getRank() << " indices, one per dimension, got "
                             << numIndices;
  for (auto [i, whole, part] : llvm::enumerate(tile.getShape(), slice.getShape()))
    if (whole % part != 0)
      return op->emitOpError() << "dimension " << i << " of " << sliceName << ", " << part
                               << ", must divide that of " << tileName << ", " << whole;
  return success();
}

LogicalResult ExtractOp::verify() {
  return verifySlice(*this, "source", getSource().getType(), "result", getType(),
                     getIndices().size());
}

LogicalResult InsertOp::verify() {
  return verifySlice(*this, "destination", getDestination().getType(), "source",
                     getSource().getType(), getIndices().size());
}

LogicalResult SelectOp::verify() {
  if (isa<Float4E2M1FNType>(getType().getElementType()))
    return emitOpError() << "result elements must not be f4E2M1FN";
  return verifySameShape(*this, "condition", getCondition().getType(), "result", getType());
}

LogicalResult OffsetOp::verify() {
  return verifySameShape(*this, "offset", getOffset().getType(), "pointer", getPointer().getType());
}

/// Bits of an element in a packed tile: tf32 takes its storage of 32.
static unsigned getPackedBitWidth(Type element) {
  return isa<FloatTF32Type>(element) ? 32 : getValueBitWidth(element);
}

static LogicalResult verifyPacking(Operation *op, StringRef name, TileType tile,
                                   StringRef bytesName, TileType bytes) {
  unsigned width = getPackedBitWidth(tile.getElementType());
  if (tile.getRank() != 1 || bytes.getRank() != 1)
    return op->emitOpError() << "source and result must have rank 1, got " << tile << " and "
                             << bytes;
  if (width == 8)
    return op->emitOpError() << name << " elements must not be 8 bits wide; use bitcast for "
                             << tile.getElementType();
  int64_t bits = tile.getNumElements() * width;
  if (bits != bytes.getNumElements() * 8)
    return op->emitOpError() << bytesName << " must have the bits of " << name << ", " << bits
                             << ", got " << bytes.getNumElements() * 8 << " in " << bytes;
  return success();
}

LogicalResult PackOp::verify() {
  return verifyPacking(*this, "source", getSource().getType(), "result", getType());
}

LogicalResult UnpackOp::verify() {
  return verifyPacking(*this, "result", getType(), "source", getSource().getType());
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

static LogicalResult verifyDivBy(AssumeOp op, DivByAttr divBy) {
  auto tile = dyn_cast<TileType>(op.getType());
  if (!tile) {
    if (divBy.getEvery())
      return op.emitOpError() << "'every ... along' of div_by needs a tile, got " << op.getType();
    return success();
  }
  Type element = tile.getElementType();
  if (!isBaseInteger(element) && !isa<PtrType>(element))
    return op.emitOpError() << "div_by needs integers, pointers or a tensor view, got " << tile;
  if (!divBy.getEvery())
    return success();
  int64_t along = *divBy.getAlong(), every = *divBy.getEvery();
  if (along >= tile.getRank())
    return op.emitOpError() << "'along' of div_by must name a dimension of " << tile << ", got "
                            << along;
  if (every > tile.getDimSize(along))
    return op.emitOpError() << "'every' of div_by must be at most dimension " << along << ", "
                            << tile.getDimSize(along) << ", got " << every;
  return success();
}

static LogicalResult verifySameElements(AssumeOp op, SameElementsAttr same) {
  auto tile = dyn_cast<TileType>(op.getType());
  if (!tile || (!isBaseInteger(tile.getElementType()) && !isa<PtrType>(tile.getElementType())))
    return op.emitOpError() << "same_elements needs a tile of integers or pointers, got "
                            << op.getType();
  ArrayRef<int64_t> values = same.getValues().asArrayRef();
  if (static_cast<int64_t>(values.size()) != tile.getRank())
    return op.emitOpError() << "same_elements needs one number for each dimension of " << tile
                            << ", got " << values.size();
  for (auto [i, value, dim] : llvm::enumerate(values, tile.getShape()))
    if (value <= 0 || value > dim)
      return op.emitOpError() << "same_elements along dimension " << i << " must be in [1, " << dim
                              << "], got " << value;
  return success();
}

static LogicalResult verifyBounded(AssumeOp op, BoundedAttr bounded) {
  auto tile = dyn_cast<TileType>(op.getType());
  if (!tile || !isBaseInteger(tile.getElementType()))
    return op.emitOpError() << "bounded needs a tile of integers, got " << op.getType();
  unsigned width = tile.getElementType().getIntOrFloatBitWidth();
  for (std::optional<int64_t> bound : {bounded.getLowerBound(), bounded.getUpperBound()})
    if (bound && !llvm::isIntN(width, *bound))
      return op.emitOpError() << "bound " << *bound << " does not fit in a signed "
                              << tile.getElementType();
  return success();
}

LogicalResult AssumeOp::verify() {
  Attribute predicate = getPredicate();
  if (auto divBy = dyn_cast<DivByAttr>(predicate))
    return verifyDivBy(*this, divBy);
  if (auto same = dyn_cast<SameElementsAttr>(predicate))
    return verifySameElements(*this, same);
  if (auto bounded = dyn_cast<BoundedAttr>(predicate))
    return verifyBounded(*this, bounded);
  return emitOpError() << "predicate must be div_by, same_elements or bounded, got " << predicate;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {

/// What a C format string asks for.
struct FormatSummary {
  size_t numConversions = 0;
  /// The first conversion letter that does not exist; 0 if all do, and -1 for
  /// a string that ends within a conversion.
  int badLetter = 0;
};

} // namespace

static FormatSummary scanFormat(StringRef format) {
  FormatSummary summary;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%')
      continue;
    if (i + 1 < format.size() && format[i + 1] == '%') {
      ++i;
      continue;
    }
    // Flags, width, precision and length come before the letter.
    size_t letter = format.find_first_not_of("-+ #'0123456789.*hlLjqzt", i + 1);
    if (letter == StringRef::npos) {
      summary.badLetter = -1;
      return summary;
    }
    if (!StringRef("diuoxXeEfFgGaAcsSpn").contains(format[letter])) {
      summary.badLetter = static_cast<unsigned char>(format[letter]);
      return summary;
    }
    ++summary.numConversions;
    i = letter;
  }
  return summary;
}

template <typename OpT> static LogicalResult verifyFormat(OpT op) {
  FormatSummary summary = scanFormat(op.getStr());
  if (summary.badLetter < 0)
    return op.emitOpError() << "format string ends within a conversion; write %% for a percent "
                               "sign";
  if (summary.badLetter > 0)
    return op.emitOpError() << "format string has the unknown conversion '%"
                            << std::string(1, static_cast<char>(summary.badLetter))
                            << "'; the letters are diuoxXeEfFgGaAcsSpn";
  if (summary.numConversions != op.getArgs().size())
    return op.emitOpError() << "format string has " << summary.numConversions << " conversions for "
                            << op.getArgs().size() << " operands";
  return success();
}

/// `"x=%f", %x token=%t : tile<4xf32> -> token`; `print` has neither token nor
/// result.
static ParseResult parsePrint(OpAsmParser &parser, OperationState &result, StringAttr strName,
                              bool hasToken) {
  StringAttr format;
  SmallVector<OpAsmParser::UnresolvedOperand> args;
  SmallVector<Type> types;
  std::optional<OpAsmParser::UnresolvedOperand> token;
  if (parser.parseAttribute(format))
    return failure();
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseOperand(args.emplace_back()))
      return failure();
  if ((hasToken && parseOptionalToken(parser, token)) ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  llvm::SMLoc typesLoc = parser.getCurrentLocation();
  if (!args.empty() && (parser.parseColon() || parseTileIRTypes(parser, types)))
    return failure();
  auto tokenType = TokenType::get(parser.getContext());
  if (hasToken) {
    Type resultType;
    if (parser.parseArrow() || parseTileIRType(parser, resultType))
      return failure();
    result.addTypes(resultType);
  }
  if (parser.resolveOperands(args, types, typesLoc, result.operands) ||
      (token && parser.resolveOperand(*token, tokenType, result.operands)))
    return failure();
  result.addAttribute(strName, format);
  result.addAttribute(
      "operandSegmentSizes",
      parser.getBuilder().getDenseI32ArrayAttr({static_cast<int32_t>(args.size()), token ? 1 : 0}));
  return success();
}

template <typename OpT> static void printPrint(OpT op, OpAsmPrinter &printer) {
  printer << ' ' << op.getStrAttr();
  for (Value arg : op.getArgs())
    printer << ", " << arg;
  if (op.getToken())
    printer << " token=" << op.getToken();
  printer.printOptionalAttrDict(op->getAttrs(), {"str", "operandSegmentSizes"});
  if (!op.getArgs().empty()) {
    printer << " : ";
    printTileIRTypes(printer, op.getArgs().getTypes());
  }
}

ParseResult PrintTkoOp::parse(OpAsmParser &parser, OperationState &result) {
  return parsePrint(parser, result, getStrAttrName(result.name), /*hasToken=*/true);
}

void PrintTkoOp::print(OpAsmPrinter &printer) {
  printPrint(*this, printer);
  printer << " -> ";
  printTileIRType(printer, getResultToken().getType());
}

LogicalResult PrintTkoOp::verify() { return verifyFormat(*this); }

ParseResult PrintOp::parse(OpAsmParser &parser, OperationState &result) {
  return parsePrint(parser, result, getStrAttrName(result.name), /*hasToken=*/false);
}

void PrintOp::print(OpAsmPrinter &printer) { printPrint(*this, printer); }

LogicalResult PrintOp::verify() {
  if (getToken())
    return emitOpError() << "takes no token; use print_tko";
  return verifyFormat(*this);
}
