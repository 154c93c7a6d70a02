"""Rounding of float64 values to a narrower format, and float-to-float conversion.

Every format but f64 embeds in float64 exactly, so a conversion is: widen, round once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .formats import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E5M3FNU,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FloatFormat,
    Tile,
)

SATURATING = (F8E4M3FN, F8E5M2, F4E2M1FN)


def _nearest_away(x: Tile) -> Tile:
    whole = np.trunc(x)  # x + 0.5 would itself be rounded
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


_TO_INTEGRAL: dict[str, Callable[[Tile], Tile]] = {
    "nearest_even": np.rint,
    "zero": np.trunc,
    "negative_inf": np.floor,
    "positive_inf": np.ceil,
    "nearest_away": _nearest_away,
}


def _decode_e5m3() -> Tile:
    code = np.arange(256)
    exponent, fraction = code >> 3, code & 7
    value = np.where(
        exponent == 0, np.ldexp(fraction / 8.0, -14), np.ldexp(1 + fraction / 8.0, exponent - 15)
    )
    value[255] = np.nan
    return value


_E5M3_VALUES = _decode_e5m3()


def to_float64(x: Tile, fmt: FloatFormat) -> Tile:
    """The values of a tile of `fmt`, exactly."""
    return _E5M3_VALUES[x] if fmt is F8E5M3FNU else x.astype(np.float64)


def round_float64(x: Tile, fmt: FloatFormat, mode: str, *, saturate: bool = False) -> Tile:
    """float64 `x` rounded to the values of `fmt`, still as float64.

    The result is infinite where `x` is, or overflows in a mode that rounds away; NaN instead if
    the format has no infinity; the largest finite value instead if `saturate`.
    """
    exponent = np.frexp(x)[1] - 1
    quantum = np.maximum(exponent, fmt.min_exponent) - (fmt.precision - 1)
    out = np.ldexp(_TO_INTEGRAL[mode](np.ldexp(x, -quantum)), quantum)
    over = np.abs(out) > fmt.maximum
    if not over.any():
        return out
    beyond = fmt.maximum if saturate else np.inf if fmt.has_infinity else np.nan
    up, down = beyond, -beyond
    if fmt.has_infinity and not saturate:
        up = fmt.maximum if mode in ("zero", "negative_inf") else up
        down = -fmt.maximum if mode in ("zero", "positive_inf") else down
        over = over & np.isfinite(x)
    return np.where(over, np.where(x > 0, up, down), out)


def _to_unsigned(x: Tile, fmt: FloatFormat, mode: str) -> Tile:
    """Unsigned formats: the sign is ignored, as PTX's conversion to ue8m0 does; overflow and
    infinity give the largest value, and f8E8M0FNU, which has no zero, ends at 2^-127."""
    magnitude = np.minimum(round_float64(np.abs(x), fmt, mode, saturate=True), fmt.maximum)
    if fmt is F8E8M0FNU:
        return np.maximum(magnitude, 2.0**-127).astype(fmt.dtype)
    codes = np.searchsorted(_E5M3_VALUES[:255], magnitude)
    return np.where(np.isnan(magnitude), 255, codes).astype(np.uint8)


def from_float64(
    x: Tile, fmt: FloatFormat, mode: str = "nearest_even", *, saturate: bool | None = None
) -> Tile:
    """float64 `x` rounded once to a tile of `fmt`.

    By default f8E4M3FN, f8E5M2 and f4E2M1FN saturate, infinity included. NaN stays NaN, and
    becomes the largest value in f4E2M1FN, which has none.
    """
    if fmt is F64:
        return x
    if fmt is F32 and mode == "nearest_even":
        return x.astype(np.float32)
    if not fmt.signed:
        return _to_unsigned(x, fmt, mode)
    clamp = fmt in SATURATING if saturate is None else saturate
    out = round_float64(x, fmt, mode, saturate=clamp)
    if not fmt.has_nan:
        out = np.where(np.isnan(out), fmt.maximum, out)
    return out.astype(fmt.dtype)


def convert(x: Tile, source: FloatFormat, target: FloatFormat, mode: str = "nearest_even") -> Tile:
    """`ftof`: a tile of `source` as a tile of `target`, rounded once."""
    if target is F64:
        return to_float64(x, source)
    if mode == "nearest_even" and source is not F8E5M3FNU:
        if target is F32 or (target is F16 and source in (F32, F64)):
            return x.astype(target.dtype)
        if source is not F64:  # ml_dtypes rounds float64 twice, float32 once
            if target is BF16:
                return x.astype(np.float32).astype(target.dtype)
            if target is F8E4M3FN or target is F8E5M2:
                wide = x.astype(np.float32)
                return np.clip(wide, -target.maximum, target.maximum).astype(target.dtype)
    return from_float64(to_float64(x, source), target, mode)
