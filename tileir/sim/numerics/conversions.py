"""cvt: conversions between integers and floats of all widths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...interp.numerics.exact import step_towards
from ...interp.numerics.formats import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    TF32,
    FloatFormat,
    canonical_nan,
)
from ...interp.numerics.rounding import from_float64, round_float64
from ..ptx.types import Type
from .floats import flush, relu

Array = np.ndarray[Any, np.dtype[Any]]

FORMATS: dict[str, FloatFormat] = {
    "f16": F16,
    "bf16": BF16,
    "f32": F32,
    "f64": F64,
    "tf32": TF32,
    "e4m3": F8E4M3FN,
    "e5m2": F8E5M2,
}
_TO_INTEGRAL = {
    "nearest_even": np.rint,
    "zero": np.trunc,
    "negative_inf": np.floor,
    "positive_inf": np.ceil,
}


def integer_to_integer(x: Array, target: np.dtype[Any], saturate: bool) -> Array:
    """Extended by the source's sign or cut; clamped instead with `saturate`."""
    if saturate:
        have, want = np.iinfo(x.dtype), np.iinfo(target)
        x = np.clip(x, max(have.min, want.min), min(have.max, want.max))
    return x.astype(target)


def integer_to_float(x: Array, fmt: FloatFormat, mode: str) -> Array:
    """Rounded once, overflow to infinity or the largest value by the mode."""
    if mode == "nearest_even" and fmt in (F32, F64):
        return x.astype(fmt.dtype)
    if x.dtype.itemsize < 8:
        return from_float64(x.astype(np.float64), fmt, mode, saturate=False)
    if fmt is F64:
        nearest = x.astype(np.float64)
        residual = x.astype(np.longdouble) - nearest.astype(np.longdouble)
        return step_towards(nearest, residual.astype(np.float64), mode)
    # Beyond 2^53 the low 11 bits become one sticky bit: float64 then holds the value exactly.
    low_bits = x.dtype.type(2047)
    sticky = np.where(x & low_bits != 0, low_bits + x.dtype.type(1), x.dtype.type(0))
    large = np.abs(x.astype(np.float64)) >= 2.0**53
    value = np.where(large, x & ~low_bits | sticky, x)
    return from_float64(value.astype(np.float64), fmt, mode, saturate=False)


def float_to_integer(x: Array, target: np.dtype[Any], mode: str) -> Array:
    """Rounded to an integer and clamped; NaN is 0, or the top bit alone where f64 or 64-bit
    integers take part."""
    wide = _TO_INTEGRAL[mode](x.astype(np.float64))
    limits = np.iinfo(target)
    missing = np.isnan(wide)
    top = float(limits.max)  # 2^63 or 2^64 where float64 cannot hold the limit itself
    inside = np.where((wide > limits.min) & (wide < top) & ~missing, wide, 0)
    out = inside.astype(np.int64).astype(target) if limits.max < 2**63 else _unsigned(inside)
    out = np.where(wide >= top, target.type(limits.max), out)
    out = np.where(wide <= limits.min, target.type(limits.min), out)
    if missing.any():
        special = x.dtype == np.float64 or target.itemsize == 8
        bits = 1 << (8 * target.itemsize - 1) if special else 0
        pattern = np.array(bits, np.dtype(f"uint{8 * target.itemsize}")).view(target)
        out = np.where(missing, pattern, out)
    return out


def _unsigned(x: Array) -> Array:
    """Floats in [0, 2^64) as uint64."""
    return x.astype(np.uint64)


def float_to_float(
    x: Array, source: FloatFormat, target: FloatFormat, mode: str, finite: bool = False
) -> Array:
    """Rounded once. `finite` clamps to the largest value; NaN becomes the canonical one."""
    if target is F64:
        return x.astype(np.float64)
    if mode == "nearest_even" and target in (F16, F32, BF16) and source is not F64:
        out = x.astype(np.float32).astype(target.dtype)
    elif mode == "nearest_even" and target is F32:
        out = x.astype(np.float32)
    elif target is TF32:
        wide = round_float64(x.astype(np.float64), TF32, mode, saturate=finite)
        out = wide.astype(np.float32)
    else:
        fp8 = target in (F8E4M3FN, F8E5M2)
        out = from_float64(x.astype(np.float64), target, mode, saturate=finite or fp8)
    if finite:
        limit = np.asarray(target.maximum).astype(target.dtype)
        out = np.where(np.isinf(out), np.copysign(limit, out.astype(np.float32)), out)
        out = out.astype(target.dtype)
    return _canonical(out, target)


def _canonical(x: Array, fmt: FloatFormat) -> Array:
    missing = np.isnan(x)
    if not missing.any():
        return x
    if fmt in (F8E4M3FN, F8E5M2):
        nan = np.uint8(0x7F).view(x.dtype)
    elif fmt is TF32:
        nan = np.uint32(0x7FFFE000).view(np.float32)
    else:
        nan = canonical_nan(fmt)
    return np.where(missing, nan, x)


def round_to_integral(x: Array, mode: str) -> Array:
    """cvt.rni.f32.f32: an integer in the same format."""
    if x.dtype.itemsize < 4:
        return _TO_INTEGRAL[mode](x.astype(np.float32)).astype(x.dtype)
    return _TO_INTEGRAL[mode](x)


def pack(high: Array, low: Array) -> Array:
    """Two values of 8 or 16 bits as one of 16 or 32."""
    out = np.empty((*low.shape, 2), low.dtype)
    out[..., 0], out[..., 1] = low, high
    return out.view(f"u{2 * low.itemsize}")[..., 0]


def unpack(x: Array, element: np.dtype[Any]) -> tuple[Array, Array]:
    """(high, low)"""
    parts = np.ascontiguousarray(x).view(element).reshape(*x.shape, 2)
    return parts[..., 1], parts[..., 0]


def pack_saturated(a: Array, b: Array, c: Array | None, target: np.dtype[Any]) -> Array:
    """cvt.pack.sat: a and b clamped to 2, 4, 8 or 16 bits; the upper bits come from c."""
    limits = np.iinfo(target)
    bits = 8 * target.itemsize
    mask = np.uint32((1 << bits) - 1)
    high = np.clip(a, limits.min, limits.max).astype(np.int64).astype(np.uint32) & mask
    low = np.clip(b, limits.min, limits.max).astype(np.int64).astype(np.uint32) & mask
    both = high << np.uint32(bits) | low
    return both if c is None else (c << np.uint32(2 * bits)) | both


def convert(
    x: Array, source: Type, target: Type, mode: str, saturate: bool, ftz: bool, positive: bool,
    finite: bool,
) -> Array:  # fmt: skip
    """One value; `positive` is .relu, `finite` .satfinite, `mode` a rounding or a rounding to
    integers with the prefix "integral "."""
    if not source.is_float and not target.is_float:
        return integer_to_integer(x, target.dtype, saturate)
    if not source.is_float:
        return clamped(integer_to_float(x, FORMATS[target.name], mode), saturate)
    if ftz and source.name == "f32":
        x = flush(x)
    if mode.startswith("integral "):
        mode = mode.removeprefix("integral ")
        if not target.is_float:
            return float_to_integer(x, target.dtype, mode)
        x = round_to_integral(x, mode)
    if source.name == target.name:
        out = x
    else:
        out = float_to_float(x, FORMATS[source.name], FORMATS[target.name], mode, finite)
    if ftz and target.name == "f32":
        out = flush(out)
    return clamped(relu(out) if positive else out, saturate)


def clamped(x: Array, saturate: bool) -> Array:
    """.sat of a float: [0, 1], NaN to 0."""
    if not saturate:
        return x
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))
