"""Building bytecode without MLIR: for compilers that emit Tile IR on their own.

    file = FileBuilder("13.3", producer="my compiler 1.0")
    f32 = file.tile((), "f32")
    kernel = file.entry("k", [file.tile((), file.pointer("f32"))], Source("k.my", 1, 1))
    (pointer,) = kernel.parameters
    two = kernel.constant(f32, 2.0)
    kernel.emit("store_ptr_tko", pointer, two, results=[file.token()],
                memory_ordering_semantics="weak")
    kernel.emit("return")
    data = file.encode()

Names are those of the tables in `schema.py` and `tags.py`. What the tables know is checked while
the file is built: operations and their parts, the version that has them, values that are out of
scope. The rules of types are the dialect's: `tileir.read_bytecode(data)` checks them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tileir.bytecode import enums
from tileir.bytecode.encode import encode
from tileir.bytecode.entry_builder import EntryBuilder
from tileir.bytecode.fields import Enum, TypeList, TypeOf, needed_version
from tileir.bytecode.records import File, Function, Global, Record
from tileir.bytecode.tags import ATTRIBUTES, DEBUG, DYNAMIC, FLOAT_WIDTHS, INTEGER_WIDTHS, TYPES
from tileir.bytecode.version import V13_3, Version, parse_version
from tileir.errors import BytecodeError
from tileir.runtime.dtypes import storage_dtype


class Source(NamedTuple):
    """A place in a source file; lines and columns count from 1."""

    filename: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column}"


@dataclass(frozen=True, eq=False)
class Type:
    """An entry of the table of types. Equal types of one file are the same object."""

    index: int
    kind: str
    fields: Mapping[str, Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions of a tile or tensor view, or of the tiles of another view."""
        return self.fields["tile_shape" if "tile_shape" in self.fields else "shape"]

    @property
    def element(self) -> Type:
        """The type of the elements of a tile or tensor view, or that a pointer points to."""
        return self.fields["pointee" if self.kind == "ptr" else "element"]

    def __str__(self) -> str:
        match self.kind:
            case "tile":
                return f"tile<{''.join(f'{size}x' for size in self.shape)}{self.element}>"
            case "ptr":
                return f"ptr<{self.element}>"
        return self.kind


