"""8-bit floats in integers, for architectures without `cvt` to and from them (before sm_89)."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import FLOAT_PREDICATES
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering

_F32_BIAS, _F32_FRACTION = 127, 23
#: What `cvt` makes of NaN, in both formats.
_NAN = 0x7F


@dataclass(frozen=True)
class _Format:
    """Bits of the fraction, the bias, and the code of the largest number."""

    fraction: int
    bias: int
    largest: int


_FORMATS = {"f8E4M3FN": _Format(3, 7, 0x7E), "f8E5M2": _Format(2, 15, 0x7B)}


def to_f32(ctx: Lowering, value: Value, element: str) -> Value:
    """The f32 of an 8-bit float (i8): its bits where f16 has them, scaled by the ratio of the
    biases. The upper half of an f16 is an f8E5M2."""
    b, format_ = ctx.builder, _FORMATS[element]
    code = b.op("arith.extui", [value], b.i16)
    sign = b.op("arith.andi", [b.op("arith.shli", [code, b.constant(8, b.i16)], b.i16),
                               b.constant(0x8000, b.i16)], b.i16)  # fmt: skip
    magnitude = b.op("arith.andi", [code, b.constant(0x7F, b.i16)], b.i16)
    moved = b.op("arith.shli", [magnitude, b.constant(10 - format_.fraction, b.i16)], b.i16)
    half = b.op("arith.bitcast", [b.op("arith.ori", [sign, moved], b.i16)], b.type("f16"))
    wide = b.op("arith.extf", [half], b.type("f32"))
    if element == "f8E5M2":
        return wide
    scaled = b.op(
        "arith.mulf", [wide, b.constant(2.0 ** (15 - format_.bias), wide.type)], wide.type
    )
    is_nan = b.compare("eq", magnitude, b.constant(_NAN, b.i16))
    return ctx.select(is_nan, b.constant(float("nan"), wide.type), scaled)


def from_f32(ctx: Lowering, value: Value, element: str) -> Value:
    """An f32 as an 8-bit float (i8), rounded to nearest even; too large is the largest number."""
    b, format_ = ctx.builder, _FORMATS[element]
    bits = b.op("arith.bitcast", [value], b.i32)
    magnitude = b.op("arith.andi", [bits, b.c32(0x7FFFFFFF)], b.i32)
    smallest_normal = (_F32_BIAS - format_.bias + 1) << _F32_FRACTION
    is_normal = b.compare("uge", magnitude, b.c32(smallest_normal))
    code = ctx.select(
        is_normal, _rounded(ctx, magnitude, format_), _subnormal(ctx, magnitude, format_)
    )
    code = b.op("arith.minui", [code, b.c32(format_.largest)], b.i32)
    sign = b.op("arith.andi", [b.op("arith.shrui", [bits, b.c32(24)], b.i32), b.c32(0x80)], b.i32)
    unordered = {"predicate": b.i64_attr(FLOAT_PREDICATES.index("uno"))}
    is_nan = b.op("arith.cmpf", [value, value], b.i1, unordered)
    signed = b.op("arith.ori", [code, sign], b.i32)
    return b.op("arith.trunci", [ctx.select(is_nan, b.c32(_NAN), signed)], b.i8)


def _rounded(ctx: Lowering, magnitude: Value, format_: _Format) -> Value:
    """A carry out of the fraction goes into the exponent, as it should."""
    b, dropped = ctx.builder, _F32_FRACTION - format_.fraction
    odd = b.op("arith.shrui", [magnitude, b.c32(dropped)], b.i32)
    odd = b.op("arith.andi", [odd, b.c32(1)], b.i32)
    sum_ = b.add(magnitude, b.add(odd, b.c32((1 << (dropped - 1)) - 1)))
    kept = b.op("arith.shrui", [sum_, b.c32(dropped)], b.i32)
    return b.sub(kept, b.c32((_F32_BIAS - format_.bias) << format_.fraction))


def _subnormal(ctx: Lowering, magnitude: Value, format_: _Format) -> Value:
    """Added to a number whose last place is the smallest subnormal, f32 rounds."""
    b = ctx.builder
    exponent = 1 - format_.bias - format_.fraction + _F32_FRACTION
    anchor = b.c32((exponent + _F32_BIAS) << _F32_FRACTION)
    f32 = b.type("f32")
    terms = [b.op("arith.bitcast", [x], f32) for x in (magnitude, anchor)]
    total = b.op("arith.bitcast", [b.op("arith.addf", terms, f32)], b.i32)
    return b.sub(total, anchor)
