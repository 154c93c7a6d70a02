// The tile_gpu dialect: layouts, types, their text and their rules.

#include "TileGPU.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile_gpu;

#include "TileGPUDialect.cpp.inc"
#include "TileGPUEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "TileGPUAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "TileGPUTypes.cpp.inc"

namespace {
/// Prints layouts as `#layout`, `#layout1`, ... at the top of the module.
struct LayoutAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TileGPUOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kOwnerNames[] = {"reg", "lane", "warp"};

SmallVector<int64_t> LayoutAttr::getShape() const {
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> digits = getDigits();
  for (int64_t count : getDigitsPerDim()) {
    int64_t size = 1;
    for (int64_t i = 0; i < count; ++i)
      size *= digits[3 * i + 1];
    digits = digits.drop_front(3 * count);
    shape.push_back(size);
  }
  return shape;
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> digits, digitsPerDim;
  auto parseDigit = [&]() -> ParseResult {
    StringRef owner;
    int64_t size, stride = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&owner))
      return failure();
    auto *it = llvm::find(kOwnerNames, owner);
    if (it == std::end(kOwnerNames))
      return parser.emitError(loc, "expected 'reg', 'lane' or 'warp', found '") << owner << "'";
    if (parser.parseInteger(size))
      return failure();
    bool isRegister = it == std::begin(kOwnerNames);
    if (!isRegister && (parser.parseColon() || parser.parseInteger(stride)))
      return failure();
    digits.append({it - std::begin(kOwnerNames), size, stride});
    ++digitsPerDim.back();
    return success();
  };
  auto parseDimension = [&]() -> ParseResult {
    digitsPerDim.push_back(0);
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDigit);
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseDimension))
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), digits,
                    digitsPerDim);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  ArrayRef<int64_t> digits = getDigits();
  printer << "<";
  llvm::interleaveComma(getDigitsPerDim(), printer, [&](int64_t count) {
    printer << "[";
    for (int64_t i = 0; i < count; ++i) {
      printer << (i ? ", " : "") << kOwnerNames[digits[3 * i]] << " " << digits[3 * i + 1];
      if (digits[3 * i] != Register)
        printer << ":" << digits[3 * i + 2];
    }
    digits = digits.drop_front(3 * count);
    printer << "]";
  });
  printer << ">";
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> digits, ArrayRef<int64_t> digitsPerDim) {
  int64_t total = 0;
  for (int64_t count : digitsPerDim)
    total += count;
  if (static_cast<int64_t>(digits.size()) != 3 * total)
    return emitError() << "layout needs three numbers for each of " << total << " digits";
  SmallVector<std::pair<int64_t, int64_t>> taken[3]; // [stride, stride * size) of lanes, warps
  for (int64_t i = 0; i < total; ++i) {
    int64_t owner = digits[3 * i], size = digits[3 * i + 1], stride = digits[3 * i + 2];
    if (owner < Register || owner > Warp)
      return emitError() << "unknown owner of a layout digit";
    if (size < 2)
      return emitError() << "layout digit of size " << size << "; the smallest is 2";
    if (owner == Register)
      continue;
    if (stride < 1)
      return emitError() << kOwnerNames[owner] << " digit with stride " << stride;
    if (owner == Lane && !(llvm::isPowerOf2_64(size) && llvm::isPowerOf2_64(stride)))
      return emitError() << "lane " << size << ":" << stride << " must be powers of two";
    if (owner == Lane && size * stride > 32)
      return emitError() << "lane " << size << ":" << stride << " goes past the 32 lanes of a warp";
    taken[owner].push_back({stride, size * stride});
  }
  for (auto &ranges : taken) {
    llvm::sort(ranges);
    for (auto [first, second] : llvm::zip(ranges, ArrayRef(ranges).drop_front(ranges.empty() ? 0 : 1)))
      if (first.second > second.first)
        return emitError() << "two layout digits read the same part of the index";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  LayoutAttr layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType,
                    layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType();
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, LayoutAttr layout) {
  if (shape.empty())
    return emitError() << "a tile has at least one dimension; scalars are builtin types";
  if (llvm::any_of(shape, [](int64_t size) { return size < 1; }))
    return emitError() << "tile dimensions must be positive";
  if (!elementType.isIntOrFloat())
    return emitError() << "tile elements must be integers or floats, found " << elementType;
  if (layout && ArrayRef<int64_t>(layout.getShape()) != shape) {
    InFlightDiagnostic diag = emitError() << "layout describes a tile of shape ";
    llvm::interleave(layout.getShape(), [&](int64_t d) { diag << d; }, [&] { diag << "x"; });
    return diag;
  }
  return success();
}

ShapedType TileType::cloneWith(std::optional<ArrayRef<int64_t>> shape, Type elementType) const {
  bool sameShape = !shape || *shape == getShape();
  return TileType::get(getContext(), shape.value_or(getShape()), elementType,
                       sameShape ? getLayout() : LayoutAttr());
}

bool TileType::hasRank() const { return true; }

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

/// Bits that an element takes in memory: i1 is a byte, tf32 a word.
static unsigned storageBits(Type elementType) {
  if (elementType.isInteger(1))
    return 8;
  return elementType.isTF32() ? 32 : elementType.getIntOrFloatBitWidth();
}

static SmallVector<int64_t> rowMajor(size_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, order;
  Type elementType;
  int64_t swizzle = 0, pad = 0, stages = 1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  order = rowMajor(shape.size());
  while (succeeded(parser.parseOptionalComma())) {
    StringRef key;
    SMLoc keyLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    if (key == "order") {
      order.clear();
      auto parseOne = [&] { return parser.parseInteger(order.emplace_back()); };
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
        return {};
      continue;
    }
    int64_t *field = llvm::StringSwitch<int64_t *>(key)
                         .Case("swizzle", &swizzle)
                         .Case("pad", &pad)
                         .Case("stages", &stages)
                         .Default(nullptr);
    if (!field)
      return parser.emitError(keyLoc, "expected 'order', 'swizzle', 'pad' or 'stages'"), Type();
    if (parser.parseInteger(*field))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), shape, elementType,
                    order, swizzle, pad, stages);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType();
  if (getOrder() != ArrayRef<int64_t>(rowMajor(getShape().size()))) {
    printer << ", order = [";
    llvm::interleaveComma(getOrder(), printer);
    printer << "]";
  }
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  if (getPad())
    printer << ", pad = " << getPad();
  if (getStages() != 1)
    printer << ", stages = " << getStages();
  printer << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 ArrayRef<int64_t> order, int64_t swizzle, int64_t pad,
                                 int64_t stages) {
  if (shape.empty() || llvm::any_of(shape, [](int64_t size) { return size < 1; }))
    return emitError() << "a buffer needs positive dimensions";
  if (!elementType.isIntOrFloat())
    return emitError() << "buffer elements must be integers or floats, found " << elementType;
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (sorted != rowMajor(shape.size()))
    return emitError() << "order must be a permutation of the " << shape.size() << " dimensions";
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "swizzle must be 0, 32, 64 or 128 bytes, found " << swizzle;
  if (swizzle && pad)
    return emitError() << "a buffer is swizzled or padded, not both";
  if (swizzle && (shape[order.back()] * storageBits(elementType) / 8) % swizzle)
    return emitError() << "rows of a swizzled buffer must be a multiple of " << swizzle << " bytes";
  if (pad < 0 || stages < 1)
    return emitError() << "pad must not be negative and stages must be positive";
  return success();
}

//===----------------------------------------------------------------------===//
// Tensor map
//===----------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto box = dyn_cast_or_null<BufferType>(BufferType::parse(parser));
  if (!box)
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), box);
}

void TensorMapType::print(AsmPrinter &printer) const { getBox().print(printer); }

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, BufferType box) {
  ArrayRef<int64_t> shape = box.getShape();
  if (shape.size() > 5 || llvm::any_of(shape, [](int64_t size) { return size > 256; }))
    return emitError() << "a box has up to 5 dimensions of up to 256 elements, found " << box;
  int64_t rowBytes = shape[box.getOrder().back()] * storageBits(box.getElementType()) / 8;
  if (rowBytes % 16)
    return emitError() << "rows of a box must be a multiple of 16 bytes, found " << rowBytes;
  if (box.getSwizzle() && rowBytes != box.getSwizzle())
    return emitError() << "rows of a swizzled box must be " << box.getSwizzle()
                       << " bytes, found " << rowBytes;
  if (box.getPad() || box.getStages() != 1)
    return emitError() << "a box has no padding and no stages";
  return success();
}
