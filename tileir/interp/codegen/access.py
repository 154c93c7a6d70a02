"""Questions to the IR: element formats, shapes, attributes, locations."""

from __future__ import annotations

import re
from typing import Any

from mlir import ir

from ...dialects import cuda_tile
from ...errors import UnsupportedError
from ..numerics.formats import NUMBERS, Format, IntFormat, Number, PointerFormat, Tile

# An `ir.OpView`. Operands and results have generated names, which type checkers do not see.
Op = Any

_KEYWORD = re.compile(r"<\s*(\w+)\s*>$")
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def format_of(element: Any) -> Format:
    """The format of an element type."""
    if isinstance(element, cuda_tile.PtrType):
        return PointerFormat(number_format(element.pointee))
    return number_format(element)


def number_format(element: Any) -> Number:
    name = str(element).removeprefix("!cuda_tile.").lower()
    for fmt in NUMBERS.values():
        if fmt.name.lower() == name:
            return fmt
    raise UnsupportedError(f"the interpreter has no element type {element}")


def is_token(type_: Any) -> bool:
    return isinstance(type_, cuda_tile.TokenType)


def keyword(op: Op, name: str, default: str = "") -> str:
    """The case of an enumeration attribute: `zero` for `#cuda_tile.rounding<zero>`."""
    attributes = op.operation.attributes
    if name not in attributes:
        return default
    match = _KEYWORD.search(str(attributes[name]))
    assert match is not None, attributes[name]
    return match[1]


def flag(op: Op, name: str) -> bool:
    """Whether a unit attribute is present."""
    return name in op.operation.attributes


def integer(op: Op, name: str) -> int:
    return ir.IntegerAttr(op.operation.attributes[name]).value


def string(op: Op, name: str) -> str:
    return ir.StringAttr(op.operation.attributes[name]).value


def is_signed(op: Op, name: str = "signedness") -> bool:
    return keyword(op, name) == "signed"


def bools(op: Op, name: str) -> tuple[bool, ...]:
    """A DenseBoolArray attribute, empty if absent or all false."""
    attributes = op.operation.attributes
    if name not in attributes:
        return ()
    values = tuple(bool(x) for x in ir.DenseBoolArrayAttr(attributes[name]))
    return values if any(values) else ()


def place(op: Op) -> str | None:
    """`file:line:col` of an operation, if it has one."""
    match = _PLACE.search(str(op.location))
    return f"{match[1]}:{match[2]}:{match[3]}" if match else None


def location(op: Op) -> str:
    """`file:line:col` of an operation, or its text where it has no location."""
    found = place(op)
    if found is not None:
        return found
    text = str(op.operation).split("\n", 1)[0]
    return f"`{text if len(text) <= 120 else text[:117] + '...'}`"


def nested(op: Op) -> list[Op]:
    """The operations in the regions of `op`, outermost first."""
    found = []
    for region in op.operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                found.append(inner)
                found += nested(inner)
    return found


def dense(attribute: Any, fmt: Number) -> tuple[Tile, bool]:
    """(the values of a dense attribute, flat; whether one value stands for all)."""
    values = cuda_tile.array_from_elements(attribute)
    if fmt.name == "i4":
        values = values.astype(fmt.dtype)
    if values.size == 1 or not any(values.strides):
        return values.reshape(-1)[:1].copy(), True
    return values.reshape(-1), False


def known_integer(value: Any) -> int | None:
    """The integer that all elements of a tile are known to have, looking through shapes."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner
        name = op.operation.name
        if name in ("cuda_tile.reshape", "cuda_tile.broadcast", "cuda_tile.assume"):
            value = op.operation.operands[0]
            continue
        fmt = format_of(value.type.element_type) if name == "cuda_tile.constant" else None
        if not isinstance(fmt, IntFormat):
            return None
        values, is_splat = dense(op.operation.attributes["value"], fmt)
        return int(values[0]) if is_splat else None
    return None


def global_values(op: Op) -> Tile:
    """The initial value of a global."""
    return cuda_tile.array_from_elements(op.operation.attributes["value"])
