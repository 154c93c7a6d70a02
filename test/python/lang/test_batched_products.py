"""Products of batches on Hopper: tensor maps have the dimensions that addresses had."""

from __future__ import annotations

import math
from typing import Literal

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct
from tileir.compiler.program import Program
from tileir.lang.kernel import Kernel

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


@ct.kernel
def heads(q, k, s, r, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    """Two dimensions of a batch, and a residual that has them, too."""
    i, h, n = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, TN), ct.float32)
    for d in range(ct.num_tiles(q, 3, (1, 1, TM, TK))):
        left = ct.load(q, (n, h, i, d), (1, 1, TM, TK), padding_mode=ZERO).reshape((TM, TK))
        right = ct.load(
            k, (n, h, d, 0), (1, 1, TK, TN), order=(0, 1, 3, 2), padding_mode=ZERO
        ).reshape((TK, TN))
        acc = ct.mma(left, right, acc)
    added = ct.load(r, (n, h, i, 0), (1, 1, TM, TN), padding_mode=ZERO).reshape((TM, TN))
    ct.store(s, (n, h, i, 0), (acc + added).astype(s.dtype).reshape((1, 1, TM, TN)))


@ct.kernel
def second(a, b, c, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((TM, TN), ct.float32)
    for k in range(ct.num_tiles(a, 2, (1, TM, TK))):
        left = ct.load(a, (1, i, k), (1, TM, TK), padding_mode=ZERO).reshape((TM, TK))
        right = ct.load(b, (1, k, j), (1, TK, TN), padding_mode=ZERO).reshape((TK, TN))
        acc = ct.mma(left, right, acc)
    ct.store(c, (1, i, j), acc.astype(c.dtype).reshape((1, TM, TN)))


def integers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(BF16)


def compiled(kernel: Kernel, *arguments, launch: Literal["plain", "managed"]) -> Program:
    program = tileir.compile(text(kernel, *arguments), "sm_90a", launch=launch, cache=False)
    assert program.cubin
    assert program.kernels[kernel.name].spill_bytes == 0
    return program


@pytest.mark.parametrize("kernel", [matrices, batches_of_one], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("tile", [(128, 128, 64), (64, 64, 64), (128, 256, 64)], ids=str)
def test_batches(kernel: Kernel, tile: tuple[int, int, int]) -> None:
    m, n, k = tile[0] + 8, tile[1] + 8, 72
    a, b, c = integers(3, m, k), integers(3, k, n), np.full((3, m, n), np.nan, np.float32)
    run(kernel, (2, 2, 3), a, b, c, *tile, backend="sim")
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))
    for launch in ("plain", "managed"):
        program = compiled(kernel, a, b, c, *tile, launch=launch)
        assert "cp.async.bulk.tensor.3d.shared" in program.ptx


def test_a_batch_of_one_is_a_matrix() -> None:
    """Accumulators of one product are those of the next, whatever dimension stands around them."""
    a, b, c = integers(2, 128, 128), integers(2, 128, 128), np.zeros((2, 128, 128), np.float32)
    counts = []
    for kernel in (matrices, batches_of_one):
        ptx = compiled(kernel, a, b, c, 128, 128, 64, launch="managed").ptx
        counts.append([ptx.count(f"\t{name}") for name in ("cp.async.bulk", "setmaxnreg")])
        counts[-1].append(ptx.count("wgmma.mma_async"))
    assert counts[0] == counts[1]


def test_two_dimensions_and_a_residual() -> None:
    q, k, r = integers(2, 3, 72, 80), integers(2, 3, 128, 80), integers(2, 3, 72, 128)
    s = np.full((2, 3, 72, 128), np.nan, BF16)
    arguments = (q, k, s, r, 64, 128, 64)
    program = compiled(heads, *arguments, launch="managed")
    assert "cp.async.bulk.tensor.4d.shared" in program.ptx
    run(heads, (2, 3, 2), *arguments, backend="sim")
    want = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) + r.astype(np.float64)
    np.testing.assert_array_equal(s.astype(np.float64), want)


def test_a_constant_index() -> None:
    a, b, c = integers(2, 72, 80), integers(2, 80, 64), np.zeros((2, 72, 64), np.float32)
    run(second, (2, 1), a, b, c, 64, 64, 64, backend="sim")
    np.testing.assert_array_equal(c[1], a[1].astype(np.float64) @ b[1].astype(np.float64))
    assert not c[0].any()


