"""Integer arithmetic beyond NumPy's operators. Arrays are of the instruction's own type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...interp.numerics import wide

Array = np.ndarray[Any, np.dtype[Any]]


def divide(a: Array, b: Array) -> Array:
    """Quotient rounded to zero; all ones for division by zero."""
    a, b = np.broadcast_arrays(a, b)
    zero = b == 0
    divisor = np.where(zero, b.dtype.type(1), b)
    quotient = a // divisor
    if a.dtype.kind == "i":
        floored = (quotient * divisor != a) & ((a < 0) != (b < 0))
        quotient = quotient + floored
    return np.where(zero, ~np.zeros_like(a), quotient) if zero.any() else quotient


def remainder(a: Array, b: Array) -> Array:
    """What `divide` leaves, with the sign of a; all ones for division by zero."""
    a, b = np.broadcast_arrays(a, b)
    zero = b == 0
    return np.where(zero, ~np.zeros_like(a), np.fmod(a, np.where(zero, b.dtype.type(1), b)))


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the full product."""
    a, b = np.broadcast_arrays(a, b)
    dtype, bits = a.dtype, 8 * a.dtype.itemsize
    if bits < 64:
        big = np.dtype(f"{'int' if dtype.kind == 'i' else 'uint'}{2 * bits}")
        return (a.astype(big) * b.astype(big) >> big.type(bits)).astype(dtype)
    high = wide.multiply(a.view(np.uint64), b.view(np.uint64))[0]
    if dtype.kind == "i":
        high = high - np.where(a < 0, b, 0).view(np.uint64) - np.where(b < 0, a, 0).view(np.uint64)
    return high.view(dtype)


def multiply_wide(a: Array, b: Array) -> Array:
    """The full product, twice as wide."""
    big = np.dtype(f"{a.dtype.kind.replace('i', 'int').replace('u', 'uint')}{16 * a.itemsize}")
    return np.multiply(a, b, dtype=big)


def multiply_24(a: Array, b: Array, high: bool) -> Array:
    """Bits 47..16 or 31..0 of the product of the low 24 bits, read as signed for signed types."""
    signed = a.dtype.kind == "i"

    def low_24(x: Array) -> Array:
        field = x.astype(np.int64) & 0xFFFFFF
        return np.where(field >> 23 != 0, field - (1 << 24), field) if signed else field

    product = low_24(a) * low_24(b)
    return (product >> 16 if high else product).astype(a.dtype)


def saturating_add(a: Array, b: Array) -> Array:
    """s32: clamped instead of wrapped."""
    return _clamp(a.astype(np.int64) + b, a.dtype)


def saturating_subtract(a: Array, b: Array) -> Array:
    return _clamp(a.astype(np.int64) - b, a.dtype)


def _clamp(x: Array, dtype: np.dtype[Any]) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(x, limits.min, limits.max).astype(dtype)


def multiply_add_saturating(a: Array, b: Array, c: Array) -> Array:
    """mad.hi.sat.s32"""
    return _clamp(multiply_high(a, b).astype(np.int64) + c, np.dtype(np.int32))


def sum_of_absolute_differences(a: Array, b: Array, c: Array) -> Array:
    """c + |a - b|"""
    with np.errstate(over="ignore"):
        return np.where(a < b, b - a, a - b) + c


def absolute(a: Array) -> Array:
    return np.abs(a)


# --- carries -------------------------------------------------------------------------------------


def add_with_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """(a + b + carry, carry out) of unsigned arrays; `carry` is bool."""
    first = a + b
    total = first + carry.astype(first.dtype)
    return total, (first < a) | (total < first)


