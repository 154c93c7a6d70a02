"""Exact float64 building blocks: what a rounded operation threw away.

`two_sum`: Knuth (The Art of Computer Programming, volume 2, 4.2.2). Rounding to odd before a
second, narrower rounding makes the pair equal to one rounding: Boldo and Melquiond, "Emulation
of FMA and correctly rounded sums", IEEE Transactions on Computers 57(4), 2008.
"""

from __future__ import annotations

import numpy as np

from . import wide
from .formats import F64, Tile

_HIDDEN = np.uint64(1 << 52)
_FRACTION = np.uint64((1 << 52) - 1)
_ONE = np.uint64(1)


def two_sum(a: Tile, b: Tile) -> tuple[Tile, Tile]:
    """(s, e) with s = a + b rounded to nearest and s + e = a + b exactly; e = 0 if not finite."""
    s, e = _finite_sum(a, b)
    return s, np.where(np.isfinite(s), e, 0.0)


def _finite_sum(a: Tile, b: Tile) -> tuple[Tile, Tile]:
    """`two_sum` where nothing overflows."""
    s = a + b
    back = s - a
    return s, (a - (s - back)) + (b - back)


def to_odd(nearest: Tile, error: Tile) -> Tile:
    """nearest + error rounded to odd: truncated, last bit set if anything was lost.

    `nearest` is the float64 closest to the sum; only the sign of `error` matters.
    """
    bits = np.asarray(nearest).view(np.int64)
    outward = np.where((error > 0) == (nearest > 0), 1, -1)
    step = (error != 0) & ((bits & 1) == 0)
    return (bits + np.where(step, outward, 0)).view(np.float64)


def step_towards(candidate: Tile, residual: Tile, mode: str) -> Tile:
    """A directed rounding, from the nearest value and the sign of (exact - nearest).

    `candidate` may be infinite after overflow; its residual then points back to zero.
    """
    inf = np.asarray(np.inf, candidate.dtype)
    if mode == "positive_inf":
        return np.where(residual > 0, np.nextafter(candidate, inf), candidate)
    if mode == "negative_inf":
        return np.where(residual < 0, np.nextafter(candidate, -inf), candidate)
    if mode == "zero":
        too_big = (residual != 0) & (np.signbit(residual) != np.signbit(candidate))
        return np.where(too_big, np.nextafter(candidate, np.zeros_like(candidate)), candidate)
    return candidate


def _split(x: Tile) -> tuple[Tile, Tile]:
    """(significand as uint64 below 2^53, exponent) with |x| = significand * 2^exponent."""
    bits = np.asarray(x).view(np.uint64)
    field = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    significand = (bits & _FRACTION) | np.where(field > 0, _HIDDEN, np.uint64(0))
    return significand, np.maximum(field, 1) - 1075


def _pack(negative: Tile, top: Tile, exponent: Tile, mode: str) -> Tile:
    """±top * 2^exponent rounded to float64; bit 63 of `top` is set (or all are zero), bit 0 is
    sticky."""
    # Subnormal results have fewer bits: shift until the last one kept is worth 2^-1074.
    deficit = np.maximum(F64.min_exponent - (exponent + 63), 0)
    shift = np.minimum(deficit, 63).astype(np.uint64)
    shifted = top >> shift
    top = shifted | ((shifted << shift) != top).astype(np.uint64)
    kept, rest = top >> np.uint64(11), top & np.uint64(0x7FF)
    if mode == "nearest_even":
        up = (rest > 0x400) | ((rest == 0x400) & ((kept & _ONE) == 1))
    elif mode == "zero":
        up = np.zeros_like(rest, dtype=bool)
    else:
        up = (rest != 0) & (negative == (mode == "negative_inf"))
    scale = exponent + 11 + deficit
    magnitude = np.ldexp((kept + up.astype(np.uint64)).astype(np.float64), scale)
    if mode != "nearest_even":
        away = negative if mode == "negative_inf" else ~negative & (mode == "positive_inf")
        magnitude = np.where(np.isinf(magnitude) & ~away, F64.maximum, magnitude)
    return np.where(negative, -magnitude, magnitude)


