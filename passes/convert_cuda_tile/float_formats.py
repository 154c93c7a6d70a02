"""Conversions between the float formats that values are computed in, and the 8-bit ones."""

from __future__ import annotations

from tileir.compiler.ir_util import FLOAT_PREDICATES, element_type
from tileir.ir import Type, Value
from tileir.passes.convert_cuda_tile.converter import Converter

#: Mantissa and exponent bits: a conversion is exact if neither shrinks.
FORMATS = {
    "f64": (52, 11),
    "f32": (23, 8),
    "tf32": (10, 8),
    "f16": (10, 5),
    "bf16": (7, 8),
    "f8E5M2": (2, 5),
    "f8E4M3FN": (3, 4),
}
BASE = ("f64", "f32", "f16", "bf16")
_CVT = {
    "nearest_even": "rn",
    "zero": "rz",
    "negative_inf": "rm",
    "positive_inf": "rp",
    "nearest_away": "rna",
}


def _widens(source: str, result: str) -> bool:
    return all(a <= b for a, b in zip(FORMATS[source], FORMATS[result], strict=True))


def convert_float(c: Converter, x: Value, to: Type, rounding: str = "nearest_even") -> Value:
    """Converts a scalar or tile of floats to `to`; `rounding` as in `ftof`."""
    source, result = str(element_type(x.type)), str(to)
    if source == result:
        return x
    if _widens(source, result):
        rounding = "nearest_even"  # exact in any mode
    if source in BASE and result in BASE:
        if _widens(source, result):
            return c.elementwise("arith.extf", [x], to)
        if rounding == "nearest_even":
            if {source, result} == {"f16", "bf16"}:  # neither holds the other, f32 holds both
                x = c.elementwise("arith.extf", [x], c.builder.type("f32"))
            return c.elementwise("arith.truncf", [x], to)
        if source == "f32" and result == "bf16" and rounding != "zero":
            return round_from_f32(c, x, to, rounding)
    attributes = {"rounding": c.builder.attribute(f'"{_CVT[rounding]}"')}
    return c.elementwise("tile_gpu.ftof", [x], to, attributes)


def round_from_f32(c: Converter, x: Value, to: Type, rounding: str) -> Value:
    """Rounds f32 to f16 or bf16 in one of the four IEEE modes.

    PTX rounds to bf16 up and down only by hand: truncate the bits, then step one unit away from
    zero where the truncation moved against the mode. NaN keeps to the ordinary conversion.
    """
    if rounding not in ("negative_inf", "positive_inf") or str(to) != "bf16":
        return convert_float(
            c, x, to, "nearest_even" if rounding in ("approx", "full") else rounding
        )
    i16, i32 = c.builder.i16, c.builder.i32
    bits = c.elementwise("arith.bitcast", [x], i32)
    low = c.elementwise("arith.andi", [bits, c.full(0xFFFF, bits)])
    zero = c.full(0, bits)
    i1 = c.like(bits.type, c.builder.i1)
    inexact = c.builder.compare("ne", low, zero, i1)
    away = c.builder.compare("slt" if rounding == "negative_inf" else "sge", bits, zero, i1)
    step = c.elementwise("arith.andi", [inexact, away])
    high = c.elementwise("arith.shrui", [bits, c.full(16, bits)])
    stepped = c.elementwise("arith.addi", [high, c.elementwise("arith.extui", [step], i32)])
    directed = c.elementwise("arith.bitcast", [c.elementwise("arith.trunci", [stepped], i16)], to)
    nearest = c.elementwise("arith.truncf", [x], to)
    unordered = {"predicate": c.builder.i64_attr(FLOAT_PREDICATES.index("uno"))}
    is_nan = c.elementwise("arith.cmpf", [x, x], c.builder.i1, unordered)
    return c.select(is_nan, nearest, directed)
