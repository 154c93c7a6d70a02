"""Integer operations: two's complement, wrapping; a tile of i1 is bool.

i1 is an integer of one bit: read as signed, true is -1. Its arithmetic runs on int8 or uint8.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import wide
from .formats import I1, I64, IntFormat, Tile

Binary = Callable[[Tile, Tile], Tile]


def as_unsigned(x: Tile, fmt: IntFormat) -> Tile:
    """The same bits read as unsigned."""
    return x.view(np.uint8) if fmt is I1 else x.view(fmt.unsigned)


def as_signed(x: Tile, fmt: IntFormat) -> Tile:
    """The values read as signed (i1: 0 or -1, as int8)."""
    return -x.view(np.int8) if fmt is I1 else x


def read(x: Tile, fmt: IntFormat, signed: bool) -> Tile:
    """The values of a tile in an integer type that holds them."""
    return as_signed(x, fmt) if signed else as_unsigned(x, fmt)


def wrap(x: Tile, fmt: IntFormat) -> Tile:
    """The low bits of integers of any width as a tile of `fmt`."""
    if fmt is I1:
        return (x & 1).astype(np.bool_)
    out = x.astype(fmt.dtype)
    return (out << 4) >> 4 if fmt.bits == 4 else out


def add(a: Tile, b: Tile, fmt: IntFormat) -> Tile:
    return a ^ b if fmt is I1 else a + b


def subtract(a: Tile, b: Tile, fmt: IntFormat) -> Tile:
    return a ^ b if fmt is I1 else a - b


def multiply(a: Tile, b: Tile, fmt: IntFormat) -> Tile:
    return a & b if fmt is I1 else a * b


def negate(a: Tile, fmt: IntFormat) -> Tile:
    return a if fmt is I1 else -a


def absolute(a: Tile, fmt: IntFormat) -> Tile:
    """|a|; the minimum keeps its bits, to be read as unsigned."""
    return a if fmt is I1 else np.abs(a)


def multiply_high(a: Tile, b: Tile, fmt: IntFormat) -> Tile:
    """The high half of the unsigned product."""
    if fmt is I1:
        return a & ~a & b
    x, y = as_unsigned(a, fmt), as_unsigned(b, fmt)
    if fmt is I64:
        return wide.multiply(x, y)[0].view(np.int64)
    product = x.astype(np.uint64) * y.astype(np.uint64)
    return (product >> np.uint64(fmt.bits)).astype(fmt.unsigned).view(fmt.dtype)


def divide(a: Tile, b: Tile, fmt: IntFormat, signed: bool, rounding: str = "zero") -> Tile:
    """Quotient rounded to zero, up (`positive_inf`) or down (`negative_inf`).

    Division by zero gives 0, the signed minimum by -1 the minimum; both are undefined in Tile IR.
    """
    x, y = read(a, fmt, signed), read(b, fmt, signed)
    floor = x // y
    inexact = floor * y != x
    if rounding == "positive_inf":
        floor = floor + inexact.astype(floor.dtype)
    elif rounding == "zero" and signed:
        floor = floor + (inexact & ((x < 0) != (y < 0))).astype(floor.dtype)
    return wrap(np.where(y == 0, 0, floor), fmt)


def remainder(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    """Remainder of the division rounded to zero; 0 where b is 0 (undefined in Tile IR)."""
    x, y = read(a, fmt, signed), read(b, fmt, signed)
    return wrap(np.where(y == 0, 0, np.fmod(x, y)), fmt)


def maximum(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    return wrap(np.maximum(read(a, fmt, signed), read(b, fmt, signed)), fmt)


def minimum(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    return wrap(np.minimum(read(a, fmt, signed), read(b, fmt, signed)), fmt)


def shift_left(a: Tile, n: Tile, fmt: IntFormat) -> Tile:
    """a << n; 0 where n is the width or more (unspecified in Tile IR)."""
    amount = as_unsigned(n, fmt)
    safe = np.where(amount < fmt.bits, amount, 0)
    out = as_unsigned(a, fmt) << safe.astype(fmt.unsigned)
    return wrap(np.where(amount < fmt.bits, out, 0), fmt)


def shift_right(a: Tile, n: Tile, fmt: IntFormat, signed: bool) -> Tile:
    """a >> n; as if n were the width - 1 where it is more (unspecified in Tile IR)."""
    x = read(a, fmt, signed)
    amount = np.minimum(as_unsigned(n, fmt), fmt.bits - 1)
    return wrap(x >> amount.astype(x.dtype), fmt)


def extend(x: Tile, source: IntFormat, target: IntFormat, signed: bool) -> Tile:
    """Sign or zero extension."""
    if not signed and source.bits == 4:
        return (x & 15).astype(target.dtype)
    return read(x, source, signed).astype(target.dtype)


# --- promises of `overflow<...>`: where they are broken -------------------------------------


def add_overflows(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    x, y = read(a, fmt, signed), read(b, fmt, signed)
    return _outside(x, y, fmt, signed, np.add)


def subtract_overflows(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    x, y = read(a, fmt, signed), read(b, fmt, signed)
    return x < y if not signed else _outside(x, y, fmt, signed, np.subtract)


def _outside(x: Tile, y: Tile, fmt: IntFormat, signed: bool, op: Binary) -> Tile:
    if fmt is not I64:
        return _not_in_range(op(x.astype(np.int64), y.astype(np.int64)), fmt, signed)
    out = op(x, y)
    if not signed:
        return out < x
    return ((x ^ (y if op is np.add else ~y)) >= 0) & ((out ^ x) < 0)


def _not_in_range(x: Tile, fmt: IntFormat, signed: bool) -> Tile:
    low, high = bounds(fmt, signed)
    return (x < low) | (x > high)


def bounds(fmt: IntFormat, signed: bool) -> tuple[int, int]:
    """The smallest and largest value."""
    return (
        (-(1 << (fmt.bits - 1)), (1 << (fmt.bits - 1)) - 1) if signed else (0, (1 << fmt.bits) - 1)
    )


def multiply_overflows(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Tile:
    x, y = read(a, fmt, signed), read(b, fmt, signed)
    if fmt is not I64:
        return _not_in_range(x.astype(np.int64) * y.astype(np.int64), fmt, signed)
    high, low = wide.multiply(x.view(np.uint64), y.view(np.uint64))
    if not signed:
        return high != 0
    signed_high = high.view(np.int64) - np.where(x < 0, y, 0) - np.where(y < 0, x, 0)
    return signed_high != (low.view(np.int64) >> 63)


def shift_left_overflows(a: Tile, n: Tile, fmt: IntFormat, signed: bool) -> Tile:
    """Where shifting back does not restore the value."""
    shifted = shift_left(a, n, fmt)
    return read(shift_right(shifted, n, fmt, signed), fmt, signed) != read(a, fmt, signed)


def truncate_loses(x: Tile, source: IntFormat, target: IntFormat, signed: bool) -> Tile:
    """Where extending the truncated value does not restore it."""
    back = extend(wrap(x, target), target, source, signed)
    return back != x