def subtract_with_borrow(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    """(a - b - borrow, borrow out)"""
    first = a - b
    total = first - borrow.astype(first.dtype)
    return total, (a < b) | (first < total)


# --- bits ----------------------------------------------------------------------------------------


def count_ones(a: Array) -> Array:
    return np.bitwise_count(a).astype(np.uint32)


def count_leading_zeros(a: Array) -> Array:
    """The width for 0."""
    bits = 8 * a.dtype.itemsize
    return (bits - 1 - _highest_one(a)).astype(np.uint32)


def _highest_one(a: Array) -> Array:
    """The position of the highest one as int64, -1 for 0."""
    smeared = a
    for shift in (1, 2, 4, 8, 16, 32)[: (8 * a.dtype.itemsize).bit_length() - 1]:
        smeared = smeared | smeared >> a.dtype.type(shift)
    return np.bitwise_count(smeared).astype(np.int64) - 1


def find_highest(a: Array, as_shift: bool) -> Array:
    """bfind: the position of the highest bit that differs from the sign; all ones if none does.
    With `as_shift`, how far left it must move to get to the top."""
    bits = 8 * a.dtype.itemsize
    unsigned = np.dtype(f"uint{bits}")
    field = np.where(a < 0, ~a, a).view(unsigned) if a.dtype.kind == "i" else a
    position = _highest_one(field)
    if as_shift:
        position = np.where(position >= 0, bits - 1 - position, -1)
    return position.astype(np.uint32)


def find_nth(mask: Array, base: Array, offset: Array) -> Array:
    """fns: the n-th one at or beyond `base`, upwards or downwards; all ones if there is none."""
    mask, base, offset = np.broadcast_arrays(mask, base, offset)
    out = np.full(mask.shape, 0xFFFFFFFF, np.uint32)
    for index in np.ndindex(mask.shape):
        bits, start, count = int(mask[index]), int(base[index]), int(offset[index])
        if count == 0:
            if bits >> start & 1:
                out[index] = start
            continue
        places = range(start, 32) if count > 0 else range(start, -1, -1)
        ones = [place for place in places if bits >> place & 1]
        if len(ones) >= abs(count):
            out[index] = ones[abs(count) - 1]
    return out


_REVERSED_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)


def reverse_bits(a: Array) -> Array:
    size = a.dtype.itemsize
    swapped = np.ascontiguousarray(a).byteswap().view(np.uint8)
    return _REVERSED_BYTES[swapped].view(a.dtype).reshape(a.shape) if size > 1 else swapped


def extract_field(a: Array, position: Array, length: Array) -> Array:
    """bfe: `length` bits from `position` on, extended by the field's sign for signed types.

    Bits beyond the width read as the sign (0 for unsigned types).
    """
    a, position, length = np.broadcast_arrays(a, position, length)
    bits = a.dtype.itemsize * 8
    unsigned = np.dtype(f"uint{bits}")
    start = (position & 0xFF).astype(unsigned)
    size = (length & 0xFF).astype(unsigned)
    if a.dtype.kind == "u":
        kept = np.where(start < bits, a >> np.minimum(start, bits - 1), 0).astype(unsigned)
        return kept & _ones(size, bits)
    amount = np.minimum(start, bits - 1).astype(a.dtype)
    shifted = a >> amount
    sign_place = np.minimum(size.astype(np.int64) - 1, bits - 1)
    sign = (shifted >> np.maximum(sign_place, 0).astype(a.dtype)) & 1
    mask = _ones(size, bits).view(a.dtype)
    extended = np.where(sign != 0, shifted | ~mask, shifted & mask)
    return np.where(size == 0, a.dtype.type(0), extended)


def insert_field(a: Array, b: Array, position: Array, length: Array) -> Array:
    """bfi: b with `length` bits from `position` on replaced by the low bits of a."""
    a, b, position, length = np.broadcast_arrays(a, b, position, length)
    bits, dtype = b.dtype.itemsize * 8, b.dtype
    start = (position & 0xFF).astype(dtype)
    size = (length & 0xFF).astype(dtype)
    mask = np.where(start < bits, _ones(size, bits) << start, 0).astype(dtype)
    return (b & ~mask) | ((a << start) & mask)


def _ones(count: Array, bits: int) -> Array:
    """A mask of the low `count` bits, unsigned like `count`."""
    one = count.dtype.type(1)
    return np.where(count >= bits, ~count.dtype.type(0), (one << count) - one)


