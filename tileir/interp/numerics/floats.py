"""Floating-point operations, correctly rounded in every mode.

Nearest-even runs natively: NumPy rounds f32 and f64 once, and f16 and bf16 go through f32, whose
24 bits are enough that rounding twice equals rounding once (Figueroa, "When is double rounding
innocuous?", SIGNUM Newsletter 30(3), 1995). The other modes go through float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .exact import fma64, residual_sign, step_towards, to_odd, two_sum
from .formats import BF16, F16, F32, F64, FloatFormat, Tile, canonical_nan
from .rounding import convert, from_float64

_SMALLEST_NORMAL = np.float32(2.0**-126)


def flush(x: Tile) -> Tile:
    """f32 subnormals to zero of the same sign."""
    return np.where(np.abs(x) < _SMALLEST_NORMAL, np.copysign(np.float32(0), x), x)


def _flush_exact(rounded: Tile, exact: Tile) -> Tile:
    """What `flush_to_zero` makes of a result: hardware looks at the value before it is rounded, so
    what would round up to the smallest normal number is zero (found on an H200). `exact` is that
    value in float64, where sums and products of f32 are exact or rounded to odd."""
    tiny = np.abs(exact) < np.float64(_SMALLEST_NORMAL)
    return np.where(tiny, np.copysign(np.float32(0), rounded), rounded)


def multiply_flushed(a: Tile, b: Tile, mode: str = "nearest_even") -> Tile:
    """a * b of f32, with subnormals of the operands and of the result flushed."""
    a, b = flush(a), flush(b)
    return _flush_exact(multiply(a, b, F32, mode), a.astype(np.float64) * b.astype(np.float64))


def fma_flushed(a: Tile, b: Tile, c: Tile, mode: str = "nearest_even") -> Tile:
    """a * b + c of f32 with one rounding, with subnormals flushed."""
    a, b, c = flush(a), flush(b), flush(c)
    product = a.astype(np.float64) * b.astype(np.float64)
    total, rest = two_sum(product, c.astype(np.float64))
    return _flush_exact(fma(a, b, c, F32, mode), total + rest)


def _down_zero(total: Tile, a: Tile, b: Tile, mode: str) -> Tile:
    """Rounding down, an exact zero sum is -0 unless both terms are +0."""
    if mode != "negative_inf":
        return total
    both_positive = ~np.signbit(a) & ~np.signbit(b)
    return np.where((total == 0) & ~both_positive, -0.0, total)


def add(a: Tile, b: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """a + b."""
    if mode == "nearest_even":
        return a + b
    if fmt is F64:
        s, e = two_sum(a, b)
        e = np.where(np.isinf(s) & np.isfinite(a) & np.isfinite(b), -s, e)
        return _down_zero(step_towards(s, e, mode), a, b, mode)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    total = to_odd(*two_sum(wide_a, wide_b))
    return from_float64(_down_zero(total, a, b, mode), fmt, mode)


def subtract(a: Tile, b: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """a - b."""
    return a - b if mode == "nearest_even" else add(a, -b, fmt, mode)


def multiply(a: Tile, b: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """a * b."""
    if mode == "nearest_even":
        return a * b
    if fmt is F64:
        return fma64(a, b, np.where(np.signbit(a) != np.signbit(b), -0.0, 0.0), mode)
    return from_float64(a.astype(np.float64) * b.astype(np.float64), fmt, mode)


def fma(a: Tile, b: Tile, c: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """a * b + c with one rounding."""
    if fmt is F64:
        return fma64(a, b, c, mode)
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: at most 48 bits
    addend = c.astype(np.float64)
    total = to_odd(*two_sum(product, addend))
    return from_float64(_down_zero(total, product, addend, mode), fmt, mode)


def divide(a: Tile, b: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """a / b.

    `full` (f32) is the correctly rounded quotient. `approx` (f32) is too, but where |b| > 2^126
    it is 0, or NaN if a is infinite, as a * (1 / b) gives when 1 / b is flushed.
    """
    if mode in ("nearest_even", "full"):
        return a / b
    if mode == "approx":
        huge = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
        if not huge.any():
            return a / b
        return np.where(huge, a * np.copysign(np.float32(0), b), a / b)
    if fmt is F64:
        return _directed_quotient(a, b, mode, residual_sign)
    quotient = _directed_quotient(a.astype(np.float32), b.astype(np.float32), mode, _residual32)
    return quotient if fmt is F32 else convert(quotient, F32, fmt, mode)


def _residual32(a: Tile, b: Tile, c: Tile) -> Tile:
    """c - a * b of f32 values; the product is exact in float64, and so is the sign."""
    return c.astype(np.float64) - a.astype(np.float64) * b.astype(np.float64)


def _directed_quotient(
    a: Tile, b: Tile, mode: str, residual: Callable[[Tile, Tile, Tile], Tile]
) -> Tile:
    nearest = a / b
    regular = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    sign = residual(np.where(np.isinf(nearest), 0, nearest), b, a) * np.sign(b)
    negative = np.signbit(a) != np.signbit(b)
    sign = np.where(np.isinf(nearest), np.where(negative, 1.0, -1.0), sign)
    return step_towards(nearest, np.where(regular, sign, 0.0), mode)


def sqrt(x: Tile, fmt: FloatFormat, mode: str = "nearest_even") -> Tile:
    """The square root; `approx` (f32) is correctly rounded too."""
    if mode in ("nearest_even", "approx"):
        return np.sqrt(x)
    narrow = fmt is not F64
    root = np.sqrt(x.astype(np.float32) if narrow else x)
    residual = _residual32 if narrow else residual_sign
    regular = np.isfinite(root) & (root != 0)
    sign = np.where(regular, residual(root, root, x), 0.0)
    out = step_towards(root, sign, mode)
    return out if fmt in (F32, F64) else convert(out, F32, fmt, mode)


def remainder(a: Tile, b: Tile, fmt: FloatFormat) -> Tile:
    """a - trunc(a / b) * b, exact (C's fmod)."""
    if fmt in (F16, BF16):
        return np.fmod(a.astype(np.float32), b.astype(np.float32)).astype(fmt.dtype)
    return np.fmod(a, b)


def maximum(a: Tile, b: Tile, fmt: FloatFormat, propagate_nan: bool = False) -> Tile:
    """IEEE 754-2019 maximumNumber, or maximum; NaN results are canonical, +0 > -0."""
    out = np.maximum(a, b) if propagate_nan else np.fmax(a, b)
    # Between two zeros the sum is -0 only if both are.
    return _settle(out, a, b, fmt, lambda x, y: x + y)


def minimum(a: Tile, b: Tile, fmt: FloatFormat, propagate_nan: bool = False) -> Tile:
    """IEEE 754-2019 minimumNumber, or minimum; NaN results are canonical, +0 > -0."""
    out = np.minimum(a, b) if propagate_nan else np.fmin(a, b)
    return _settle(out, a, b, fmt, lambda x, y: -(-x - y))


def _settle(
    out: Tile, a: Tile, b: Tile, fmt: FloatFormat, of_zeros: Callable[[Tile, Tile], Tile]
) -> Tile:
    zero = out == 0
    if zero.any():
        out = np.where(zero & (a == b), of_zeros(a, b), out)
    missing = np.isnan(out)
    return np.where(missing, canonical_nan(fmt), out) if missing.any() else out
