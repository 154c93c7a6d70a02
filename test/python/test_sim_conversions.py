"""cvt against exact rationals and NumPy."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from rational import round_rational
from sim_support import bf16, f16, f32, one, same_bits
from test_sim_floats import FORMATS, ROUNDINGS, samples
from test_sim_integers import words

from tileir.interp.numerics.formats import BF16, F8E4M3FN, F8E5M2, F16, F32, TF32

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def _dtype(name: str) -> np.dtype:
    return np.dtype(f"{'i' if name[0] == 's' else 'u'}{int(name[1:]) // 8}")


def _wrapped(value: int, name: str) -> int:
    bits = int(name[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if name[0] == "s" and value >> (bits - 1) else value


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_between_integers(source, target):
    """8-bit values live in 16-bit registers; a result is extended to its register's width."""
    x = words(int(source[1:]), 40, 1).view(_dtype(source))
    out = np.dtype(f"u{max(2, _dtype(target).itemsize)}")
    for saturate in ("", ".sat"):
        got = one(f"cvt{saturate}.{target}.{source} %r0, %a0;", [x], out)
        info = np.iinfo(_dtype(target))
        for value, found in zip(x.tolist(), got.tolist(), strict=True):
            want = max(info.min, min(info.max, value)) if saturate else _wrapped(value, target)
            assert found == want & (1 << 8 * out.itemsize) - 1, (value, hex(found))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("target", ("f16", "f32", "f64", "bf16"))
@pytest.mark.parametrize("source", ("s8", "u16", "s32", "u32", "s64", "u64"))
def test_integer_to_float(source, target, rounding):
    fmt = FORMATS[target]
    x = words(int(source[1:]), 60, 2).view(_dtype(source))
    got = one(f"cvt.{rounding}.{target}.{source} %r0, %a0;", [x], fmt.dtype)
    want = [round_rational(Fraction(v), fmt, ROUNDINGS[rounding]) if v else 0.0
            for v in x.tolist()]  # fmt: skip
    same_bits(got, np.array(want).astype(fmt.dtype))


