"""Conversions between integers and floats."""

from __future__ import annotations

import numpy as np

from .formats import F32, F64, FloatFormat, IntFormat, Tile
from .integers import bounds, read, wrap
from .rounding import from_float64, to_float64


def from_int(x: Tile, source: IntFormat, target: FloatFormat, signed: bool) -> Tile:
    """Nearest even; out of range is infinity, or NaN in a format without."""
    values = read(x, source, signed)
    if target in (F32, F64):
        return values.astype(target.dtype)
    if values.dtype.itemsize == 8:
        # Beyond 2^53 the low 11 bits become one sticky bit, so that float64 holds the value
        # exactly and the only rounding is the last.
        low_bits = np.array(2047, values.dtype)
        sticky = np.where((values & low_bits) != 0, low_bits + 1, 0).astype(values.dtype)
        large = np.abs(values.astype(np.float64)) >= 2.0**53
        values = np.where(large, (values & ~low_bits) | sticky, values)
    return from_float64(values.astype(np.float64), target, saturate=False)


def to_int(x: Tile, source: FloatFormat, target: IntFormat, signed: bool) -> Tile:
    """Truncated; clamped where out of range, 0 for NaN (what `saturating` asks for)."""
    values = np.trunc(to_float64(x, source))
    low, high = bounds(target, signed)
    inside = np.where((values >= low) & (values <= high), values, 0)
    if target.bits == 64 and not signed:
        inside = np.where(inside < 2.0**64, inside, 0).astype(np.uint64).view(np.int64)
    elif target.bits == 64:
        inside = np.where(inside < 2.0**63, inside, 0).astype(np.int64)
    else:
        inside = inside.astype(np.int64)
    # 2^63 and 2^64 compare equal to the bound above them, which float64 cannot hold.
    top = np.array(high, np.uint64).astype(np.int64)
    over = values >= float(high) if target.bits == 64 else values > high
    out = np.where(over, top, np.where(values < low, np.int64(low), inside))
    return wrap(out, target)


def int_range_broken(x: Tile, source: FloatFormat, target: IntFormat, signed: bool) -> Tile:
    """Where `x` is NaN or truncates to something that `target` cannot hold."""
    values = np.trunc(to_float64(x, source))
    low, high = bounds(target, signed)
    return ~((values >= low) & (values < float(high + 1)))
