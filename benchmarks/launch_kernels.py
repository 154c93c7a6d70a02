"""Kernels whose launches are timed, and the arguments that they are compiled for."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileir.lang as ct

SIZE = 1 << 14
SIDE = 512


@ct.kernel
def vector_add(a, b, out, TILE: ct.Constant[int]):
    """Three arrays of one dimension: what launch overhead is usually measured with."""
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(a, (i,), (TILE,)) + ct.load(b, (i,), (TILE,)))


@ct.kernel
def matmul(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """A product of matrices: its launch makes tensor maps, too."""
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, K))):
        total = ct.mma(ct.load(a, (i, k), (M, K)), ct.load(b, (k, j), (K, N)), total)
    ct.store(c, (i, j), total.astype(c.dtype))


def _aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """As allocators of device memory align arrays."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 256, np.uint8)
    start = -raw.ctypes.data % 256
    return raw[start : start + size].view(dtype).reshape(shape)


def cases() -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels and arguments."""
    vector = [_aligned((SIZE,), np.float32) for _ in range(3)]
    matrix = [_aligned((SIDE, SIDE), np.float16) for _ in range(3)]
    return [(vector_add, (*vector, 1024)), (matmul, (*matrix, 128, 128, 64))]
