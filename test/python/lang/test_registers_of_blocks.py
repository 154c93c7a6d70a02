"""Tiles that are more than a thread's registers hold: ptxas must not give it still fewer."""

from __future__ import annotations

import numpy as np
import pytest
from lang_support import run, trace

import tileir
import tileir.lang as ct


@ct.kernel
def four_tiles(x, y, N: ct.Constant[int]):
    a, b, c, d = ct.load(x, 0, N), ct.load(x, 1, N), ct.load(x, 2, N), ct.load(x, 3, N)
    s = ct.sum(a + b + c + d)
    t = ct.sum(a * b + c * d * s)
    ct.store(y, 0, (a * t + b * s + c * d) * t)
    ct.store(y, 1, (a * s + b * t + d * c) * s)


def compiled(n: int, **hints: int) -> tileir.Program:
    x, y = np.zeros(4 * n, np.float32), np.zeros(2 * n, np.float32)
    kernel = four_tiles.replace_hints(**hints) if hints else four_tiles
    return tileir.compile(trace(kernel, x, y, n), target="sm_90a", cache=False)


@pytest.mark.parametrize("n", [8192, 16384, 32768])
def test_threads_get_what_there_is(n):
    """64 elements of four tiles; 65536 registers of a multiprocessor for the block's threads, and
    at most 255 for each."""
    program = compiled(n)
    assert ".minnctapersm 1" in program.ptx
    program.cubin  # noqa: B018  (ptxas says what it used)
    (kernel,) = program.kernels.values()
    assert kernel.registers == min(255, 65536 // kernel.block[0])


@pytest.mark.parametrize(("n", "hints"), [(1024, {}), (4096, {"num_worker_warps": 8})])
def test_what_fits_is_left_alone(n, hints):
    assert "minnctapersm" not in compiled(n, **hints).ptx


def test_a_hint_decides():
    assert "minnctapersm" not in compiled(8192, occupancy=2).ptx


def test_values():
    n = 8192
    x = np.random.default_rng(0).integers(-1, 2, 4 * n).astype(np.float32)
    y = np.full(2 * n, np.nan, np.float32)
    run(four_tiles, 1, x, y, n, backend="sim")
    a, b, c, d = x.astype(np.float64).reshape(4, n)
    s = np.sum(a + b + c + d)
    t = np.sum(a * b + c * d * s)
    expected = np.concatenate([(a * t + b * s + c * d) * t, (a * s + b * t + d * c) * s])
    np.testing.assert_allclose(y, expected, rtol=1e-5)
