"""Floating-point instructions against exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from rational import round_rational, sqrt_sticky
from sim_support import bf16, compute, f32, one, same_bits

from tileir.interp.numerics.formats import BF16, F16, F32, F64, FloatFormat

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
ROUNDINGS = {"rn": "nearest_even", "rz": "zero", "rm": "negative_inf", "rp": "positive_inf"}
INF, NAN = math.inf, math.nan


def samples(fmt: FloatFormat, count: int, seed: int) -> np.ndarray:
    """Random bits, numbers of like size, subnormals and corners, finite and not."""
    r = np.random.default_rng(seed)
    bits = (
        r.integers(0, 1 << fmt.bits, count, np.uint64, endpoint=False)
        if fmt.bits < 64
        else (r.integers(0, 1 << 64, count, np.uint64, endpoint=False))
    )
    anything = bits.astype(f"u{fmt.bits // 8}").view(fmt.dtype)
    near = (r.standard_normal(count) * 2.0 ** r.integers(-3, 4, count)).astype(fmt.dtype)
    tiny = r.integers(-40, 41, count) * 2.0 ** (fmt.min_exponent - fmt.precision + 1)
    corners = np.array([0.0, -0.0, 1.0, -1.0, fmt.maximum, -fmt.maximum, 2.0**fmt.min_exponent,
                        INF, -INF, NAN])  # fmt: skip
    return np.concatenate([anything, near, tiny.astype(fmt.dtype), corners.astype(fmt.dtype)])


def columns(fmt: FloatFormat, operands: int, count: int) -> list[np.ndarray]:
    r = np.random.default_rng(1)
    found = [samples(fmt, count, seed) for seed in range(operands)]
    return [found[0], *(r.permutation(column) for column in found[1:])]


def exact(function: Callable[..., Fraction | None], values: list[float], fmt: FloatFormat,
          mode: str, special: Callable[..., float]) -> float:  # fmt: skip
    """The rounded result for finite operands; `special` for others and for zero."""
    if all(math.isfinite(v) for v in values):
        result = function(*(Fraction(v) for v in values))
        if result is not None and result != 0:
            return round_rational(result, fmt, mode)
    return special(*values)


def check(body: str, fmt: FloatFormat, operands: int, truth: Callable[..., float],
          count: int = 40) -> None:  # fmt: skip
    given = columns(fmt, operands, count)
    got = one(body, given, fmt.dtype)
    plain = [column.astype(np.float64).tolist() for column in given]
    want = np.array([truth(*values) for values in zip(*plain, strict=True)], np.float64)
    same_bits(got, want.astype(fmt.dtype))


def host(function: Callable[..., np.ndarray]) -> Callable[..., float]:
    def apply(*values: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*(np.float64(v) for v in values)))

    return apply


def _zero_sum(mode: str) -> Callable[..., float]:
    """IEEE: an exact zero sum of unlike signs is +0, or -0 when rounding down."""

    def apply(a: float, b: float) -> float:
        if math.isfinite(a) and math.isfinite(b):
            if math.copysign(1, a) == math.copysign(1, b):
                return math.copysign(0.0, a)
            return -0.0 if mode == "negative_inf" else 0.0
        return host(np.add)(a, b)

    return apply


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FORMATS)
def test_add_multiply(name, rounding):
    fmt, mode = FORMATS[name], ROUNDINGS[rounding]
    if fmt.bits == 16 and rounding != "rn":
        pytest.skip("no such form")
    check(f"add.{rounding}.{name} %r0, %a0, %a1;", fmt, 2,
          lambda a, b: exact(lambda x, y: x + y, [a, b], fmt, mode, _zero_sum(mode)))  # fmt: skip
    check(f"sub.{rounding}.{name} %r0, %a0, %a1;", fmt, 2,
          lambda a, b: exact(lambda x, y: x - y, [a, b], fmt, mode,
                             lambda a, b: _zero_sum(mode)(a, -b)))  # fmt: skip
    check(f"mul.{rounding}.{name} %r0, %a0, %a1;", fmt, 2,
          lambda a, b: exact(lambda x, y: x * y, [a, b], fmt, mode, host(np.multiply)))  # fmt: skip


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", FORMATS)
def test_fma(name, rounding):
    fmt, mode = FORMATS[name], ROUNDINGS[rounding]
    if fmt.bits == 16 and rounding != "rn":
        pytest.skip("no such form")

    def special(a, b, c):
        product = host(np.multiply)(a, b)
        if all(map(math.isfinite, (a, b, c))):
            sign = math.copysign(1, a) * math.copysign(1, b)
            return _zero_sum(mode)(math.copysign(0.0, sign), math.copysign(0.0, c))
        if math.isfinite(a) and math.isfinite(b):
            return c  # the product may overflow here, but not exactly
        return host(np.add)(product, c)

    check(f"fma.{rounding}.{name} %r0, %a0, %a1, %a2;", fmt, 3,
          lambda a, b, c: exact(lambda x, y, z: x * y + z, [a, b, c], fmt, mode,
          special))  # fmt: skip


def test_fma_near_ties():
    """Sums that lie close to halfway between two floats, where rounding twice shows."""
    r = np.random.default_rng(3)
    n = 2000
    a = (1 + r.integers(0, 1 << 12, n) * 2.0**-12).astype(np.float32)
    b = (1 + r.integers(0, 1 << 12, n) * 2.0**-12).astype(np.float32)
    c = (r.choice([-1, 1], n) * 2.0 ** r.integers(-80, -20, n)).astype(np.float32)
    got = one("fma.rn.f32 %r0, %a0, %a1, %a2;", [a, b, c], np.float32)
    want = [round_rational(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), F32,
                           "nearest_even") for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    same_bits(got, np.array(want, np.float32))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ("f32", "f64"))
def test_divide_and_roots(name, rounding):
    fmt, mode = FORMATS[name], ROUNDINGS[rounding]

    def quotient(x, y):
        return x / y if y else None

    check(f"div.{rounding}.{name} %r0, %a0, %a1;", fmt, 2,
          lambda a, b: exact(quotient, [a, b], fmt, mode, host(np.divide)))  # fmt: skip
    check(f"rcp.{rounding}.{name} %r0, %a0;", fmt, 1,
          lambda a: exact(lambda x: 1 / x if x else None, [a], fmt, mode,
                          host(lambda x: 1 / x)))  # fmt: skip
    check(f"sqrt.{rounding}.{name} %r0, %a0;", fmt, 1,
          lambda a: exact(lambda x: sqrt_sticky(x) if x > 0 else None, [a], fmt, mode,
                          host(np.sqrt)))  # fmt: skip


def test_flushing():
    """Subnormal operands and results become zeros of the same sign."""
    tiny = np.array([2.0**-127, -(2.0**-127), 2.0**-126, 2.0**-149, -(2.0**-149)], np.float32)
    other = np.array([2.0**-126, 0.0, -(2.0**-127), 1.0, -0.0], np.float32)

    def flushed(x):
        return np.where(np.abs(x) < 2.0**-126, np.copysign(np.float32(0), x), x)

    got = one("add.ftz.f32 %r0, %a0, %a1;", [tiny, other], np.float32)
    same_bits(got, flushed(flushed(tiny) + flushed(other)).astype(np.float32))
    got = one("mul.ftz.f32 %r0, %a0, %a1;", [tiny[2:3], np.array([0.5], np.float32)], np.float32)
    same_bits(got, np.array([0.0], np.float32))
    got = one("fma.rn.ftz.f32 %r0, %a0, %a1, %a1;", [tiny[2:3], f32([-0.5])], np.float32)
    same_bits(got, np.array([-0.5], np.float32))
    half = np.array([2.0**-15, -(2.0**-24), 2.0**-14], np.float16)
    got = one("add.ftz.f16 %r0, %a0, %a0;", [half], np.float16)
    same_bits(got, np.array([0.0, -0.0, 2.0**-13], np.float16))
    got = one("abs.ftz.f32 %r0, %a0;", [tiny], np.float32)
    same_bits(got, np.abs(flushed(tiny)).astype(np.float32))


def test_saturation():
    x = np.array([-1.0, -0.0, 0.0, 0.25, 1.0, 3.0, INF, -INF, NAN], np.float32)
    got = one("add.sat.f32 %r0, %a0, 0f00000000;", [x], np.float32)
    same_bits(got, np.array([0, 0, 0, 0.25, 1, 1, 1, 0, 0], np.float32))
    half = x.astype(np.float16)
    got = one("mul.sat.f16 %r0, %a0, %a0;", [half], np.float16)
    same_bits(got, np.array([1, 0, 0, 0.0625, 1, 1, 1, 1, 0], np.float16))
    got = one("fma.rn.relu.f16 %r0, %a0, %a1, %a1;", [half[:6], half[:6] * 0 - 1], np.float16)
    same_bits(got, np.maximum(half[:6] * -1 - 1, 0).astype(np.float16))


@pytest.mark.parametrize("name", FORMATS)
def test_minimum_maximum(name):
    fmt = FORMATS[name]
    code = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}[name]
    nan = np.array(code, f"u{fmt.bits // 8}").view(fmt.dtype)

    def truth(a, b, pick, propagate):
        if math.isnan(a) or math.isnan(b):
            return (
                NAN if propagate or (math.isnan(a) and math.isnan(b)) else b if math.isnan(a) else a
            )
        if a == b == 0:
            negative = math.copysign(1, a) < 0, math.copysign(1, b) < 0
            return -0.0 if (any(negative) if pick is min else all(negative)) else 0.0
        return pick(a, b)

    for which, pick in (("min", min), ("max", max)):
        check(f"{which}.{name} %r0, %a0, %a1;", fmt, 2,
              lambda a, b, pick=pick: truth(a, b, pick, False))  # fmt: skip
        if name != "f64":
            check(f"{which}.NaN.{name} %r0, %a0, %a1;", fmt, 2,
                  lambda a, b, pick=pick: truth(a, b, pick, True))  # fmt: skip
    both = np.array([NAN], fmt.dtype)
    got = one(f"max.{name} %r0, %a0, %a1;", [both, both], fmt.dtype)
    assert got.view(f"u{fmt.bits // 8}") == nan.view(f"u{fmt.bits // 8}")


def test_minimum_by_magnitude():
    """Of the magnitudes, with the product of the signs."""
    a, b = f32([1.0, -3.0, -2.0]), f32([-2.0, -1.0, 5.0])
    got = one("min.xorsign.abs.f32 %r0, %a0, %a1;", [a, b], np.float32)
    same_bits(got, f32([-1.0, 1.0, -2.0]))


@pytest.mark.parametrize("name", FORMATS)
def test_signs(name):
    fmt = FORMATS[name]
    (x,) = columns(fmt, 1, 40)
    unsigned = f"u{fmt.bits // 8}"
    top = np.array(1 << (fmt.bits - 1), unsigned)
    got = one(f"neg.{name} %r0, %a0;", [x], fmt.dtype)
    same_bits(got, (x.view(unsigned) ^ top).view(fmt.dtype))
    got = one(f"abs.{name} %r0, %a0;", [x], fmt.dtype)
    same_bits(got, (x.view(unsigned) & ~top).view(fmt.dtype))
    if fmt.bits >= 32:
        y = np.random.default_rng(1).permutation(x)
        got = one(f"copysign.{name} %r0, %a0, %a1;", [y, x], fmt.dtype)
        same_bits(got, np.copysign(x, y))


@pytest.mark.parametrize("name", ("f32", "f64"))
def test_classes(name):
    (x,) = columns(FORMATS[name], 1, 40)
    tests = {"finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan,
             "number": lambda v: ~np.isnan(v)}  # fmt: skip
    for what, function in tests.items():
        body = f"testp.{what}.{name} %q0, %a0; selp.b32 %r0, 1, 0, %q0;"
        assert (one(body, [x], np.uint32) == function(x)).all()
    normal = (np.abs(x) >= np.finfo(x.dtype).tiny) | (x == 0)
    body = f"testp.normal.{name} %q0, %a0; testp.subnormal.{name} %q1, %a0;"
    body += "selp.b32 %r0, 1, 0, %q0; selp.b32 %r1, 1, 0, %q1;"
    first, second = compute(body, [x], [np.uint32, np.uint32])
    assert (first == (normal & np.isfinite(x))).all()
    assert (second == (~normal & ~np.isnan(x))).all()


@pytest.mark.parametrize("name", FORMATS)
def test_comparisons(name):
    fmt = FORMATS[name]
    r = np.random.default_rng(2)
    x, y = columns(fmt, 2, 30)
    y = np.where(r.random(len(x)) < 0.3, x, y)
    a, b = x.astype(np.float64), y.astype(np.float64)
    unordered = np.isnan(a) | np.isnan(b)
    ordered = {"eq": a == b, "ne": (a != b) & ~unordered, "lt": a < b, "le": a <= b, "gt": a > b,
               "ge": a >= b, "num": ~unordered, "nan": unordered}  # fmt: skip
    tests = ordered | {f"{k}u": v | unordered for k, v in ordered.items() if len(k) == 2}
    for operator, want in tests.items():
        body = f"setp.{operator}.{name} %q0, %a0, %a1; selp.b32 %r0, 1, 0, %q0;"
        assert (one(body, [x, y], np.uint32) == want).all(), operator
    if name == "f32":
        got = one("set.gt.f32.f32 %r0, %a0, %a1;", [x, y], np.float32)
        same_bits(got, (a > b).astype(np.float32))


# (instruction, float64 function, domain, absolute error, relative error in units of 2^-23): the
# ISA's bounds for the approximations of f32.
APPROXIMATIONS = [
    ("rcp.approx.f32", lambda x: 1 / x, (0.001, 1000), 0, 1),
    ("rcp.approx.ftz.f32", lambda x: 1 / x, (0.001, 1000), 0, 1),
    ("sqrt.approx.f32", np.sqrt, (0, 1000), 0, 1),
    ("rsqrt.approx.f32", lambda x: 1 / np.sqrt(x), (0.001, 1000), 0, 2),
    ("ex2.approx.f32", np.exp2, (-100, 100), 0, 2),
    ("ex2.approx.ftz.f32", np.exp2, (-100, 100), 0, 2),
    ("lg2.approx.f32", np.log2, (0.5, 2), 2.0**-22, 0),
    ("lg2.approx.f32", np.log2, (2, 1000), 0, 2),
    ("sin.approx.f32", np.sin, (-3, 3), 2.0**-20, 0),
    ("cos.approx.f32", np.cos, (-3, 3), 2.0**-20, 0),
    ("tanh.approx.f32", np.tanh, (-5, 5), 0, 2**12),
]


@pytest.mark.parametrize(
    ("name", "function", "domain", "absolute", "relative"), APPROXIMATIONS,
    ids=[f"{row[0]}-{row[2][0]}" for row in APPROXIMATIONS],
)  # fmt: skip
def test_approximations(name, function, domain, absolute, relative):
    low, high = domain
    x = (np.random.default_rng(1).random(200) * (high - low) + low).astype(np.float32)
    got = one(f"{name} %r0, %a0;", [x], np.float32).astype(np.float64)
    want = function(x.astype(np.float64))
    assert (np.abs(got - want) <= absolute + relative * 2.0**-23 * np.abs(want)).all()


@pytest.mark.parametrize("name", ("rcp", "rsqrt"))
def test_approximations_of_f64(name):
    """The upper 32 bits of the result; subnormals count as zero."""
    x = np.array([1.5, 17920.1, 1e-5, 3e300, 2.0**-1022, 1e100, 0.3])
    got = one(f"{name}.approx.ftz.f64 %r0, %a0;", [x], np.float64)
    want = 1 / x if name == "rcp" else 1 / np.sqrt(x)
    want = np.where(np.abs(want) < 2.0**-1022, 0, want)
    assert (np.abs(got - want) <= 2.0**-20 * want).all()
    assert not (got.view(np.uint64) & 0xFFFFFFFF).any()
    small = np.array([1e-310, -1e-310])
    assert one(f"{name}.approx.ftz.f64 %r0, %a0;", [small], np.float64).tolist() == [INF, -INF]


def test_approximate_division():
    """0, or NaN for an infinite dividend, where the divisor is beyond 2^126."""
    a = f32([1.0, INF, 3.0, -2.0])
    b = f32([2.0**127, 2.0**127, 7.0, -(2.0**127)])
    got = one("div.approx.f32 %r0, %a0, %a1;", [a, b], np.float32)
    assert got[0] == 0 and np.isnan(got[1]) and abs(got[2] - 3 / 7) < 1e-7 and got[3] == 0
    got = one("div.full.f32 %r0, %a0, %a1;", [a, b], np.float32)
    assert abs(got[2] - 3 / 7) < 1e-7


def test_corners_of_approximations():
    x = f32([0.0, -0.0, INF, -INF, NAN, -1.0])
    expected = {
        "rcp.approx.f32": [INF, -INF, 0.0, -0.0, NAN, -1.0],
        "rsqrt.approx.f32": [INF, -INF, 0.0, NAN, NAN, NAN],
        "sqrt.approx.f32": [0.0, -0.0, INF, NAN, NAN, NAN],
        "ex2.approx.f32": [1.0, 1.0, INF, 0.0, NAN, 0.5],
        "lg2.approx.f32": [-INF, -INF, INF, NAN, NAN, NAN],
        "tanh.approx.f32": [0.0, -0.0, 1.0, -1.0, NAN, np.tanh(np.float32(-1.0))],
    }
    for name, want in expected.items():
        got = one(f"{name} %r0, %a0;", [x], np.float32)
        np.testing.assert_allclose(got, f32(want), rtol=1e-6, err_msg=name)
        assert (np.signbit(got) == np.signbit(f32(want)))[~np.isnan(got)].all(), name


@pytest.mark.parametrize("dtype", (np.float16, bf16))
def test_packed_pairs(dtype):
    """f16x2 and bf16x2 do to each half what f16 and bf16 do."""
    name = "f16" if dtype is np.float16 else "bf16"
    r = np.random.default_rng(4)
    x, y, z = (r.standard_normal(128).astype(dtype) for _ in range(3))
    packed = [v.view(np.uint32) for v in (x, y, z)]
    for body in ("add.{t} {r}, {a}0, {a}1;", "mul.{t} {r}, {a}0, {a}1;", "neg.{t} {r}, {a}0;",
                 "fma.rn.{t} {r}, {a}0, {a}1, {a}2;", "max.{t} {r}, {a}0, {a}1;",
                 "min.NaN.{t} {r}, {a}0, {a}1;", "abs.{t} {r}, {a}0;"):  # fmt: skip
        pair = one(body.format(t=f"{name}x2", r="%r0", a="%a"), packed, np.uint32)
        single = one(body.format(t=name, r="%r0", a="%a"), [x, y, z], dtype)
        same_bits(pair.view(dtype), single)
    body = f"setp.lt.{name}x2 %q0|%q1, %a0, %a1; selp.b32 %t0, 1, 0, %q0; selp.b32 %t1, 2, 0, %q1;"
    got = one(f"{body} or.b32 %r0, %t0, %t1;", packed[:2], np.uint32)
    less = (x.astype(float) < y.astype(float)).reshape(-1, 2)
    assert (got == less[:, 0] + 2 * less[:, 1]).all()
    if name == "f16":
        got = one("ex2.approx.f16x2 %r0, %a0;", packed[:1], np.uint32).view(dtype)
        np.testing.assert_allclose(got, np.exp2(x.astype(float)), rtol=2.0**-9.9)
        got = one("tanh.approx.f16x2 %r0, %a0;", packed[:1], np.uint32).view(dtype)
        np.testing.assert_allclose(got, np.tanh(x.astype(float)), rtol=2.0**-9.9)
