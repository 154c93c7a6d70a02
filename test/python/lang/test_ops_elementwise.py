"""Elementwise operations against NumPy in float64, or exactly."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lang_support import run, text

import tileir.lang as ct
from tileir.lang import RoundingMode
from tileir.lang.errors import TileTypeError, TileValueError

N = 64


@ct.kernel
def apply_one(x, out, function: ct.Constant):
    ct.store(out, (0,), function(ct.load(x, (0,), (N,))))


@ct.kernel
def apply_two(x, y, out, function: ct.Constant):
    ct.store(out, (0,), function(ct.load(x, (0,), (N,)), ct.load(y, (0,), (N,))))


def floats(dtype: Any, seed: int = 0, low: float = -3.0, high: float = 3.0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, N).astype(dtype)


def integers(dtype: Any, seed: int = 0, low: int = -50, high: int = 50) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, N).astype(dtype)


UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any], float, float]] = {
    "exp": (ct.exp, np.exp, -5, 5),
    "exp2": (ct.exp2, np.exp2, -5, 5),
    "log": (ct.log, np.log, 0.1, 9),
    "log2": (ct.log2, np.log2, 0.1, 9),
    "sqrt": (ct.sqrt, np.sqrt, 0, 9),
    "rsqrt": (ct.rsqrt, lambda x: 1 / np.sqrt(x), 0.1, 9),
    "sin": (ct.sin, np.sin, -9, 9),
    "cos": (ct.cos, np.cos, -9, 9),
    "tan": (ct.tan, np.tan, -1, 1),
    "sinh": (ct.sinh, np.sinh, -3, 3),
    "cosh": (ct.cosh, np.cosh, -3, 3),
    "tanh": (ct.tanh, np.tanh, -3, 3),
    "floor": (ct.floor, np.floor, -3, 3),
    "ceil": (ct.ceil, np.ceil, -3, 3),
    "negative": (ct.negative, np.negative, -3, 3),
    "abs": (ct.abs, np.abs, -3, 3),
    "relu": (ct.relu, lambda x: np.maximum(x, 0), -3, 3),
    "sigmoid": (ct.sigmoid, lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "silu": (ct.silu, lambda x: x / (1 + np.exp(-x)), -9, 9),
    "gelu": (
        ct.gelu,
        lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
        -6,
        6,
    ),
    "gelu_tanh": (
        lambda x: ct.gelu(x, approximate="tanh"),
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        -6,
        6,
    ),
    "softmax": (ct.softmax, lambda x: np.exp(x) / np.exp(x).sum(), -6, 6),
}
TOLERANCE = {np.float16: 2e-3, np.float32: 2e-6, np.float64: 1e-14}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", UNARY)
def test_functions(name: str, dtype: type) -> None:
    function, reference, low, high = UNARY[name]
    x, out = floats(dtype, 1, low, high), np.zeros(N, dtype)
    run(apply_one, 1, x, out, function)
    expected = reference(x.astype(np.float64))
    np.testing.assert_allclose(out, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (ct.add, np.add),
    "sub": (ct.sub, np.subtract),
    "mul": (ct.mul, np.multiply),
    "truediv": (ct.truediv, np.divide),
    "floordiv": (ct.floordiv, np.floor_divide),
    "mod": (ct.mod, np.mod),
    "minimum": (ct.minimum, np.minimum),
    "maximum": (ct.maximum, np.maximum),
    "atan2": (ct.atan2, np.arctan2),
    "pow": (lambda x, y: ct.pow(ct.abs(x), y), lambda x, y: np.abs(x) ** y),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda t: t.__name__)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats(name: str, dtype: type) -> None:
    function, reference = BINARY[name]
    x, y, out = floats(dtype, 1), floats(dtype, 2), np.zeros(N, dtype)
    run(apply_two, 1, x, y, out, function)
    expected = reference(x.astype(np.float64), y.astype(np.float64))
    np.testing.assert_allclose(out, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


INTEGER: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "+": (operator.add, np.add),
    "-": (operator.sub, np.subtract),
    "*": (operator.mul, np.multiply),
    "//": (operator.floordiv, np.floor_divide),
    "%": (operator.mod, np.mod),
    "cdiv": (ct.cdiv, lambda x, y: -(-x.astype(np.int64) // y.astype(np.int64))),
    "divmod": (lambda x, y: divmod(x, y)[0] * 7 + divmod(x, y)[1], lambda x, y: x // y * 7 + x % y),
    "&": (operator.and_, np.bitwise_and),
    "|": (operator.or_, np.bitwise_or),
    "^": (operator.xor, np.bitwise_xor),
    "<<": (lambda x, y: x << (y & 3), lambda x, y: x << (y & 3)),
    ">>": (lambda x, y: x >> (y & 3), lambda x, y: x >> (y & 3)),
    "min": (lambda x, y: min(x, y), np.minimum),
    "max": (lambda x, y: max(x, y, 3), lambda x, y: np.maximum(np.maximum(x, y), 3)),
}


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("name", INTEGER)
def test_integers(name: str, dtype: type) -> None:
    function, reference = INTEGER[name]
    signed = np.issubdtype(dtype, np.signedinteger)
    x = integers(dtype, 1, -50 if signed else 0)
    y = integers(dtype, 2, 1, 50) * (
        np.where(np.arange(N) % 2, 1, -1).astype(dtype) if signed else 1
    )
    y = y.astype(dtype)
    out = np.zeros(N, dtype)
    run(apply_two, 1, x, y, out, function)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out, reference(x, y).astype(dtype))


COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_comparisons(name: str, dtype: type) -> None:
    compare = COMPARE[name]
    x, y = integers(np.int64, 1, 0, 5).astype(dtype), integers(np.int64, 2, 0, 5).astype(dtype)
    if dtype is np.float32:
        x[3] = y[5] = np.nan
    if dtype is np.uint32:
        x[4] = 2**32 - 1  # the largest, not a negative number
    out = np.zeros(N, np.bool_)
    run(apply_two, 1, x, y, out, compare)
    np.testing.assert_array_equal(out, compare(x, y))


def test_nan_and_signs() -> None:
    x = np.array([np.nan, 1, -np.inf, -0.0] * 16, np.float32)
    y = np.array([2, np.nan, np.nan, 0.0] * 16, np.float32)
    out = np.zeros(N, np.float32)
    run(apply_two, 1, x, y, out, ct.maximum)
    np.testing.assert_array_equal(out[:4], [2, 1, -np.inf, 0.0])
    run(apply_two, 1, x, y, out, lambda a, b: ct.minimum(a, b, propagate_nan=True))
    np.testing.assert_array_equal(out[:4], [np.nan, np.nan, np.nan, -0.0])
    run(apply_one, 1, x, out, ct.relu)
    np.testing.assert_array_equal(out[:4], [np.nan, 1, 0, 0])
    flags = np.zeros(N, np.bool_)
    run(apply_one, 1, x, flags, ct.isnan)
    np.testing.assert_array_equal(flags[:4], [True, False, False, False])


def test_remainders_have_the_sign_of_the_divisor() -> None:
    x = np.array([7, -7, 7, -7, 6, -6, 0, 0] * 8, np.float32)
    y = np.array([3, 3, -3, -3, 3, 3, 3, -3] * 8, np.float32)
    out = np.zeros(N, np.float32)
    run(apply_two, 1, x, y, out, operator.mod)
    np.testing.assert_array_equal(out, np.mod(x, y))
    whole = np.zeros(N, np.int32)
    run(apply_two, 1, x.astype(np.int32), y.astype(np.int32), whole, operator.mod)
    np.testing.assert_array_equal(whole, np.mod(x, y))


def test_powers() -> None:
    x, out = floats(np.float32, 3), np.zeros(N, np.float32)
    for exponent in (1, 2, 3, 4, 7, -2, 0):
        run(apply_one, 1, x, out, lambda t, n=exponent: t**n)
        np.testing.assert_allclose(out, x.astype(np.float64) ** exponent, rtol=1e-5)
    run(apply_one, 1, np.abs(x), out, lambda t: t**0.5)
    np.testing.assert_allclose(out, np.sqrt(np.abs(x)), rtol=1e-6)
    n = integers(np.int32, 4, -5, 6)
    whole = np.zeros(N, np.int32)
    run(apply_one, 1, n, whole, lambda t: t**3)
    np.testing.assert_array_equal(whole, n**3)


def test_truth_of_elements() -> None:
    """Anything but zero is true, also what an integer conversion would cut to zero."""
    x = np.array([0, 0.5, -0.25, np.nan] * 16, np.float32)
    out = np.zeros(N, np.float32)
    run(apply_one, 1, x, out, lambda t: ct.where(t, 1, 2))
    np.testing.assert_array_equal(out[:4], [2, 1, 1, 1])
    run(apply_one, 1, x, out, lambda t: t.astype(ct.bool_).astype(ct.int32))
    np.testing.assert_array_equal(out[:4], [0, 1, 1, 1])


def test_unsigned_values_that_look_negative() -> None:
    x = np.array([2**32 - 3, 5] * 32, np.uint32)
    out = np.zeros(N, np.uint32)
    run(apply_one, 1, x, out, abs)
    np.testing.assert_array_equal(out, x)
    run(apply_one, 1, x, out, lambda t: t // 2)
    np.testing.assert_array_equal(out, x // 2)
    run(apply_one, 1, x, out, lambda t: ct.maximum(t, 7))
    np.testing.assert_array_equal(out, np.maximum(x, 7))


def test_options_are_in_the_ir() -> None:
    x, out = floats(np.float32), np.zeros(N, np.float32)

    def ir(function: Callable[..., Any]) -> str:
        return text(apply_one, x, out, function)

    rounded = ir(lambda t: ct.add(t, 1, rounding_mode=RoundingMode.RZ, flush_to_zero=True))
    assert "rounding<zero> flush_to_zero" in rounded
    assert "divf" in ir(lambda t: ct.truediv(1, t, rounding_mode=RoundingMode.APPROX))
    assert "rounding<approx>" in ir(lambda t: ct.exp(t, rounding_mode=RoundingMode.APPROX))
    assert "tanh %tile :" in ir(lambda t: ct.tanh(t, rounding_mode=RoundingMode.FULL))
    assert "exp2 %tile flush_to_zero" in ir(lambda t: ct.exp2(t, flush_to_zero=True))
    assert "sqrt %tile rounding<approx>" in ir(
        lambda t: ct.sqrt(t, rounding_mode=RoundingMode.APPROX)
    )


def test_products_that_are_added_become_fma() -> None:
    x, y, out = floats(np.float32, 1), floats(np.float32, 2), np.zeros(N, np.float32)
    exact = [v.astype(np.float64) for v in (x, y)]
    for function, reference in [
        (lambda a, b: a * b + 1, lambda a, b: a * b + 1),
        (lambda a, b: 1 + a * b, lambda a, b: a * b + 1),
        (lambda a, b: a * b - b, lambda a, b: a * b - b),
        (lambda a, b: b - a * b, lambda a, b: b - a * b),
    ]:
        ir = text(apply_two, x, y, out, function)
        assert "fma" in ir and "mulf" not in ir
        run(apply_two, 1, x, y, out, function)
        # One rounding: the float64 result rounded to float32.
        np.testing.assert_array_equal(out, reference(*exact).astype(np.float32))
    different = text(apply_two, x, y, out, lambda a, b: ct.add(a * b, b, flush_to_zero=True))
    assert "fma" not in different


def test_constants_are_loose() -> None:
    x, out = integers(np.int16, 1), np.zeros(N, np.int16)
    run(apply_one, 1, x, out, lambda t: t * 2 + True)
    np.testing.assert_array_equal(out, x * 2 + 1)
    half = np.zeros(N, np.float16)
    run(apply_one, 1, x.astype(np.float16), half, lambda t: t * 2.5)
    np.testing.assert_array_equal(half, x * np.float16(2.5))
    wide = np.zeros(N, np.float32)
    run(apply_one, 1, x, wide, lambda t: t + 0.5)
    np.testing.assert_array_equal(wide, x + np.float32(0.5))
    run(apply_one, 1, x, wide, lambda t: t / 4)
    np.testing.assert_array_equal(wide, x / np.float32(4))


def test_functions_of_numbers_are_computed_by_python() -> None:
    x, out = floats(np.float32), np.zeros(N, np.float32)
    ir = text(apply_one, x, out, lambda t: t + ct.exp(0.0) + ct.sqrt(4) + max(2, 1) + ct.cdiv(7, 2))
    assert ir.count("addf") == 4 and "exp" not in ir and "sqrt" not in ir
    assert ct.cdiv(7, 2) == 4  # outside of a kernel, too


ERRORS: dict[str, tuple[Any, Callable[..., Any], type[Exception], str]] = {
    "bool": (np.bool_, lambda t: t + t, TileTypeError, "does not work on bool_"),
    "storage": (
        np.float32,
        lambda t: t.astype(ct.float8_e5m2) + 1,
        TileTypeError,
        r"float8_e5m2, which only holds data\n.*\n.*\n.*astype",
    ),
    "mixed": (
        np.float16,
        lambda t: t + t.astype(ct.bfloat16),
        TileTypeError,
        "float16 and bfloat16 do not mix",
    ),
    "range": (np.int8, lambda t: t + 300, TileValueError, "300 is out of range of int8"),
    "string": (np.int32, lambda t: t + "a", TileTypeError, "'y' must be a tile or a number"),
    "rounding of integers": (
        np.int32,
        lambda t: ct.add(t, 1, rounding_mode=RoundingMode.RZ),
        TileTypeError,
        "add rounds only floats",
    ),
    "rounding mode": (
        np.float32,
        lambda t: ct.add(t, 1, rounding_mode=RoundingMode.APPROX),
        TileTypeError,
        "add has no RoundingMode.APPROX",
    ),
    "approx of halves": (
        np.float16,
        lambda t: ct.exp(t, rounding_mode=RoundingMode.APPROX),
        TileTypeError,
        "in float32 only, not in float16",
    ),
    "flush of halves": (
        np.float16,
        lambda t: ct.add(t, 1, flush_to_zero=True),
        TileTypeError,
        "flushes subnormals to zero in float32 only",
    ),
    "nan of integers": (
        np.int32,
        lambda t: ct.maximum(t, 1, propagate_nan=True),
        TileTypeError,
        "no NaN to propagate",
    ),
    "shapes": (
        np.float32,
        lambda t: t + ct.zeros((32,), ct.float32),
        TileValueError,
        r"shapes do not broadcast: \[64\] and \[32\]",
    ),
    "division of constants": (np.int32, lambda t: t + 7 // 0, TileValueError, "by zero"),
    "negative power": (np.int32, lambda t: t**-1, TileValueError, "is no integer"),
    "shift": (np.int32, lambda t: t << 32, TileValueError, "shifts by 0 to 31 bits"),
    "bits of floats": (np.float32, lambda t: t & 1, TileTypeError, "integers and booleans"),
    "isnan": (np.int32, ct.isnan, TileTypeError, "isnan.. takes floats"),
    "gelu": (np.int32, ct.gelu, TileTypeError, "gelu.. takes floats"),
    "approximate": (
        np.float32,
        lambda t: ct.gelu(t, approximate="erf"),
        TileValueError,
        "'approximate' is",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    dtype, function, error, message = ERRORS[name]
    x, out = np.zeros(N, dtype), np.zeros(N, dtype)
    with pytest.raises(error, match=message):
        text(apply_one, x, out, function)
