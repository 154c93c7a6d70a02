// Enumerations and attributes. The numeric values are those of the bytecode.

#ifndef CUDA_TILE_ATTRS_TD
#define CUDA_TILE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "CudaTileDialect.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class CudaTile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::cuda_tile";
  let genSpecializedAttr = 0;
}

/// The attribute of an enumeration: `#cuda_tile.mnemonic<case>`.
class CudaTile_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<CudaTile_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def CudaTile_Signedness : CudaTile_Enum<"Signedness",
    "how an operation reads an integer", [
    I32EnumAttrCase<"Unsigned", 0, "unsigned">,
    I32EnumAttrCase<"Signed", 1, "signed">]>;
def CudaTile_SignednessAttr : CudaTile_EnumAttr<CudaTile_Signedness, "signedness">;

def CudaTile_IntegerOverflow : CudaTile_Enum<"IntegerOverflow",
    "promised absence of integer overflow", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"NoSignedWrap", 1, "no_signed_wrap">,
    I32EnumAttrCase<"NoUnsignedWrap", 2, "no_unsigned_wrap">,
    I32EnumAttrCase<"NoWrap", 3, "no_wrap">]>;
def CudaTile_IntegerOverflowAttr : CudaTile_EnumAttr<CudaTile_IntegerOverflow, "overflow">;

def CudaTile_RoundingMode : CudaTile_Enum<"RoundingMode",
    "rounding mode", [
    I32EnumAttrCase<"NearestEven", 0, "nearest_even">,
    I32EnumAttrCase<"Zero", 1, "zero">,
    I32EnumAttrCase<"NegativeInf", 2, "negative_inf">,
    I32EnumAttrCase<"PositiveInf", 3, "positive_inf">,
    I32EnumAttrCase<"Approx", 4, "approx">,
    I32EnumAttrCase<"Full", 5, "full">,
    I32EnumAttrCase<"NearestIntToZero", 6, "nearest_int_to_zero">,
    I32EnumAttrCase<"NearestAway", 7, "nearest_away">]>;
def CudaTile_RoundingModeAttr : CudaTile_EnumAttr<CudaTile_RoundingMode, "rounding">;

def CudaTile_ComparisonPredicate : CudaTile_Enum<"ComparisonPredicate",
    "comparison", [
    I32EnumAttrCase<"Equal", 0, "equal">,
    I32EnumAttrCase<"NotEqual", 1, "not_equal">,
    I32EnumAttrCase<"LessThan", 2, "less_than">,
    I32EnumAttrCase<"LessThanOrEqual", 3, "less_than_or_equal">,
    I32EnumAttrCase<"GreaterThan", 4, "greater_than">,
    I32EnumAttrCase<"GreaterThanOrEqual", 5, "greater_than_or_equal">]>;
def CudaTile_ComparisonPredicateAttr
    : CudaTile_EnumAttr<CudaTile_ComparisonPredicate, "comparison_predicate">;

def CudaTile_ComparisonOrdering : CudaTile_Enum<"ComparisonOrdering",
    "result of a float comparison when an operand is NaN", [
    I32EnumAttrCase<"Unordered", 0, "unordered">,
    I32EnumAttrCase<"Ordered", 1, "ordered">]>;
def CudaTile_ComparisonOrderingAttr
    : CudaTile_EnumAttr<CudaTile_ComparisonOrdering, "comparison_ordering">;

def CudaTile_AtomicRMWMode : CudaTile_Enum<"AtomicRMWMode",
    "atomic read-modify-write operation", [
    I32EnumAttrCase<"And", 0, "and">,
    I32EnumAttrCase<"Or", 1, "or">,
    I32EnumAttrCase<"Xor", 2, "xor">,
    I32EnumAttrCase<"Add", 3, "add">,
    I32EnumAttrCase<"AddF", 4, "addf">,
    I32EnumAttrCase<"Max", 5, "max">,
    I32EnumAttrCase<"Min", 6, "min">,
    I32EnumAttrCase<"UMax", 7, "umax">,
    I32EnumAttrCase<"UMin", 8, "umin">,
    I32EnumAttrCase<"Xchg", 9, "xchg">]>;
