"""The sum of two vectors in Triton."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(a, b, out, size, TILE: tl.constexpr):
    places = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = places < size
    total = tl.load(a + places, inside) + tl.load(b + places, inside)
    tl.store(out + places, total, inside)
