"""Reductions of which a thread holds many results: lanes and warps share them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct


@ct.kernel
def reduced(x, out, function: ct.Constant, shape: ct.Constant):
    ct.store(out, (0,) * out.ndim, function(ct.load(x, (0,) * x.ndim, shape)).astype(out.dtype))


def small(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Small integers, of which every sum is exact; the same ones stand in many places."""
    return np.random.default_rng(sum(shape)).integers(-2, 3, shape).astype(dtype)


Case = tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]
FUNCTIONS: dict[str, Case] = {
    "sum": (lambda t: ct.sum(t, 0), lambda x: x.sum(0)),
    "max": (lambda t: ct.max(t, 0), lambda x: x.max(0)),
    # Combiners that do not commute, of two operands.
    "argmax": (lambda t: ct.argmax(t, 0), lambda x: x.argmax(0)),
    "argmin": (lambda t: ct.argmin(t, 0), lambda x: x.argmin(0)),
    # Used beside their source: all threads of a column need its result.
    "less the sum": (
        lambda t: t - ct.sum(t, 0, keepdims=True),
        lambda x: x - x.sum(0, keepdims=True),
    ),
    "less the row's sum": (
        lambda t: t - ct.sum(t, 1, keepdims=True),
        lambda x: x - x.sum(1, keepdims=True),
    ),
    "in turn": (lambda t: ct.sum(ct.sum(t, 0), 0)[None], lambda x: x.sum()[None]),
    "computed with": (
        lambda t: ct.sum(t, 0) * 2 + ct.max(t, 0),
        lambda x: x.sum(0) * 2 + x.max(0),
    ),
}
SHAPES = [(64, 64), (256, 16), (16, 512), (32, 48), (128, 128)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_blocked_tiles(name: str, shape: tuple[int, int]) -> None:
    function, reference = FUNCTIONS[name]
    x = small(shape)
    want = reference(x.astype(np.float64))
    out = np.full(want.shape, 77, np.float32)
    run(reduced, 1, x, out, function, shape, backend="sim")
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float16, np.float64, ml_dtypes.bfloat16])
def test_types(dtype: Any) -> None:
    x = small((64, 64), dtype)
    out = np.full(64, 77, dtype)
    run(reduced, 1, x, out, lambda t: ct.sum(t, 0), (64, 64), backend="sim")
    np.testing.assert_array_equal(out.astype(np.float64), x.astype(np.float64).sum(0))
    places = np.full(64, 77, np.int32)
    run(reduced, 1, x, places, lambda t: ct.argmax(t, 0), (64, 64), backend="sim")
    np.testing.assert_array_equal(places, x.astype(np.float64).argmax(0))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_dimensions(axis: int) -> None:
    x = small((8, 16, 32))
    want = x.astype(np.float64).sum(axis)
    out = np.full(want.shape, 77, np.float32)
    run(reduced, 1, x, out, lambda t: ct.sum(t, axis), x.shape, backend="sim")
    np.testing.assert_array_equal(out, want)


def test_sums_carried_by_a_loop() -> None:
    @ct.kernel
    def long_columns(x, out):
        total = ct.zeros((64,), ct.float32)
        for i in range(4):
            total = total + ct.sum(ct.load(x, (i, ct.bid(0)), (32, 64)), 0)
        ct.store(out, (ct.bid(0),), total)

    x, out = small((128, 128)), np.full(128, 77, np.float32)
    run(long_columns, 2, x, out, backend="sim")
    np.testing.assert_array_equal(out, x.astype(np.float64).sum(0))


# ---- of accumulators ----------------------------------------------------------------------------


def _less_maximum(acc: Any) -> tuple[Any, Any]:
    top = ct.max(acc, 0, keepdims=True)
    return acc - top, top


def _with_sum(acc: Any) -> tuple[Any, Any]:
    return acc, ct.sum(acc, 0, keepdims=True)


def _with_place_of_maximum(acc: Any) -> tuple[Any, Any]:
    return acc, ct.argmax(acc, 0, keepdims=True)


EPILOGUES: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], tuple[Any, Any]]]] = {
    "less the maximum": (
        _less_maximum,
        lambda y: (y - y.max(0, keepdims=True), y.max(0, keepdims=True)),
    ),
    "with the sum": (_with_sum, lambda y: (y, y.sum(0, keepdims=True))),
    "with the place": (_with_place_of_maximum, lambda y: (y, y.argmax(0)[None])),
}


@ct.kernel
def product(a, b, out, line, epilogue: ct.Constant, shape: ct.Constant):
    i, j = ct.bid(0), ct.bid(1)
    m, n, k = shape
    acc = ct.zeros((m, n), ct.float32)
    for step in range(ct.num_tiles(a, 1, (m, k))):
        acc = ct.mma(ct.load(a, (i, step), (m, k)), ct.load(b, (step, j), (k, n)), acc)
    result, of_columns = epilogue(acc)
    ct.store(line, (i, j), of_columns.astype(line.dtype))
    ct.store(out, (i, j), result.astype(out.dtype))


def _operands(m: int, n: int, k: int) -> list[np.ndarray]:
    bf16 = ml_dtypes.bfloat16
    line = np.full((1, n), 77, np.float32)
    return [small((m, k), bf16), small((k, n), bf16), np.full((m, n), 77, np.float32), line]


@pytest.mark.parametrize("shape", [(128, 256), (256, 128), (128, 64), (64, 256)], ids=str)
@pytest.mark.parametrize("name", EPILOGUES)
def test_accumulators(name: str, shape: tuple[int, int]) -> None:
    """Of wgmma: rows of a column lie in eight lanes of all warps."""
    epilogue, reference = EPILOGUES[name]
    a, b, out, line = _operands(*shape, 128)
    run(product, 1, a, b, out, line, epilogue, (*shape, 64), backend="sim")
    want, of_columns = reference(a.astype(np.float64) @ b.astype(np.float64))
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(line, of_columns)


@pytest.mark.parametrize("launch", ["plain", "managed"])
@pytest.mark.parametrize("name", EPILOGUES)
def test_accumulators_stay_in_registers(name: str, launch: Literal["plain", "managed"]) -> None:
    """Of 128x256, which leave few: 64 columns of a thread are shared out by 32 + 16 + 8 exchanges
    (of one value, or of two), in place of 192."""
    epilogue, _ = EPILOGUES[name]
    ir = text(product, *_operands(128, 256, 128), epilogue, (128, 256, 64))
    program = tileir.compile(ir, "sm_90a", launch=launch, isolate=False, cache=False)
    assert program.cubin
    assert program.kernels["product"].spill_bytes == 0
    exchanges = program.ptx.count("shfl.sync.bfly")
    assert exchanges == 56 * (2 if name == "with the place" else 1)