INTEGRAL = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("rounding", INTEGRAL)
@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", ("s16", "u16", "s32", "u32", "s64", "u64"))
def test_float_to_integer(source, target, rounding):
    """Clamped; NaN is 0, or the top bit where f64 or 64 bits take part."""
    fmt = FORMATS[source]
    x = samples(fmt, 40, 3)
    extra = np.array([2.5, 3.5, -2.5, 0.5, -0.5, 2.0**31, 2.0**63, 2.0**64, -(2.0**63), 1e9])
    x = np.concatenate([x, extra.astype(fmt.dtype)])
    got = one(f"cvt.{rounding}.{target}.{source} %r0, %a0;", [x], _dtype(target))
    info = np.iinfo(_dtype(target))
    for value, found in zip(x.astype(np.float64).tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            top = source == "f64" or target.endswith("64")
            want = _wrapped(1 << (info.bits - 1), target) if top else 0
        elif math.isinf(value):
            want = info.max if value > 0 else info.min
        else:
            want = max(info.min, min(info.max, INTEGRAL[rounding](Fraction(value))))
        assert found == want, (value, found, want)


@pytest.mark.parametrize("rounding", INTEGRAL)
@pytest.mark.parametrize("name", ("f16", "f32", "f64"))
def test_float_to_integral(name, rounding):
    fmt = FORMATS[name]
    x = samples(fmt, 40, 5)
    x = x[np.isfinite(x)]
    got = one(f"cvt.{rounding}.{name}.{name} %r0, %a0;", [x], fmt.dtype)
    want = [math.copysign(float(INTEGRAL[rounding](Fraction(v))), v) for v in x.astype(float)]
    same_bits(got, np.array(want).astype(fmt.dtype))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize(("source", "target"), [("f64", "f32"), ("f64", "f16"), ("f32", "f16"),
                                                ("f32", "bf16"), ("f16", "bf16"),
                                                ("bf16", "f16")])  # fmt: skip
def test_narrowing(source, target, rounding):
    fmt = FORMATS[target]
    x = samples(FORMATS[source], 60, 6)
    got = one(f"cvt.{rounding}.{target}.{source} %r0, %a0;", [x], fmt.dtype)
    want = []
    for value in x.astype(np.float64).tolist():
        plain = not math.isfinite(value) or value == 0
        want.append(value if plain else round_rational(Fraction(value), fmt, ROUNDINGS[rounding]))
    same_bits(got, np.array(want).astype(fmt.dtype))


def test_narrowing_keeps_no_payload():
    """A NaN becomes the one with all bits but the sign set."""
    x = np.array([0x7F800001, 0xFFC12345], np.uint32).view(np.float32)
    assert (one("cvt.rn.f16.f32 %r0, %a0;", [x], np.uint16) == 0x7FFF).all()
    assert (one("cvt.rn.bf16.f32 %r0, %a0;", [x], np.uint16) == 0x7FFF).all()
    half = np.array([0x7C01, 0xFE00], np.uint16)
    assert (one("cvt.f32.f16 %r0, %a0;", [half], np.uint32) == 0x7FFFFFFF).all()


@pytest.mark.parametrize(("source", "target"), [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"),
                                                ("f16", "f64")])  # fmt: skip
def test_widening(source, target):
    x = samples(FORMATS[source], 60, 7)
    got = one(f"cvt.{target}.{source} %r0, %a0;", [x], FORMATS[target].dtype)
    same_bits(got, x.astype(FORMATS[target].dtype))


def test_saturating_and_flushing():
    x = f32([-1, 0.5, 2, np.nan, 2.0**-140, -0.0])
    same_bits(one("cvt.sat.f32.f32 %r0, %a0;", [x], np.float32),
              f32([0, 0.5, 1, 0, 2.0**-140, 0]))  # fmt: skip
    same_bits(one("cvt.rn.ftz.f16.f32 %r0, %a0;", [x[4:]], np.float16), f16([0, -0.0]))
    same_bits(one("cvt.rn.relu.f16.f32 %r0, %a0;", [x[:3]], np.float16), f16([0, 0.5, 2]))
    big = f32([1e6, -1e6, np.inf])
    same_bits(one("cvt.rn.satfinite.f16.f32 %r0, %a0;", [big], np.float16),
              f16([65504, -65504, 65504]))  # fmt: skip


def test_tf32():
    x = samples(F32, 100, 8)
    x = x[np.isfinite(x)]
    for rounding, mode in (("rna", "nearest_away"), ("rn", "nearest_even"), ("rz", "zero")):
        got = one(f"cvt.{rounding}.tf32.f32 %r0, %a0;", [x], np.float32)
        want = [round_rational(Fraction(float(v)), TF32, mode) if v else float(v) for v in x]
        same_bits(got, f32(want))


@pytest.mark.parametrize("name", ("f16", "bf16"))
def test_packing_two(name):
    """The first operand goes to the upper half."""
    fmt = F16 if name == "f16" else BF16
    a, b = samples(F32, 40, 9), np.random.default_rng(1).permutation(samples(F32, 40, 10))
    for rounding, mode in (("rn", "nearest_even"), ("rz", "zero")):
        got = one(f"cvt.{rounding}.{name}x2.f32 %r0, %a0, %a1;", [a, b], np.uint32)
        halves = got.view(fmt.dtype).reshape(-1, 2)
        for column, x in ((1, a), (0, b)):
            want = [v if not math.isfinite(v) or v == 0 else round_rational(Fraction(v), fmt, mode)
                    for v in x.astype(float).tolist()]  # fmt: skip
            same_bits(np.ascontiguousarray(halves[:, column]), np.array(want).astype(fmt.dtype))


@pytest.mark.parametrize("name", ("e4m3", "e5m2"))
def test_fp8(name):
    """Pairs; beyond the range the largest value, NaN 0x7F."""
    fmt = F8E4M3FN if name == "e4m3" else F8E5M2
    a, b = samples(F32, 60, 11), np.random.default_rng(1).permutation(samples(F32, 60, 12))
    got = one(f"cvt.rn.satfinite.{name}x2.f32 %r0, %a0, %a1;", [a, b], np.uint16)
    codes = got.view(np.uint8).reshape(-1, 2)
    for column, x in ((1, a), (0, b)):
        for value, code in zip(x.astype(float).tolist(), codes[:, column].tolist(), strict=True):
            if math.isnan(value):
                assert code == 0x7F
                continue
            found = float(np.uint8(code).view(fmt.dtype))
            if math.isinf(value):
                want = math.copysign(fmt.maximum, value)
            else:
                want = value and round_rational(Fraction(value), fmt, "nearest_even", True)
            assert found == want and math.copysign(1, found) == math.copysign(1, value), value
    every = np.arange(256, dtype=np.uint8).repeat(2).view(np.uint16)
    got = one(f"cvt.rn.f16x2.{name}x2 %r0, %a0;", [every], np.uint32).view(np.float16)
    same_bits(got, every.view(np.uint8).view(fmt.dtype).astype(np.float16))
    halves = samples(F16, 60, 13)
    halves = halves[: len(halves) // 2 * 2]
    got = one(f"cvt.rn.satfinite.{name}x2.f16x2 %r0, %a0;", [halves.view(np.uint32)], np.uint16)
    direct = one(
        f"cvt.rn.satfinite.{name}x2.f32 %r0, %a0, %a1;",
        [halves[1::2].astype(np.float32), halves[::2].astype(np.float32)],
        np.uint16,
    )
    assert (got == direct).all()


def test_saturating_packs():
    x, y = (words(32, 60, seed).view(np.int32) for seed in (1, 2))
    got = one("cvt.pack.sat.s16.s32 %r0, %a0, %a1;", [x, y], np.uint32).view(np.int16)
    assert (got.reshape(-1, 2)[:, 1] == np.clip(x, -32768, 32767)).all()
    assert (got.reshape(-1, 2)[:, 0] == np.clip(y, -32768, 32767)).all()
    got = one("cvt.pack.sat.u8.s32.b32 %r0, %a0, %a1, %a2;", [x, y, y.view(np.uint32)], np.uint32)
    want = (y.view(np.uint32) << np.uint32(16)) | np.clip(x, 0, 255).astype(np.uint32) << 8
    assert (got == want | np.clip(y, 0, 255).astype(np.uint32)).all()


def test_widths_of_registers():
    """Loads and conversions extend to wider registers; stores cut."""
    x = np.array([-1, 5, -128], np.int8)
    got = one("cvt.s32.s8 %r0, %a0;", [x], np.int32)
    assert (got == x).all()
    assert bf16 is ml_dtypes.bfloat16
