"""Matrix products: exact products, float64 sums, one rounding to the accumulator's format.

Tile IR leaves the order of accumulation open; a float64 sum of products of f16, bf16, tf32, fp8
or f32 values is closer to the exact one than any order of f32 additions.
"""

from __future__ import annotations

import numpy as np

from .formats import I8, I32, FloatFormat, Tile
from .integers import read, wrap
from .rounding import from_float64, to_float64


def multiply_accumulate(
    a: Tile, b: Tile, c: Tile, source: FloatFormat, result: FloatFormat
) -> Tile:
    """a (.. M x K) times b (.. K x N) plus c (.. M x N)."""
    product = np.matmul(to_float64(a, source), to_float64(b, source))
    return from_float64(product + to_float64(c, result), result)


def multiply_accumulate_scaled(
    a: Tile,
    b: Tile,
    c: Tile,
    a_scale: Tile,
    b_scale: Tile,
    source: FloatFormat,
    scale: FloatFormat,
    result: FloatFormat,
) -> Tile:
    """As above, with a_scale (.. M x K/V) on a and b_scale (.. K/V x N) on b."""
    block = a.shape[-1] // a_scale.shape[-1]
    a_factor = np.repeat(to_float64(a_scale, scale), block, axis=-1)
    b_factor = np.repeat(to_float64(b_scale, scale), block, axis=-2)
    product = np.matmul(to_float64(a, source) * a_factor, to_float64(b, source) * b_factor)
    return from_float64(product + to_float64(c, result), result)


def multiply_accumulate_integers(a: Tile, b: Tile, c: Tile, a_signed: bool, b_signed: bool) -> Tile:
    """i8 products summed into i32, which wraps. float64 holds the sums exactly (K <= 2^24)."""
    x = read(a, I8, a_signed).astype(np.float64)
    y = read(b, I8, b_signed).astype(np.float64)
    return wrap(np.matmul(x, y).astype(np.int64), I32) + c
