"""Floating-point operations in the IR: attributes reach the right arithmetic.

The arithmetic itself is tested in test_interp_floats.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from interp_support import bf16, f32, one, type_of

F = np.float32
X = np.array([1.5, -2.25, 0.0, -0.0, np.inf, -np.inf, np.nan, 3.0e-39], F)
Y = np.array([2.0, 0.5, -3.0, 4.0, 1.0, np.inf, 1.0, 1.0], F)


def same(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    nan = np.isnan(want)
    assert (np.isnan(got) == nan).all()
    assert (got[~nan] == want[~nan]).all()
    assert (np.signbit(got[~nan]) == np.signbit(want[~nan])).all()


def unary(text: str, x: np.ndarray) -> np.ndarray:
    t = f"tile<{x.size}x{type_of(x)}>"
    return one(f"%r0 = {text} : {t}", [x], x.shape, x.dtype)


def binary(text: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return unary_of(text, x, [x, y])


def unary_of(text: str, like: np.ndarray, inputs: list[np.ndarray]) -> np.ndarray:
    return one(f"%r0 = {text} : tile<{like.size}x{type_of(like)}>", inputs, like.shape, like.dtype)


@pytest.mark.parametrize("dtype", (np.float16, bf16, np.float32, np.float64))
@pytest.mark.parametrize(
    "text,truth",
    [
        ("addf %x0, %x1", np.add),
        ("subf %x0, %x1", np.subtract),
        ("mulf %x0, %x1", np.multiply),
        ("divf %x0, %x1", np.divide),
        ("remf %x0, %x1", np.fmod),
    ],
)
def test_arithmetic_agrees_with_float64(text, truth, dtype):
    x, y = X[:6].astype(dtype), Y[:6].astype(dtype)
    x, y = np.resize(x, 8), np.resize(y, 8)
    with np.errstate(all="ignore"):
        want = truth(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    same(binary(text, x, y), want)


@pytest.mark.parametrize(
    "mode,want",
    [
        ("nearest_even", [1.0, -1.0]),
        ("zero", [1.0, -1.0]),
        ("negative_inf", [1.0, -1.0 - 2.0**-23]),
        ("positive_inf", [1.0 + 2.0**-23, -1.0]),
    ],
)
def test_rounding_modes(mode, want):
    one_, tiny = np.array([1.0, -1.0], F), np.array([2.0**-40, -(2.0**-40)], F)
    same(binary(f"addf %x0, %x1 rounding<{mode}>", one_, tiny), want)
    same(binary(f"subf %x0, %x1 rounding<{mode}>", one_, -tiny), want)
    root = one_ + tiny  # 1 after rounding
    product = unary_of(f"fma %x0, %x1, %x2 rounding<{mode}>", root, [root, one_ * one_, tiny])
    same(product, want)


def test_multiplication_division_and_root_take_a_mode():
    third = binary("divf %x0, %x1 rounding<zero>", f32([1, -1]), f32([3, 3]))
    assert (np.abs(third.astype(np.float64)) < 1 / 3).all()
    up = binary(
        "mulf %x0, %x1 rounding<positive_inf>", f32([1 + 2.0**-23] * 2), f32([1 + 2.0**-23] * 2)
    )
    assert (up.astype(np.float64) > (1 + 2.0**-23) ** 2).all()
    down = unary("sqrt %x0 rounding<negative_inf>", f32([2.0, 3.0]))
    assert (down.astype(np.float64) ** 2 < [2.0, 3.0]).all()


def test_flush_to_zero():
    tiny = np.array([1e-40, -1e-40], F)
    same(binary("addf %x0, %x1 flush_to_zero", tiny, tiny), [0.0, -0.0])
    same(
        binary("mulf %x0, %x1 flush_to_zero", f32([2.0**-100, -(2.0**-100)]), f32([2.0**-40] * 2)),
        [0.0, -0.0],
    )
    same(binary("maxf %x0, %x1 flush_to_zero", tiny, tiny), [0.0, -0.0])
    same(unary("sqrt %x0 flush_to_zero", np.abs(tiny)), [0.0, 0.0])
    assert (binary("addf %x0, %x1", tiny, tiny) != 0).all()


def test_flush_to_zero_looks_before_rounding():
    """(1 - 2^-24) * 2^-126 would round up to the smallest normal number, 2^-126."""
    below, one = f32([1 - 2.0**-24, 2.0**-24 - 1]), f32([2.0**-126] * 2)
    same(binary("mulf %x0, %x1", below, one), [2.0**-126, -(2.0**-126)])
    same(binary("mulf %x0, %x1 flush_to_zero", below, one), [0.0, -0.0])
    same(binary("mulf %x0, %x1 rounding<positive_inf> flush_to_zero", below, one), [0.0, -0.0])
    zero = f32([0.0, -0.0])
    same(unary_of("fma %x0, %x1, %x2 flush_to_zero", below, [below, one, zero]), [0.0, -0.0])


def test_fma_rounds_once():
    a = np.array([1 + 2.0**-12], F)
    c = np.array([-(1 + 2.0**-11)], F)
    same(unary_of("fma %x0, %x1, %x2", a, [a, a, c]), [2.0**-24])


def test_maximum_and_minimum():
    a = f32([1, np.nan, 0.0, -0.0])
    b = f32([2, 5, -0.0, 0.0])
    same(binary("maxf %x0, %x1", a, b), [2, 5, 0.0, 0.0])
    same(binary("minf %x0, %x1", a, b), [1, 5, -0.0, -0.0])
    same(binary("maxf %x0, %x1 propagate_nan", a, b), [2, np.nan, 0.0, 0.0])


def test_sign_and_integral_operations():
    x = f32([-0.0, 1.5, -1.5, -np.inf])
    same(unary("absf %x0", x), [0.0, 1.5, 1.5, np.inf])
    same(unary("negf %x0", x), [0.0, -1.5, 1.5, np.inf])
    same(unary("ceil %x0", x), [-0.0, 2.0, -1.0, -np.inf])
    same(unary("floor %x0", x), [-0.0, 1.0, -2.0, -np.inf])
    nan = np.array([0xFFC00000], np.uint32).view(F)
    assert not np.signbit(unary("absf %x0", nan)).any()
    assert np.signbit(unary("negf %x0", np.abs(nan))).all()


FUNCTIONS = {
    "exp %x0": math.exp,
    "exp %x0 rounding<approx>": math.exp,
    "exp2 %x0": lambda v: 2.0**v,
    "log %x0": math.log,
    "log2 %x0": math.log2,
    "sin %x0": math.sin,
    "cos %x0": math.cos,
    "tan %x0": math.tan,
    "sinh %x0": math.sinh,
    "cosh %x0": math.cosh,
    "tanh %x0": math.tanh,
    "tanh %x0 rounding<approx>": math.tanh,
    "rsqrt %x0": lambda v: v**-0.5,
    "sqrt %x0 rounding<approx>": math.sqrt,
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions(text):
    x = np.array([0.25, 1.0, 2.5, 7.75], F)
    want = np.array([FUNCTIONS[text](float(v)) for v in x])
    got = unary(text, x).astype(np.float64)
    assert (np.abs(got - want) <= np.abs(want) * 2.0**-23).all()


@pytest.mark.parametrize("dtype", (np.float16, bf16))
def test_functions_of_half_types_round_once(dtype):
    x = np.array([0.25, 1.0, 2.5, 7.75], dtype)
    want = np.exp(x.astype(np.float64))
    assert (unary("exp %x0", x) == want.astype(np.float32).astype(dtype)).all()


def test_two_argument_functions():
    y, x = f32([1.0, -1.0, 0.0, -0.0]), f32([-1.0, -1.0, -1.0, -1.0])
    want = [math.atan2(float(a), float(b)) for a, b in zip(y, x, strict=True)]
    assert np.allclose(binary("atan2 %x0, %x1", y, x), want, rtol=2e-7)
    same(
        binary("fpowf %x0, %x1", f32([2, 9, -8, 0]), f32([10, 0.5, 3, -1])), [1024, 3, -512, np.inf]
    )
    n = np.array([3, -2, 0, 1], np.int32)
    got = one(
        "%r0 = fpowi %x0, %x1 : tile<4xf32>, tile<4xi32>", [f32([2, 2, np.nan, -5]), n], (4,), F
    )
    same(got, [8, 0.25, 1, -5])


def test_approximate_division():
    same(
        binary("divf %x0, %x1 rounding<approx>", f32([1, np.inf]), f32([2.0**127] * 2)), [0, np.nan]
    )
    same(binary("divf %x0, %x1 rounding<full>", f32([1, 6]), f32([2.0**127, 3])), [2.0**-127, 2])


PREDICATES = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}


@pytest.mark.parametrize("dtype", (np.float32, bf16))
@pytest.mark.parametrize("ordering", ("ordered", "unordered"))
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons(predicate, ordering, dtype):
    a = np.array([1, 2, 1, np.nan, np.nan, 0.0, np.inf, -1], F).astype(dtype)
    b = np.array([2, 1, 1, 1, np.nan, -0.0, np.inf, np.nan], F).astype(dtype)
    t = type_of(a)
    got = one(
        f"%r0 = cmpf {predicate} {ordering} %x0, %x1 : tile<8x{t}> -> tile<8xi1>",
        [a, b],
        (8,),
        bool,
    )
    nan = np.isnan(a) | np.isnan(b)
    plain = PREDICATES[predicate](a.astype(float), b.astype(float))
    assert (got == np.where(nan, ordering == "unordered", plain)).all()


@pytest.mark.parametrize("dtype", (np.float16, bf16, np.float32, np.float64))
def test_rank_zero(dtype):
    """Scalars take another path through NumPy."""
    t = type_of(np.zeros(0, dtype))
    body = f"""
    %a = reshape %x0 : tile<1x{t}> -> tile<{t}>
    %b = addf %a, %a : tile<{t}>
    %c = mulf %b, %a rounding<zero> : tile<{t}>
    %d = maxf %c, %a : tile<{t}>
    %e = exp2 %d : tile<{t}>
    %f = fma %e, %a, %b : tile<{t}>
    %m = cmpf less_than ordered %f, %b : tile<{t}> -> tile<i1>
    %g = select %m, %b, %f : tile<i1>, tile<{t}>
    %r0 = reshape %g : tile<{t}> -> tile<1x{t}>"""
    x = np.array([1.5], dtype)
    a = 1.5
    want = 2.0 ** (2 * a * a) * a + 2 * a
    assert one(body, [x], (1,), dtype).astype(float)[0] == pytest.approx(want, rel=2.0**-7)
