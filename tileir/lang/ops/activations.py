"""Activations and softmax.

Floats narrower than 32 bits are computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..builder import current_builder
from ..constants import constant
from ..dtypes import float32, float64
from ..enums import RoundingMode
from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .arithmetic import abs, add, maximum, mul, negative, sub, truediv
from .casts import convert
from .common import Operand, as_tile, axis_of, require_arithmetic
from .comparison import less
from .math import exp, tanh
from .reduce import max, sum
from .selection import where

Function = Callable[[Tile], Tile]


def _floats(x: Operand, what: str, compute: Function) -> Tile:
    """`compute` in float32 or float64, the result in the dtype of `x`."""
    tile = as_tile(x, "x")
    require_arithmetic(tile.dtype, what)
    if not tile.dtype.is_float:
        raise TileTypeError(
            f"{what}() takes floats, got {describe(tile)}", remedy="x.astype(ct.float32)"
        )
    wide = float64 if tile.dtype is float64 else float32
    return convert(compute(convert(tile, wide)), tile.dtype)


def relu(x: Operand, /) -> Tile:
    """`x` where it is positive, else 0; NaN stays NaN. Integers, too."""
    tile = as_tile(x, "x")
    require_arithmetic(tile.dtype, "relu")
    return maximum(tile, 0, propagate_nan=tile.dtype.is_float)


def _divide(x: Any, y: Any) -> Tile:
    """A quotient to 2 units in the last place, which is faster than an exact one."""
    fast = isinstance(y, Tile) and y.dtype is float32
    return truediv(x, y, rounding_mode=RoundingMode.FULL if fast else None)


def _logistic(x: Tile) -> Tile:
    return _divide(1.0, add(exp(negative(x)), 1.0))


def sigmoid(x: Operand, /) -> Tile:
    """1 / (1 + exp(-x))."""
    return _floats(x, "sigmoid", _logistic)


def silu(x: Operand, /) -> Tile:
    """x * sigmoid(x), also called swish."""
    return _floats(x, "silu", lambda tile: _divide(tile, add(exp(negative(tile)), 1.0)))


def gelu(x: Operand, /, approximate: str = "none") -> Tile:
    """x times the standard normal distribution function of x; with `approximate="tanh"` the usual
    approximation, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).

    The distribution function has an absolute error below 2e-7, in float64 below 2e-16.
    """
    if approximate not in ("none", "tanh"):
        raise TileValueError(f'\'approximate\' is "none" or "tanh", got {approximate!r}')
    compute = _gelu_tanh if approximate == "tanh" else _gelu_exact
    return _floats(x, "gelu", compute)


def _gelu_exact(x: Tile) -> Tile:
    half = mul(x, 0.5)
    return add(mul(half, error_function(mul(x, math.sqrt(0.5)))), half)


def _gelu_tanh(x: Tile) -> Tile:
    inner = mul(mul(x, math.sqrt(2 / math.pi)), add(mul(mul(x, x), 0.044715), 1.0))
    half = mul(x, 0.5)
    return add(mul(half, tanh(inner)), half)


def error_function(x: Tile) -> Tile:
    """erf(x), which Tile IR has no operation for."""
    return _erf_double(x) if x.dtype is float64 else _erf_single(x)


# Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: error below 1.5e-7.
_SINGLE = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_SINGLE_P = 0.3275911


def _erf_single(x: Tile) -> Tile:
    magnitude = abs(x)
    t = _divide(1.0, add(mul(magnitude, _SINGLE_P), 1.0))
    tail = mul(mul(_polynomial(_SINGLE, t), t), exp(negative(mul(x, x))))
    return _with_sign(sub(1.0, tail), x)


# W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969):
# erf for |x| <= 0.46875, erfc up to 4 and beyond; highest powers first.
_SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3,
     1.23033935480374942e3),
)  # fmt: skip
_LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346047, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def _erf_double(x: Tile) -> Tile:
    magnitude = abs(x)
    square = mul(x, x)
    small = mul(x, _rational(_SMALL, square))
    decay = exp(negative(square))
    middle = mul(decay, _rational(_MIDDLE, magnitude))
    # Where it is not chosen, a value that does not overflow.
    inverse = truediv(1.0, maximum(square, 1.0))
    series = sub(1 / math.sqrt(math.pi), mul(inverse, _rational(_LARGE, inverse)))
    large = mul(decay, truediv(series, maximum(magnitude, 1.0)))
    complement = where(less(magnitude, 4.0), middle, large)
    beyond = _with_sign(sub(1.0, complement), x)
    return where(less(magnitude, 0.46875), small, beyond)


def _rational(coefficients: tuple[Sequence[float], Sequence[float]], x: Tile) -> Tile:
    numerator, denominator = coefficients
    return truediv(_polynomial(numerator, x), _polynomial(denominator, x))


def _polynomial(coefficients: Sequence[float], x: Tile) -> Tile:
    """By Horner's rule, the coefficient of the highest power first."""
    result: Tile = constant(current_builder(), coefficients[0], x.dtype, x.shape)
    for each in coefficients[1:]:
        result = add(mul(result, x), each)
    return result


def _with_sign(magnitude: Tile, of: Tile) -> Tile:
    return where(less(of, 0.0), negative(magnitude), magnitude)


def softmax(x: Operand, /, axis: Any = -1) -> Tile:
    """exp(x) / sum(exp(x)) along one axis, computed from the distance to the largest element, so
    that nothing overflows. Where all elements are -inf the result is NaN."""
    tile = as_tile(x, "x")
    place = axis_of(axis, len(tile.shape))

    def compute(wide: Tile) -> Tile:
        powers = exp(sub(wide, max(wide, place, keepdims=True)))
        return truediv(powers, sum(powers, place, keepdims=True))

    return _floats(tile, "softmax", compute)


#: Activations by the name that epilogues take.
BY_NAME: dict[str, Function] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": lambda x: gelu(x, approximate="tanh"),
    "sigmoid": sigmoid,
    "silu": silu,
    "tanh": tanh,
}


def activation_named(name: Any) -> Function:
    """An activation by its name, or a function of the kernel's author."""
    if isinstance(name, str):
        if name not in BY_NAME:
            known = ", ".join(f'"{each}"' for each in BY_NAME)
            raise TileValueError(f"there is no activation {name!r}, only {known}")
        return BY_NAME[name]
    if not builtins.callable(name):
        raise TileTypeError(f"'activation' must be a name or a function, got {describe(name)}")
    from ..interpreter import current_interpreter

    return lambda x: current_interpreter().call(name, (x,))
