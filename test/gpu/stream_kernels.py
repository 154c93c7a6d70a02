"""Kernels for run_streams.py: what overlapping launches could confuse, they have."""

from __future__ import annotations

from typing import Any

import numpy as np

import tileir.lang as ct

SIDE = 512
LENGTH = 1 << 16


@ct.kernel
def product(a, b, c):
    """A matrix product: tensor maps, shared memory, barriers, perhaps clusters."""
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((128, 128), ct.float32)
    for k in range(ct.num_tiles(a, 1, (128, 64))):
        total = ct.mma(ct.load(a, (i, k), (128, 64)), ct.load(b, (k, j), (64, 128)), total)
    ct.store(c, (i, j), total.astype(c.dtype))


@ct.kernel
def step(x, y):
    """y = 1.5 x + 1 after what precedes on the stream, whose end it waits for itself."""
    ct.grid_dependency_control_launch_dependents()
    ct.grid_dependency_control_wait()
    i = ct.bid(0)
    ct.store(y, (i,), ct.load(x, (i,), (1024,)) * 1.5 + 1.0)


@ct.kernel
def gather_sum(arrays, out):
    """The sum of the arrays of a list: its table lies in memory of the launcher's."""
    i = ct.bid(0)
    total = ct.zeros((1024,), ct.float32)
    for n in range(len(arrays)):
        total += ct.load(arrays[n], (i,), (1024,))
    ct.store(out, (i,), total)


def _aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 256, np.uint8)
    start = -raw.ctypes.data % 256
    return raw[start : start + size].view(dtype).reshape(shape)


def cases() -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels and arguments like those that run_streams.py launches them on."""
    matrix = [_aligned((SIDE, SIDE), np.float16) for _ in range(3)]
    x, y = (_aligned((LENGTH,), np.float32) for _ in range(2))
    return [(product, tuple(matrix)), (step, (x, y)), (gather_sum, ([x, x, x], y))]
