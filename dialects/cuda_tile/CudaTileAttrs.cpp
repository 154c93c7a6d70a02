// Attributes: syntax and invariants.

#include "AsmFormat.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cuda_tile;

#include "CudaTileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "CudaTileAttrs.cpp.inc"

void CudaTileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CudaTileAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Optimization hints
//===----------------------------------------------------------------------===//

/// `occupancy = 2`; a number without a type is an i32, as in bytecode.
static ParseResult parseHint(AsmParser &parser, NamedAttrList &hints) {
  std::string name;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&name) || parser.parseEqual())
    return failure();
  if (hints.get(name))
    return parser.emitError(loc) << "duplicate hint '" << name << "'";
  // parseOptionalInteger would read these two as numbers.
  for (StringRef keyword : {"false", "true"})
    if (succeeded(parser.parseOptionalKeyword(keyword))) {
      hints.append(name, parser.getBuilder().getBoolAttr(keyword == "true"));
      return success();
    }
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (!isNumber.has_value()) {
    Attribute value;
    if (parser.parseAttribute(value))
      return failure();
    hints.append(name, value);
    return success();
  }
  Type type = parser.getBuilder().getI32Type();
  if (failed(*isNumber) || (succeeded(parser.parseOptionalColon()) && parser.parseType(type)))
    return failure();
  if (!type.isSignlessInteger() || !llvm::isIntN(type.getIntOrFloatBitWidth(), number))
    return parser.emitError(loc) << "hint '" << name << "' must be an integer that fits in " << type
                                 << ", got " << number;
  hints.append(name, IntegerAttr::get(type, number));
  return success();
}

static void printHint(AsmPrinter &printer, NamedAttribute hint) {
  printer.printKeywordOrString(hint.getName());
  printer << " = ";
  auto number = dyn_cast<IntegerAttr>(hint.getValue());
  if (number && number.getType().isSignlessInteger(32))
    printer << number.getInt();
  else
    printer.printAttribute(hint.getValue());
}

/// `sm_90 = {occupancy = 2}`
static ParseResult parseHintsOfArchitecture(AsmParser &parser,
                                            SmallVectorImpl<NamedAttribute> &entries) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  std::string architecture;
  NamedAttrList hints;
  if (parser.parseKeywordOrString(&architecture) || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces,
                                     [&] { return parseHint(parser, hints); }))
    return failure();
  for (const NamedAttribute &entry : entries)
    if (entry.getName() == architecture)
      return parser.emitError(loc) << "duplicate architecture '" << architecture << "'";
  MLIRContext *context = parser.getContext();
  entries.push_back({StringAttr::get(context, architecture), hints.getDictionary(context)});
  return success();
}

Attribute OptimizationHintsAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  SmallVector<NamedAttribute> entries;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseHintsOfArchitecture(parser, entries); }))
    return {};
  MLIRContext *context = parser.getContext();
  return parser.getChecked<OptimizationHintsAttr>(loc, context,
                                                  DictionaryAttr::get(context, entries));
}

void OptimizationHintsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getValue(), printer.getStream(), [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    printer << " = {";
    llvm::interleaveComma(cast<DictionaryAttr>(entry.getValue()), printer.getStream(),
                          [&](NamedAttribute hint) { printHint(printer, hint); });
    printer << '}';
  });
  printer << '>';
}

LogicalResult OptimizationHintsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                            DictionaryAttr value) {
  for (NamedAttribute entry : value)
    if (!isa<DictionaryAttr>(entry.getValue()))
      return emitError() << "hints of '" << entry.getName().getValue()
                         << "' must be a dictionary, got " << entry.getValue();
  return success();
}

Attribute OptimizationHintsAttr::lookup(StringRef architecture, StringRef name) const {
  for (StringRef key : {architecture, StringRef("default")})
    if (auto hints = getValue().getAs<DictionaryAttr>(key))
      if (Attribute hint = hints.get(name))
        return hint;
  return {};
}

//===----------------------------------------------------------------------===//
// Predicates of assume
//===----------------------------------------------------------------------===//

Attribute DivByAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  uint64_t divisor;
  std::optional<int64_t> every, along;
  if (parser.parseLess() || parser.parseInteger(divisor))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    int64_t everyValue, alongValue;
    if (parser.parseKeyword("every") || parser.parseInteger(everyValue) ||
        parser.parseKeyword("along") || parser.parseInteger(alongValue))
      return {};
    every = everyValue;
    along = alongValue;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<DivByAttr>(loc, parser.getContext(), divisor, every, along);
}

void DivByAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDivisor();
  if (getEvery())
    printer << ", every " << *getEvery() << " along " << *getAlong();
  printer << '>';
}

LogicalResult DivByAttr::verify(function_ref<InFlightDiagnostic()> emitError, uint64_t divisor,
                                std::optional<int64_t> every, std::optional<int64_t> along) {
  constexpr uint64_t kMaxDivisor = uint64_t(1) << 62;
  if (!llvm::isPowerOf2_64(divisor) || divisor > kMaxDivisor)
    return emitError() << "divisor of div_by must be a power of two up to 2^62, got " << divisor;
  if (every.has_value() != along.has_value())
    return emitError() << "'every' and 'along' of div_by go together";
  if (every && *every <= 0)
    return emitError() << "'every' of div_by must be positive, got " << *every;
  if (along && *along < 0)
    return emitError() << "'along' of div_by must not be negative, got " << *along;
  return success();
}

/// An integer, or `?` for none.
static ParseResult parseBound(AsmParser &parser, std::optional<int64_t> &bound) {
  if (succeeded(parser.parseOptionalQuestion()))
    return success();
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  bound = value;
  return success();
}

static void printBound(AsmPrinter &printer, std::optional<int64_t> bound) {
  if (bound)
    printer << *bound;
  else
    printer << '?';
}

Attribute BoundedAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  std::optional<int64_t> lower, upper;
  if (parser.parseLess() || parseBound(parser, lower) || parser.parseComma() ||
      parseBound(parser, upper) || parser.parseGreater())
    return {};
  return parser.getChecked<BoundedAttr>(loc, parser.getContext(), lower, upper);
}

void BoundedAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printBound(printer, getLowerBound());
  printer << ", ";
  printBound(printer, getUpperBound());
  printer << '>';
}

LogicalResult BoundedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  std::optional<int64_t> lower, std::optional<int64_t> upper) {
  if (lower && upper && *lower > *upper)
    return emitError() << "lower bound " << *lower << " of bounded exceeds upper bound " << *upper;
  return success();
}

//===----------------------------------------------------------------------===//
// Debug information
//===----------------------------------------------------------------------===//

static LogicalResult verifyScope(function_ref<InFlightDiagnostic()> emitError, Attribute scope) {
  if (!isa<DISubprogramAttr, DILexicalBlockAttr>(scope))
    return emitError() << "debug scope must be a di_subprogram or di_lexical_block, got " << scope;
  return success();
}

LogicalResult DILexicalBlockAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                         Attribute scope, DIFileAttr, unsigned, unsigned) {
  return verifyScope(emitError, scope);
}

LogicalResult DILocAttr::verify(function_ref<InFlightDiagnostic()> emitError, LocationAttr,
                                Attribute scope) {
  return verifyScope(emitError, scope);
}