def fma64(a: Tile, b: Tile, c: Tile, mode: str) -> Tile:
    """a * b + c in float64 with one rounding."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if mode != "nearest_even":
        return fma_in_integers(a, b, c, mode)
    if all(map(_all_in_range, (a, b, c))):
        return fma_in_pairs(a, b, c)
    hard = ~(_in_range(a) & _in_range(b) & _in_range(c))
    easy = (np.where(hard, 1.0, x) for x in (a, b, c))
    out = fma_in_pairs(*easy)
    out[hard] = fma_in_integers(a[hard], b[hard], c[hard], mode)
    return out


def _in_range(x: Tile) -> Tile:
    """Where neither products of such numbers nor their errors overflow or underflow."""
    magnitude = np.abs(x)
    return ((magnitude > 2.0**-400) & (magnitude < 2.0**400)) | (x == 0)


def _all_in_range(x: Tile) -> bool:
    """`_in_range` of all, which most tiles are."""
    magnitude = np.abs(x)
    return bool(magnitude.max(initial=0) < 2.0**400 and magnitude.min(initial=1) > 2.0**-400)


def two_product(a: Tile, b: Tile) -> tuple[Tile, Tile]:
    """(p, e) with p = a * b rounded to nearest and p + e = a * b exactly, by Dekker's halves."""
    p = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    e = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, e


def _halves(x: Tile) -> tuple[Tile, Tile]:
    """x as a sum of two numbers of 26 bits."""
    scaled = x * float((1 << 27) + 1)
    high = scaled - (scaled - x)
    return high, x - high


def fma_in_pairs(a: Tile, b: Tile, c: Tile) -> Tile:
    """`fma64` to nearest, of numbers that are `_in_range`: the sum of three numbers, where all but
    the largest are rounded to odd first (Boldo and Melquiond, figure 3)."""
    product, product_error = two_product(a, b)
    low, low_error = _finite_sum(c, product_error)
    high, high_error = _finite_sum(product, low)
    out = high + to_odd(*_finite_sum(low_error, high_error))
    exact = (a == 0) | (b == 0) | (c == 0)  # one rounding at most, and the right sign of zero
    return np.where(exact, product + c, out)


def fma_in_integers(a: Tile, b: Tile, c: Tile, mode: str) -> Tile:
    """`fma64` for all numbers and modes, in 128-bit integers.

    Product and addend are aligned at bit 126 and the smaller is shifted right with a sticky bit:
    its lost bits lie below everything that the larger one holds, so the sum rounds correctly.
    """
    special = np.where(np.isfinite(a) & np.isfinite(b), c, a * b + c)
    (ma, ea), (mb, eb), (mc, ec) = _split(a), _split(b), _split(c)
    p_high, p_shift = wide.normalise_wide(wide.multiply(ma, mb))
    c_high, c_shift = wide.normalise_wide((np.zeros_like(mc), mc))
    p_exponent = np.where(_zero(p_high), -(1 << 20), ea + eb - p_shift)
    c_exponent = np.where(_zero(c_high), -(1 << 20), ec - c_shift)
    p_negative = np.signbit(a) != np.signbit(b)
    c_negative = np.signbit(c)

    swap = (p_exponent < c_exponent) | ((p_exponent == c_exponent) & wide.less(p_high, c_high))
    big, small = wide.select(swap, c_high, p_high), wide.select(swap, p_high, c_high)
    exponent = np.where(swap, c_exponent, p_exponent)
    negative = np.where(swap, c_negative, p_negative)
    small = wide.shift_right_sticky(small, np.abs(p_exponent - c_exponent))
    total = wide.select(p_negative == c_negative, wide.add(big, small), wide.subtract(big, small))
    top, shift = wide.normalise(total)
    out = _pack(negative, top, exponent + 64 - shift, mode)
    # Exact zero: of equal signs that sign, otherwise +0, or -0 when rounding down.
    zero = np.where(
        p_negative == c_negative,
        np.where(p_negative, -0.0, 0.0),
        -0.0 if mode == "negative_inf" else 0.0,
    )
    out = np.where(_zero(total), zero, out)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return np.where(finite, out, special)


def _zero(a: wide.Wide) -> Tile:
    return (a[0] | a[1]) == 0


def residual_sign(a: Tile, b: Tile, c: Tile) -> Tile:
    """The sign of c - a * b in float64, exactly; the exponents are scaled away first."""
    (fa, ea), (fb, eb), (fc, ec) = np.frexp(a), np.frexp(b), np.frexp(c)
    distance = np.clip(ec - ea - eb, -64, 64)
    scaled = np.ldexp(fc, distance)
    return fma64(-fa, fb, scaled, "nearest_even")
