"""Attributes of cuda_tile: from Python values and back."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum

from mlir import ir

from tileir.errors import VerificationError

from ._cuda_tile_enum_gen import (
    AtomicRMWMode,
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    MemoryOrdering,
    MemoryScope,
    MultimemReduction,
    PaddingValue,
    PtrKind,
    RoundingMode,
    Signedness,
    SymbolVisibility,
)
from ._native import (
    Handle,
    Ints,
    OptionalInt,
    check_range,
    current_location,
    function,
    given_or_current,
    last_error,
    unwrap_attribute,
    unwrap_context,
    unwrap_location,
    wrap,
    wrap_attribute,
)

_get_enum = function("tileirEnumAttrGet", Handle, Handle, ctypes.c_int, ctypes.c_uint)
_enum_value = function("tileirEnumAttrValue", ctypes.c_int64, Handle)
_attr_kind = function("tileirAttrKind", ctypes.c_int, Handle)
_attr_int = function("tileirAttrGetInt", OptionalInt, Handle, ctypes.c_ssize_t)
_attr_field = function("tileirAttrGetField", Handle, Handle, ctypes.c_ssize_t)
_get_div_by = function("tileirDivByGet", Handle, Handle, ctypes.c_uint64, OptionalInt, OptionalInt)
_get_bounded = function("tileirBoundedGet", Handle, Handle, OptionalInt, OptionalInt)
_get_same_elements = function("tileirSameElementsGet", Handle, Handle, Ints)
_get_hints = function("tileirHintsGet", Handle, Handle)
_get_di_file = function("tileirDIFileGet", Handle, Handle, Handle)
_get_di_compile_unit = function("tileirDICompileUnitGet", Handle, Handle)
_get_di_subprogram = function(
    "tileirDISubprogramGet",
    *[Handle, Handle, ctypes.c_uint, Handle, Handle, Handle, ctypes.c_uint],
)
_get_di_lexical_block = function(
    "tileirDILexicalBlockGet", Handle, Handle, Handle, ctypes.c_uint, ctypes.c_uint
)
_get_di_loc = function("tileirDILocGet", Handle, Handle, Handle)

#: In the order of the numbers that the native library knows them by.
_ENUMS: tuple[type[IntEnum], ...] = (
    Signedness,
    IntegerOverflow,
    RoundingMode,
    ComparisonPredicate,
    ComparisonOrdering,
    AtomicRMWMode,
    MemoryScope,
    MemoryOrdering,
    PaddingValue,
    SymbolVisibility,
    PtrKind,
    MultimemReduction,
)
_NUMBER_OF_ENUM: dict[type[IntEnum], int] = {enum: number for number, enum in enumerate(_ENUMS)}


def enum_attribute(value: IntEnum, context: ir.Context | None = None) -> ir.Attribute:
    """The attribute of a member of an enumeration: `#cuda_tile.rounding<zero>`."""
    handle = _get_enum(_context(context), _NUMBER_OF_ENUM[type(value)], value)
    return wrap_attribute(handle)


def enum_value(attribute: ir.Attribute) -> IntEnum:
    """The member that an enumeration attribute holds. Raises `ValueError` for other attributes."""
    number = _enum_value(unwrap_attribute(attribute))
    if number < 0:
        raise ValueError(f"{attribute} is no enumeration of cuda_tile")
    return _ENUMS[number >> 32](number & 0xFFFFFFFF)


def _register_builders() -> None:
    """Lets the generated builders take members of the enumerations, or their numbers."""
    for enum in _ENUMS:

        def build(value: int, context: ir.Context, enum: type[IntEnum] = enum) -> ir.Attribute:
            return enum_attribute(enum(value), context)

        ir.register_attribute_builder(f"CudaTile_{enum.__name__}Attr", replace=True)(build)


_register_builders()


def _context(context: ir.Context | None) -> Handle:
    return unwrap_context(given_or_current(context))


def _checked(handle: Handle) -> ir.Attribute:
    if not handle.pointer:
        raise VerificationError(last_error(), location=current_location())
    return wrap_attribute(handle)


def _number(handle: Handle, index: int) -> int:
    return _attr_int(handle, index).value


def _text(handle: Handle, index: int) -> str:
    return wrap_attribute(_attr_field(handle, index)).value


@dataclass(frozen=True)
class DivBy:
    """Promise that values are multiples of `divisor`.

    With `every` and `along`, the elements at positions 0, every, 2 * every, ... of dimension
    `along` are, and the values between grow by one (pointers: by one element).
    """

    divisor: int
    every: int | None = None
    along: int | None = None

    def attribute(self, context: ir.Context | None = None) -> ir.Attribute:
        handle = _get_div_by(
            _context(context),
            check_range(self.divisor, 0, 2**64 - 1),
            OptionalInt.of(self.every),
            OptionalInt.of(self.along),
        )
        return _checked(handle)


@dataclass(frozen=True)
class Bounded:
    """Promise that signed values lie between two bounds, inclusive; None leaves one open."""

    lower: int | None = None
    upper: int | None = None

    def attribute(self, context: ir.Context | None = None) -> ir.Attribute:
        handle = _get_bounded(
            _context(context), OptionalInt.of(self.lower), OptionalInt.of(self.upper)
        )
        return _checked(handle)


@dataclass(frozen=True)
class SameElements:
    """Promise that a tile is constant inside each block of shape `block`."""

    block: tuple[int, ...]

    def attribute(self, context: ir.Context | None = None) -> ir.Attribute:
        return _checked(_get_same_elements(_context(context), Ints.of(self.block)))


@dataclass(frozen=True)
class DIFile:
    """A source file."""

    name: str
    directory: str


_UINT32_MAX = 2**32 - 1
_DIV_BY, _SAME_ELEMENTS, _BOUNDED, _HINTS = range(1, 5)
_DI_FILE, _DI_COMPILE_UNIT, _DI_SUBPROGRAM, _DI_LEXICAL_BLOCK, _DI_LOC = range(5, 10)


def assume_predicate(attribute: ir.Attribute) -> DivBy | Bounded | SameElements:
    """The promise that an attribute of `assume` states."""
    handle = unwrap_attribute(attribute)
    kind = _attr_kind(handle)
    if kind == _DIV_BY:
        every, along = (_attr_int(handle, i).get() for i in (1, 2))
        return DivBy(_number(handle, 0), every, along)
    if kind == _BOUNDED:
        return Bounded(_attr_int(handle, 0).get(), _attr_int(handle, 1).get())
    if kind == _SAME_ELEMENTS:
        block: list[int] = []
        while (value := _attr_int(handle, len(block)).get()) is not None:
            block.append(value)
        return SameElements(tuple(block))
    raise ValueError(f"{attribute} is no predicate of assume")


Hints = dict[str, dict[str, "int | bool"]]


def hints_attribute(hints: Hints, context: ir.Context | None = None) -> ir.Attribute:
    """`#cuda_tile.optimization_hints<sm_90 = {occupancy = 2}>`; numbers are i32."""
    context = given_or_current(context)
    with context:
        i32 = ir.IntegerType.get_signless(32)
        by_architecture = {
            architecture: ir.DictAttr.get(
                {
                    key: ir.BoolAttr.get(value)
                    if isinstance(value, bool)
                    else ir.IntegerAttr.get(i32, value)
                    for key, value in values.items()
                }
            )
            for architecture, values in hints.items()
        }
        return hints_from_dictionary(ir.DictAttr.get(by_architecture))


def hints_from_dictionary(dictionary: ir.Attribute) -> ir.Attribute:
    """Hints of a `DictAttr` of `DictAttr`s, whatever the types of the numbers."""
    return _checked(_get_hints(unwrap_attribute(dictionary)))


def hints_dictionary(attribute: ir.Attribute) -> ir.DictAttr:
    """The attributes that hints hold, by architecture and name."""
    handle = unwrap_attribute(attribute)
    if _attr_kind(handle) != _HINTS:
        raise ValueError(f"{attribute} holds no optimization hints")
    return ir.DictAttr(wrap_attribute(_attr_field(handle, 0)))


def hints(attribute: ir.Attribute) -> Hints:
    """Hints as Python values. Values that are neither numbers nor bools are left out."""
    result: Hints = {}
    for entry in hints_dictionary(attribute):
        values = result.setdefault(entry.name, {})
        for hint in ir.DictAttr(entry.attr):
            if isinstance(hint.attr, (ir.BoolAttr, ir.IntegerAttr)):
                values[hint.name] = hint.attr.value
    return result


def hint(
    attribute: ir.Attribute | None, architecture: str, name: str, among: range | None = None
) -> int | bool | None:
    """The hint `name` for an architecture (`sm_90`), or `default`'s, or None. One that is not
    `among` the numbers that it may be has no effect."""
    if attribute is None:
        return None
    all_hints = hints(attribute)
    for key in (architecture, "default"):
        value = all_hints.get(key, {}).get(name)
        if value is not None and (among is None or (value is not True and value in among)):
            return value
    return None


# Debug information. Scopes are attributes; `di_loc` is a location.


def di_file(file: DIFile, context: ir.Context | None = None) -> ir.Attribute:
    name, directory = (ir.StringAttr.get(text, context) for text in (file.name, file.directory))
    return _checked(_get_di_file(unwrap_attribute(name), unwrap_attribute(directory)))


def di_compile_unit(file: ir.Attribute) -> ir.Attribute:
    return _checked(_get_di_compile_unit(_of_kind(file, _DI_FILE)))


def di_subprogram(
    file: ir.Attribute,
    line: int,
    name: str,
    linkage_name: str,
    compile_unit: ir.Attribute,
    scope_line: int,
) -> ir.Attribute:
    names = [ir.StringAttr.get(text, file.context) for text in (name, linkage_name)]
    handle = _get_di_subprogram(
        _of_kind(file, _DI_FILE),
        check_range(line, 0, _UINT32_MAX),
        *(unwrap_attribute(each) for each in names),
        _of_kind(compile_unit, _DI_COMPILE_UNIT),
        check_range(scope_line, 0, _UINT32_MAX),
    )
    return _checked(handle)


def di_lexical_block(
    scope: ir.Attribute, file: ir.Attribute, line: int, column: int
) -> ir.Attribute:
    handle = _get_di_lexical_block(
        unwrap_attribute(scope),
        _of_kind(file, _DI_FILE),
        check_range(line, 0, _UINT32_MAX),
        check_range(column, 0, _UINT32_MAX),
    )
    return _checked(handle)


def di_loc(source: ir.Location, scope: ir.Attribute) -> ir.Location:
    """The location `source` within a subprogram or lexical block."""
    handle = _get_di_loc(unwrap_location(source), unwrap_attribute(scope))
    if not handle.pointer:
        raise VerificationError(last_error(), location=current_location())
    return wrap(ir.Location, handle)


def _of_kind(attribute: ir.Attribute, kind: int) -> Handle:
    handle = unwrap_attribute(attribute)
    if _attr_kind(handle) != kind:
        raise ValueError(f"unexpected attribute {attribute}")
    return handle


@dataclass(frozen=True)
class DebugNode:
    """A debug attribute taken apart: its kind, fields that are attributes, and numbers.

    | kind | fields | numbers |
    |---|---|---|
    | di_file | name, directory | |
    | di_compile_unit | file | |
    | di_subprogram | file, name, linkage name, compile unit | line, scope line |
    | di_lexical_block | scope, file | line, column |
    | di_loc | location (as an attribute), scope | |
    """

    kind: str
    fields: tuple[ir.Attribute, ...]
    numbers: tuple[int, ...]


_DEBUG_KINDS = {
    _DI_FILE: ("di_file", 2, 0),
    _DI_COMPILE_UNIT: ("di_compile_unit", 1, 0),
    _DI_SUBPROGRAM: ("di_subprogram", 4, 2),
    _DI_LEXICAL_BLOCK: ("di_lexical_block", 2, 2),
    _DI_LOC: ("di_loc", 2, 0),
}


def debug_node(attribute: ir.Attribute) -> DebugNode | None:
    """Takes a debug attribute apart (`location.attr` for a location); None for others."""
    handle = unwrap_attribute(attribute)
    entry = _DEBUG_KINDS.get(_attr_kind(handle))
    if entry is None:
        return None
    kind, num_fields, num_numbers = entry
    fields = tuple(wrap_attribute(_attr_field(handle, i)) for i in range(num_fields))
    numbers = tuple(_number(handle, i) for i in range(num_numbers))
    return DebugNode(kind, fields, numbers)


def di_loc_place(location: ir.Location) -> ir.Location | None:
    """The location inside a `di_loc`; None for others."""
    handle = unwrap_attribute(location.attr)
    if _attr_kind(handle) != _DI_LOC:
        return None
    return ir.Location.from_attr(wrap_attribute(_attr_field(handle, 0)))


def di_file_of(attribute: ir.Attribute) -> DIFile:
    handle = _of_kind(attribute, _DI_FILE)
    return DIFile(_text(handle, 0), _text(handle, 1))
