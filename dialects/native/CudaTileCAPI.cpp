// What Python needs of the types and attributes of cuda_tile. Constructors
// return null on invalid parameters and leave the reason in tileirLastError.

#include "CudaTile.h"
#include "Export.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cuda_tile;

static thread_local std::string lastError;

TILEIR_EXPORT const char *tileirLastError() { return lastError.c_str(); }

/// Calls `make` with an error emitter; a diagnostic goes to `lastError`.
template <typename MakeFn> static auto makeChecked(MLIRContext *context, MakeFn make) {
  ScopedDiagnosticHandler handler(context, [](Diagnostic &diagnostic) {
    lastError = diagnostic.str();
    return success();
  });
  return make([=] { return mlir::emitError(UnknownLoc::get(context)); });
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of the types, known to Python.
enum TypeKind { kNone, kTile, kPtr, kToken, kTensorView, kPartition, kStrided, kGather, kF8E5M3 };

struct Int64Array {
  intptr_t size;
  const int64_t *data;

  ArrayRef<int64_t> wide() const { return ArrayRef<int64_t>(data, size); }
};

/// The same numbers as a list that views store.
class Int32Array {
public:
  explicit Int32Array(Int64Array array) : values(array.data, array.data + array.size) {}

  ArrayRef<int32_t> get() const { return values; }

private:
  SmallVector<int32_t> values;
};

} // namespace

static PtrKindAttr getPtrKind(MLIRContext *context, int kind) {
  return kind < 0 ? PtrKindAttr() : PtrKindAttr::get(context, static_cast<PtrKind>(kind));
}

static PaddingValueAttr getPadding(MLIRContext *context, int padding) {
  return padding < 0 ? PaddingValueAttr()
                     : PaddingValueAttr::get(context, static_cast<PaddingValue>(padding));
}

TILEIR_EXPORT int tileirTypeKind(MlirType type) {
  return TypeSwitch<Type, int>(unwrap(type))
      .Case([](TileType) { return kTile; })
      .Case([](PtrType) { return kPtr; })
      .Case([](TokenType) { return kToken; })
      .Case([](TensorViewType) { return kTensorView; })
      .Case([](PartitionViewType) { return kPartition; })
      .Case([](StridedViewType) { return kStrided; })
      .Case([](GatherScatterViewType) { return kGather; })
      .Case([](F8E5M3FNUType) { return kF8E5M3; })
      .Default([](Type) { return kNone; });
}

TILEIR_EXPORT MlirTypeID tileirTypeIDOfKind(int kind) {
  switch (kind) {
  case kTile:
    return wrap(TypeID::get<TileType>());
  case kPtr:
    return wrap(TypeID::get<PtrType>());
  case kToken:
    return wrap(TypeID::get<TokenType>());
  case kTensorView:
    return wrap(TypeID::get<TensorViewType>());
  case kPartition:
    return wrap(TypeID::get<PartitionViewType>());
  case kStrided:
    return wrap(TypeID::get<StridedViewType>());
  case kGather:
    return wrap(TypeID::get<GatherScatterViewType>());
  default:
    return wrap(TypeID::get<F8E5M3FNUType>());
  }
}

TILEIR_EXPORT MlirType tileirTileTypeGet(MlirType element, Int64Array shape) {
  MLIRContext *context = unwrap(element).getContext();
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return TileType::getChecked(emitError, context, shape.wide(), unwrap(element));
  })));
}

TILEIR_EXPORT MlirType tileirPtrTypeGet(MlirType pointee, int kind) {
  MLIRContext *context = unwrap(pointee).getContext();
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return PtrType::getChecked(emitError, context, unwrap(pointee), getPtrKind(context, kind));
  })));
}

TILEIR_EXPORT MlirType tileirTokenTypeGet(MlirContext context) {
  return wrap(Type(TokenType::get(unwrap(context))));
}

TILEIR_EXPORT MlirType tileirF8E5M3FNUTypeGet(MlirContext context) {
  return wrap(Type(F8E5M3FNUType::get(unwrap(context))));
}

TILEIR_EXPORT MlirType tileirTensorViewTypeGet(MlirType element, Int64Array shape,
                                               Int64Array strides, int kind) {
  MLIRContext *context = unwrap(element).getContext();
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return TensorViewType::getChecked(emitError, context, unwrap(element), shape.wide(),
                                      strides.wide(), getPtrKind(context, kind));
  })));
}

TILEIR_EXPORT MlirType tileirPartitionViewTypeGet(MlirType tensorView, Int64Array tileShape,
                                                  Int64Array dimMap, int padding) {
  MLIRContext *context = unwrap(tensorView).getContext();
  Int32Array tile(tileShape), map(dimMap);
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return PartitionViewType::getChecked(emitError, context, tile.get(),
                                         cast<TensorViewType>(unwrap(tensorView)), map.get(),
                                         getPadding(context, padding));
  })));
}

