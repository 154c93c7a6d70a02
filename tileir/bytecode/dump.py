"""A listing of a bytecode file for people: sections, tables, operations with byte offsets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tileir.bytecode.decode import decode
from tileir.bytecode.fields import UNIT, Encoding, Enum, Index
from tileir.bytecode.records import Block, File, Function, Op, Record
from tileir.bytecode.sections import read_header, read_sections
from tileir.bytecode.stream import Cursor
from tileir.bytecode.tags import DYNAMIC, HINTS, TypedFloat, TypedInteger

_MAX_CONSTANT_BYTES = 16
_MAX_STRING = 60
_SELF_EXPLANATORY = frozenset(
    ["integer", "float", "bool", "type", "string", "array", "dictionary", "optimization_hints"]
)


def dump(data: bytes) -> str:
    """The listing of `data`; `BytecodeError` if it is malformed."""
    return "\n".join(_lines(data)) + "\n"


def _lines(data: bytes) -> Iterator[str]:
    cursor = Cursor(data)
    yield f"Tile IR bytecode {read_header(cursor)}, {len(data)} bytes"
    for section, payload in sorted(read_sections(cursor).items(), key=lambda item: item[1].offset):
        name = section.name.lower()
        yield f"  section {section.value} {name:<9} bytes {payload.offset}..{payload.end - 1}"
    file = decode(data)
    yield "strings"
    for index, _ in enumerate(file.strings):
        yield f"  {index:>3}  {_string(file, index)}"
    yield "types"
    for index, record in enumerate(file.types):
        yield f"  {index:>3}  byte {record.offset:<5} {_type(file, index)}"
    yield "constants"
    for index, constant in enumerate(file.constants):
        shown = constant[:_MAX_CONSTANT_BYTES].hex(" ")
        more = " ..." if len(constant) > _MAX_CONSTANT_BYTES else ""
        yield f"  {index:>3}  {len(constant)} bytes: {shown}{more}"
    yield "debug records"
    for index, record in enumerate(file.debug, 1):
        yield f"  {index:>3}  byte {record.offset:<5} {_record(file, record)}"
    if file.producer is not None:
        yield f"producer {_string(file, file.producer)}"
    for item in file.globals:
        constant = " constant" if item.is_constant else ""
        visibility = " private" if item.visibility else ""
        yield (
            f"global {_string(file, item.name)}{visibility}{constant} : "
            f"{_type(file, item.type)} = constant {item.constant}, alignment {item.alignment}"
        )
    for function in file.functions:
        yield from _function(file, function)


def _function(file: File, function: Function) -> Iterator[str]:
    hints = f" hints {_attribute(file, function.hints)}" if function.hints else ""
    yield (
        f"entry {_string(file, function.name)} : {_type(file, function.signature)}{hints}"
        f"{_location(function.location)}"
    )
    parameters = len(file.types[function.signature].fields["inputs"])
    yield from _operations(file, function.body, parameters, "  ")


def _operations(file: File, operations: list[Op], value: int, indent: str) -> Iterator[str]:
    """`value` is the number of the next value."""
    for op in operations:
        results = ", ".join(f"%{value + k}" for k in range(len(op.results)))
        left = f"{results} = {op.spec.name}" if results else op.spec.name
        parts = [left, _operands(op), *_attributes(file, op)]
        text = " ".join(part for part in parts if part)
        if op.results:
            text += " : " + ", ".join(_type(file, type) for type in op.results)
        yield f"{indent}byte {op.offset:<5} {text}{_location(op.location)}"
        for region in op.regions:
            yield from _region(file, region, value, indent)
        value += len(op.results)


def _region(file: File, block: Block | None, value: int, indent: str) -> Iterator[str]:
    if block is None:
        yield f"{indent}  (no block)"
        return
    arguments = ", ".join(
        f"%{value + k} : {_type(file, type)}" for k, type in enumerate(block.arguments)
    )
    yield f"{indent}  block({arguments})"
    yield from _operations(file, block.operations, value + len(block.arguments), indent + "    ")


def _operands(op: Op) -> str:
    if op.segments is None:
        return ", ".join(f"%{value}" for value in op.operands)
    values = iter(op.operands)
    parts = []
    for operand, size in zip(op.spec.operands, op.segments, strict=True):
        if size:
            names = ", ".join(f"%{next(values)}" for _ in range(size))
            parts.append(f"{operand.name}({names})")
    return " ".join(parts)


def _attributes(file: File, op: Op) -> Iterator[str]:
    for attribute in op.spec.attributes:
        if attribute.name in op.attributes:
            value = op.attributes[attribute.name]
            is_unit = attribute.encoding is UNIT
            text = "" if is_unit else f"={_value(file, attribute.encoding, value)}"
            yield f"{attribute.name}{text}"


def _location(index: int) -> str:
    return f"  loc {index}" if index else ""


def _string(file: File, index: int) -> str:
    text = file.text(index)
    return repr(text if len(text) <= _MAX_STRING else text[:_MAX_STRING] + "...")


def _value(file: File, encoding: Encoding, value: Any) -> str:
    if isinstance(encoding, Enum):
        return encoding.enumeration.cases[value]
    if encoding is HINTS:
        return _entries(file, value)
    if encoding == Index("strings"):
        return _string(file, value)
    if encoding == Index("types"):
        return _type(file, value)
    if isinstance(encoding, TypedInteger):
        return f"{value[1]} : {_type(file, value[0])}"
    if isinstance(encoding, TypedFloat):
        return f"{value[1]:#x} : {_type(file, value[0])}"
    if isinstance(value, dict):
        return _entries(file, value)
    if isinstance(value, Record):
        return _attribute(file, value)
    if isinstance(value, tuple):
        items = (_attribute(file, v) if isinstance(v, Record) else _plain(v) for v in value)
        return "[" + ", ".join(items) + "]"
    return _plain(value)


def _plain(value: int) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entries(file: File, entries: dict[int, Record]) -> str:
    pairs = (f"{file.text(key)} = {_attribute(file, item)}" for key, item in entries.items())
    return "{" + ", ".join(pairs) + "}"


def _attribute(file: File, record: Record) -> str:
    if record.spec.name not in _SELF_EXPLANATORY:
        return _record(file, record)
    (item,) = record.spec.fields
    return _value(file, item.encoding, record.fields[item.name])


def _record(file: File, record: Record) -> str:
    parts = [
        f"{item.name}={_value(file, item.encoding, record.fields[item.name])}"
        for item in record.spec.fields
        if item.name in record.fields
    ]
    return f"{record.spec.name}<{', '.join(parts)}>" if parts else record.spec.name


def _type(file: File, index: int) -> str:
    record = file.types[index]
    fields = record.fields
    name = record.spec.name
    if name == "tile":
        return f"tile<{_shape(fields['shape'])}{_type(file, fields['element'])}>"
    if name == "function":
        inputs = ", ".join(_type(file, type) for type in fields["inputs"])
        results = ", ".join(_type(file, type) for type in fields["results"])
        return f"({inputs}) -> ({results})"
    if name == "tensor_view":
        strides = ",".join(map(_size, fields["strides"]))
        kind = f", {_value(file, *_kind(record))}" if "kind" in fields else ""
        element = _type(file, fields["element"])
        return f"tensor_view<{_shape(fields['shape'])}{element}, strides=[{strides}]{kind}>"
    if name == "ptr":
        kind = f", {_value(file, *_kind(record))}" if "kind" in fields else ""
        return f"ptr<{_type(file, fields['pointee'])}{kind}>"
    if name.endswith("_view"):
        parts = [
            _type(file, fields[item.name])
            if item.name == "tensor_view"
            else f"{item.name}={_value(file, item.encoding, fields[item.name])}"
            for item in record.spec.fields
            if item.name in fields
        ]
        return f"{name}<{', '.join(parts)}>"
    return name


def _kind(record: Record) -> tuple[Encoding, Any]:
    (item,) = (f for f in record.spec.fields if f.name == "kind")
    return item.encoding, record.fields["kind"]


def _shape(sizes: tuple[int, ...]) -> str:
    return "".join(f"{_size(size)}x" for size in sizes)


def _size(size: int) -> str:
    return "?" if size == DYNAMIC else str(size)
