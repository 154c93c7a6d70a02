"""Questions that passes ask of operations and types."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tileir.compiler.tile_types import bytes_of, is_tile_type
from tileir.dialects.cuda_tile import PtrType, TileType
from tileir.ir import (
    Block,
    DenseBoolArrayAttr,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    Operation,
    OpView,
    ShapedType,
    StringAttr,
    Type,
    Value,
)

_KEYWORD = re.compile(r"<(\w+)>$")

#: Predicates of `arith.cmpf`, by their number in its attribute.
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip

#: Operations that widen an integer.
EXTENSIONS = ("arith.extui", "arith.extsi")


def defining_op(value: Value) -> OpView | None:
    """The operation that gives `value`, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, Block) else owner.opview


def defining_block(argument: Value) -> Block:
    """The block that a block argument belongs to."""
    owner = argument.owner
    assert isinstance(owner, Block), f"{argument} is no block argument"
    return owner


def block_of(value: Value) -> Block:
    """The block whose operation or argument a value is."""
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.operation.block


def parent_of(op: OpView | Operation) -> Operation:
    """The operation around `op`, which is no module."""
    parent = op.operation.parent
    assert parent is not None, f"{op.operation.name} stands alone"
    return parent.operation


def ancestors(op: OpView | Operation) -> Iterator[Operation]:
    """The operations around `op`, from its parent to the module."""
    parent = op.operation.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent


def ancestor_in(op: OpView | Operation, block: Block) -> Operation:
    """The operation of `block` that is `op` or holds it."""
    found = op.operation
    while found.block != block:
        found = parent_of(found)
    return found


def with_branches(op: OpView | Operation) -> Operation:
    """`op`, or the outermost of the branches that it lies in within the same loop or function."""
    op = op.operation
    while parent_of(op).name == "scf.if":
        op = parent_of(op)
    return op


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


def int_list(op: OpView, name: str) -> list[int]:
    """An array attribute of integers, such as a permutation."""
    array: Any = op.operation.attributes[name]  # of i32 or i64
    return list(array)


def bool_list(op: OpView, name: str) -> list[bool]:
    """An array attribute of flags."""
    return [bool(flag) for flag in DenseBoolArrayAttr(op.operation.attributes[name])]


def text_attr(op: OpView, name: str) -> str:
    return StringAttr(op.operation.attributes[name]).value


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


def is_zero(value: Value) -> bool:
    """Whether a tile is known to be zero everywhere, and not minus zero."""
    op = defining_op(value)
    if op is None or op.operation.name != "arith.constant":
        return False
    constant = op.operation.attributes["value"]
    if not isinstance(constant, DenseElementsAttr) or not constant.is_splat:
        return False
    number = constant.get_splat_value()
    if isinstance(number, FloatAttr):
        return number.value == 0 and math.copysign(1, number.value) > 0
    return isinstance(number, IntegerAttr) and number.value == 0


def element_type(type: Type) -> Type:
    """The element type of a tile of either dialect, or the type itself."""
    if isinstance(type, TileType):
        return type.element_type
    return ShapedType(type).element_type if is_tile_type(type) else type


def element_bytes(type: Type) -> int:
    """Bytes that an element of a tile takes in memory; of a tile of pointers, the pointee."""
    element = element_type(type)
    if isinstance(element, PtrType):
        element = element.pointee
    return bytes_of(str(element))
