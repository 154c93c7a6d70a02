"""Products of batches on Hopper: tensor maps have the dimensions that addresses had."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct

BF16 = ml_dtypes.bfloat16
ZERO = ct.PaddingMode.ZERO


@ct.kernel
def matrices(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, j, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 2, (1, TM, TK))):
        left = ct.load(a, (n, i, k), (1, TM, TK), padding_mode=ZERO).reshape((TM, TK))
        right = ct.load(b, (n, k, j), (1, TK, TN), padding_mode=ZERO).reshape((TK, TN))
        acc = ct.mma(left, right, acc)
    ct.store(c, (n, i, j), acc.astype(c.dtype).reshape((1, TM, TN)))


@ct.kernel
def batches_of_one(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, j, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((1, TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 2, (1, TM, TK))):
        left = ct.load(a, (n, i, k), (1, TM, TK), padding_mode=ZERO)
        acc = ct.mma(left, ct.load(b, (n, k, j), (1, TK, TN), padding_mode=ZERO), acc)
    ct.store(c, (n, i, j), acc.astype(c.dtype))


@pytest.mark.parametrize("kernel", [matrices, batches_of_one], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("tile", [(128, 128, 64), (64, 64, 64), (128, 256, 64)], ids=str)
def test_batches(kernel, tile):
    random = np.random.default_rng(3)
    m, n, k = tile[0] + 8, tile[1] + 8, 72
    a, b = (random.integers(-2, 3, s).astype(BF16) for s in ((3, m, k), (3, k, n)))
    c = np.full((3, m, n), np.nan, np.float32)
    arguments = (a, b, c, *tile)
    run(kernel, (2, 2, 3), *arguments, backend="sim")
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    for launch in ("plain", "managed"):
        program = tileir.compile(text(kernel, *arguments), "sm_90a", launch=launch, cache=False)
        assert "cp.async.bulk.tensor.3d.shared" in program.ptx
        assert program.cubin
        assert program.kernels[kernel.name].spill_bytes == 0
