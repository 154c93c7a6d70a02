"""Formats of scales and of four bits: integers to everything but conversions.

Tiles of these are tiles of `i8` or `i4`, since nothing but bits matters to the operations that may
have them. Only conversions know the format; they are integer arithmetic, on any architecture.

    f8E8M0FNU     2^(e - 127), 255 is NaN
    fnv8E5M3FNU   five bits of exponent (bias 15), three of fraction, 255 is NaN
    f4E2M1FN      sign, two bits of exponent (bias 1), one of fraction: 0 .5 1 1.5 2 3 4 6
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.compiler.ir_util import FLOAT_PREDICATES, element_type
from tileir.compiler.unsupported import Unsupported
from tileir.ir import Value
from tileir.passes.convert_cuda_tile.converter import Converter
from tileir.passes.convert_cuda_tile.float_formats import convert_float

_QUIET_NAN = 0x7FC00000
_F32_BIAS = 127


class _Bits:
    """32-bit integer arithmetic on a scalar or on each element of a tile."""

    def __init__(self, c: Converter):
        self.c = c

    def op(self, name: str, value: Value, other: Value | int) -> Value:
        if isinstance(other, int):
            other = self.c.full(other, value)
        return self.c.elementwise(f"arith.{name}", [value, other])

    def compare(self, predicate: str, value: Value, other: int) -> Value:
        c = self.c
        i1 = c.like(value.type, c.builder.i1)
        return c.builder.compare(predicate, value, c.full(other, value), i1)

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        like = a if isinstance(a, Value) else b
        assert isinstance(like, Value), "one of two is no constant"
        a, b = (x if isinstance(x, Value) else self.c.full(x, like) for x in (a, b))
        return self.c.select(condition, a, b)


def widen(c: Converter, x: Value, format_: str) -> Value:
    """The f32 of a scalar or tile of a format, exactly."""
    bits = _Bits(c)
    code = c.elementwise("arith.extui", [x], c.builder.i32)
    return c.elementwise("arith.bitcast", [_WIDEN[format_](bits, code)], c.builder.type("f32"))


def _from_e8m0(b: _Bits, code: Value) -> Value:
    shifted = b.op("shli", code, 23)
    number = b.select(b.compare("eq", code, 0), 1 << 22, shifted)  # 2^-127 is subnormal
    return b.select(b.compare("eq", code, 255), _QUIET_NAN, number)


def _from_e5m3(b: _Bits, code: Value) -> Value:
    normal = b.op("addi", b.op("shli", code, 20), (_F32_BIAS - 15) << 23)
    c = b.c
    fraction = c.elementwise("arith.uitofp", [code], c.builder.type("f32"))
    scaled = c.elementwise("arith.mulf", [fraction, c.full(2.0**-17, fraction)])
    subnormal = c.elementwise("arith.bitcast", [scaled], c.builder.i32)
    number = b.select(b.compare("ult", code, 8), subnormal, normal)
    return b.select(b.compare("eq", code, 255), _QUIET_NAN, number)


def _from_e2m1(b: _Bits, code: Value) -> Value:
    magnitude = b.op("andi", code, 7)
    normal = b.op("addi", b.op("shli", magnitude, 22), (_F32_BIAS - 1) << 23)
    half = b.op("muli", magnitude, 0x3F000000)  # of 0 and 1: 0 and 0.5
    number = b.select(b.compare("ult", magnitude, 2), half, normal)
    return b.op("ori", number, b.op("shli", b.op("shrui", code, 3), 31))


_WIDEN: dict[str, Callable[[_Bits, Value], Value]] = {
    "f8E8M0FNU": _from_e8m0,
    "!cuda_tile.fnv8E5M3FNU": _from_e5m3,
    "f4E2M1FN": _from_e2m1,
}


def narrow(c: Converter, x: Value, format_: str, rounding: str) -> Value:
    """An f32 or f64 rounded to a format: f8E8M0FNU to zero or up, f4E2M1FN to nearest even."""
    if format_ == "f8E8M0FNU":
        code, stored = _to_e8m0(c, x, rounding), c.builder.i8
    elif format_ == "f4E2M1FN":
        code, stored = _to_e2m1(c, x), c.builder.type("i4")
    else:
        raise Unsupported(f"no code generation for a conversion to {format_}")
    return c.elementwise("arith.trunci", [code], stored)


def _to_e8m0(c: Converter, x: Value, rounding: str) -> Value:
    """The sign is ignored; 2^-127 is the least number, 2^127 the largest."""
    b, f32 = _Bits(c), c.builder.type("f32")
    magnitude = convert_float(c, c.elementwise("math.absf", [x]), f32, rounding)
    bits = c.elementwise("arith.bitcast", [magnitude], c.builder.i32)
    exponent = b.op("shrui", bits, 23)
    code = exponent
    if rounding == "positive_inf":
        # Of subnormals, those beyond 2^-127 become 2^-126.
        fraction = b.op("andi", bits, 0x7FFFFF)
        beyond = b.compare("ugt", fraction, 0)
        half_beyond = b.compare("ugt", fraction, 1 << 22)
        more = b.c.select(b.compare("eq", exponent, 0), half_beyond, beyond)
        code = b.op("addi", exponent, c.elementwise("arith.extui", [more], c.builder.i32))
    return b.select(b.compare("ugt", bits, 0x7F800000), 255, b.op("minui", code, 254))


#: Where the code of a magnitude becomes the next one, and whether the tie already does.
_STEPS = (
    (0.25, False), (0.75, True), (1.25, False), (1.75, True), (2.5, False), (3.5, True),
    (5.0, False),
)  # fmt: skip


def _to_e2m1(c: Converter, x: Value) -> Value:
    """Beyond 6 it is 6, of NaN too (without a sign)."""
    b, builder = _Bits(c), c.builder
    magnitude, code = c.elementwise("math.absf", [x]), None
    for limit, ties in _STEPS:
        # Unordered: NaN is beyond all.
        beyond = _compare(c, "uge" if ties else "ugt", magnitude, c.full(limit, x))
        step = c.elementwise("arith.extui", [beyond], builder.i32)
        code = step if code is None else b.op("addi", code, step)
    assert code is not None
    is_wide = str(element_type(x.type)) == "f64"
    bits = c.elementwise("arith.bitcast", [x], builder.i64 if is_wide else builder.i32)
    negative = builder.compare("slt", bits, c.full(0, bits), c.like(bits.type, builder.i1))
    ordered = _compare(c, "ord", x, x)
    sign = c.elementwise("arith.andi", [negative, ordered])
    extended = c.elementwise("arith.extui", [sign], builder.i32)
    return b.op("ori", code, b.op("shli", extended, 3))


def _compare(c: Converter, predicate: str, a: Value, b: Value) -> Value:
    attributes = {"predicate": c.builder.i64_attr(FLOAT_PREDICATES.index(predicate))}
    return c.elementwise("arith.cmpf", [a, b], c.builder.i1, attributes)