TILEIR_EXPORT MlirType tileirStridedViewTypeGet(MlirType tensorView, Int64Array tileShape,
                                                Int64Array strides, Int64Array dimMap,
                                                int padding) {
  MLIRContext *context = unwrap(tensorView).getContext();
  Int32Array tile(tileShape), steps(strides), map(dimMap);
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return StridedViewType::getChecked(emitError, context, tile.get(), steps.get(),
                                       cast<TensorViewType>(unwrap(tensorView)), map.get(),
                                       getPadding(context, padding));
  })));
}

TILEIR_EXPORT MlirType tileirGatherScatterViewTypeGet(MlirType tensorView, Int64Array tileShape,
                                                      int sparseDim, int padding) {
  MLIRContext *context = unwrap(tensorView).getContext();
  Int32Array tile(tileShape);
  return wrap(Type(makeChecked(context, [&](auto emitError) {
    return GatherScatterViewType::getChecked(emitError, context, tile.get(),
                                             cast<TensorViewType>(unwrap(tensorView)), sparseDim,
                                             getPadding(context, padding));
  })));
}

/// The element type, the pointee, or the tensor view of a view.
TILEIR_EXPORT MlirType tileirTypeGetInner(MlirType type) {
  return wrap(TypeSwitch<Type, Type>(unwrap(type))
                  .Case<TileType, TensorViewType>([](auto t) { return t.getElementType(); })
                  .Case([](PtrType t) { return t.getPointeeType(); })
                  .Case<PartitionViewType, StridedViewType, GatherScatterViewType>(
                      [](auto t) { return Type(t.getTensorView()); })
                  .Default([](Type) { return Type(); }));
}

/// List `which` of a type's numbers: 0 the shape, 1 strides, 2 dim_map. Copies
/// at most `capacity` of them and returns how many there are.
TILEIR_EXPORT intptr_t tileirTypeGetInts(MlirType type, int which, int64_t *out,
                                         intptr_t capacity) {
  auto copy = [&](auto values) -> intptr_t {
    std::copy_n(values.begin(), std::min<size_t>(values.size(), capacity), out);
    return values.size();
  };
  return TypeSwitch<Type, intptr_t>(unwrap(type))
      .Case([&](TileType t) { return copy(t.getShape()); })
      .Case([&](TensorViewType t) { return copy(which == 0 ? t.getShape() : t.getStrides()); })
      .Case(
          [&](PartitionViewType t) { return copy(which == 0 ? t.getTileShape() : t.getDimMap()); })
      .Case([&](StridedViewType t) {
        return copy(which == 0   ? t.getTileShape()
                    : which == 1 ? t.getTraversalStrides()
                                 : t.getDimMap());
      })
      .Case([&](GatherScatterViewType t) { return copy(t.getTileShape()); })
      .Default([](Type) -> intptr_t { return 0; });
}

/// The pointer kind or padding value of a type; -1 if it has none.
TILEIR_EXPORT int tileirTypeGetEnum(MlirType type) {
  return TypeSwitch<Type, int>(unwrap(type))
      .Case<PtrType, TensorViewType>(
          [](auto t) { return t.getKind() ? static_cast<int>(t.getKind().getValue()) : -1; })
      .Case<PartitionViewType, StridedViewType, GatherScatterViewType>([](auto t) {
        return t.getPaddingValue() ? static_cast<int>(t.getPaddingValue().getValue()) : -1;
      })
      .Default([](Type) { return -1; });
}

TILEIR_EXPORT int tileirGatherScatterViewTypeGetSparseDim(MlirType type) {
  auto view = dyn_cast<GatherScatterViewType>(unwrap(type));
  return view ? view.getSparseDim() : -1;
}

/// The type of the tiles of a partition, strided or gather/scatter view.
TILEIR_EXPORT MlirType tileirViewTypeGetTileType(MlirType view) {
  return wrap(Type(getViewTileType(unwrap(view))));
}

//===----------------------------------------------------------------------===//
// Enumeration attributes
//===----------------------------------------------------------------------===//