class FileBuilder:
    """Builds one file; everything in its tables is there once."""

    def __init__(self, version: str | Version = "13.3", producer: str | None = None):
        self._file = File(parse_version(version))
        self._strings: dict[bytes, int] = {}
        self._constants: dict[bytes, int] = {}
        self._types: dict[tuple[Any, ...], Type] = {}
        self._debug: dict[tuple[Any, ...], int] = {}
        if producer is not None and self.version >= V13_3:
            self._file.producer = self.string(producer)

    @property
    def version(self) -> Version:
        return self._file.version

    def encode(self) -> bytes:
        """The bytes of the file."""
        return encode(self._file)

    # ---- types -------------------------------------------------------------------------------

    def type(self, name: str, /, **fields: Any) -> Type:
        """A type of the table `TYPES`; fields that are None are absent.

        Types among the fields may be given by name (`"f32"`), cases of enumerations as strings.
        """
        spec = TYPES.by_name.get(name)
        if spec is None:
            raise BytecodeError(
                f"there is no type '{name}'", remedy=f"known: {', '.join(TYPES.by_name)}"
            )
        encodings = {item.name: item.encoding for item in spec.fields}
        given = {
            key: self._field(encodings.get(key), value)
            for key, value in fields.items()
            if value is not None
        }
        key = (name, *given.items())
        if key not in self._types:
            record = Record(spec, {field: _stored(value) for field, value in given.items()})
            if self.version < (needed := needed_version(record)):
                raise BytecodeError(f"type {name} needs bytecode {needed}, this is {self.version}")
            self._types[key] = Type(len(self._file.types), name, given)
            self._file.types.append(record)
        return self._types[key]

    def _field(self, encoding: Any, value: Any) -> Any:
        match encoding:
            case TypeOf():
                return self._type_of(value)
            case TypeList():
                return tuple(self._type_of(item) for item in value)
            case Enum() if isinstance(value, str):
                return enum_case(encoding.enumeration, value)
        return tuple(value) if isinstance(value, Sequence) else value

    def _type_of(self, type: Type | str) -> Type:
        return type if isinstance(type, Type) else self.type(type)

    def tile(self, shape: Sequence[int], element: Type | str) -> Type:
        """A tile; a scalar has no dimensions."""
        return self.type("tile", element=element, shape=shape)

    def pointer(self, pointee: Type | str) -> Type:
        return self.type("ptr", pointee=pointee)

    def token(self) -> Type:
        return self.type("token")

    def tensor_view(
        self, element: Type | str, shape: Sequence[int | None], strides: Sequence[int | None]
    ) -> Type:
        """A tensor in memory; None is an extent or stride, in elements, known at run time only."""
        sizes = [tuple(DYNAMIC if size is None else size for size in s) for s in (shape, strides)]
        return self.type("tensor_view", element=element, shape=sizes[0], strides=sizes[1])

    def partition_view(
        self,
        tile_shape: Sequence[int],
        tensor_view: Type,
        padding: str | None = None,
        dim_map: Sequence[int] | None = None,
    ) -> Type:
        """The tiles of a tensor; `dim_map` says which dimension each of theirs runs along."""
        return self.type(
            "partition_view",
            tile_shape=tile_shape,
            tensor_view=tensor_view,
            dim_map=range(len(tile_shape)) if dim_map is None else dim_map,
            padding=padding,
        )

    # ---- strings, constants, attributes ------------------------------------------------------

    def string(self, text: str) -> int:
        """The index of a string."""
        return _intern(self._strings, self._file.strings, text.encode())

    def constant(self, element: Type | str, values: Any) -> int:
        """The index of constant elements: one for all, or an array of them, row-major."""
        kind = element if isinstance(element, str) else element.kind
        if kind not in FLOAT_WIDTHS and kind not in INTEGER_WIDTHS or kind in _PACKED:
            raise BytecodeError(f"constants of {kind} cannot be built")
        array = np.ascontiguousarray(values).astype(storage_dtype(kind))
        if kind != "i1":
            data = array.tobytes()
        elif array.size == 1:
            data = b"\xff" if array.item() else b"\x00"
        else:
            data = np.packbits(array, axis=None, bitorder="little").tobytes()
        return _intern(self._constants, self._file.constants, data)

    def number(self, element: str, value: complex) -> Record:
        """A number as an attribute, of an element type: an identity of `reduce`, say."""
        bits = int.from_bytes(np.asarray(value).astype(storage_dtype(element)).tobytes(), "little")
        name = "integer" if element in INTEGER_WIDTHS else "float"
        return Record(ATTRIBUTES.by_name[name], {"value": (self.type(element).index, bits)})

    def attribute(self, kind: str, /, **fields: Any) -> Record:
        """An attribute of the table `ATTRIBUTES`: `attribute("div_by", divisor=16)`."""
        return Record(ATTRIBUTES.by_name[kind], fields)

    def hints(self, hints: Mapping[str, Mapping[str, int | bool]]) -> dict[int, Record]:
        """`{"sm_90": {"occupancy": 2}}`; the key "default" (13.3) is for all other targets."""
        return {
            self.string(target): Record(
                ATTRIBUTES.by_name["dictionary"],
                {"entries": {self.string(key): self._hint(value) for key, value in each.items()}},
            )
            for target, each in hints.items()
        }

    def _hint(self, value: int | bool) -> Record:
        if isinstance(value, bool):
            return Record(ATTRIBUTES.by_name["bool"], {"value": value})
        return self.number("i32", value)

    # ---- debug information -------------------------------------------------------------------

    def debug(self, kind: str, /, **fields: Any) -> int:
        """The index of a record of the table `DEBUG`."""
        key = (kind, *fields.items())
        if key not in self._debug:
            stored = {
                name: self.string(value) if isinstance(value, str) else value
                for name, value in fields.items()
            }
            self._file.debug.append(Record(DEBUG.by_name[kind], stored))
            self._debug[key] = len(self._file.debug)
        return self._debug[key]

    # ---- members -----------------------------------------------------------------------------

    def entry(
        self,
        name: str,
        parameters: Iterable[Type],
        location: Source | None = None,
        hints: Mapping[str, Mapping[str, int | bool]] | None = None,
    ) -> EntryBuilder:
        """A new kernel, whose body the result builds."""
        inputs = tuple(parameters)
        function = Function(
            name=self.string(name),
            signature=self.type("function", inputs=inputs, results=()).index,
            body=[],
        )
        if hints:
            function.hints = self.attribute("optimization_hints", entries=self.hints(hints))
        self._file.functions.append(function)
        return EntryBuilder(self, function, name, inputs, location)

    def global_variable(self, name: str, type: Type, values: Any, alignment: int) -> None:
        """A variable of the module: a tile of rank 1 in memory, which `get_global` finds."""
        constant = self.constant(type.element, values)
        self._file.globals.append(Global(self.string(name), type.index, constant, alignment))


#: Elements that constants do not store as NumPy does.
_PACKED = ("i4", "tf32", "f4E2M1FN", "fnv8E5M3FNU")


def enum_case(enumeration: enums.Enumeration, case: str) -> int:
    """The number of a case; `BytecodeError` lists the cases."""
    if case not in enumeration.cases:
        raise BytecodeError(
            f"{enumeration.mnemonic} has no case '{case}'",
            remedy=f"choose one of {', '.join(enumeration.cases)}",
        )
    return enumeration.value(case)


def _stored(value: Any) -> Any:
    """Types as indices."""
    if isinstance(value, Type):
        return value.index
    return tuple(map(_stored, value)) if isinstance(value, tuple) else value


def _intern(indices: dict[bytes, int], table: list[bytes], entry: bytes) -> int:
    if entry not in indices:
        indices[entry] = len(table)
        table.append(entry)
    return indices[entry]
