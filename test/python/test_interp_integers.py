"""Integer arithmetic and int-float conversion against Python integers and exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from rational import round_rational

from tileir.interp.numerics import int_float, integers
from tileir.interp.numerics.formats import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    IntFormat,
)

FORMATS = (I1, I8, I16, I32, I64)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def wrap(value: int, fmt: IntFormat, signed: bool = True) -> int:
    value &= (1 << fmt.bits) - 1
    return value - (1 << fmt.bits) if signed and value >> (fmt.bits - 1) else value


def samples(fmt: IntFormat, count: int = 200, seed: int = 0) -> np.ndarray:
    r = np.random.default_rng(seed)
    if fmt is I1:
        return r.random(count) < 0.5
    info = np.iinfo(fmt.dtype)
    corners = np.array([0, 1, -1, 2, info.min, info.max, info.min + 1], fmt.dtype)
    wide = r.integers(info.min, info.max, count, fmt.dtype, endpoint=True)
    small = r.integers(-20, 20, count).astype(fmt.dtype)
    return r.permutation(np.concatenate([wide, small, np.tile(corners, 12)]))


def value(x, fmt: IntFormat, signed: bool) -> int:
    return wrap(int(x), fmt, signed)


def trunc_divide(x: int, y: int) -> int:
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


TRUTH = {"add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y}


def same(got, want: list[int], fmt: IntFormat) -> None:
    assert got.dtype == fmt.dtype
    assert [value(v, fmt, True) for v in got] == [wrap(w, fmt) for w in want]


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("name", TRUTH)
def test_arithmetic_wraps(name, fmt):
    a, b = samples(fmt), samples(fmt, seed=1)
    same(
        getattr(integers, name)(a, b, fmt),
        [TRUTH[name](int(x), int(y)) for x, y in zip(a, b, strict=True)],
        fmt,
    )


@pytest.mark.parametrize("signed", (True, False))
@pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: f.name)
def test_division_and_order(fmt, signed):
    a, b = samples(fmt), samples(fmt, seed=1)
    keep = b != 0
    a, b = a[keep], b[keep]
    xs = [value(v, fmt, signed) for v in a]
    ys = [value(v, fmt, signed) for v in b]
    each = list(zip(xs, ys, strict=True))
    same(integers.divide(a, b, fmt, signed), [trunc_divide(x, y) for x, y in each], fmt)
    same(integers.divide(a, b, fmt, signed, "negative_inf"), [x // y for x, y in each], fmt)
    same(integers.divide(a, b, fmt, signed, "positive_inf"), [-(-x // y) for x, y in each], fmt)
    same(integers.remainder(a, b, fmt, signed), [x - trunc_divide(x, y) * y for x, y in each], fmt)
    same(integers.maximum(a, b, fmt, signed), [max(t) for t in each], fmt)
    same(integers.minimum(a, b, fmt, signed), [min(t) for t in each], fmt)


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda f: f.name)
def test_high_half_shifts_and_unary(fmt):
    a, b = samples(fmt), samples(fmt, seed=1)
    pairs = [(value(x, fmt, False), value(y, fmt, False)) for x, y in zip(a, b, strict=True)]
    same(integers.multiply_high(a, b, fmt), [(x * y) >> fmt.bits for x, y in pairs], fmt)
    n = (b.astype(np.int64) % fmt.bits).astype(fmt.dtype)
    shifts = [int(v) for v in n]
    same(integers.shift_left(a, n, fmt), [int(x) << s for x, s in zip(a, shifts, strict=True)], fmt)
    for signed in (True, False):
        same(
            integers.shift_right(a, n, fmt, signed),
            [value(x, fmt, signed) >> s for x, s in zip(a, shifts, strict=True)],
            fmt,
        )
    same(integers.negate(a, fmt), [-int(x) for x in a], fmt)
    same(integers.absolute(a, fmt), [abs(value(x, fmt, True)) for x in a], fmt)


@pytest.mark.parametrize("signed", (True, False))
@pytest.mark.parametrize("fmt", (I8, I16, I32, I64), ids=lambda f: f.name)
def test_broken_overflow_promises(fmt, signed):
    a, b = samples(fmt), samples(fmt, seed=1)
    low, high = integers.bounds(fmt, signed)
    xs = [value(v, fmt, signed) for v in a]
    ys = [value(v, fmt, signed) for v in b]

    def outside(values):
        return [not low <= v <= high for v in values]

    assert list(integers.add_overflows(a, b, fmt, signed)) == outside(map(int.__add__, xs, ys))
    assert list(integers.subtract_overflows(a, b, fmt, signed)) == outside(map(int.__sub__, xs, ys))
    assert list(integers.multiply_overflows(a, b, fmt, signed)) == outside(map(int.__mul__, xs, ys))
    n = (b.astype(np.int64) % fmt.bits).astype(fmt.dtype)
    assert list(integers.shift_left_overflows(a, n, fmt, signed)) == outside(
        x << int(s) for x, s in zip(xs, n, strict=True)
    )


@pytest.mark.parametrize("signed", (True, False))
def test_width_changes(signed):
    a = samples(I32)
    for target in (I1, I4, I8, I16):
        got = integers.wrap(a, target)
        want = [wrap(int(x), target) for x in a]
        assert [value(v, target, True) for v in got] == want
        back = integers.extend(got, target, I32, signed)
        assert back.dtype == np.int32
        assert [int(v) for v in back] == [wrap(w, target, signed) for w in want]
        assert list(integers.truncate_loses(a, I32, target, signed)) == [
            wrap(int(x), target, signed) != int(x) for x in a
        ]


@pytest.mark.parametrize("signed", (True, False))
@pytest.mark.parametrize(
    "target", (F16, BF16, F32, F64, TF32, F8E4M3FN, F8E5M2), ids=lambda f: f.name
)
@pytest.mark.parametrize("source", FORMATS, ids=lambda f: f.name)
def test_integer_to_float(source, target, signed):
    a = samples(source)
    if source is I64:  # ties of the target, and their neighbours
        ties = np.int64(1) << np.arange(20, 63)
        step = ties >> np.minimum(np.arange(20, 63), target.precision)
        a = np.concatenate([a, ties + step, ties + step + 1, ties + step - 1, -(ties + step + 1)])
    got = int_float.from_int(a, source, target, signed).astype(np.float64)
    want = [
        0.0 if v == 0 else round_rational(Fraction(v), target, "nearest_even")
        for v in (value(x, source, signed) for x in a)
    ]
    assert np.array_equal(got, np.array(want), equal_nan=True)


@pytest.mark.parametrize("signed", (True, False))
@pytest.mark.parametrize("target", (I8, I16, I32, I64), ids=lambda f: f.name)
@pytest.mark.parametrize("source", (F16, BF16, F32, F64), ids=lambda f: f.name)
def test_float_to_integer_saturates(source, target, signed):
    low, high = integers.bounds(target, signed)
    edges = np.array(
        [
            low,
            high,
            low - 1,
            high + 1,
            2.0**63,
            2.0**64,
            -(2.0**63),
            0.9,
            -0.9,
            1.5,
            -1.5,
            0.0,
            -0.0,
            math.inf,
            -math.inf,
            math.nan,
        ],
        np.float64,
    )
    random = np.random.default_rng(0).standard_normal(200) * 2.0 ** np.linspace(0, 70, 200)
    x = np.concatenate([edges, random]).astype(source.dtype)
    got = int_float.to_int(x, source, target, signed)
    broken = int_float.int_range_broken(x, source, target, signed)
    for v, g, bad in zip(x.astype(np.float64), got, broken, strict=True):
        if math.isnan(v):
            want, outside = 0, True
        elif math.isinf(v):
            want, outside = (high if v > 0 else low), True
        else:
            want, outside = min(max(int(v), low), high), not low <= int(v) <= high
        assert value(g, target, signed) == want, v
        assert bad == outside, v
