"""Kernels that tests tune."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileir.lang as ct

N = 1024


@ct.kernel
def scale(x, y, factor, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * factor)


@ct.kernel
def add_one(x, n, TILE: ct.Constant[int]):
    """Reads what it writes: twice is not once."""
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), (TILE,)) + 1)


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(N, dtype=np.float32), np.zeros(N, np.float32)


def search(tiles: Any, **options: Any) -> ct.tune.TuningResult[Any]:
    """`scale` with several sizes of tiles."""
    x, y = arrays()
    return ct.tune.exhaustive_search(
        tiles, None, lambda tile: (ct.cdiv(N, tile),), scale, lambda tile: (x, y, 2.0, tile),
        **options,
    )  # fmt: skip
