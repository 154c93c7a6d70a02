"""The sum of two vectors in cuTile."""

from __future__ import annotations

import cuda.tile as ct


@ct.kernel
def vector_add(a, b, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(a, (i,), (TILE,)) + ct.load(b, (i,), (TILE,)))
