"""How the lanes of a warp hold matrices, and products of them.

In the drawings lane = 4 * g + t, with g = 0..7 and t = 0..3. A register holds `per` neighbouring
elements of a row: 2 of 16 bits, 4 of 8 bits, one of 32 or 64.

    A (16 x K)   register 2 * b + h: row g + 8 * h, columns (4 * b + t) * per ...
    B (K x 8)    register b:         column g,      rows    (4 * b + t) * per ...
    C (16 x 8)   register 2 * h + c: row g + 8 * h, column  2 * t + c   (pairs in one if 16 bits)

With 8 rows h is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ptx.types import Type

Array = np.ndarray[Any, np.dtype[Any]]


def widen(x: Array) -> Array:
    """Elements as float64, which holds all of them and their products exactly (f64 aside).

    tf32 operands are f32 registers whose low 13 bits the hardware ignores; cut those first.
    """
    return x.astype(np.float64)


def cut_tf32(x: Array) -> Array:
    """f32 without the bits that tf32 does not have."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def round_tf32(bits: Array) -> Array:
    """The bits of f32 rounded to the nearest tf32, ties to even, as tensor copies of an H200 do:
    what is too large becomes infinite, every NaN the same."""
    is_nan = bits & np.uint32(0x7FFFFFFF) > np.uint32(0x7F800000)
    nearest = bits + np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1))
    return np.where(is_nan, np.uint32(0x7FFFE000), nearest & np.uint32(0xFFFFE000))


def elements(registers: Sequence[Array], type_: Type) -> Array:
    """[n, 32, registers, per] of registers [n, 32], as float64 (int64 for 4-bit integers)."""
    stacked = np.stack(registers, axis=-1)
    if type_.name == "tf32":
        return widen(cut_tf32(stacked.view(np.float32)))[..., None]
    if type_.bits >= 32:
        return widen(stacked.view(type_.dtype))[..., None]
    parts = stacked.view(type_.dtype)
    return widen(parts.reshape(*stacked.shape, -1))


def nibbles(registers: Sequence[Array], signed: bool) -> Array:
    """[n, 32, registers, 8] of 4-bit integers, as float64."""
    stacked = np.stack(registers, axis=-1)[..., None]
    parts = (stacked >> (np.uint32(4) * np.arange(8, dtype=np.uint32))) & np.uint32(15)
    values = parts.astype(np.float64)
    return np.where(values > 7, values - 16, values) if signed else values


def matrix_a(parts: Array, rows: int) -> Array:
    """[n, rows, K] of the elements of A."""
    n, _, count, per = parts.shape
    halves = rows // 8
    split = parts.reshape(n, 8, 4, count // halves, halves, per)
    return split.transpose(0, 4, 1, 3, 2, 5).reshape(n, rows, -1)


def matrix_b(parts: Array) -> Array:
    """[n, K, 8] of the elements of B."""
    n, _, count, per = parts.shape
    return parts.reshape(n, 8, 4, count, per).transpose(0, 3, 2, 4, 1).reshape(n, -1, 8)


def matrix_c(registers: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """[n, rows, 8] of accumulators, in their own type."""
    stacked = np.stack(registers, axis=-1)
    n, rows = len(stacked), 8 * _halves(registers, dtype)
    split = stacked.view(dtype).reshape(n, 8, 4, rows // 8, 2)
    return split.transpose(0, 3, 1, 2, 4).reshape(n, rows, 8)


def _halves(registers: Sequence[Array], dtype: np.dtype[Any]) -> int:
    per = max(1, registers[0].dtype.itemsize // dtype.itemsize)
    return len(registers) * per // 2


def registers_of(c: Array, held: np.dtype[Any]) -> list[Array]:
    """The registers, of dtype `held`, of accumulators [n, rows, 8]."""
    n, rows, _ = c.shape
    split = c.reshape(n, rows // 8, 8, 4, 2)
    if c.dtype.itemsize < held.itemsize:  # pairs
        pairs = np.ascontiguousarray(split.transpose(1, 0, 2, 3, 4)).view(held)
        return list(pairs.reshape(-1, n, 32))
    return list(np.ascontiguousarray(split.transpose(1, 4, 0, 2, 3)).reshape(-1, n, 32).view(held))


def accumulate(a: Array, b: Array, c: Array) -> Array:
    """a @ b + c: exact products, a float64 sum, rounded once to c's type; integers wrap."""
    product = np.matmul(a, b)
    if c.dtype.kind in "iu":
        return (product.astype(np.int64) + c).astype(c.dtype)
    return (product + c.astype(np.float64)).astype(c.dtype)


def accumulate_saturating(a: Array, b: Array, c: Array) -> Array:
    """.satfinite of integers: clamped to s32."""
    total = np.matmul(a, b).astype(np.int64) + c
    return np.clip(total, -(2**31), 2**31 - 1).astype(np.int32)