def CudaTile_AtomicRMWModeAttr : CudaTile_EnumAttr<CudaTile_AtomicRMWMode, "atomic_rmw_mode">;

def CudaTile_MemoryScope : CudaTile_Enum<"MemoryScope",
    "threads that a memory operation synchronises with", [
    I32EnumAttrCase<"TileBlock", 0, "tl_blk">,
    I32EnumAttrCase<"Device", 1, "device">,
    I32EnumAttrCase<"System", 2, "sys">]>;
def CudaTile_MemoryScopeAttr : CudaTile_EnumAttr<CudaTile_MemoryScope, "memory_scope">;

def CudaTile_MemoryOrdering : CudaTile_Enum<"MemoryOrdering",
    "memory ordering", [
    I32EnumAttrCase<"Weak", 0, "weak">,
    I32EnumAttrCase<"Relaxed", 1, "relaxed">,
    I32EnumAttrCase<"Acquire", 2, "acquire">,
    I32EnumAttrCase<"Release", 3, "release">,
    I32EnumAttrCase<"AcqRel", 4, "acq_rel">]>;
def CudaTile_MemoryOrderingAttr
    : CudaTile_EnumAttr<CudaTile_MemoryOrdering, "memory_ordering_semantics">;

def CudaTile_PaddingValue : CudaTile_Enum<"PaddingValue",
    "value of tile elements outside the tensor", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"NegZero", 1, "neg_zero">,
    I32EnumAttrCase<"NaN", 2, "nan">,
    I32EnumAttrCase<"PosInf", 3, "pos_inf">,
    I32EnumAttrCase<"NegInf", 4, "neg_inf">]>;
def CudaTile_PaddingValueAttr : CudaTile_EnumAttr<CudaTile_PaddingValue, "padding_value">;

def CudaTile_SymbolVisibility : CudaTile_Enum<"SymbolVisibility",
    "visibility of a global to the host", [
    I32EnumAttrCase<"Public", 0, "public">,
    I32EnumAttrCase<"Private", 1, "private">]>;
def CudaTile_SymbolVisibilityAttr
    : CudaTile_EnumAttr<CudaTile_SymbolVisibility, "symbol_visibility">;

def CudaTile_PtrKind : CudaTile_Enum<"PtrKind",
    "mapping that a pointer goes through", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Unicast", 1, "unicast">,
    I32EnumAttrCase<"Multicast", 2, "multicast">]>;
def CudaTile_PtrKindAttr : CudaTile_EnumAttr<CudaTile_PtrKind, "ptr_attr">;

def CudaTile_MultimemReduction : CudaTile_Enum<"MultimemReduction",
    "reduction across the devices of a multicast object", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Min", 1, "min">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"And", 3, "and">,
    I32EnumAttrCase<"Or", 4, "or">,
    I32EnumAttrCase<"Xor", 5, "xor">,
    I32EnumAttrCase<"UMin", 6, "umin">,
    I32EnumAttrCase<"UMax", 7, "umax">]>;
def CudaTile_MultimemReductionAttr
    : CudaTile_EnumAttr<CudaTile_MultimemReduction, "multimem_reduction_kind">;

//===----------------------------------------------------------------------===//
// Attributes with parameters
//===----------------------------------------------------------------------===//

class CudaTile_Attr<string name, string mnemonic_, list<Trait> traits = [],
                    string base = "::mlir::Attribute">
    : AttrDef<CudaTile_Dialect, name, traits, base> {
  let mnemonic = mnemonic_;
}