/// The attribute of enumeration `which` (its place in CudaTileAttrs.td) with a
/// value that Python has checked.
TILEIR_EXPORT MlirAttribute tileirEnumAttrGet(MlirContext ctx, int which, unsigned value) {
  MLIRContext *context = unwrap(ctx);
  switch (which) {
#define ENUM_CASE(NUMBER, NAME)                                                                    \
  case NUMBER:                                                                                     \
    return wrap(Attribute(NAME##Attr::get(context, static_cast<NAME>(value))));
#define FOR_EACH_ENUM(CASE)                                                                        \
  CASE(0, Signedness)                                                                              \
  CASE(1, IntegerOverflow)                                                                         \
  CASE(2, RoundingMode)                                                                            \
  CASE(3, ComparisonPredicate)                                                                     \
  CASE(4, ComparisonOrdering)                                                                      \
  CASE(5, AtomicRMWMode)                                                                           \
  CASE(6, MemoryScope)                                                                             \
  CASE(7, MemoryOrdering)                                                                          \
  CASE(8, PaddingValue)                                                                            \
  CASE(9, SymbolVisibility)                                                                        \
  CASE(10, PtrKind)                                                                                \
  CASE(11, MultimemReduction)
    FOR_EACH_ENUM(ENUM_CASE)
#undef ENUM_CASE
  }
  return wrap(Attribute());
}

/// The value of an enumeration attribute, with its enumeration in the upper
/// half; -1 for other attributes.
TILEIR_EXPORT int64_t tileirEnumAttrValue(MlirAttribute attr) {
  Attribute attribute = unwrap(attr);
#define ENUM_CASE(NUMBER, NAME)                                                                    \
  if (auto value = dyn_cast<NAME##Attr>(attribute))                                                \
    return (int64_t(NUMBER) << 32) | static_cast<int64_t>(value.getValue());
  FOR_EACH_ENUM(ENUM_CASE)
#undef ENUM_CASE
  return -1;
}

//===----------------------------------------------------------------------===//
// Attributes with parameters
//===----------------------------------------------------------------------===//

namespace {

/// Numbers of the attributes, known to Python.
enum AttrKind {
  kOther,
  kDivBy,
  kSameElements,
  kBounded,
  kHints,
  kDIFile,
  kDICompileUnit,
  kDISubprogram,
  kDILexicalBlock,
  kDILoc
};

struct OptionalInt64 {
  bool present;
  int64_t value;

  std::optional<int64_t> get() const { return present ? std::optional(value) : std::nullopt; }
};

} // namespace

static OptionalInt64 toC(std::optional<int64_t> value) {
  return {value.has_value(), value.value_or(0)};
}

TILEIR_EXPORT int tileirAttrKind(MlirAttribute attr) {
  return TypeSwitch<Attribute, int>(unwrap(attr))
      .Case([](DivByAttr) { return kDivBy; })
      .Case([](SameElementsAttr) { return kSameElements; })
      .Case([](BoundedAttr) { return kBounded; })
      .Case([](OptimizationHintsAttr) { return kHints; })
      .Case([](DIFileAttr) { return kDIFile; })
      .Case([](DICompileUnitAttr) { return kDICompileUnit; })
      .Case([](DISubprogramAttr) { return kDISubprogram; })
      .Case([](DILexicalBlockAttr) { return kDILexicalBlock; })
      .Case([](DILocAttr) { return kDILoc; })
      .Default([](Attribute) { return kOther; });
}

TILEIR_EXPORT MlirAttribute tileirDivByGet(MlirContext ctx, uint64_t divisor, OptionalInt64 every,
                                           OptionalInt64 along) {
  MLIRContext *context = unwrap(ctx);
  return wrap(Attribute(makeChecked(context, [&](auto emitError) {
    return DivByAttr::getChecked(emitError, context, divisor, every.get(), along.get());
  })));
}

TILEIR_EXPORT MlirAttribute tileirBoundedGet(MlirContext ctx, OptionalInt64 lower,
                                             OptionalInt64 upper) {
  MLIRContext *context = unwrap(ctx);
  return wrap(Attribute(makeChecked(context, [&](auto emitError) {
    return BoundedAttr::getChecked(emitError, context, lower.get(), upper.get());
  })));
}

TILEIR_EXPORT MlirAttribute tileirSameElementsGet(MlirContext ctx, Int64Array values) {
  MLIRContext *context = unwrap(ctx);
  return wrap(
      Attribute(SameElementsAttr::get(context, DenseI64ArrayAttr::get(context, values.wide()))));
}

TILEIR_EXPORT MlirAttribute tileirHintsGet(MlirAttribute dictionary) {
  auto value = dyn_cast<DictionaryAttr>(unwrap(dictionary));
  MLIRContext *context = unwrap(dictionary).getContext();
  return wrap(Attribute(makeChecked(context, [&](auto emitError) -> OptimizationHintsAttr {
    if (value)
      return OptimizationHintsAttr::getChecked(emitError, context, value);
    emitError() << "hints must be a dictionary, got " << unwrap(dictionary);
    return {};
  })));
}

/// Number `i` of an attribute: divisor, every, along; lower, upper; the values
/// of same_elements; line, column or scope line.
TILEIR_EXPORT OptionalInt64 tileirAttrGetInt(MlirAttribute attr, intptr_t i) {
  auto pick = [i](std::initializer_list<std::optional<int64_t>> values) {
    return i < static_cast<intptr_t>(values.size()) ? toC(values.begin()[i]) : toC(std::nullopt);
  };
  return TypeSwitch<Attribute, OptionalInt64>(unwrap(attr))
      .Case([&](DivByAttr a) {
        return pick({static_cast<int64_t>(a.getDivisor()), a.getEvery(), a.getAlong()});
      })
      .Case([&](BoundedAttr a) { return pick({a.getLowerBound(), a.getUpperBound()}); })
      .Case([&](SameElementsAttr a) {
        return i < a.getValues().size() ? toC(a.getValues()[i]) : toC(std::nullopt);
      })
      .Case([&](DISubprogramAttr a) { return pick({a.getLine(), a.getScopeLine()}); })
      .Case([&](DILexicalBlockAttr a) { return pick({a.getLine(), a.getColumn()}); })
      .Default([&](Attribute) { return toC(std::nullopt); });
}

/// Attribute `i` within an attribute, in the order of the definition.
TILEIR_EXPORT MlirAttribute tileirAttrGetField(MlirAttribute attr, intptr_t i) {
  auto pick = [i](std::initializer_list<Attribute> fields) {
    return i < static_cast<intptr_t>(fields.size()) ? fields.begin()[i] : Attribute();
  };
  return wrap(TypeSwitch<Attribute, Attribute>(unwrap(attr))
                  .Case([&](OptimizationHintsAttr a) { return pick({a.getValue()}); })
                  .Case([&](DIFileAttr a) { return pick({a.getName(), a.getDirectory()}); })
                  .Case([&](DICompileUnitAttr a) { return pick({a.getFile()}); })
                  .Case([&](DISubprogramAttr a) {
                    return pick({a.getFile(), a.getName(), a.getLinkageName(), a.getCompileUnit()});
                  })
                  .Case([&](DILexicalBlockAttr a) { return pick({a.getScope(), a.getFile()}); })
                  .Case([&](DILocAttr a) { return pick({a.getSourceLoc(), a.getScope()}); })
                  .Default([](Attribute) { return Attribute(); }));
}

TILEIR_EXPORT MlirAttribute tileirDIFileGet(MlirAttribute name, MlirAttribute directory) {
  auto nameAttr = cast<StringAttr>(unwrap(name));
  return wrap(Attribute(
      DIFileAttr::get(nameAttr.getContext(), nameAttr, cast<StringAttr>(unwrap(directory)))));
}

TILEIR_EXPORT MlirAttribute tileirDICompileUnitGet(MlirAttribute file) {
  auto fileAttr = cast<DIFileAttr>(unwrap(file));
  return wrap(Attribute(DICompileUnitAttr::get(fileAttr.getContext(), fileAttr)));
}

TILEIR_EXPORT MlirAttribute tileirDISubprogramGet(MlirAttribute file, unsigned line,
                                                  MlirAttribute name, MlirAttribute linkageName,
                                                  MlirAttribute compileUnit, unsigned scopeLine) {
  auto fileAttr = cast<DIFileAttr>(unwrap(file));
  return wrap(Attribute(
      DISubprogramAttr::get(fileAttr.getContext(), fileAttr, line, cast<StringAttr>(unwrap(name)),
                            cast<StringAttr>(unwrap(linkageName)),
                            cast<DICompileUnitAttr>(unwrap(compileUnit)), scopeLine)));
}

TILEIR_EXPORT MlirAttribute tileirDILexicalBlockGet(MlirAttribute scope, MlirAttribute file,
                                                    unsigned line, unsigned column) {
  auto fileAttr = cast<DIFileAttr>(unwrap(file));
  MLIRContext *context = fileAttr.getContext();
  return wrap(Attribute(makeChecked(context, [&](auto emitError) {
    return DILexicalBlockAttr::getChecked(emitError, context, unwrap(scope), fileAttr, line,
                                          column);
  })));
}

TILEIR_EXPORT MlirLocation tileirDILocGet(MlirLocation source, MlirAttribute scope) {
  MLIRContext *context = unwrap(scope).getContext();
  DILocAttr loc = makeChecked(context, [&](auto emitError) {
    return DILocAttr::getChecked(emitError, context, LocationAttr(unwrap(source)), unwrap(scope));
  });
  return loc ? wrap(Location(loc)) : MlirLocation{nullptr};
}
