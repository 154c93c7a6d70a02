"""Transcendental functions: computed in a wider format, rounded once.

f16, bf16 and f32 go through float64, f64 through the C library's long double where that is
wider (x86-64), so results are correctly rounded but for rare near ties. `approx` and `full` give
the same value: both only bound an error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .formats import F64, FloatFormat, Tile
from .rounding import from_float64

_WIDEST = np.longdouble if np.finfo(np.longdouble).nmant > 53 else np.float64


def _wide(x: Tile, fmt: FloatFormat) -> Tile:
    return x.astype(_WIDEST if fmt is F64 else np.float64)


def _narrow(x: Tile, fmt: FloatFormat) -> Tile:
    return x.astype(np.float64) if fmt is F64 else from_float64(x, fmt)


def _rsqrt(x: Tile) -> Tile:
    return 1 / np.sqrt(x)


_UNARY: dict[str, Callable[[Tile], Tile]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
}


def unary(name: str, fmt: FloatFormat) -> Callable[[Tile], Tile]:
    """The function of that operation on tiles of `fmt`."""
    function = _UNARY[name]
    return lambda x: _narrow(function(_wide(x, fmt)), fmt)


def atan2(numerator: Tile, denominator: Tile, fmt: FloatFormat) -> Tile:
    """The angle of the point (denominator, numerator), in radians."""
    return _narrow(np.arctan2(_wide(numerator, fmt), _wide(denominator, fmt)), fmt)


def power(base: Tile, exponent: Tile, fmt: FloatFormat) -> Tile:
    """base^exponent with C's special cases (pow)."""
    return _narrow(np.power(_wide(base, fmt), _wide(exponent, fmt)), fmt)


def integer_power(base: Tile, exponent: Tile, fmt: FloatFormat) -> Tile:
    """base^exponent for a signed integer exponent; a true i1 is -1."""
    signed = -exponent.astype(np.int8) if exponent.dtype == np.bool_ else exponent
    wide = _wide(base, fmt)
    return _narrow(np.power(wide, signed.astype(wide.dtype)), fmt)