def CudaTile_OptimizationHintsAttr : CudaTile_Attr<"OptimizationHints", "optimization_hints"> {
  let summary = "hints for code generation, by architecture";
  let description = [{
    A dictionary from architecture (`sm_80` ... `sm_121`, or `default`) to a
    dictionary of hints. A hint is looked up under the exact architecture
    first, then under `default`. Hints never change the meaning of a program.

    | hint | on | value |
    |---|---|---|
    | `num_cta_in_cga` | entry | power of two up to 16; 1 on sm_8x |
    | `num_worker_warps_per_cta` | entry | power of two up to 32 |
    | `occupancy` | entry | 1 to 32 |
    | `allow_tma` | view loads and stores | bool |
    | `latency` | loads and stores | 1 to 10 |

    Example: `#cuda_tile.optimization_hints<sm_90 = {occupancy = 2}>`
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The hint `name` for `architecture`, or null.
    ::mlir::Attribute lookup(::llvm::StringRef architecture, ::llvm::StringRef name) const;
  }];
}

def CudaTile_DivByAttr : CudaTile_Attr<"DivBy", "div_by"> {
  let summary = "promise that values are multiples of a power of two";
  let description = [{
    Every element is a multiple of `divisor`; for pointers and tensor views,
    the address is. With `every k along d`, elements at positions 0, k, 2k, ...
    of dimension `d` are multiples, and within a group values grow by one (by
    the size of the pointee for pointers).

    Examples: `div_by<16>`, `div_by<4, every 2 along 0>`.
  }];
  let parameters = (ins "uint64_t":$divisor, "std::optional<int64_t>":$every,
                        "std::optional<int64_t>":$along);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def CudaTile_SameElementsAttr : CudaTile_Attr<"SameElements", "same_elements"> {
  let summary = "promise that a tile is constant inside each block of a shape";
  let description = "Example: `same_elements<[2, 4]>`.";
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$values);
  let assemblyFormat = "`<` $values `>`";
}

def CudaTile_BoundedAttr : CudaTile_Attr<"Bounded", "bounded"> {
  let summary = "promise about the range of signed integer values";
  let description = "Both bounds are inclusive; `?` leaves one open. Example: `bounded<0, ?>`.";
  let parameters = (ins "std::optional<int64_t>":$lowerBound,
                        "std::optional<int64_t>":$upperBound);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Debug information
//===----------------------------------------------------------------------===//

def CudaTile_DIFileAttr : CudaTile_Attr<"DIFile", "di_file"> {
  let summary = "source file";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$directory);
  let assemblyFormat = "`<` $name `in` $directory `>`";
}

def CudaTile_DICompileUnitAttr : CudaTile_Attr<"DICompileUnit", "di_compile_unit"> {
  let summary = "compile unit";
  let parameters = (ins "DIFileAttr":$file);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CudaTile_DISubprogramAttr : CudaTile_Attr<"DISubprogram", "di_subprogram"> {
  let summary = "function in the source";
  let parameters = (ins "DIFileAttr":$file, "unsigned":$line, "::mlir::StringAttr":$name,
                        "::mlir::StringAttr":$linkageName, "DICompileUnitAttr":$compileUnit,
                        "unsigned":$scopeLine);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CudaTile_DILexicalBlockAttr : CudaTile_Attr<"DILexicalBlock", "di_lexical_block"> {
  let summary = "nested scope in the source";
  let parameters = (ins "::mlir::Attribute":$scope, "DIFileAttr":$file, "unsigned":$line,
                        "unsigned":$column);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def CudaTile_DILocAttr : CudaTile_Attr<"DILoc", "di_loc",
    [NativeAttrTrait<"IsLocation">], "::mlir::LocationAttr"> {
  let summary = "location within a debug scope";
  let description = [{
    A location: `loc(#cuda_tile.di_loc<#loc in #di_subprogram>)`. Diagnostics
    print its `file:line:column`.
  }];
  let parameters = (ins "::mlir::LocationAttr":$sourceLoc, "::mlir::Attribute":$scope);
  let assemblyFormat = "`<` $sourceLoc `in` $scope `>`";
  let genVerifyDecl = 1;
}

#endif // CUDA_TILE_ATTRS_TD
