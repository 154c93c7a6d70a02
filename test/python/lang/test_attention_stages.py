"""Attention with long rows: the tile of queries stays in shared memory for the whole loop, and keys
and values get as many stages as fit beside it."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, trace

import tileir
import tileir.lang as ct

BF16 = ml_dtypes.bfloat16
ZERO = ct.PaddingMode.ZERO
DEPTH = 256


@ct.kernel
def attention(q, k, v, out, scale: float, TM: ct.Constant[int], TN: ct.Constant[int]):
    i = ct.bid(0)
    queries = ct.load(q, (i, 0), (TM, DEPTH), padding_mode=ZERO)
    highest = ct.full((TM, 1), -np.inf, ct.float32)
    total = ct.zeros((TM, 1), ct.float32)
    acc = ct.zeros((TM, DEPTH), ct.float32)
    for j in range(ct.cdiv(k.shape[0], TN)):
        keys = ct.load(k, (0, j), (DEPTH, TN), order=(1, 0), padding_mode=ZERO)
        scores = ct.mma(queries, keys, ct.zeros((TM, TN), ct.float32)) * scale
        inside = j * TN + ct.arange(TN, dtype=ct.int32) < k.shape[0]
        scores = ct.where(inside[None, :], scores, -np.inf)
        higher = ct.maximum(highest, ct.max(scores, axis=1, keepdims=True))
        weights, correction = ct.exp(scores - higher), ct.exp(highest - higher)
        total = total * correction + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, (j, 0), (TN, DEPTH), padding_mode=ZERO)
        acc = ct.mma(weights.astype(v.dtype), values, acc * correction)
        highest = higher
    ct.store(out, (i, 0), (acc / total).astype(out.dtype))


def arrays(rows: int, columns: int) -> list[np.ndarray]:
    random = np.random.default_rng(columns)
    shapes = ((rows, DEPTH), (columns, DEPTH), (columns, DEPTH))
    given = [random.standard_normal(shape).astype(BF16) for shape in shapes]
    return [*given, np.full((rows, DEPTH), np.nan, BF16)]


def expected(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> np.ndarray:
    scores = q.astype(np.float64) @ k.astype(np.float64).T * scale
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float64)


@pytest.mark.parametrize("tile", [(128, 64), (128, 32), (64, 64), (64, 32)])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_long_rows_compile(target, tile):
    module = trace(attention, *arrays(128, 256), 1.0, *tile, target=target)
    assert ".entry attention(" in tileir.compile(module, target, cache=False).ptx


#: Stages of keys and values that fit beside 64 rows of queries (32 KiB).
STAGES = {
    "sm_90a": ((64, 64), 2),  # a third would leave 3 KiB of 227 for barriers and reductions
    "sm_80": ((64, 64), 2),  # 32 + 2 * 64 KiB of 163
    "sm_120a": ((64, 32), 2),  # 32 + 2 * 32 KiB of 99
}


@pytest.mark.parametrize("target", STAGES)
def test_stages(target):
    tile, stages = STAGES[target]
    module = trace(attention, *arrays(128, 256), 1.0, *tile, target=target)
    text = tileir.compile(module, target, cache=False).stage("tile_gpu")
    assert set(re.findall(r"alloc .*xbf16, .*stages = (\d+)", text)) == {str(stages)}


@pytest.mark.parametrize(
    ("target", "tile"), [("sm_80", (64, 64)), ("sm_90a", (128, 64)), ("sm_120a", (128, 32))]
)
def test_values(target, tile):
    q, k, v, out = arrays(96, 150)
    scale = DEPTH**-0.5
    blocks = -(-96 // tile[0])
    run(attention, blocks, q, k, v, out, scale, *tile, backend="sim", target=target)
    # Weights and results are rounded to bf16.
    np.testing.assert_allclose(out.astype(np.float64), expected(q, k, v, scale), atol=0.02)
