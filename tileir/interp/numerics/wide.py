"""128-bit unsigned arithmetic on pairs of uint64 arrays (high, low)."""

from __future__ import annotations

import numpy as np

from .formats import Tile

Wide = tuple[Tile, Tile]

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_63 = np.uint64(63)
_64 = np.uint64(64)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


def multiply(a: Tile, b: Tile) -> Wide:
    """The full product of two uint64, schoolbook on halves."""
    al, ah, bl, bh = a & _LOW, a >> _32, b & _LOW, b >> _32
    ll, lh, hl, hh = al * bl, al * bh, ah * bl, ah * bh
    middle = (ll >> _32) + (lh & _LOW) + (hl & _LOW)
    return hh + (lh >> _32) + (hl >> _32) + (middle >> _32), (middle << _32) | (ll & _LOW)


def add(a: Wide, b: Wide) -> Wide:
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(np.uint64), low


def subtract(a: Wide, b: Wide) -> Wide:
    return a[0] - b[0] - (a[1] < b[1]).astype(np.uint64), a[1] - b[1]


def less(a: Wide, b: Wide) -> Tile:
    return (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))


def select(condition: Tile, a: Wide, b: Wide) -> Wide:
    return np.where(condition, a[0], b[0]), np.where(condition, a[1], b[1])


def shift_left(a: Wide, n: Tile) -> Wide:
    """a << n for 0 <= n < 128."""
    n = n.astype(np.uint64)
    small = n & _63
    carry = (a[1] >> _ONE) >> (_63 - small)
    near = (a[0] << small) | carry, a[1] << small
    return select(n >= _64, (near[1], np.zeros_like(near[1])), near)


def shift_right_sticky(a: Wide, n: Tile) -> Wide:
    """a >> n for n >= 0, with bit 0 set when a one was shifted out."""
    n = np.minimum(n, 127).astype(np.uint64)
    small = n & _63
    back = _63 - small
    near = a[0] >> small, (a[1] >> small) | ((a[0] << _ONE) << back)
    out = select(n >= _64, (np.zeros_like(near[0]), near[0]), near)
    restored = shift_left(out, n)
    lost = (restored[0] != a[0]) | (restored[1] != a[1])
    return out[0], out[1] | lost.astype(np.uint64)


def leading_zeros(a: Tile) -> Tile:
    """Number of leading zero bits of uint64 values, 64 for zero; int64."""
    count = np.zeros(np.shape(a), np.int64)
    for width in (32, 16, 8, 4, 2, 1):
        empty = (a >> np.uint64(64 - width)) == _ZERO
        count = count + np.where(empty, width, 0)
        a = np.where(empty, a << np.uint64(width), a)
    return np.where(a == _ZERO, 64, count)


def normalise_wide(a: Wide) -> tuple[Wide, Tile]:
    """(`a` shifted left so that bit 126 is set, the shift); a zero stays zero. `a` < 2^127."""
    high = leading_zeros(a[0])
    shift = np.where(high == 64, 64 + leading_zeros(a[1]), high) - 1
    return shift_left(a, np.clip(shift, 0, 127)), shift


def normalise(a: Wide) -> tuple[Tile, Tile]:
    """(top 64 bits of `a` shifted so that bit 127 is set, sticky in bit 0; the shift).

    The value is top * 2^(64 - shift) up to the sticky bit; a zero stays zero.
    """
    high = leading_zeros(a[0])
    shift = np.where(high == 64, 64 + leading_zeros(a[1]), high)
    top, rest = shift_left(a, np.minimum(shift, 127))
    return top | (rest != _ZERO).astype(np.uint64), shift
