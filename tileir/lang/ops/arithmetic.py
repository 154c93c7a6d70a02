"""Arithmetic on tiles and numbers, element by element.

Operands broadcast as in NumPy and promote as in `promotion`; numbers alone are computed by Python.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

from tileir.dialects import cuda_tile
from tileir.ir import Attribute

from ..builder import Attributes, Builder, current_builder
from ..calls import replaces
from ..dtypes import DType, float32, int32
from ..enums import RoundingMode
from ..errors import TileTypeError, TileValueError
from ..values import Tile
from .common import Operand, common_dtype, is_number, operand, require_arithmetic, together
from .options import (
    flush_attributes,
    nan_attributes,
    rounding_attributes,
    signedness,
)

#: Exponents up to which a power is a product of so many factors.
_MAX_FACTORS = 4


def _numbers(what: str, function: Callable[..., Any], *numbers: Any) -> Any:
    """A result that Python computes; what it says against it becomes an error of the kernel."""
    try:
        return function(*numbers)
    except (ArithmeticError, ValueError) as error:
        raise TileValueError(f"{what}: {error}") from None


def _arithmetic_operands(
    what: str, x: Any, y: Any, dtype: DType | None = None
) -> tuple[Tile, Tile, DType]:
    """Two operands of a dtype that can be computed with."""
    for value, name in ((x, "x"), (y, "y")):
        if isinstance(operand(value, name), Tile):
            require_arithmetic(value.dtype, what)
    if dtype is None:
        dtype = common_dtype(x, y)
    if dtype.is_bool:
        raise TileTypeError(
            f"{what} does not work on bool_", remedy="convert to integers: .astype(ct.int32)"
        )
    left, right = together(x, y, dtype=dtype)
    return left, right, dtype


def _both_numbers(x: Any, y: Any) -> bool:
    return is_number(x) and is_number(y)


def _is_index(x: Any) -> bool:
    """Whether it counts as an integer on the host: NumPy's do, and PyTorch's symbolic ones."""
    return hasattr(x, "__index__") and not isinstance(x, Tile)


def _rounded(
    what: str,
    names: tuple[str, str],
    x: Any,
    y: Any,
    rounding_mode: RoundingMode | None,
    flush_to_zero: bool,
) -> Tile:
    """An operation that rounds in floats (`names[0]`) and wraps around in integers."""
    left, right, dtype = _arithmetic_operands(what, x, y)
    builder = current_builder()
    attributes = rounding_attributes(builder, what, dtype, rounding_mode)
    attributes |= flush_attributes(builder, what, dtype, flush_to_zero)
    name = names[0] if dtype.is_float else names[1]
    return builder.tile(name, dtype, left.shape, (left.value, right.value), attributes)


def add(
    x: Operand,
    y: Operand,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Any:
    """`x + y`. `rounding_mode` RN, RZ, RM or RP for floats; `flush_to_zero` for float32 replaces
    subnormal operands and results by zero."""
    if _both_numbers(x, y):
        return x + y  # type: ignore[operator]
    names = ("cuda_tile.addf", "cuda_tile.addi")
    return _rounded("add", names, x, y, rounding_mode, flush_to_zero)


def sub(
    x: Operand,
    y: Operand,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Any:
    """`x - y`, with the options of `add`."""
    if _both_numbers(x, y):
        return x - y  # type: ignore[operator]
    names = ("cuda_tile.subf", "cuda_tile.subi")
    return _rounded("sub", names, x, y, rounding_mode, flush_to_zero)


def mul(
    x: Operand,
    y: Operand,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Any:
    """`x * y`, with the options of `add`. A product that is only added to something, with the
    same options, becomes one fused multiply-add, which rounds once."""
    if _both_numbers(x, y):
        return x * y  # type: ignore[operator]
    names = ("cuda_tile.mulf", "cuda_tile.muli")
    return _rounded("mul", names, x, y, rounding_mode, flush_to_zero)


def truediv(
    x: Operand,
    y: Operand,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Any:
    """`x / y`; integers are divided as float32. `rounding_mode` as in `add`, in float32 also FULL
    and APPROX, faster divisions with an error of 2 units in the last place."""
    if _both_numbers(x, y):
        return _numbers("truediv", operator.truediv, x, y)
    dtype = common_dtype(operand(x, "x"), operand(y, "y"))
    left, right, dtype = _arithmetic_operands("truediv", x, y, dtype if dtype.is_float else float32)
    builder = current_builder()
    fast = frozenset({RoundingMode.FULL, RoundingMode.APPROX})
    attributes = rounding_attributes(
        builder, "truediv", dtype, rounding_mode, only_float32=fast
    ) | flush_attributes(builder, "truediv", dtype, flush_to_zero)
    return builder.tile("cuda_tile.divf", dtype, left.shape, (left.value, right.value), attributes)


def floordiv(x: Operand, y: Operand, /) -> Any:
    """`x // y`, rounded down, also of floats."""
    if _both_numbers(x, y):
        return _numbers("floordiv", operator.floordiv, x, y)
    left, right, dtype = _arithmetic_operands("floordiv", x, y)
    builder = current_builder()
    operands = left.value, right.value
    if dtype.is_float:
        quotient = builder.tile("cuda_tile.divf", dtype, left.shape, operands)
        return builder.tile("cuda_tile.floor", dtype, left.shape, (quotient.value,))
    # Cutting off an unsigned quotient rounds it down.
    down = {"rounding": _rounding(builder, "NegativeInf")} if dtype.signed else {}
    return _divi(builder, left, right, dtype, down)


def cdiv(x: Operand, y: Operand, /) -> Any:
    """`x / y` of integers, rounded up. Works outside of kernels, too."""
    if _both_numbers(x, y) or (_is_index(x) and _is_index(y)):
        return _numbers("cdiv", lambda a, b: -(-a // b), x, y)
    left, right, dtype = _arithmetic_operands("cdiv", x, y)
    if not dtype.is_integer:
        raise TileTypeError(f"cdiv divides integers, not {dtype}", remedy="use ct.ceil(x / y)")
    builder = current_builder()
    return _divi(builder, left, right, dtype, {"rounding": _rounding(builder, "PositiveInf")})


def _rounding(builder: Builder, name: str) -> Attribute:
    return builder.types.enum(cuda_tile.RoundingMode[name])


def _divi(builder: Builder, x: Tile, y: Tile, dtype: DType, rounding: Attributes) -> Tile:
    attributes = {"signedness": signedness(builder, dtype), **rounding}
    return builder.tile("cuda_tile.divi", dtype, x.shape, (x.value, y.value), attributes)


def mod(x: Operand, y: Operand, /) -> Any:
    """`x % y`, with the sign of `y`, as in Python."""
    if _both_numbers(x, y):
        return _numbers("mod", operator.mod, x, y)
    left, right, dtype = _arithmetic_operands("mod", x, y)
    builder = current_builder()
    operands = left.value, right.value
    if dtype.is_float:
        rest = builder.tile("cuda_tile.remf", dtype, left.shape, operands)
        return _with_sign_of_divisor(rest, right)
    attributes = {"signedness": signedness(builder, dtype)}
    rest = builder.tile("cuda_tile.remi", dtype, left.shape, operands, attributes)
    return _with_sign_of_divisor(rest, right) if dtype.signed else rest


def _with_sign_of_divisor(rest: Tile, divisor: Tile) -> Tile:
    """A remainder that has the sign of the dividend, moved to that of the divisor."""
    from .bitwise import bitwise_and, bitwise_xor
    from .comparison import less, not_equal
    from .selection import where

    signs_differ = bitwise_xor(less(rest, 0), less(divisor, 0))
    moves = bitwise_and(signs_differ, not_equal(rest, 0))
    return where(moves, add(rest, divisor), rest)


def divmod(x: Operand, y: Operand, /) -> tuple[Any, Any]:
    """`(x // y, x % y)`."""
    return floordiv(x, y), mod(x, y)


def pow(x: Operand, y: Operand, /) -> Any:
    """`x ** y`.

    Floats to a constant integer power are products, or the hardware's integer power; to any other
    power they are positive. Integers take a constant exponent that is not negative.
    """
    if _both_numbers(x, y):
        return _numbers("pow", operator.pow, x, y)
    base, exponent = operand(x, "x"), operand(y, "y")
    dtype = common_dtype(base, exponent)
    whole = isinstance(exponent, int) and not isinstance(exponent, bool)
    if isinstance(base, Tile) and base.dtype.is_arithmetic and whole:
        assert isinstance(exponent, int)
        if base.dtype.is_integer:
            return _integer_power(base, exponent)
        if base.dtype.is_float:
            return _whole_power(base, exponent)
    left, right, dtype = _arithmetic_operands("pow", base, exponent)
    if not dtype.is_float:
        raise TileTypeError(
            f"pow of {dtype} needs an exponent known at compile time",
            remedy="convert to floats: .astype(ct.float32)",
        )
    builder = current_builder()
    return builder.tile("cuda_tile.fpowf", dtype, left.shape, (left.value, right.value))


def _integer_power(base: Tile, exponent: int) -> Tile:
    if exponent < 0:
        raise TileValueError(
            f"an integer to the power of {exponent} is no integer",
            remedy="convert to floats: .astype(ct.float32)",
        )
    return _product(base, exponent)


def _whole_power(base: Tile, exponent: int) -> Tile:
    """Exact squares for small exponents; what the hardware computes for others."""
    if 0 < exponent <= _MAX_FACTORS:
        return _product(base, exponent)
    if not int32.minimum <= exponent <= int32.maximum:
        return pow(base, float(exponent))
    from ..constants import constant

    builder = current_builder()
    power = constant(builder, exponent, int32, base.shape)
    return builder.tile("cuda_tile.fpowi", base.dtype, base.shape, (base.value, power.value))


def _product(base: Tile, exponent: int) -> Tile:
    """`base` times itself, by repeated squaring."""
    from ..constants import constant

    result: Tile | None = None
    square = base
    while exponent:
        if exponent & 1:
            result = square if result is None else mul(result, square)
        exponent >>= 1
        if exponent:
            square = mul(square, square)
    if result is None:
        return constant(current_builder(), 1, base.dtype, base.shape)
    return result


def _extremum(
    what: str, names: tuple[str, str], x: Any, y: Any, flush_to_zero: bool, propagate_nan: bool
) -> Tile:
    left, right, dtype = _arithmetic_operands(what, x, y)
    builder = current_builder()
    attributes = flush_attributes(builder, what, dtype, flush_to_zero)
    attributes |= nan_attributes(builder, what, dtype, propagate_nan)
    if dtype.is_integer:
        attributes["signedness"] = signedness(builder, dtype)
    name = names[0] if dtype.is_float else names[1]
    return builder.tile(name, dtype, left.shape, (left.value, right.value), attributes)


def maximum(
    x: Operand, y: Operand, /, *, flush_to_zero: bool = False, propagate_nan: bool = False
) -> Any:
    """The larger of `x` and `y`. Of a number and NaN it is the number, or NaN with
    `propagate_nan`."""
    if _both_numbers(x, y):
        return builtins.max(x, y)  # type: ignore[type-var]
    names = ("cuda_tile.maxf", "cuda_tile.maxi")
    return _extremum("maximum", names, x, y, flush_to_zero, propagate_nan)


def minimum(
    x: Operand, y: Operand, /, *, flush_to_zero: bool = False, propagate_nan: bool = False
) -> Any:
    """The smaller of `x` and `y`, with the options of `maximum`."""
    if _both_numbers(x, y):
        return builtins.min(x, y)  # type: ignore[type-var]
    names = ("cuda_tile.minf", "cuda_tile.mini")
    return _extremum("minimum", names, x, y, flush_to_zero, propagate_nan)


def _require_number_like(x: Any, what: str) -> Tile:
    value = operand(x, "x")
    assert isinstance(value, Tile)
    require_arithmetic(value.dtype, what)
    if value.dtype.is_bool:
        raise TileTypeError(
            f"{what} does not work on bool_", remedy="convert to integers: .astype(ct.int32)"
        )
    return value


def negative(x: Operand, /) -> Any:
    """`-x`; unsigned integers wrap around."""
    if is_number(x):
        return -x
    value = _require_number_like(x, "negative")
    name = "cuda_tile.negf" if value.dtype.is_float else "cuda_tile.negi"
    return current_builder().tile(name, value.dtype, value.shape, (value.value,))


@replaces(builtins.abs)
def abs(x: Operand, /) -> Any:
    """The absolute value; that of the lowest integer is itself."""
    if is_number(x):
        return builtins.abs(x)
    value = _require_number_like(x, "abs")
    if value.dtype.is_integer and not value.dtype.signed:
        return value
    name = "cuda_tile.absf" if value.dtype.is_float else "cuda_tile.absi"
    return current_builder().tile(name, value.dtype, value.shape, (value.value,))


def _of_arguments(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Python's `min` or `max` where an argument is known only at run time."""

    def replacement(*values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], tuple):
            (values,) = values
        if len(values) < 2:
            raise TileTypeError(
                f"{what}() needs two or more values",
                remedy=f"ct.{what}(x) is the {what}imum of the elements of a tile",
            )
        result = values[0]
        for value in values[1:]:
            result = function(result, value)
        return result

    replacement.__name__ = what
    return replacement


replaces(builtins.min)(_of_arguments("min", minimum))
replaces(builtins.max)(_of_arguments("max", maximum))
replaces(builtins.divmod)(divmod)
replaces(builtins.pow)(pow)
