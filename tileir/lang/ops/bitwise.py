"""Operations on the bits of integers and on booleans, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..builder import current_builder
from ..constants import constant
from ..dtypes import DType
from ..errors import TileTypeError, TileValueError
from ..values import Tile
from .common import Operand, common_dtype, is_number, operand, together
from .options import signedness


def _integral_operands(what: str, x: Any, y: Any, *, booleans: bool) -> tuple[Tile, Tile, DType]:
    left, right = operand(x, "x"), operand(y, "y")
    dtype = common_dtype(left, right)
    if not dtype.is_integral or (dtype.is_bool and not booleans):
        allowed = "integers and booleans" if booleans else "integers"
        raise TileTypeError(f"{what} works on {allowed}, not on {dtype}")
    first, second = together(left, right, dtype=dtype)
    return first, second, dtype


def _numbers(what: str, function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    try:
        return function(x, y)
    except TypeError:
        raise TileTypeError(f"{what} works on integers, not on {x!r} and {y!r}") from None
    except ValueError as error:
        raise TileValueError(f"{what}: {error}") from None


def _logical(name: str, function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    what = f"bitwise_{name}"
    if is_number(x) and is_number(y):
        return _numbers(what, function, x, y)
    left, right, dtype = _integral_operands(what, x, y, booleans=True)
    builder = current_builder()
    return builder.tile(f"cuda_tile.{name}i", dtype, left.shape, (left.value, right.value))


def bitwise_and(x: Operand, y: Operand, /) -> Any:
    """`x & y`."""
    return _logical("and", operator.and_, x, y)


def bitwise_or(x: Operand, y: Operand, /) -> Any:
    """`x | y`."""
    return _logical("or", operator.or_, x, y)


def bitwise_xor(x: Operand, y: Operand, /) -> Any:
    """`x ^ y`."""
    return _logical("xor", operator.xor, x, y)


def bitwise_not(x: Operand, /) -> Any:
    """`~x`; of booleans, where they are False."""
    if isinstance(x, bool):
        return not x
    if is_number(x):
        return _numbers("bitwise_not", lambda a, _: ~a, x, None)
    value = operand(x, "x")
    assert isinstance(value, Tile)
    if not value.dtype.is_integral:
        raise TileTypeError(f"bitwise_not works on integers and booleans, not on {value.dtype}")
    builder = current_builder()
    ones = True if value.dtype.is_bool else value.dtype.maximum if not value.dtype.signed else -1
    mask = constant(builder, ones, value.dtype, value.shape)
    return builder.tile("cuda_tile.xori", value.dtype, value.shape, (value.value, mask.value))


def bitwise_lshift(x: Operand, y: Operand, /) -> Any:
    """`x << y`; undefined unless y is at least 0 and less than the number of bits."""
    if is_number(x) and is_number(y):
        return _numbers("bitwise_lshift", operator.lshift, x, y)
    left, right, dtype = _integral_operands("bitwise_lshift", x, y, booleans=False)
    _check_count(y, dtype)
    builder = current_builder()
    return builder.tile("cuda_tile.shli", dtype, left.shape, (left.value, right.value))


def bitwise_rshift(x: Operand, y: Operand, /) -> Any:
    """`x >> y`: signed integers keep their sign; undefined as `x << y` is."""
    if is_number(x) and is_number(y):
        return _numbers("bitwise_rshift", operator.rshift, x, y)
    left, right, dtype = _integral_operands("bitwise_rshift", x, y, booleans=False)
    _check_count(y, dtype)
    builder = current_builder()
    attributes = {"signedness": signedness(builder, dtype)}
    return builder.tile("cuda_tile.shri", dtype, left.shape, (left.value, right.value), attributes)


def _check_count(count: Any, dtype: DType) -> None:
    if is_number(count) and not 0 <= count < dtype.bitwidth:
        raise TileValueError(f"{dtype} shifts by 0 to {dtype.bitwidth - 1} bits, not by {count}")
