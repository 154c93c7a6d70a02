"""Epilogues of matrix products, compiled for Hopper: what they compute, and that it fits registers.

A thread has 128 accumulators of its 232 registers, and others for what comes from memory. Operands
are small integers, so that each sum is exact.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct
from tileir.lang.kernel import Kernel

BF16 = ml_dtypes.bfloat16
ZERO = ct.PaddingMode.ZERO


@ct.function
def multiplied(a, b, i, j, TM, TN):
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 1, (TM, 64))):
        left = ct.load(a, (i, k), (TM, 64), padding_mode=ZERO)
        acc = ct.mma(left, ct.load(b, (k, j), (64, TN), padding_mode=ZERO), acc)
    return acc


@ct.kernel
def two_residuals(a, b, out, r, s, row, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    acc = acc + ct.load(r, (i, j), (TM, TN), padding_mode=ZERO)
    ct.store(out, (i, j), acc + ct.load(s, (i, j), (TM, TN), padding_mode=ZERO))


@ct.kernel
def sum_in_bf16(a, b, out, r, s, row, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN).astype(r.dtype)
    ct.store(out, (i, j), acc + ct.load(r, (i, j), (TM, TN), padding_mode=ZERO))


@ct.kernel
def sum_in_int8(a, b, out, r, s, row, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN).astype(ct.int8)
    acc = acc + ct.load(r, (i, j), (TM, TN), padding_mode=ZERO).astype(ct.int8)
    ct.store(out, (i, j), acc.astype(out.dtype))


@ct.kernel
def accumulators_that_go_on(a, b, out, r, s, row, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    total = acc + ct.load(row, (j,), (TN,), padding_mode=ZERO)[None, :]
    total = total + ct.load(r, (i, j), (TM, TN), padding_mode=ZERO)
    ct.store(s, (i, j), total.astype(s.dtype))
    ct.store(out, (i, j), total + acc)


@ct.kernel
def by_column_number(a, b, out, r, s, row, TM: ct.Constant[int], TN: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = multiplied(a, b, i, j, TM, TN)
    bias = ct.load(row, (j,), (TN,), padding_mode=ZERO)[None, :]
    rows = (i * TM + ct.arange(TM, dtype=ct.int32))[:, None]
    columns = (j * TN + ct.arange(TN, dtype=ct.int32))[None, :]
    ct.store(out, (i, j), ct.where((rows + columns) % 3 == 0, acc, bias))


def masked(product: np.ndarray, bias: np.ndarray) -> np.ndarray:
    rows, columns = np.indices(product.shape)
    return np.where((rows + columns) % 3 == 0, product, bias)


#: What `out` and `s` hold in the end.
WANT = {
    two_residuals: lambda ab, r, s, row: (ab + r + s, s),
    sum_in_bf16: lambda ab, r, s, row: (ab + r, s),
    sum_in_int8: lambda ab, r, s, row: (ab + r, s),
    accumulators_that_go_on: lambda ab, r, s, row: (2 * ab + row + r, ab + row + r),
    by_column_number: lambda ab, r, s, row: (masked(ab, row), s),
}


@pytest.mark.parametrize(
    "tile",
    [(128, 128), pytest.param((128, 256), marks=pytest.mark.slow), (256, 128)],
    ids=str,
)
@pytest.mark.parametrize("kernel", WANT, ids=lambda kernel: kernel.name)
def test_epilogues(kernel: Kernel, tile: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    m, n, k = tile[0] + 16, tile[1], 80
    a, b = (random.integers(-1, 2, shape).astype(BF16) for shape in ((m, k), (k, n)))
    r, s = (random.integers(-3, 4, (m, n)).astype(BF16) for _ in range(2))
    row, out = random.integers(-3, 4, n).astype(np.float32), np.full((m, n), np.nan, np.float32)
    values = [x.astype(np.float64) for x in (r, s, row)]
    want = WANT[kernel](a.astype(np.float64) @ b.astype(np.float64), *values)

    arguments = (a, b, out, r, s, row, *tile)
    for launch in ("plain", "managed"):
        program = tileir.compile(text(kernel, *arguments), "sm_90a", launch=launch, cache=False)
        assert program.cubin
        assert program.kernels[kernel.name].spill_bytes == 0, launch

    run(kernel, (2, 1), *arguments, backend="sim")
    for got, wanted in zip((out, s), want, strict=True):
        np.testing.assert_array_equal(got.astype(np.float64), wanted)
