"""Matrix products and what follows them, against NumPy in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct
from tileir.lang.errors import TileTypeError, TileValueError


@ct.kernel
def apply(x, y, out, function: ct.Constant, xs: ct.Constant, ys: ct.Constant):
    a = ct.load(x, (0,) * x.ndim, xs)
    b = ct.load(y, (0,) * y.ndim, ys)
    ct.store(out, (0,) * out.ndim, function(a, b))


def result(function: Callable[..., Any], x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    run(apply, 1, x, y, out, function, x.shape, y.shape)


def operands(dtype: Any, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(5)
    # Small whole numbers: products and sums are exact in every accumulator.
    return [random.integers(-2, 3, shape).astype(dtype) for shape in shapes]


def zeros(shape: tuple[int, ...], dtype: Any) -> Callable[[], Any]:
    return lambda: ct.zeros(shape, dtype)


MMA = [
    (np.float16, ct.float16, np.float16),
    (np.float16, ct.float32, np.float32),
    (ml_dtypes.bfloat16, ct.float32, np.float32),
    (np.float32, ct.float32, np.float32),
    (np.float64, ct.float64, np.float64),
    (ml_dtypes.float8_e4m3fn, ct.float16, np.float16),
    (ml_dtypes.float8_e5m2, ct.float32, np.float32),
    (np.int8, ct.int32, np.int32),
    (np.uint8, ct.int32, np.int32),
]


@pytest.mark.parametrize(("dtype", "acc", "out"), MMA)
def test_mma(dtype: Any, acc: Any, out: Any) -> None:
    x, y = operands(dtype, (16, 32), (32, 8))
    if dtype is np.uint8:
        x, y = abs(x.astype(np.int8)).astype(np.uint8), abs(y.astype(np.int8)).astype(np.uint8)
    got = np.zeros((16, 8), out)
    result(lambda a, b: ct.mma(a, b, ct.full((16, 8), 3, acc)), x, y, got)
    np.testing.assert_array_equal(got, x.astype(np.float64) @ y.astype(np.float64) + 3)


def test_mma_of_signed_and_unsigned() -> None:
    x, y = operands(np.int8, (16, 32), (32, 8))
    got = np.zeros((16, 8), np.int32)
    big = (y.astype(np.int16) + 200).astype(np.uint8)
    result(lambda a, b: ct.mma(a, b, ct.zeros((16, 8), ct.int32)), x, big, got)
    np.testing.assert_array_equal(got, x.astype(np.int64) @ big.astype(np.int64))


def test_batches_broadcast() -> None:
    x, y = operands(np.float16, (4, 16, 32), (1, 32, 8))
    got = np.zeros((4, 16, 8), np.float32)
    result(lambda a, b: ct.mma(a, b, ct.zeros((4, 16, 8), ct.float32)), x, y, got)
    np.testing.assert_array_equal(got, x.astype(np.float64) @ y.astype(np.float64))


MATMUL = {
    "2-D": ((16, 32), (32, 8)),
    "matrix and vector": ((16, 32), (32,)),
    "vector and matrix": ((32,), (32, 8)),
    "batched": ((2, 16, 32), (2, 32, 8)),
    "batch and matrix": ((2, 16, 32), (32, 8)),
    "batch and vector": ((2, 16, 32), (32,)),
    "vector and batch": ((32,), (2, 32, 8)),
}


@pytest.mark.parametrize("name", MATMUL)
def test_matmul(name: str) -> None:
    x, y = operands(np.float16, *MATMUL[name])
    expected = np.matmul(x.astype(np.float64), y.astype(np.float64))
    got = np.zeros(expected.shape, np.float16)
    result(lambda a, b: a @ b, x, y, got)
    np.testing.assert_array_equal(got, expected)


def test_matmul_promotes_and_wraps() -> None:
    x, y = operands(np.float16, (16, 32), (32, 8))
    got = np.zeros((16, 8), np.float32)
    result(lambda a, b: ct.matmul(a, b), x, y.astype(np.float32), got)
    np.testing.assert_array_equal(got, x.astype(np.float64) @ y.astype(np.float64))
    n, m = operands(np.int8, (16, 32), (32, 8))
    small = np.zeros((16, 8), np.int8)
    result(lambda a, b: a @ b, n * 50, m, small)
    np.testing.assert_array_equal(small, ((n * 50).astype(np.int32) @ m).astype(np.int8))


def test_scaled_products() -> None:
    e8m0 = ml_dtypes.float8_e8m0fnu

    @ct.kernel
    def scaled(x, y, s, t, out):
        a, b = ct.load(x, (0, 0), (16, 64)), ct.load(y, (0, 0), (64, 16))
        s, t = ct.load(s, (0, 0), (16, 2)), ct.load(t, (0, 0), (2, 16))
        ct.store(out, (0, 0), ct.mma_scaled(a, s, b, t, ct.ones((16, 16), ct.float32)))

    x, y = operands(ml_dtypes.float8_e4m3fn, (16, 64), (64, 16))
    s, t = (np.exp2(operands(np.float32, (16, 2), (2, 16))[k]).astype(e8m0) for k in (0, 1))
    out = np.zeros((16, 16), np.float32)
    run(scaled, 1, x, y, s, t, out)
    wide = x.astype(np.float64) * np.repeat(s.astype(np.float64), 32, 1)
    other = y.astype(np.float64) * np.repeat(t.astype(np.float64), 32, 0)
    np.testing.assert_array_equal(out, wide @ other + 1)


def test_fast_accumulation_is_in_the_ir() -> None:
    x, y = operands(ml_dtypes.float8_e4m3fn, (16, 32), (32, 8))
    fast = lambda a, b: ct.mma(a, b, ct.zeros((16, 8), ct.float32), use_fast_acc=True)  # noqa: E731
    out = np.zeros((16, 8), np.float32)
    assert "fast_acc" in text(apply, x, y, out, fast, x.shape, y.shape)


def gelu(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


EPILOGUES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "plain": (lambda a, b: ct.dot(a, b), lambda p: p),
    "bias": (
        lambda a, b: ct.dot(a, b, bias=ct.arange(8, dtype=ct.float32)),
        lambda p: p + np.arange(8),
    ),
    "bias along rows": (
        lambda a, b: ct.dot(a, b, bias=ct.arange(16, dtype=ct.float32)[:, None]),
        lambda p: p + np.arange(16)[:, None],
    ),
    "all": (
        lambda a, b: ct.dot(
            a,
            b,
            ct.ones((16, 8), ct.float32),
            scale=0.25,
            bias=ct.arange(8, dtype=ct.float16),
            activation="gelu",
            residual=ct.full((16, 8), 2, ct.float16),
            out_dtype=ct.float32,
        ),
        lambda p: gelu((p + 1) * 0.25 + np.arange(8)) + 2,
    ),
    "own activation": (
        lambda a, b: ct.dot(a, b, activation=lambda t: ct.where(t > 0, t, t * 0.5)),
        lambda p: np.where(p > 0, p, p * 0.5),
    ),
    "after a loop": (
        lambda a, b: ct.epilogue(
            ct.mma(a, b, ct.zeros((16, 8), ct.float32)), activation="relu", scale=3.0
        ),
        lambda p: np.maximum(p * 3, 0),
    ),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_epilogues(name: str) -> None:
    function, reference = EPILOGUES[name]
    x, y = operands(np.float16, (16, 32), (32, 8))
    out = np.zeros((16, 8), np.float32)
    result(function, x, y, out)
    expected = reference(x.astype(np.float64) @ y.astype(np.float64))
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-5)


def test_integers_are_scaled_as_floats() -> None:
    x, y = operands(np.int8, (16, 32), (32, 8))
    out = np.zeros((16, 8), np.float16)
    result(lambda a, b: ct.dot(a, b, scale=0.5, out_dtype=ct.float16), x, y, out)
    np.testing.assert_array_equal(out, (x.astype(np.float64) @ y) / 2)


def test_tiles_that_are_no_powers_of_two() -> None:
    x, y = operands(np.float16, (48, 80), (80, 24))
    out = np.zeros((48, 24), np.float32)
    multiply = lambda a, b: ct.dot(a, b, activation="relu")  # noqa: E731
    assert "cuda_tile.extended" in text(apply, x, y, out, multiply, x.shape, y.shape)
    result(multiply, x, y, out)
    np.testing.assert_array_equal(out, np.maximum(x.astype(np.float64) @ y.astype(np.float64), 0))


ERRORS: dict[str, tuple[Any, Callable[..., Any], type[Exception], str]] = {
    "dtypes": (
        np.float16,
        lambda a, b: ct.mma(a, b.astype(ct.bfloat16), ct.zeros((16, 8), ct.float32)),
        TileTypeError,
        "'x' is float16 and 'y' is bfloat16: operands of a product must have one dtype",
    ),
    "accumulator": (
        ml_dtypes.bfloat16,
        lambda a, b: ct.mma(a, b, ct.zeros((16, 8), ct.float16)),
        TileTypeError,
        "products of bfloat16 accumulate in float32, 'acc' is float16",
    ),
    "integers": (
        np.int32,
        lambda a, b: ct.mma(a, b, ct.zeros((16, 8), ct.int32)),
        TileTypeError,
        "'x' is int32, products take float16",
    ),
    "shapes": (
        np.float16,
        lambda a, b: ct.mma(a, a, ct.zeros((16, 8), ct.float32)),
        TileValueError,
        r"\[16, 32\] and \[16, 32\] cannot be multiplied",
    ),
    "accumulator shape": (
        np.float16,
        lambda a, b: ct.mma(a, b, ct.zeros((8, 8), ct.float32)),
        TileValueError,
        r"'acc' must have the shape of the product, \[16, 8\]",
    ),
    "fast": (
        np.float16,
        lambda a, b: ct.mma(a, b, ct.zeros((16, 8), ct.float32), use_fast_acc=True),
        TileTypeError,
        "use_fast_acc is for 8-bit floats",
    ),
    "number": (
        np.float16,
        lambda a, b: ct.mma(a, b, 0.0),  # type: ignore[arg-type]
        TileTypeError,
        "'acc' must be a tile",
    ),
    "activation": (
        np.float16,
        lambda a, b: ct.dot(a, b, activation="mish"),
        TileValueError,
        "there is no activation 'mish', only",
    ),
    "bias": (
        np.float16,
        lambda a, b: ct.dot(a, b, bias=ct.zeros((16,), ct.float32)),
        TileValueError,
        "do not broadcast",
    ),
    "scales": (
        ml_dtypes.float8_e4m3fn,
        lambda a, b: ct.mma_scaled(
            a,
            ct.ones((16, 2), ct.float8_e8m0fnu),
            b,
            ct.ones((2, 8), ct.float8_e8m0fnu),
            ct.zeros((16, 8), ct.float32),
        ),
        TileValueError,
        "32 elements of float8_e4m3fn share a scale",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    dtype, function, error, message = ERRORS[name]
    x, y = operands(dtype, (16, 32), (32, 8))
    with pytest.raises(error, match=message):
        text(apply, x, y, np.zeros((16, 8), np.float32), function, x.shape, y.shape)


def test_an_epilogue_compiles() -> None:
    x, y = operands(np.float16, (64, 32), (32, 64))

    def fused(a: Any, b: Any) -> Any:
        return ct.dot(a, b, bias=ct.arange(64, dtype=ct.float32), activation="gelu")

    module = tileir.parse(
        text(apply, x, y, np.zeros((64, 64), np.float32), fused, x.shape, y.shape)
    )
    assert "wgmma" in tileir.compile(module).ptx
