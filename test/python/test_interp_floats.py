"""Float arithmetic and conversion against exact rationals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from rational import MODES, round_rational, sqrt_sticky

from tileir.interp.numerics import exact, floats, functions, rounding
from tileir.interp.numerics.formats import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E5M3FNU,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    TF32,
    FloatFormat,
)

BASE = (F16, BF16, F32, F64)
INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def samples(fmt: FloatFormat, count: int, seed: int) -> np.ndarray:
    """Random bit patterns, numbers of like size, and the corners, as a tile of `fmt`."""
    r = np.random.default_rng(seed)
    unsigned = np.dtype(f"uint{fmt.bits}")
    info = np.iinfo(unsigned)
    bits = r.integers(0, info.max, count, unsigned, endpoint=True).view(fmt.dtype)
    near = (r.standard_normal(count) * 2.0 ** r.integers(-3, 4, count)).astype(fmt.dtype)
    tiny = r.integers(-40, 41, count) * 2.0 ** (fmt.min_exponent - fmt.precision + 1)
    corners = np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            fmt.maximum,
            -fmt.maximum,
            2.0**fmt.min_exponent,
            2.0 ** (fmt.min_exponent - fmt.precision + 1),
            INF,
            -INF,
            NAN,
        ]
    )
    return np.concatenate([bits, near, tiny.astype(fmt.dtype), corners.astype(fmt.dtype)])


def pairs(fmt, count, seed):
    r = np.random.default_rng(seed + 1)
    a, b = samples(fmt, count, seed), samples(fmt, count, seed + 2)
    corners = a[-11:]
    return (
        np.concatenate([a, np.repeat(corners, 11)]),
        np.concatenate([r.permutation(b), np.tile(corners, 11)]),
    )


def same(got: np.ndarray, want: Sequence[float | np.floating]) -> None:
    got64 = np.asarray(got).astype(np.float64)
    want64 = np.array(want, np.float64)
    equal = (got64 == want64) & (np.signbit(got64) == np.signbit(want64))
    bad = np.flatnonzero(~(equal | (np.isnan(got64) & np.isnan(want64))))
    assert bad.size == 0, [(int(i), got64[i], want64[i]) for i in bad[:5]]


def zero_sum(terms: list[float], mode: str) -> float:
    """The sign of an exact zero sum."""
    signs = {math.copysign(1, t) for t in terms}
    if len(signs) == 1:
        return math.copysign(0.0, terms[0])
    return -0.0 if mode == "negative_inf" else 0.0


def true_add(x, y, fmt, mode):
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    total = Fraction(x) + Fraction(y)
    if total == 0:
        return zero_sum([x, y], mode) if x == 0 else zero_sum([1.0, -1.0], mode)
    return round_rational(total, fmt, mode)


def true_multiply(x, y, fmt, mode):
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y
    return round_rational(Fraction(x) * Fraction(y), fmt, mode)


def true_fma(x, y, z, fmt, mode):
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z if not (math.isfinite(x) and math.isfinite(y)) else z
    total = Fraction(x) * Fraction(y) + Fraction(z)
    if total != 0:
        return round_rational(total, fmt, mode)
    product_sign = math.copysign(1, x) * math.copysign(1, y)
    if z == 0:
        return zero_sum([math.copysign(0.0, product_sign), z], mode)
    return zero_sum([1.0, -1.0], mode)


def true_divide(x, y, fmt, mode):
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        with np.errstate(all="ignore"):
            return float(np.float64(x) / np.float64(y))
    return round_rational(Fraction(x) / Fraction(y), fmt, mode)


BINARY = {
    "add": (floats.add, true_add),
    "subtract": (floats.subtract, lambda x, y, f, m: true_add(x, -y, f, m)),
    "multiply": (floats.multiply, true_multiply),
    "divide": (floats.divide, true_divide),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
@pytest.mark.parametrize("name", BINARY)
def test_binary_is_correctly_rounded(name, fmt, mode):
    ours, truth = BINARY[name]
    a, b = pairs(fmt, 120, 7)
    same(
        ours(a, b, fmt, mode),
        [truth(float(x), float(y), fmt, mode) for x, y in zip(a, b, strict=True)],
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
def test_fma_is_correctly_rounded(fmt, mode):
    a, b = pairs(fmt, 120, 11)
    r = np.random.default_rng(5)
    # Addends that nearly cancel the product are where a double rounding would show.
    c = np.where(r.random(a.size) < 0.5, (-a * b).astype(fmt.dtype), r.permutation(a))
    c = np.nextafter(c.astype(np.float64), r.choice([-INF, INF], a.size)).astype(fmt.dtype)
    c = np.where(r.random(a.size) < 0.5, c, r.permutation(b))
    same(
        floats.fma(a, b, c, fmt, mode),
        [
            true_fma(float(x), float(y), float(z), fmt, mode)
            for x, y, z in zip(a, b, c, strict=True)
        ],
    )


@pytest.mark.parametrize("spread", [0, 5, 60, 110, 390])
def test_fma_in_pairs_of_float64_is_that_in_integers(spread):
    """Two independent ways: numbers that cancel, ties of few bits, zeros."""
    r = np.random.default_rng(spread)
    scale = lambda: 2.0 ** r.integers(-spread, spread + 1, 20000)  # noqa: E731
    a, b, c = (r.standard_normal(20000) * scale() for _ in range(3))
    few = [r.integers(-(2**bits), 2**bits, 20000) * scale() for bits in (2, 26, 52)]
    cases = [(a, b, c), (a, b, -a * b), (a, b, np.nextafter(-a * b, INF)), few, few[::-1]]
    cases.append(np.meshgrid(*[[0.0, -0.0, 1.0, -1.0, 0.1]] * 3))
    for x, y, z in cases:
        in_pairs = exact.fma_in_pairs(x, y, z)
        in_integers = exact.fma_in_integers(x, y, z, "nearest_even")
        assert (in_pairs.view(np.int64) == in_integers.view(np.int64)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
def test_sqrt_is_correctly_rounded(fmt, mode):
    x = np.abs(samples(fmt, 200, 3))
    want = [
        float(np.sqrt(v))
        if v == 0 or not np.isfinite(v)
        else round_rational(sqrt_sticky(Fraction(float(v))), fmt, mode)
        for v in x
    ]
    same(floats.sqrt(x, fmt, mode), want)
    assert np.isnan(floats.sqrt(np.array([-1.0], fmt.dtype), fmt, mode)).all()


@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
def test_remainder_is_exact(fmt):
    a, b = pairs(fmt, 120, 13)
    want = []
    for x, y in zip(a.astype(float), b.astype(float), strict=True):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
            want.append(NAN)
        elif math.isinf(y) or x == 0:
            want.append(x)
        else:
            q = Fraction(x) / Fraction(y)
            rest = Fraction(x) - Fraction(y) * (abs(q).numerator // abs(q).denominator) * (
                1 if q > 0 else -1
            )
            want.append(float(rest) if rest else math.copysign(0.0, x))
    same(floats.remainder(a, b, fmt), want)


def narrowings():
    for target in (F16, BF16, F32, TF32, F8E4M3FN, F8E5M2, F4E2M1FN):
        for source in BASE:
            if source is not target:
                yield pytest.param(source, target, id=f"{source.name}-{target.name}")


@pytest.mark.parametrize("source,target", list(narrowings()))
def test_conversion_rounds_once_in_every_mode(source, target):
    x = samples(source, 120, 21)
    # Midpoints of the target, and their neighbours in the source.
    codes = np.arange(1 << min(8, target.bits), dtype=np.uint8)
    if target.bits <= 8 and source in (F32, F64):
        values = rounding.to_float64(
            codes.view(target.dtype)
            if target.bits == 8
            else np.arange(16, dtype=np.uint8).view(target.dtype),
            target,
        )
        values = np.sort(values[np.isfinite(values)])
        middle = ((values[1:] + values[:-1]) / 2).astype(source.dtype)
        x = np.concatenate(
            [
                x,
                middle,
                np.nextafter(middle, np.array(INF, source.dtype)),
                np.nextafter(middle, np.array(-INF, source.dtype)),
            ]
        )
    saturate = target in (F8E4M3FN, F8E5M2, F4E2M1FN)
    for mode in (*MODES, "nearest_away"):
        want = []
        for v in x.astype(float):
            if math.isnan(v):
                want.append(NAN if target.has_nan else target.maximum)
            elif math.isinf(v):
                want.append(math.copysign(target.maximum, v) if saturate else v)
            else:
                want.append(v if v == 0 else round_rational(Fraction(v), target, mode, saturate))
        got = rounding.convert(x, source, target, mode)
        assert got.dtype == target.dtype
        same(got, want)


def test_tf32_has_no_low_bits():
    x = samples(F32, 500, 2)
    bits = rounding.convert(x, F32, TF32).view(np.uint32)
    assert not (bits[np.isfinite(x)] & 0x1FFF).any()


def test_scale_format_rounds_to_powers_of_two():
    x = np.array(
        [0.0, 1.0, 1.5, -3.0, 2.0**-130, 2.0**-126.5, 2.0**127 * 1.5, INF, NAN], np.float32
    )
    down = rounding.convert(x, F32, F8E8M0FNU, "zero").astype(float)
    up = rounding.convert(x, F32, F8E8M0FNU, "positive_inf").astype(float)
    same(down, [2.0**-127, 1, 1, 2, 2.0**-127, 2.0**-127, 2.0**127, 2.0**127, NAN])
    same(up, [2.0**-127, 1, 2, 4, 2.0**-127, 2.0**-126, 2.0**127, 2.0**127, NAN])


def test_unsigned_e5m3_values():
    codes = np.array([0, 1, 7, 8, 9, 0x78, 0xFE, 0xFF], np.uint8)
    same(
        rounding.to_float64(codes, F8E5M3FNU),
        [0, 2.0**-17, 7 * 2.0**-17, 2.0**-14, 1.125 * 2.0**-14, 1.0, 1.75 * 2.0**16, NAN],
    )
    every = np.arange(256, dtype=np.uint8)
    back = rounding.from_float64(rounding.to_float64(every, F8E5M3FNU), F8E5M3FNU)
    assert (back == every).all()


@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
def test_maximum_and_minimum(fmt):
    def tile(*values):
        return np.array(values, np.float64).astype(fmt.dtype)

    a = tile(0.0, -0.0, -0.0, 1, NAN, 2, NAN, -INF)
    b = tile(-0.0, 0.0, -0.0, 2, 3, NAN, NAN, NAN)
    same(floats.maximum(a, b, fmt), [0.0, 0.0, -0.0, 2, 3, 2, NAN, -INF])
    same(floats.minimum(a, b, fmt), [-0.0, -0.0, -0.0, 1, 3, 2, NAN, -INF])
    same(floats.maximum(a, b, fmt, True), [0.0, 0.0, -0.0, 2, NAN, NAN, NAN, NAN])
    same(floats.minimum(a, b, fmt, True), [-0.0, -0.0, -0.0, 1, NAN, NAN, NAN, NAN])


def test_nan_of_maximum_is_canonical():
    odd = np.array([0xFFC12345], np.uint32).view(np.float32)
    assert floats.maximum(odd, odd, F32).view(np.uint32)[0] == 0x7FFFFFFF
    assert floats.minimum(odd, odd * 0 + 1, F32, True).view(np.uint32)[0] == 0x7FFFFFFF


def test_flush_keeps_the_sign():
    x = np.array([1e-40, -1e-40, 2.0**-126, 0.0, -1.5], np.float32)
    same(floats.flush(x), [0.0, -0.0, 2.0**-126, 0.0, -1.5])


def test_approximate_division_of_huge_divisors():
    a = np.array([1.0, -1.0, INF, 6.0], np.float32)
    b = np.array([2.0**127, 2.0**127, 2.0**127, 3.0], np.float32)
    same(floats.divide(a, b, F32, "approx"), [0.0, -0.0, NAN, 2.0])
    same(floats.divide(a, b, F32, "full"), [2.0**-127, -(2.0**-127), INF, 2.0])


@pytest.mark.parametrize(
    "name,truth",
    [
        ("exp", math.exp),
        ("sin", math.sin),
        ("cosh", math.cosh),
        ("tanh", math.tanh),
        ("log2", math.log2),
    ],
)
@pytest.mark.parametrize("fmt", BASE, ids=lambda f: f.name)
def test_functions_are_within_an_ulp_of_the_c_library(name, truth, fmt):
    x = np.abs(np.random.default_rng(4).standard_normal(200) * 3 + 0.1).astype(fmt.dtype)
    got = functions.unary(name, fmt)(x).astype(np.float64)
    want = np.array([truth(v) for v in x.astype(float)])
    ulps = 2 if fmt is F64 else 1  # the C library's own error counts in f64
    assert (np.abs(got - want) <= ulps * np.abs(want) * 2.0 ** (1 - fmt.precision)).all()


def test_powers():
    x = np.array([2.0, -2.0, 0.0, -0.0, 1.0], np.float32)
    n = np.array([10, 3, -1, -1, -(2**31)], np.int32)
    same(functions.integer_power(x, n, F32), [1024, -8, INF, -INF, 1])
    same(functions.power(x, n.astype(np.float32), F32), [1024, -8, INF, -INF, 1])
    same(functions.integer_power(x[:1], np.array([True]), F32), [0.5])
    same(
        functions.atan2(np.array([1.0, -0.0], np.float32), np.array([0.0, -1.0], np.float32), F32),
        [np.float32(math.pi / 2), -np.float32(math.pi)],
    )
