"""Functions of floats, element by element. Integers are converted to float32 first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..builder import Attributes, current_builder
from ..dtypes import DType, float32
from ..enums import RoundingMode
from ..errors import TileValueError
from ..values import Tile
from .casts import convert
from .common import Operand, common_dtype, is_number, operand, require_arithmetic, together
from .options import flush_attributes, rounding_attributes

_FAST = frozenset({RoundingMode.FULL, RoundingMode.APPROX})


def _float(x: Any, what: str) -> Tile:
    """A tile of floats that can be computed with."""
    value = operand(x, "x")
    assert isinstance(value, Tile)
    require_arithmetic(value.dtype, what)
    return value if value.dtype.is_float else convert(value, float32)


def _of_number(what: str, function: Callable[[float], Any], x: Any) -> Any:
    try:
        return function(x)
    except OverflowError:
        return math.inf
    except ValueError as error:
        raise TileValueError(f"{what}({x}): {error}") from None


def _unary(what: str, function: Callable[[float], Any], x: Any) -> Any:
    """A function without options; `function` is Python's, for numbers."""
    if is_number(x):
        return _of_number(what, function, x)
    value = _float(x, what)
    return _apply(what, value, {})


def _apply(what: str, value: Tile, attributes: Attributes) -> Tile:
    return current_builder().tile(
        f"cuda_tile.{what}", value.dtype, value.shape, (value.value,), attributes
    )


def exp(x: Operand, /, *, rounding_mode: RoundingMode | None = None) -> Any:
    """e to the power of `x`. `rounding_mode` for float32: FULL, the default, or APPROX, the
    hardware's approximation."""
    if is_number(x):
        return _of_number("exp", math.exp, x)
    return _with_mode("exp", _float(x, "exp"), rounding_mode)


def _with_mode(what: str, value: Tile, mode: RoundingMode | None) -> Tile:
    """A function that is either exact to a few units in the last place or approximate."""
    attributes = rounding_attributes(
        current_builder(), what, value.dtype, mode, ieee=False, only_float32=_FAST
    )
    return _apply(what, value, attributes if mode is not RoundingMode.FULL else {})


def exp2(x: Operand, /, *, flush_to_zero: bool = False) -> Any:
    """2 to the power of `x`: in float32 and below the hardware's approximation."""
    if is_number(x):
        return _of_number("exp2", lambda value: 2.0**value, x)
    return _with_flush("exp2", _float(x, "exp2"), flush_to_zero)


def _with_flush(what: str, value: Tile, flush_to_zero: bool) -> Tile:
    attributes = flush_attributes(current_builder(), what, value.dtype, flush_to_zero)
    return _apply(what, value, attributes)


def log(x: Operand, /) -> Any:
    """The natural logarithm."""
    return _unary("log", math.log, x)


def log2(x: Operand, /) -> Any:
    """The logarithm to base 2."""
    return _unary("log2", math.log2, x)


def sqrt(
    x: Operand, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False
) -> Any:
    """The square root. `rounding_mode` RN, RZ, RM or RP, in float32 also APPROX."""
    if is_number(x):
        return _of_number("sqrt", math.sqrt, x)
    value = _float(x, "sqrt")
    builder = current_builder()
    attributes = rounding_attributes(
        builder,
        "sqrt",
        value.dtype,
        rounding_mode,
        only_float32=frozenset({RoundingMode.APPROX}),
    ) | flush_attributes(builder, "sqrt", value.dtype, flush_to_zero)
    return _apply("sqrt", value, attributes)


def rsqrt(x: Operand, /, *, flush_to_zero: bool = False) -> Any:
    """1 / sqrt(x): in float32 and below the hardware's approximation."""
    if is_number(x):
        return _of_number("rsqrt", lambda value: math.pow(value, -0.5), x)
    return _with_flush("rsqrt", _float(x, "rsqrt"), flush_to_zero)


def sin(x: Operand, /) -> Any:
    """The sine of an angle in radians."""
    return _unary("sin", math.sin, x)


def cos(x: Operand, /) -> Any:
    """The cosine of an angle in radians."""
    return _unary("cos", math.cos, x)


def tan(x: Operand, /) -> Any:
    """The tangent of an angle in radians."""
    return _unary("tan", math.tan, x)


def sinh(x: Operand, /) -> Any:
    """The hyperbolic sine."""
    return _unary("sinh", math.sinh, x)


def cosh(x: Operand, /) -> Any:
    """The hyperbolic cosine."""
    return _unary("cosh", math.cosh, x)


def tanh(x: Operand, /, *, rounding_mode: RoundingMode | None = None) -> Any:
    """The hyperbolic tangent. `rounding_mode` for float32: FULL, the default, or APPROX."""
    if is_number(x):
        return _of_number("tanh", math.tanh, x)
    return _with_mode("tanh", _float(x, "tanh"), rounding_mode)


def floor(x: Operand, /) -> Any:
    """The largest whole number that is not larger, as a float."""
    return _unary("floor", lambda value: float(math.floor(value)), x)


def ceil(x: Operand, /) -> Any:
    """The smallest whole number that is not smaller, as a float."""
    return _unary("ceil", lambda value: float(math.ceil(value)), x)


def atan2(x1: Operand, x2: Operand, /) -> Any:
    """The angle in radians, from -pi to pi, of the point with the coordinates y = `x1` and
    x = `x2`."""
    if is_number(x1) and is_number(x2):
        return math.atan2(x1, x2)
    dtype = common_dtype(operand(x1, "x1"), operand(x2, "x2"))
    require_arithmetic(dtype, "atan2")
    target: DType = dtype if dtype.is_float else float32
    left, right = together(x1, x2, ("x1", "x2"), target)
    return current_builder().tile("cuda_tile.atan2", target, left.shape, (left.value, right.value))
