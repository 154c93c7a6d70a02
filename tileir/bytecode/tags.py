"""The tagged records of the format: types, attributes, debug information.

Each table lists tag, name, fields in the order of the file, and the version that brought them.
Types and debug records live in tables of the file; attributes stand where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileir.bytecode.enums import PADDING_VALUE, PTR_KIND
from tileir.bytecode.fields import (
    BOOL,
    CONSTANT,
    I32_ARRAY,
    I64_ARRAY,
    SIGNED_VARINT,
    STRING,
    TYPE,
    U31,
    U64,
    DebugIndex,
    Encoding,
    Enum,
    Field,
    Flags,
    RecordSpec,
    TagTable,
    TileShape,
    TypeList,
    TypeOf,
    is_utf8,
)
from tileir.bytecode.records import File, Record
from tileir.bytecode.stream import Cursor, Output
from tileir.bytecode.version import V13_2, V13_3, V13_4, V13_5

MAX_ATTRIBUTE_DEPTH = 16

# ---------------------------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------------------------

FLOAT_WIDTHS: Mapping[str, int] = {
    "f16": 16, "bf16": 16, "f32": 32, "tf32": 19, "f64": 64, "f8E4M3FN": 8, "f8E5M2": 8,
    "f8E8M0FNU": 8, "f4E2M1FN": 4, "fnv8E5M3FNU": 8,
}  # fmt: skip
"""Bits of a value. tf32 takes 4 bytes in memory, but 3 bytes in a constant."""

INTEGER_WIDTHS: Mapping[str, int] = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

DYNAMIC = -(1 << 63)
"""Stands for a size or stride that is known at run time only."""

_NUMBERS = frozenset(FLOAT_WIDTHS) | frozenset(INTEGER_WIDTHS)
_NUMBER = TypeOf(_NUMBERS)
_TENSOR_VIEW = TypeOf(frozenset(("tensor_view",)))
VALUE_TYPE = TypeOf(
    frozenset(
        (
            "tile",
            "token",
            "tensor_view",
            "partition_view",
            "strided_view",
            "gather_scatter_view",
        )
    )
)
"""The type of an operand, a result or a block argument."""

VALUE_TYPES = TypeList(VALUE_TYPE)

_FLAGS = Field("flags", Flags())
_PADDING = Field("padding", Enum(PADDING_VALUE), optional=True)
_KIND = Field("kind", Enum(PTR_KIND), optional=True, since=V13_4)

TYPES = TagTable(
    "type",
    (
        RecordSpec(0, "i1"),
        RecordSpec(1, "i8"),
        RecordSpec(2, "i16"),
        RecordSpec(3, "i32"),
        RecordSpec(4, "i64"),
        RecordSpec(5, "f16"),
        RecordSpec(6, "bf16"),
        RecordSpec(7, "f32"),
        RecordSpec(8, "tf32"),
        RecordSpec(9, "f64"),
        RecordSpec(10, "f8E4M3FN"),
        RecordSpec(11, "f8E5M2"),
        RecordSpec(
            12,
            "ptr",
            (Field("flags", Flags(), since=V13_4), Field("pointee", _NUMBER), _KIND),
        ),
        RecordSpec(
            13,
            "tile",
            (Field("element", TypeOf(_NUMBERS | {"ptr"})), Field("shape", TileShape(8))),
        ),
        RecordSpec(
            14,
            "tensor_view",
            (
                Field("flags", Flags(), since=V13_4),
                Field("element", _NUMBER),
                Field("shape", I64_ARRAY),
                Field("strides", I64_ARRAY),
                _KIND,
            ),
        ),
        RecordSpec(
            15,
            "partition_view",
            (
                Field("flags", Flags(), since=V13_3),
                Field("tile_shape", TileShape(4)),
                Field("tensor_view", _TENSOR_VIEW),
                Field("dim_map", I32_ARRAY),
                Field("flags", Flags(varint=False), until=V13_2),
                _PADDING,
            ),
        ),
        RecordSpec(16, "function", (Field("inputs", VALUE_TYPES), Field("results", VALUE_TYPES))),
        RecordSpec(17, "token"),
        RecordSpec(18, "f8E8M0FNU", since=V13_2),
        RecordSpec(19, "f4E2M1FN", since=V13_3),
        RecordSpec(
            20,
            "gather_scatter_view",
            (
                _FLAGS,
                Field("tile_shape", TileShape(4)),
                Field("tensor_view", _TENSOR_VIEW),
                Field("sparse_dim", U31),
                _PADDING,
            ),
            since=V13_3,
        ),
        RecordSpec(
            21,
            "strided_view",
            (
                _FLAGS,
                Field("tile_shape", TileShape(4)),
                Field("traversal_strides", I32_ARRAY),
                Field("tensor_view", _TENSOR_VIEW),
                Field("dim_map", I32_ARRAY),
                _PADDING,
            ),
            since=V13_3,
        ),
        RecordSpec(22, "i4", since=V13_3),
        RecordSpec(130, "fnv8E5M3FNU", since=V13_4),
    ),
)

# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


class Tagged:
    """Any attribute of the table `ATTRIBUTES`, or only one of `kinds`."""

    def __init__(self, *kinds: str):
        self.kinds = kinds

    def read(self, cursor: Cursor, file: File) -> Record:
        start = cursor.offset
        if cursor.depth >= MAX_ATTRIBUTE_DEPTH:
            cursor.fail(f"attributes are nested more than {MAX_ATTRIBUTE_DEPTH} deep")
        cursor.depth += 1
        record = ATTRIBUTES.read(cursor, file)
        cursor.depth -= 1
        if self.kinds and record.spec.name not in self.kinds:
            cursor.fail(f"expected {' or '.join(self.kinds)}, got {record.spec.name}", start)
        return record

    def write(self, out: Output, value: Record, file: File) -> None:
        ATTRIBUTES.write(out, value, file)


class TaggedList:
    """A counted list of attributes."""

    def __init__(self, *kinds: str):
        self.item = Tagged(*kinds)

    def read(self, cursor: Cursor, file: File) -> tuple[Record, ...]:
        return tuple(self.item.read(cursor, file) for _ in range(cursor.count("attributes")))

    def write(self, out: Output, value: tuple[Record, ...], file: File) -> None:
        out.varint(len(value))
        for item in value:
            self.item.write(out, item, file)


class Dictionary:
    """A counted list of pairs: name (a string index) and attribute."""

    def __init__(self, *kinds: str):
        self.item = Tagged(*kinds)

    def read(self, cursor: Cursor, file: File) -> dict[int, Record]:
        entries: dict[int, Record] = {}
        names: set[bytes] = set()
        for _ in range(cursor.count("entries", 2)):
            start = cursor.offset
            name = STRING.read(cursor, file)
            text = file.strings[name]
            if not text or text in names:
                cursor.fail("names in a dictionary must be unique and not empty", start)
            names.add(text)
            if not is_utf8(text):
                cursor.fail("a name in a dictionary is not UTF-8", start)
            entries[name] = self.item.read(cursor, file)
        return entries

    def write(self, out: Output, value: dict[int, Record], file: File) -> None:
        out.varint(len(value))
        for name, item in value.items():
            out.varint(name)
            self.item.write(out, item, file)


class TypedInteger:
    """A type, and the value zero-extended from the width of the type: `(type, bits)`."""

    _type = TypeOf(frozenset(INTEGER_WIDTHS))

    def read(self, cursor: Cursor, file: File) -> tuple[int, int]:
        start = cursor.offset
        type = self._type.read(cursor, file)
        name = file.types[type].spec.name
        bits = cursor.varint()
        if bits >> INTEGER_WIDTHS[name]:
            cursor.fail(f"{bits:#x} does not fit into {name}", start)
        return type, bits

    def write(self, out: Output, value: tuple[int, int], file: File) -> None:
        type, bits = value
        out.varint(type)
        out.varint(bits)


class TypedFloat:
    """A type, and the bits of the value: `(type, bits)`.

    Types of up to 8 bits take one byte. Wider ones are zero-extended to 64 bits, read as a signed
    integer, and stored as a signed varint: only an f64 with its sign bit set counts as negative.
    The writer of cuda-tile 1.7.0 takes that one for positive as well and doubles it to 65 bits;
    both forms are read as what was meant.
    """

    _type = TypeOf(frozenset(FLOAT_WIDTHS))

    def read(self, cursor: Cursor, file: File) -> tuple[int, int]:
        start = cursor.offset
        type = self._type.read(cursor, file)
        name = file.types[type].spec.name
        width = FLOAT_WIDTHS[name]
        bits = cursor.byte() if width <= 8 else cursor.signed_varint(65) & (1 << 64) - 1
        if bits >> width:
            cursor.fail(f"{bits:#x} does not fit into {name}", start)
        return type, bits

    def write(self, out: Output, value: tuple[int, int], file: File) -> None:
        type, bits = value
        out.varint(type)
        if FLOAT_WIDTHS[file.types[type].spec.name] <= 8:
            out.byte(bits)
        else:
            out.signed_varint(bits - (1 << 64) if bits >> 63 else bits)


HINTS: Encoding = Dictionary("dictionary")

_PRESENT = Field("flags", Flags(varint=False))

ATTRIBUTES = TagTable(
    "attribute",
    (
        RecordSpec(1, "integer", (Field("value", TypedInteger()),)),
        RecordSpec(2, "float", (Field("value", TypedFloat()),)),
        RecordSpec(3, "bool", (Field("value", BOOL),)),
        RecordSpec(4, "type", (Field("type", TYPE),)),
        RecordSpec(5, "string", (Field("string", STRING),)),
        RecordSpec(6, "array", (Field("items", TaggedList()),)),
        RecordSpec(7, "dense_elements", (Field("type", TYPE), Field("constant", CONSTANT))),
        RecordSpec(
            8,
            "div_by",
            (
                Field("divisor", U64),
                _PRESENT,
                Field("every", SIGNED_VARINT, optional=True),
                Field("along", SIGNED_VARINT, optional=True),
            ),
        ),
        RecordSpec(9, "same_elements", (Field("values", I64_ARRAY),)),
        RecordSpec(10, "dictionary", (Field("entries", Dictionary()),)),
        RecordSpec(11, "optimization_hints", (Field("entries", HINTS),)),
        RecordSpec(
            12,
            "bounded",
            (
                _PRESENT,
                Field("lower_bound", SIGNED_VARINT, optional=True),
                Field("upper_bound", SIGNED_VARINT, optional=True),
            ),
        ),
    ),
)

# ---------------------------------------------------------------------------------------------
# Debug information
# ---------------------------------------------------------------------------------------------

_FILE = DebugIndex(("file",))
_SCOPE = DebugIndex(("subprogram", "lexical_block"))
_LOCATION = DebugIndex(("loc", "call_site", "unknown"))

DEBUG = TagTable(
    "debug",
    (
        RecordSpec(0, "unknown"),
        RecordSpec(1, "compile_unit", (Field("file", _FILE),)),
        RecordSpec(2, "file", (Field("name", STRING), Field("directory", STRING))),
        RecordSpec(
            3,
            "lexical_block",
            (
                Field("scope", _SCOPE),
                Field("file", _FILE),
                Field("line", U31),
                Field("column", U31),
            ),
        ),
        RecordSpec(
            4,
            "loc",
            (
                Field("scope", _SCOPE),
                Field("filename", STRING),
                Field("line", U31),
                Field("column", U31),
            ),
        ),
        RecordSpec(
            5,
            "subprogram",
            (
                Field("file", _FILE),
                Field("line", U31),
                Field("name", STRING),
                Field("linkage_name", STRING),
                Field("compile_unit", DebugIndex(("compile_unit",))),
                Field("scope_line", U31),
                Field("flags", Flags(), since=V13_5),  # no flag exists yet
            ),
        ),
        RecordSpec(6, "call_site", (Field("callee", _LOCATION), Field("caller", _LOCATION))),
    ),
)
