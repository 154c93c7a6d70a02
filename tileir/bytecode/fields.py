"""How single values are stored, and how they make up tagged records.

An `Encoding` reads and writes one value; a `RecordSpec` is a tag and a list of `Field`s. The tables
of types, attributes and debug records (`tags.py`) and of operations (`schema.py`) are made of
these, so that reader and writer follow one description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from tileir.bytecode.enums import Enumeration
from tileir.bytecode.records import File, Record
from tileir.bytecode.stream import Cursor, Output
from tileir.bytecode.version import V13_1, Version


class Encoding(Protocol):
    """One kind of value. `file` gives the version and the tables that indices refer to."""

    def read(self, cursor: Cursor, file: File) -> Any: ...
    def write(self, out: Output, value: Any, file: File) -> None: ...


@dataclass(frozen=True)
class Varint:
    """An unsigned number of at most `bits` bits."""

    bits: int = 64

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = cursor.varint()
        if value >> self.bits:
            cursor.fail(f"{value} does not fit into {self.bits} bits", start)
        return value

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


class SignedVarint:
    """An integer whose sign is in the lowest bit."""

    def read(self, cursor: Cursor, file: File) -> int:
        return cursor.signed_varint()

    def write(self, out: Output, value: int, file: File) -> None:
        out.signed_varint(value)


class Bool:
    """One byte, 0 or 1."""

    def read(self, cursor: Cursor, file: File) -> bool:
        value = cursor.byte()
        if value > 1:
            cursor.fail(f"a bool must be 0 or 1, got {value}", cursor.offset - 1)
        return bool(value)

    def write(self, out: Output, value: bool, file: File) -> None:
        out.byte(value)


class Unit:
    """An attribute that is there or not: a flag bit, and no bytes of its own."""

    def read(self, cursor: Cursor, file: File) -> bool:
        return True

    def write(self, out: Output, value: bool, file: File) -> None:
        pass


@dataclass(frozen=True)
class Enum:
    """The number of a case; the version of the file may lack some."""

    enumeration: Enumeration

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = cursor.varint()
        enumeration = self.enumeration
        if value >= len(enumeration.cases):
            cursor.fail(f"{enumeration.mnemonic} has no value {value}", start)
        if enumeration.since and file.version < (since := enumeration.available_since(value)):
            cursor.fail(
                f"{enumeration.mnemonic}<{enumeration.cases[value]}> needs bytecode {since}, "
                f"this is {file.version}",
                start,
            )
        return value

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


@dataclass(frozen=True)
class Index:
    """An index into one of the tables of the file, named after the field of `File`."""

    table: str

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = cursor.varint()
        size = len(getattr(file, self.table))
        if value >= size:
            cursor.fail(f"index {value} into {size} {self.table}", start)
        return value

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


class Symbol(Index):
    """The name of an entry or a global: a string that is UTF-8 and not empty."""

    def __init__(self) -> None:
        super().__init__("strings")

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = super().read(cursor, file)
        if not file.strings[value] or not is_utf8(file.strings[value]):
            cursor.fail("a symbol must be UTF-8 and not empty", start)
        return value


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class TypeOf:
    """A type of one of `kinds`; inside the type table, an earlier one."""

    kinds: frozenset[str]

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = TYPE.read(cursor, file)
        kind = file.types[value].spec.name
        if kind not in self.kinds:
            cursor.fail(f"a type {kind} cannot stand here", start)
        return value

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


@dataclass(frozen=True)
class TypeList:
    """A counted list of types, each of one of `kinds`."""

    item: TypeOf

    def read(self, cursor: Cursor, file: File) -> tuple[int, ...]:
        return tuple(self.item.read(cursor, file) for _ in range(cursor.count("types")))

    def write(self, out: Output, value: tuple[int, ...], file: File) -> None:
        out.varint(len(value))
        for type in value:
            out.varint(type)


@dataclass(frozen=True)
class DebugIndex:
    """A debug record of one of `kinds`; inside the debug table, an earlier one."""

    kinds: tuple[str, ...]

    def read(self, cursor: Cursor, file: File) -> int:
        start = cursor.offset
        value = cursor.varint()
        if value > len(file.debug):
            cursor.fail(f"index {value} into {len(file.debug)} debug records", start)
        kind = file.debug[value - 1].spec.name if value else "unknown"
        if kind not in self.kinds:
            cursor.fail(f"expected {' or '.join(self.kinds)}, got {kind}", start)
        return value

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


@dataclass(frozen=True)
class IntArray:
    """A counted array of little-endian signed integers of `width` bytes."""

    width: int

    def read(self, cursor: Cursor, file: File) -> tuple[int, ...]:
        return cursor.int_array(self.width)

    def write(self, out: Output, value: tuple[int, ...], file: File) -> None:
        out.int_array(value, self.width)


class TileShape(IntArray):
    """The dimensions of a tile: powers of two."""

    def read(self, cursor: Cursor, file: File) -> tuple[int, ...]:
        start = cursor.offset
        shape = super().read(cursor, file)
        for size in shape:
            if size <= 0 or size & (size - 1):
                cursor.fail(f"dimension {size} of a tile is not a power of two", start)
        return shape


class BoolArray:
    """A counted array of bytes, 0 or 1."""

    def read(self, cursor: Cursor, file: File) -> tuple[bool, ...]:
        start = cursor.offset
        values = cursor.int_array(1)
        if any(value not in (0, 1) for value in values):
            cursor.fail("an array of bools must hold 0 and 1", start)
        return tuple(map(bool, values))

    def write(self, out: Output, value: tuple[bool, ...], file: File) -> None:
        out.int_array(value, 1)


@dataclass(frozen=True)
class Flags:
    """Which optional fields of a record are present: bit k for the k-th of them."""

    varint: bool = True

    def read(self, cursor: Cursor, file: File) -> int:
        return cursor.varint() if self.varint else cursor.byte()

    def write(self, out: Output, value: int, file: File) -> None:
        out.varint(value)


U64 = Varint(64)
U63 = Varint(63)
"""A number that MLIR holds as a signed one."""
U31 = Varint(31)
SIGNED_VARINT = SignedVarint()
BOOL = Bool()
UNIT = Unit()
STRING = Index("strings")
SYMBOL = Symbol()
TYPE = Index("types")
CONSTANT = Index("constants")
I32_ARRAY = IntArray(4)
I64_ARRAY = IntArray(8)
BOOL_ARRAY = BoolArray()


@dataclass(frozen=True)
class Field:
    """A field of a record, in files from version `since` to `until` (None: up to now)."""

    name: str
    encoding: Encoding
    optional: bool = False
    since: Version = V13_1
    until: Version | None = None

    def in_version(self, version: Version) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, eq=False)
class RecordSpec:
    """A kind of record: a varint tag, then `fields` in order."""

    tag: int
    name: str
    fields: tuple[Field, ...] = ()
    since: Version = V13_1

    def read(self, cursor: Cursor, file: File) -> dict[str, Any]:
        values: dict[str, Any] = {}
        flags = 0
        for item, bit in _layout(self, file.version):
            if isinstance(item.encoding, Flags):
                start = cursor.offset
                flags = item.encoding.read(cursor, file)
                if flags > bit:
                    cursor.fail(f"unknown flags {flags:#x} of {self.name}", start)
            elif not item.optional or flags & bit:
                values[item.name] = item.encoding.read(cursor, file)
        return values

    def write(self, out: Output, values: Mapping[str, Any], file: File) -> None:
        layout = _layout(self, file.version)
        present = sum(bit for item, bit in layout if item.optional and item.name in values)
        for item, _ in layout:
            if isinstance(item.encoding, Flags):
                item.encoding.write(out, present, file)
            elif not item.optional or item.name in values:
                item.encoding.write(out, values[item.name], file)


@cache
def _layout(spec: RecordSpec, version: Version) -> tuple[tuple[Field, int], ...]:
    """The fields of a version, each with its flag bit; a flags field with the mask of all bits."""
    fields = [item for item in spec.fields if item.in_version(version)]
    optional = [item for item in fields if item.optional]
    everything = (1 << len(optional)) - 1
    return tuple(
        (item, 1 << optional.index(item) if item.optional else everything) for item in fields
    )


def needed_version(record: Record) -> Version:
    """The oldest version that holds a record with the fields that it has."""
    needed = record.spec.since
    for item in record.spec.fields:
        if item.name in record.fields:
            needed = max(needed, item.since)
            if isinstance(item.encoding, Enum):
                value = record.fields[item.name]
                needed = max(needed, item.encoding.enumeration.available_since(value))
    return needed


@dataclass(frozen=True, eq=False)
class TagTable:
    """The records of one kind, by tag."""

    what: str
    specs: tuple[RecordSpec, ...]
    by_tag: Mapping[int, RecordSpec] = field(init=False)
    by_name: Mapping[str, RecordSpec] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_tag", {spec.tag: spec for spec in self.specs})
        object.__setattr__(self, "by_name", {spec.name: spec for spec in self.specs})

    def read(self, cursor: Cursor, file: File) -> Record:
        start = cursor.offset
        tag = cursor.varint()
        spec = self.by_tag.get(tag)
        if spec is None:
            cursor.fail(f"unknown {self.what} tag {tag}", start)
        if file.version < spec.since:
            cursor.fail(
                f"{self.what} {spec.name} needs bytecode {spec.since}, this is {file.version}",
                start,
            )
        return Record(spec, spec.read(cursor, file), start)

    def write(self, out: Output, record: Record, file: File) -> None:
        out.varint(record.spec.tag)
        record.spec.write(out, record.fields, file)
