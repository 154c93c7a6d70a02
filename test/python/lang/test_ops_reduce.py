"""Reductions, scans and counting, against NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lang_support import run, text

import tileir.lang as ct
from tileir.lang import RoundingMode
from tileir.lang.errors import TileTypeError, TileValueError


@ct.kernel
def apply(x, out, function: ct.Constant, shape: ct.Constant):
    ct.store(out, (0,) * out.ndim, function(ct.load(x, (0,) * x.ndim, shape)))


def result(function: Callable[..., Any], x: np.ndarray, like: np.ndarray) -> np.ndarray:
    out = np.zeros(like.shape, like.dtype)
    run(apply, 1, x, out, function, x.shape)
    return out


X = np.random.default_rng(7).standard_normal((4, 8, 2)).astype(np.float32)


def shifted_sum(t: Any, shift: Any) -> Any:
    return ct.reduce(t, 1, lambda a, b: a + b + shift, 0.0)


N = np.random.default_rng(8).integers(-9, 9, (4, 8, 2)).astype(np.int32)
# How much one operation of a reduction may round; sums have 64 terms at most.
TOLERANCE = 64 * 2.0**-24

FLOATS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda t: ct.sum(t, 1), lambda x: x.sum(1)),
    "sum of all": (lambda t: ct.sum(t)[None], lambda x: x.sum()[None]),
    "sum of two axes": (
        lambda t: ct.sum(t, (0, -1), keepdims=True),
        lambda x: x.sum((0, 2), keepdims=True),
    ),
    "prod": (lambda t: ct.prod(t, 0), lambda x: x.prod(0)),
    "max": (lambda t: ct.max(t, axis=1, keepdims=True), lambda x: x.max(1, keepdims=True)),
    "min": (lambda t: ct.min(t, 2), lambda x: x.min(2)),
    "cumsum": (lambda t: ct.cumsum(t, 1), lambda x: x.cumsum(1)),
    "cumsum reversed": (
        lambda t: ct.cumsum(t, 1, reverse=True),
        lambda x: x[:, ::-1].cumsum(1)[:, ::-1],
    ),
    "cumprod": (lambda t: ct.cumprod(t), lambda x: x.cumprod(0)),
    "reduce": (lambda t: ct.reduce(t, 1, lambda a, b: a + b, 0.0), lambda x: x.sum(1)),
    "reduce by a name": (lambda t: ct.reduce(t, 1, operator.mul, 1), lambda x: x.prod(1)),
    "scan": (
        lambda t: ct.scan(t, 1, lambda a, b: max(a, b), float("-inf")),
        lambda x: np.maximum.accumulate(x, 1),
    ),
    "softmax": (
        lambda t: ct.softmax(t, axis=1),
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    ),
    "captures": (
        lambda t: shifted_sum(t, ct.bid(0)),
        lambda x: x.sum(1),
    ),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    function, reference = FLOATS[name]
    expected = reference(X.astype(np.float64))
    got = result(function, X, expected.astype(np.float32))
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE)


INTEGERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda t: ct.sum(t, (0, 1)), lambda x: x.sum((0, 1))),
    "max": (lambda t: ct.max(t, 0), lambda x: x.max(0)),
    "argmax": (lambda t: ct.argmax(t, 1), lambda x: x.argmax(1)),
    "argmin": (lambda t: ct.argmin(t, 1, keepdims=True), lambda x: x.argmin(1, keepdims=True)),
    "argmax of all": (lambda t: ct.argmax(t)[None], lambda x: np.array([x.argmax()])),
    "count": (lambda t: ct.sum(t > 3, 1), lambda x: (x > 3).sum(1)),
    "pairs": (
        lambda t: ct.reduce((t, t * 2), 1, lambda a, b, c, d: (a + c, max(b, d)), (0, -100))[1],
        lambda x: (x * 2).max(1),
    ),
    "scan of pairs": (
        lambda t: ct.scan((t, t), 1, lambda a, b, c, d: (a + c, min(b, d)), (0, 100))[1],
        lambda x: np.minimum.accumulate(x, 1),
    ),
    "histogram": (
        lambda t: ct.histogram(t, 8),
        lambda x: np.bincount(x[(x >= 0) & (x < 8)].reshape(-1), minlength=8),
    ),
    "histogram with a mask": (
        lambda t: ct.histogram(t, 4, mask=t < 2),
        lambda x: np.bincount(x[(x >= 0) & (x < 2)].reshape(-1), minlength=4),
    ),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    function, reference = INTEGERS[name]
    expected = reference(N).astype(np.int32)
    np.testing.assert_array_equal(result(function, N, expected), expected)


def test_unsigned_extrema() -> None:
    x = np.array([3, 2**31 + 5, 7, 0], np.uint32)
    like = np.zeros(1, np.uint32)
    assert result(lambda t: ct.max(t)[None], x, like)[0] == 2**31 + 5
    assert result(lambda t: ct.min(t)[None], x, like)[0] == 0


def test_nan() -> None:
    x = np.array([[1, np.nan, 3, 2], [np.nan] * 4, [-np.inf] * 4, [5, 5, np.nan, 5]], np.float32)
    ignored = result(lambda t: ct.max(t, 1), x, np.zeros(4, np.float32))
    # A row of nothing but NaN has no largest number.
    np.testing.assert_array_equal(ignored[[0, 2, 3]], [3, -np.inf, 5])
    kept = result(lambda t: ct.max(t, 1, propagate_nan=True), x, np.zeros(4, np.float32))
    np.testing.assert_array_equal(kept, [np.nan, np.nan, -np.inf, np.nan])
    first = result(lambda t: ct.argmax(t, 1), x, np.zeros(4, np.int32))
    np.testing.assert_array_equal(first, [2, 0, 0, 0])
    nans = result(lambda t: ct.argmax(t, 1, propagate_nan=True), x, np.zeros(4, np.int32))
    np.testing.assert_array_equal(nans, [1, 0, 0, 2])
    low = result(lambda t: ct.argmin(t, 1, propagate_nan=True), x, np.zeros(4, np.int32))
    np.testing.assert_array_equal(low, [1, 0, 0, 2])


def test_options() -> None:
    sums = text(apply, X, X, lambda t: ct.sum(t, rounding_mode=RoundingMode.RZ), (4, 8, 2))
    assert "addf %reduce_lhs, %reduce_rhs rounding<zero>" in sums
    largest = text(apply, X, X, lambda t: ct.max(t, flush_to_zero=True), (4, 8, 2))
    assert "maxf %reduce_lhs, %reduce_rhs flush_to_zero" in largest


def test_softmax_does_not_overflow() -> None:
    x = np.array([[1000, 1001, 999, 1000]], np.float32)
    got = result(lambda t: ct.softmax(t), x, x)
    e = np.exp(x.astype(np.float64) - 1001)
    np.testing.assert_allclose(got, e / e.sum(), rtol=1e-6)


def loads(a: Any, b: Any) -> Any:
    ct.print(a)
    return a + b


ERRORS: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {
    "axis": (lambda t: ct.sum(t, 3), TileValueError, "out of range for 3 dimensions"),
    "axis twice": (lambda t: ct.sum(t, (0, 0)), TileValueError, "names an axis twice"),
    "two axes": (lambda t: ct.argmax(t, (0, 1)), TileTypeError, "takes one axis"),
    "tuple": (
        lambda t: ct.reduce((t, t), 0, lambda a, b, c, d: a + c, (0, 0)),
        TileTypeError,
        "must give a tuple of 2, not float32",
    ),
    "dtype": (
        lambda t: ct.reduce(t, 0, lambda a, b: (a + b).astype(ct.float64), 0),
        TileTypeError,
        "the result of the function of reduce.. is float64",
    ),
    "identity": (
        lambda t: ct.reduce(t.astype(ct.int32), 0, lambda a, b: a + b, 0.5),
        TileTypeError,
        "the identity 0.5 does not become int32",
    ),
    "identities": (lambda t: ct.reduce(t, 0, lambda a, b: a, (0, 0)), TileTypeError, "1 numbers"),
    "effects": (
        lambda t: ct.reduce(t, 0, loads, 0),
        TileTypeError,
        "must not load, store or print",
    ),
    "function": (lambda t: ct.reduce(t, 0, 3, 0), TileTypeError, "'func' must be a function"),
    "histogram": (lambda t: ct.histogram(t, 4), TileTypeError, "histogram.. counts integers"),
    "bins": (
        lambda t: ct.histogram(t.astype(ct.int8), 1000),
        TileValueError,
        "'bins' must be positive and within int8",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    function, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        text(apply, X, X, function, (4, 8, 2))