def test_matrices_off_the_alignment_of_tensor_maps() -> None:
    """A matrix starts 4 elements, 8 bytes, off the multiples of 16 bytes that maps want."""
    m, k = 72, 80
    memory = integers(3 * (m * k + 4))
    strides = [2 * (m * k + 4), 2 * k, 2]
    a = np.lib.stride_tricks.as_strided(memory, (3, m, k), strides)
    b, c = integers(3, k, 64), np.full((3, m, 64), np.nan, np.float32)
    run(matrices, (2, 1, 3), a, b, c, 64, 64, 64, backend="sim")
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


@ct.kernel
def attention(q, k, v, out, TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int]):
    i, h, b = ct.bid(0), ct.bid(1), ct.bid(2)
    most = ct.full((TM, 1), -math.inf, ct.float32)
    total, acc = ct.zeros((TM, 1), ct.float32), ct.zeros((TM, D), ct.float32)
    queries = ct.load(q, (b, h, i, 0), (1, 1, TM, D), padding_mode=ZERO).reshape((TM, D))
    for j in range(ct.cdiv(k.shape[2], TN)):
        keys = ct.load(k, (b, h, 0, j), (1, 1, D, TN), order=(0, 1, 3, 2), padding_mode=ZERO)
        scores = ct.mma(queries, keys.reshape((D, TN)), ct.zeros((TM, TN), ct.float32))
        now = ct.maximum(most, ct.max(scores, axis=1, keepdims=True))
        weights, factor = ct.exp2(scores - now), ct.exp2(most - now)
        total, most = total * factor + ct.sum(weights, axis=1, keepdims=True), now
        values = ct.load(v, (b, h, j, 0), (1, 1, TN, D), padding_mode=ZERO).reshape((TN, D))
        acc = ct.mma(weights.astype(v.dtype), values, acc * factor)
    ct.store(out, (b, h, i, 0), (acc / total).reshape((1, 1, TM, D)).astype(out.dtype))


@ct.kernel
def causal(q, k, v, out, TM: ct.Constant[int], TN: ct.Constant[int], D: ct.Constant[int]):
    """Scores of earlier keys, times values: blocks further down have more rounds."""
    i, h, b = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((TM, D), ct.float32)
    queries = ct.load(q, (b, h, i, 0), (1, 1, TM, D), padding_mode=ZERO).reshape((TM, D))
    for j in range(ct.cdiv((i + 1) * TM, TN)):
        keys = ct.load(k, (b, h, 0, j), (1, 1, D, TN), order=(0, 1, 3, 2), padding_mode=ZERO)
        scores = ct.mma(queries, keys.reshape((D, TN)), ct.zeros((TM, TN), ct.float32))
        values = ct.load(v, (b, h, j, 0), (1, 1, TN, D), padding_mode=ZERO).reshape((TN, D))
        acc = ct.mma(scores.astype(v.dtype), values, acc)
    ct.store(out, (b, h, i, 0), acc.reshape((1, 1, TM, D)).astype(out.dtype))


def attended(*tensors: np.ndarray) -> np.ndarray:
    """Softmax to the base 2, in float64."""
    q, k, v = (x.astype(np.float64) for x in tensors)
    scores = q @ k.swapaxes(-1, -2)
    weights = 2.0 ** (scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def test_attention_has_a_producer() -> None:
    """The queries of a tile come once, keys and values with each round."""
    q, k, v = (np.random.default_rng(i).normal(size=(1, 3, 256, 64)).astype(BF16) for i in range(3))
    out = np.full(q.shape, np.nan, np.float32)
    arguments = (q, k, v, out, 128, 64, 64)
    run(attention, (2, 3, 1), *arguments, backend="sim")
    np.testing.assert_allclose(out, attended(q, k, v), rtol=2e-2, atol=2e-2)
    for launch in ("plain", "managed"):
        ptx = compiled(attention, *arguments, launch=launch).ptx
        assert "setmaxnreg" in ptx
        assert "cp.async.bulk.tensor.4d.shared" in ptx


@pytest.mark.parametrize(
    ("kernel", "rows"), [(causal, 128), (attention, 64)], ids=["uneven", "one warpgroup"]
)
def test_products_that_several_blocks_of_a_multiprocessor_do_better(
    kernel: Kernel, rows: int
) -> None:
    q, k, v = (integers(1, 2, 256, 64) for _ in range(3))
    out = np.zeros(q.shape, np.float32)
    assert "setmaxnreg" not in compiled(kernel, q, k, v, out, rows, 64, 64, launch="managed").ptx
