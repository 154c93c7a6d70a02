"""The order in which blocks take the tiles of a result: neighbours in time share operands in L2."""

from __future__ import annotations

from typing import Any

from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .arithmetic import add, floordiv, minimum, mod, mul, sub
from .bitwise import bitwise_and, bitwise_lshift, bitwise_or, bitwise_rshift
from .common import constant_int, operand
from .comparison import equal
from .grid import bid, num_blocks
from .selection import where

#: Rows that `swizzle` walks together, and the side of its squares.
_BAND = 8
_SQUARE = 4


def _scalar(value: Any, name: str) -> Any:
    scalar = operand(value, name)
    if isinstance(scalar, Tile) and (scalar.shape or not scalar.dtype.is_integer):
        raise TileTypeError(f"'{name}' must be an integer, got {describe(scalar)}")
    return scalar


def swizzle2d(index: Any, rows: Any, columns: Any, group: int = _BAND, /) -> tuple[Any, Any]:
    """The row and column of tile number `index` of `rows` x `columns` tiles, walked in bands.

    A band is `group` rows high; within it tiles are numbered column by column. Blocks that run at
    the same time then share `group` rows of one operand and few columns of the other. All tiles
    are reached, whatever the sizes.
    """
    height = constant_int(group, "group")
    if height < 1:
        raise TileValueError(f"'group' must be positive, got {height}")
    number, n_rows, n_columns = (
        _scalar(value, name)
        for value, name in ((index, "index"), (rows, "rows"), (columns, "columns"))
    )
    in_band = mul(n_columns, height)
    band = floordiv(number, in_band)
    first = mul(band, height)
    actual = minimum(sub(n_rows, first), height)
    rest = sub(number, mul(band, in_band))
    return add(first, mod(rest, actual)), floordiv(rest, actual)


def swizzle(pattern: str, /) -> tuple[Any, Any]:
    """Where this block is in the first two axes of the grid, in an order that L2 likes better than
    the launch's: `i, j = ct.swizzle("xy")` instead of `ct.bid(0), ct.bid(1)`.

    "xy" walks bands of 8 rows column by column; "z" walks squares of 4 x 4 tiles, row of squares
    by row, each along a Z curve. Both reach every place of the grid once.
    """
    if pattern not in ("xy", "z"):
        raise TileValueError(f'the patterns are "xy" and "z", got {pattern!r}')
    rows, columns = num_blocks(0), num_blocks(1)
    index = add(mul(bid(1), rows), bid(0))
    return swizzle2d(index, rows, columns) if pattern == "xy" else _z_curve(index, rows, columns)


def _z_curve(index: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Squares along a Z curve; those that the edge cuts are walked row by row."""
    side = _SQUARE
    in_band = mul(columns, side)
    band = floordiv(index, in_band)
    first_row = mul(band, side)
    height = minimum(sub(rows, first_row), side)
    rest = sub(index, mul(band, in_band))
    in_square = mul(height, side)
    square = floordiv(rest, in_square)
    first_column = mul(square, side)
    width = minimum(sub(columns, first_column), side)
    inside = sub(rest, mul(square, in_square))
    whole = bitwise_and(equal(height, side), equal(width, side))
    row = where(whole, _bits(inside, 1), floordiv(inside, width))
    column = where(whole, _bits(inside, 0), mod(inside, width))
    return add(first_row, row), add(first_column, column)


def _bits(number: Any, first: int) -> Any:
    """Bits `first` and `first + 2` of a number below 16, side by side."""
    low = bitwise_and(bitwise_rshift(number, first), 1)
    high = bitwise_and(bitwise_rshift(number, first + 2), 1)
    return bitwise_or(low, bitwise_lshift(high, 1))
