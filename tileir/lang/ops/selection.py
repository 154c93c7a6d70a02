"""Choosing between tiles, element by element."""

from __future__ import annotations

from ..builder import current_builder
from ..errors import TileTypeError
from ..values import Tile
from .casts import to_bool
from .common import (
    Operand,
    broadcast,
    broadcast_shapes,
    common_dtype,
    converted,
    operand,
    shape_of_operand,
)


def where(cond: Operand, x: Operand, y: Operand, /) -> Tile:
    """`x` where `cond` holds, else `y`. All three broadcast together; a condition that is not of
    booleans holds where it is not zero."""
    condition = to_bool(operand(cond, "cond"))
    left, right = operand(x, "x"), operand(y, "y")
    dtype = common_dtype(left, right)
    if dtype.bitwidth == 4:
        raise TileTypeError(
            f"where() does not work on {dtype}", remedy="convert it first: .astype(ct.float16)"
        )
    shape = broadcast_shapes(condition.shape, shape_of_operand(left), shape_of_operand(right))
    operands = (
        broadcast(condition, shape),
        converted(left, dtype, shape),
        converted(right, dtype, shape),
    )
    return current_builder().tile(
        "cuda_tile.select", dtype, shape, [tile.value for tile in operands]
    )
