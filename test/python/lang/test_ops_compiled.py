"""Families of operations through the whole compiler, on the simulator.

The other tests run on the interpreter; here a kernel of each family runs as PTX, with tiles whose
sizes are not powers of two where that is possible.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from lang_support import run, signature

import tileir
import tileir.lang as ct
from tileir.lang import PaddingMode


def matrix(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def test_softmax_of_rows_that_are_no_power_of_two() -> None:
    @ct.kernel
    def rows(x, out, N: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(out, (i, 0), ct.softmax(ct.load(x, (i, 0), (2, N)), axis=1))

    x, out = matrix(6, 80) * 10, np.zeros((6, 80), np.float32)
    run(rows, 3, x, out, 80, backend="sim")
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-5, atol=1e-9)


def test_product_with_an_epilogue() -> None:
    @ct.kernel
    def linear(x, w, bias, out):
        b = ct.load(bias, (0,), (48,))
        a = ct.load(x, (ct.bid(0), 0), (32, 80))
        y = ct.dot(a, ct.load(w, (0, 0), (80, 48)), bias=b, activation="gelu", out_dtype=out.dtype)
        ct.store(out, (ct.bid(0), 0), y)

    x, w = matrix(64, 80, dtype=np.float16), matrix(80, 48, dtype=np.float16)
    bias, out = matrix(48), np.zeros((64, 48), np.float16)
    run(linear, 2, x, w, bias, out, backend="sim")
    y = x.astype(np.float64) @ w.astype(np.float64) + bias
    expected = y * (1 + np.vectorize(math.erf)(y / math.sqrt(2))) / 2
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3)


def test_reductions_and_scans() -> None:
    @ct.kernel
    def statistics(x, places, sums, means):
        t = ct.load(x, (0, 0), (8, 48))
        ct.store(places, (0,), ct.argmax(t, axis=1))
        ct.store(sums, (0, 0), ct.cumsum(t, axis=1))
        total, squares = ct.reduce((t, t * t), 0, lambda a, b, c, d: (a + c, b + d), (0.0, 0.0))
        ct.store(means, (0, 0), total[None, :])
        ct.store(means, (1, 0), squares[None, :])

    x = matrix(8, 48)
    places, sums, means = np.zeros(8, np.int32), np.zeros((8, 48), np.float32), matrix(2, 48)
    run(statistics, 1, x, places, sums, means, backend="sim")
    np.testing.assert_array_equal(places, x.argmax(1))
    np.testing.assert_allclose(sums, x.cumsum(1, dtype=np.float64), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(means, [x.sum(0), (x * x).sum(0)], rtol=1e-4, atol=1e-5)


def test_elements_rows_and_atomics() -> None:
    @ct.kernel
    def move(x, order, out, counts):
        i = ct.load(order, (0,), (8,))
        rows = ct.load_advanced_indexing(x, (i, ct.Slice(3, 16)), padding_mode=PaddingMode.ZERO)
        ct.store(out, (0, 0), rows)
        column = ct.gather(x, (i, 5), padding_value=-1)
        ct.scatter(out, (ct.arange(8, dtype=ct.int32), 16), column)
        ct.atomic_add(counts, ct.bitwise_and(i, 3), 1)
        found = ct.histogram(i, 12)
        ct.store(counts, (1,), found)

    x, out = matrix(10, 17), np.zeros((8, 17), np.float32)
    order = np.array([9, 0, 3, 3, 7, 1, 4, 6], np.int32)
    counts = np.zeros(24, np.int32)
    run(move, 1, x, order, out, counts, backend="sim")
    padded = np.pad(x, ((0, 0), (0, 2)))
    np.testing.assert_array_equal(out[:, :16], padded[order, 3:19])
    np.testing.assert_array_equal(out[:, 16], x[order, 5])
    np.testing.assert_array_equal(counts[:4], np.bincount(order & 3, minlength=4))
    np.testing.assert_array_equal(counts[12:], np.bincount(order, minlength=12))


def test_stencil_with_offsets() -> None:
    @ct.kernel
    def smooth(x, out, N: ct.Constant[int]):
        i, zero = ct.bid(0), PaddingMode.ZERO
        left = ct.load(x, (i,), (N,), offset=-1, padding_mode=zero)
        right = ct.load(x, (i,), (N,), offset=1, padding_mode=zero)
        ct.store(out, (i,), (left + right) * 0.5)

    x, out = matrix(100), np.zeros(100, np.float32)
    run(smooth, 3, x, out, 48, backend="sim")
    padded = np.pad(x, 1)
    np.testing.assert_array_equal(out, (padded[:-2] + padded[2:]) * np.float32(0.5))


def test_a_replaced_part_before_operations_with_layouts_of_their_own() -> None:
    @ct.kernel
    def replaced(x, turned, sums, products):
        t = ct.insert(ct.load(x, (0, 0), (16, 16)), (1, 0), ct.full((8, 16), 2.0, x.dtype))
        ct.store(turned, (0, 0), ct.transpose(t))
        ct.store(sums, (0, 0), ct.cumsum(t.astype(ct.float32), 1))
        ct.store(products, (0, 0), ct.mma(t, t, ct.zeros((16, 16), ct.float32)))

    x = np.arange(256).reshape(16, 16).astype(np.float16) % 7
    turned, sums, products = np.zeros_like(x), matrix(16, 16), matrix(16, 16)
    run(replaced, 1, x, turned, sums, products, backend="sim")
    expected = np.concatenate([x[:8], np.full((8, 16), 2)]).astype(np.float64)
    np.testing.assert_array_equal(turned, expected.T)
    np.testing.assert_array_equal(sums, expected.cumsum(1))
    np.testing.assert_array_equal(products, expected @ expected)


@pytest.mark.parametrize("size", [16, 64])
def test_rounds_see_what_the_rounds_before_have_stored(size: int) -> None:
    """Their operands cannot be fetched ahead."""

    @ct.kernel
    def power(a, x, n, N: ct.Constant[int]):
        for _ in range(n):
            zero = ct.zeros((N, N), ct.float32)
            y = ct.mma(ct.load(a, (0, 0), (N, N)), ct.load(x, (0, 0), (N, N)), zero)
            ct.store(x, (0, 0), y.astype(x.dtype))

    turn = np.eye(size, dtype=np.float16)[np.random.default_rng(0).permutation(size)]
    x = (matrix(size, size) * 8).astype(np.float16)
    expected = np.linalg.matrix_power(turn.astype(int), 4) @ x.astype(np.float64)
    run(power, 1, turn, x, 4, size, backend="sim")
    np.testing.assert_array_equal(x, expected)


EPILOGUES = {
    "transposed": lambda t: ct.transpose(t),
    "with its transpose": lambda t: t + ct.transpose(t),
    "scanned": lambda t: ct.cumsum(t, 1),
    "halves": lambda t: ct.extract(t, (0, 1), (128, 64)) * ct.extract(t, (0, 0), (128, 64)),
    "regrouped": lambda t: t.reshape((64, 2, 128)).permute((1, 0, 2)).reshape((128, 128)),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_epilogues_through_shared_memory_leave_room_for_the_ring(name: str) -> None:
    epilogue = EPILOGUES[name]

    @ct.kernel
    def product(a, b, c):
        t = ct.zeros((128, 128), ct.float32)
        for k in range(ct.num_tiles(a, 1, (128, 64))):
            t = ct.mma(ct.load(a, (ct.bid(0), k), (128, 64)), ct.load(b, (k, 0), (64, 128)), t)
        ct.store(c, (ct.bid(0), 0), epilogue(t))

    a, b = np.zeros((256, 256), np.float16), np.zeros((256, 128), np.float16)
    module = product.trace(signature(product, (a, b, np.zeros((256, 128), np.float32))))
    program = tileir.compile(module, "sm_90a", launch="managed", cache=False)
    assert "tile_gpu.specialize" in program.stage("tile_gpu")


@pytest.mark.parametrize("launch", ["plain", "managed"])
@pytest.mark.parametrize("columns", [128, 256])
def test_scales_of_rows_and_columns_beside_a_residual_spill_nothing(
    columns: int, launch: Literal["plain", "managed"]
) -> None:
    @ct.kernel
    def scaled(a, b, c, residual, rows, scales, N: ct.Constant[int]):
        i, j = ct.bid(0), ct.bid(1)
        t = ct.zeros((128, N), ct.float32)
        for k in range(ct.num_tiles(a, 1, (128, 64))):
            t = ct.mma(ct.load(a, (i, k), (128, 64)), ct.load(b, (k, j), (64, N)), t)
        t = t * ct.load(rows, (i,), (128,))[:, None] * ct.load(scales, (j,), (N,))[None, :]
        ct.store(c, (i, j), (t + ct.load(residual, (i, j), (128, N))).astype(c.dtype))

    half, scale = np.zeros((272, 272), np.float16), np.zeros(272, np.float32)
    described = signature(scaled, (half, half, half, half, scale, scale, columns))
    program = tileir.compile(scaled.trace(described), "sm_90a", launch=launch, cache=False)
    assert program.cubin and program.kernels["scaled"].spill_bytes == 0
