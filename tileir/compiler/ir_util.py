"""Questions that passes ask of operations and types."""

from __future__ import annotations

import re

from tileir.ir import (
    Block,
    DenseElementsAttr,
    FloatType,
    IntegerAttr,
    IntegerType,
    OpView,
    ShapedType,
    Type,
    Value,
)

_KEYWORD = re.compile(r"<(\w+)>$")


def defining_op(value: Value) -> OpView | None:
    """The operation that gives `value`, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, Block) else owner.opview


def keyword(op: OpView, name: str, default: str = "") -> str:
    """The case of an enumeration attribute, as written: `zero` for `#cuda_tile.rounding<zero>`."""
    attributes = op.operation.attributes
    if name not in attributes:
        return default
    match = _KEYWORD.search(str(attributes[name]))
    assert match, f"{name} of {op.operation.name} is not an enumeration"
    return match[1]


def has_flag(op: OpView, name: str) -> bool:
    """Whether a unit attribute is present."""
    return name in op.operation.attributes


def int_attr(op: OpView, name: str, default: int | None = None) -> int:
    attributes = op.operation.attributes
    if name not in attributes and default is not None:
        return default
    return IntegerAttr(attributes[name]).value


def splat_integer(op: OpView | None) -> int | None:
    """The value of an integer constant all of whose elements are equal, else None."""
    if op is None or op.operation.name not in ("cuda_tile.constant", "arith.constant"):
        return None
    value = op.operation.attributes["value"]
    if isinstance(value, DenseElementsAttr):
        if not value.is_splat:
            return None
        value = value.get_splat_value()
    return value.value if isinstance(value, IntegerAttr) else None


def element_type(type: Type) -> Type:
    """The element type of a tile, or the type itself."""
    return ShapedType(type).element_type if ShapedType.isinstance(type) else type


_BITS = {"bf16": 16, "tf32": 32}


def element_bits(type: Type) -> int:
    """Bits that an element of `type` takes in memory; i1 takes a byte, tf32 a word. For tiles of
    pointers, the bits of the pointee."""
    element = element_type(type)
    if IntegerType.isinstance(element):
        width = IntegerType(element).width
        return 8 if width == 1 else width
    text = str(element)
    if text.startswith("!cuda_tile.ptr<"):
        pointee = text.removeprefix("!cuda_tile.ptr<").removesuffix(">").split(",")[0]
        return element_bits(Type.parse(pointee, type.context))
    if FloatType.isinstance(element):
        return _BITS.get(text) or FloatType(element).width
    return 8


def element_bytes(type: Type) -> int:
    return max(1, element_bits(type) // 8)