def make_mask(position: Array, length: Array, wraps: bool) -> Array:
    """bmsk: `length` ones from `position` on; both modulo 32 (`wraps`) or clamped at 32."""
    position, length = np.broadcast_arrays(position, length)
    limit = np.uint32(31)
    if wraps:
        position, length = position & limit, length & limit
    else:
        position, length = np.minimum(position, 32), np.minimum(length, 32)
    return (_ones(length, 32) << position).astype(np.uint32)


def extend_sign(a: Array, width: Array, wraps: bool) -> Array:
    """szext: the low `width` bits of a, extended by sign or zeros by a's type."""
    a, width = np.broadcast_arrays(a, width)
    width = width & np.uint32(31) if wraps else np.minimum(width, np.uint32(32))
    return extract_field(a, np.zeros_like(width), width)


def funnel_shift(low: Array, high: Array, amount: Array, left: bool, wraps: bool) -> Array:
    """shf: the upper (left) or lower (right) half of high:low shifted."""
    low, high, amount = np.broadcast_arrays(low, high, amount)
    count = (amount & 31 if wraps else np.minimum(amount, 32)).astype(np.uint64)
    both = high.astype(np.uint64) << np.uint64(32) | low
    return ((both << count) >> np.uint64(32) if left else both >> count).astype(np.uint32)


def logic(a: Array, b: Array, c: Array, table: int) -> Array:
    """lop3: the function of three bits whose values `table` lists."""
    out = None
    for row in range(8):
        if not table >> row & 1:
            continue
        term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        out = term if out is None else out | term
    return (a & ~a) | (b & ~b) | (c & ~c) if out is None else out


def permute_bytes(a: Array, b: Array, selector: Array, mode: str | None) -> Array:
    """prmt: four bytes out of the eight of b:a; a selector's top bit replicates the sign."""
    a, b, selector = np.broadcast_arrays(a, b, selector)
    source = b.astype(np.uint64) << np.uint64(32) | a
    out = np.zeros(a.shape, np.uint32)
    for place in range(4):
        pick, sign = _selected(selector, place, mode)
        byte = (source >> (pick.astype(np.uint64) * np.uint64(8))).astype(np.uint32) & 0xFF
        byte = np.where(sign, np.where(byte & 0x80, np.uint32(0xFF), np.uint32(0)), byte)
        out |= byte.astype(np.uint32) << np.uint32(8 * place)
    return out


def _selected(selector: Array, place: int, mode: str | None) -> tuple[Array, Any]:
    if mode is None:
        field = selector >> np.uint32(4 * place)
        return field & 7, (field & 8) != 0
    low = selector & 3
    table = {
        "f4e": lambda n: n + place,
        "b4e": lambda n: (n - place) & 7,
        "rc8": lambda n: n,
        "ecl": lambda n: np.maximum(n, place),
        "ecr": lambda n: np.minimum(n, place),
        "rc16": lambda n: ((n & 1) << 1) + (place & 1),
    }
    return table[mode](low) & 7, False


# --- dot products --------------------------------------------------------------------------------


def dot_4(a: Array, b: Array, c: Array, a_signed: bool, b_signed: bool) -> Array:
    """dp4a: the products of four bytes, summed onto c, which wraps."""
    total = c.astype(np.int64)
    for place in range(4):
        total = total + _part(a, 8 * place, 8, a_signed) * _part(b, 8 * place, 8, b_signed)
    return total.astype(np.uint32)


def dot_2(a: Array, b: Array, c: Array, a_signed: bool, b_signed: bool, high: bool) -> Array:
    """dp2a: two 16-bit parts of a times two bytes of the upper or lower half of b, onto c."""
    total = c.astype(np.int64)
    for place in range(2):
        byte = _part(b, 8 * place + (16 if high else 0), 8, b_signed)
        total = total + _part(a, 16 * place, 16, a_signed) * byte
    return total.astype(np.uint32)


def _part(x: Array, start: int, bits: int, signed: bool) -> Array:
    field = (x >> np.uint32(start)).astype(np.int64) & (1 << bits) - 1
    return np.where(field >> (bits - 1) != 0, field - (1 << bits), field) if signed else field
