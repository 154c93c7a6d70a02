"""Floating-point arithmetic of PTX.

Correctly rounded operations come from the interpreter's numerics; what is added here is PTX's
own: flushing, saturation, its rules for NaN. Nearest-even f32 and f64, the common case, is
NumPy's own arithmetic, so the bits of a NaN that an operation makes are those of the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...interp.numerics import floats
from ...interp.numerics.formats import BF16, F16, F32, F64, FloatFormat, canonical_nan
from ..ptx.types import Type

Array = np.ndarray[Any, np.dtype[Any]]

FORMATS: dict[str, FloatFormat] = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
MODES = {
    "rn": "nearest_even",
    "rz": "zero",
    "rm": "negative_inf",
    "rp": "positive_inf",
    "rna": "nearest_away",
}

_HALFWAY = np.int64(1 << 28)
_DROPPED = np.int64((1 << 29) - 1)
_TINY = np.float32(2.0**-125)


def format_of(type_: Type) -> FloatFormat:
    """The format of a type's elements."""
    return FORMATS[type_.element or type_.name]


def flush(x: Array) -> Array:
    """Subnormals to zero of the same sign (f16, f32 and f64)."""
    small = np.abs(x) < np.finfo(x.dtype).smallest_normal
    return np.where(small, np.copysign(x.dtype.type(0), x), x) if small.any() else x


def saturate(x: Array) -> Array:
    """Clamped to [0, 1]; NaN becomes +0, and so does -0."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def relu(x: Array) -> Array:
    """Negative values become 0; NaN the canonical NaN."""
    out = np.where(x > 0, x, x.dtype.type(0))
    missing = np.isnan(x)
    return np.where(missing, _nan(x.dtype), out) if missing.any() else out


def _nan(dtype: np.dtype[Any]) -> Any:
    fmt = next(fmt for fmt in FORMATS.values() if fmt.dtype == dtype)
    return canonical_nan(fmt)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """a * b + c in f32, rounded to nearest even once.

    The product is exact in float64. The sum rounds twice, which differs from rounding once only
    if the first rounding gives a value halfway between two of f32; those are computed again.
    """
    total = np.multiply(a, b, dtype=np.float64) + c
    out = total.astype(np.float32)
    suspect = (total.view(np.int64) & _DROPPED) == _HALFWAY
    suspect |= np.abs(out) < _TINY
    if not suspect.any():
        return out
    a, b, c = np.broadcast_arrays(a, b, c)
    return floats.fma(a, b, c, F32)


def round_product(a: Array, b: Array, fmt: FloatFormat, mode: str) -> Array:
    a, b = np.broadcast_arrays(a, b)
    return floats.multiply(a, b, fmt, mode)


def minimum_maximum(a: Array, b: Array, which: str, fmt: FloatFormat, propagate: bool) -> Array:
    """min and max: a NaN loses, or wins (`propagate`); -0 < +0."""
    function = floats.maximum if which == "max" else floats.minimum
    return function(a, b, fmt, propagate)


def by_magnitude(a: Array, b: Array, which: str, fmt: FloatFormat, propagate: bool) -> Array:
    """min/max.xorsign.abs: of the magnitudes, with the product of the signs."""
    out = minimum_maximum(np.abs(a), np.abs(b), which, fmt, propagate)
    sign = np.signbit(a) ^ np.signbit(b)
    return np.where(np.isnan(out), out, np.where(sign, -out, out)).astype(out.dtype)


def copy_sign(sign: Array, magnitude: Array) -> Array:
    return np.copysign(magnitude, sign)


def classify(x: Array, what: str) -> Array:
    """testp"""
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda v: ~np.isnan(v),
        "notanumber": np.isnan,
        # Zeros count as normal.
        "normal": lambda v: np.isfinite(v) & ((np.abs(v) >= np.finfo(v.dtype).tiny) | (v == 0)),
        "subnormal": lambda v: (np.abs(v) < np.finfo(v.dtype).tiny) & (v != 0),
    }
    return tests[what](x)


# --- approximations ------------------------------------------------------------------------------
# Computed in float64 and rounded once; hardware is within the error that the ISA states.


def _through_f64(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def apply(x: Array) -> Array:
        return function(x.astype(np.float64)).astype(x.dtype)

    return apply


APPROXIMATIONS: dict[str, Callable[[Array], Array]] = {
    "rcp": _through_f64(lambda x: 1 / x),
    "sqrt": _through_f64(np.sqrt),
    "rsqrt": _through_f64(lambda x: 1 / np.sqrt(x)),
    "ex2": _through_f64(np.exp2),
    "lg2": _through_f64(np.log2),
    "sin": _through_f64(np.sin),
    "cos": _through_f64(np.cos),
    "tanh": _through_f64(np.tanh),
}


def approximate(x: Array, name: str) -> Array:
    """rcp, sqrt, rsqrt, ex2, lg2, sin, cos or tanh of a float array of any type."""
    if x.dtype.itemsize == 2:
        return APPROXIMATIONS[name](x.astype(np.float32)).astype(x.dtype)
    return APPROXIMATIONS[name](x)


def drop_low_word(x: Array) -> Array:
    """rcp/rsqrt.approx.ftz.f64 give the upper 32 bits of the result, and zeros below."""
    return (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


def approximate_quotient(a: Array, b: Array) -> Array:
    """div.approx: 0 (NaN for an infinite dividend) where the divisor is beyond 2^126."""
    return divide(a, b, F32, "approx")


def divide(a: Array, b: Array, fmt: FloatFormat, mode: str) -> Array:
    a, b = np.broadcast_arrays(a, b)
    return floats.divide(a, b, fmt, mode)
