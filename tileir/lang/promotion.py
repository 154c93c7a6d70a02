"""Which dtype an operation on several dtypes has, and what Python's numbers become.

Booleans are the lowest category, then integers, then floats: the highest takes part with its
dtype, so that `int64 + float16` is a float16. Within a category the wider wins. What would
silently lose values is an error: signed with unsigned, float16 with bfloat16. Storage floats
(8 and 4 bits, tfloat32) mix with nothing.

Python's numbers are loosely typed: one takes the dtype of the other operand if that is of its
own category or a higher one, else, and alone, its default: int32, int64 or uint64, whichever is
the first to hold it, float32, bool.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from .dtypes import Category, DType, bool_, float32, int32, int64, uint64
from .errors import TileTypeError, TileUnsupportedFeatureError, TileValueError

Number: TypeAlias = bool | int | float


def promote(left: DType, right: DType) -> DType:
    """The dtype of an operation between two. Raises `TileTypeError` if there is none."""
    if left is right:
        return left
    if Category.STORAGE in (left.category, right.category):
        raise _no_promotion(left, right)
    if left.category is not right.category:
        return max(left, right, key=lambda dtype: dtype.category.value)
    if left.bitwidth == right.bitwidth or left.signed != right.signed:
        raise _no_promotion(left, right)
    return max(left, right, key=lambda dtype: dtype.bitwidth)


def _no_promotion(left: DType, right: DType) -> TileTypeError:
    return TileTypeError(
        f"{left} and {right} do not mix",
        remedy=f"convert one of them: x.astype(ct.{left}) or y.astype(ct.{right})",
    )


def category_of(value: Number) -> Category:
    """The category of one of Python's numbers."""
    if isinstance(value, bool):
        return Category.BOOLEAN
    return Category.INTEGER if isinstance(value, int) else Category.FLOAT


def default_dtype(value: Number) -> DType:
    """The dtype of a number that stands alone."""
    category = category_of(value)
    if category is Category.BOOLEAN:
        return bool_
    if category is Category.FLOAT:
        return float32
    for dtype in (int32, int64, uint64):
        if dtype.minimum <= value <= dtype.maximum:
            return dtype
    raise TileValueError(f"{value} does not fit in any integer dtype")


def promote_number(value: Number, dtype: DType) -> DType:
    """The dtype of an operation between a number and something of `dtype`.

    Raises `TileValueError` for an integer that does not fit.
    """
    if category_of(value).value > dtype.category.value:
        return default_dtype(value)
    check_fits(value, dtype)
    return dtype


def check_fits(value: Number, dtype: DType) -> None:
    """Raises `TileValueError` if an integer constant is out of range of an integer dtype."""
    if dtype.is_integer and not dtype.minimum <= value <= dtype.maximum:
        raise TileValueError(
            f"{value} is out of range of {dtype} ({dtype.minimum} to {dtype.maximum})",
            remedy=f"use a wider dtype, or ct.{dtype}({value}) if it should wrap around",
        )


def casts_implicitly(source: DType, target: DType) -> bool:
    """Whether a value may become `target` without `astype`, as when it is stored."""
    try:
        return promote(source, target) is target
    except TileTypeError:
        return False


def convert_number(value: Number, dtype: DType) -> Number:
    """A number explicitly converted to a dtype: integers wrap, floats truncate to integers.

    Floats are rounded to nearest even; infinities and NaN have no integer (`TileValueError`).
    """
    if dtype.is_bool:
        return bool(value)
    if not dtype.is_integer:
        return round_float(float(value), dtype)
    if isinstance(value, float) and not math.isfinite(value):
        raise TileValueError(f"{value} cannot be converted to {dtype}")
    bits = int(value) & ((1 << dtype.bitwidth) - 1)
    return bits - (1 << dtype.bitwidth) if bits > dtype.maximum else bits


def round_float(value: float, dtype: DType) -> float:
    """A number rounded to nearest even in the format of a float dtype.

    What overflows becomes infinite, or the largest value of formats without infinities.
    """
    if dtype.bitwidth == 64 or value == 0 or not math.isfinite(value):
        return value
    bias = (1 << (dtype.exponent_bits - 1)) - 1
    exponent = max(math.frexp(value)[1] - 1, 1 - bias)
    quantum = exponent - dtype.mantissa_bits
    rounded = math.ldexp(round(math.ldexp(value, -quantum)), quantum)
    largest = largest_finite(dtype)
    if abs(rounded) <= largest:
        return rounded
    return math.copysign(largest if dtype.bitwidth <= 8 else math.inf, value)


def largest_finite(dtype: DType) -> float:
    """The largest number of a float dtype.

    `fn` formats have no infinity: their top exponent holds numbers, but for the NaN of 8 bits.
    """
    if dtype.bitwidth == 64:
        return math.ldexp(2 - 2.0**-52, 1023)
    bias = (1 << (dtype.exponent_bits - 1)) - 1
    top = (1 << dtype.exponent_bits) - 1 - bias
    if "fn" not in dtype.name:
        return math.ldexp(2 - 2.0**-dtype.mantissa_bits, top - 1)
    if dtype.bitwidth == 4:
        return math.ldexp(2 - 2.0**-dtype.mantissa_bits, top)
    if dtype.mantissa_bits == 0:
        return math.ldexp(1.0, top - 1)
    return math.ldexp(2 - 2.0 ** (1 - dtype.mantissa_bits), top)


def check_target(dtype: DType, target: str) -> None:
    """Raises `TileUnsupportedFeatureError` if an architecture (`sm_90a`) lacks a dtype."""
    if dtype.since and int("".join(filter(str.isdigit, target))) < dtype.since:
        raise TileUnsupportedFeatureError(
            f"{dtype} exists from sm_{dtype.since} on, not for {target}"
        )
