"""Conversions between float formats that `arith` does not have: PTX `cvt`."""

from __future__ import annotations

from tileir.compiler.ir_util import FLOAT_PREDICATES, text_attr
from tileir.compiler.tile_types import FP8, tile_info
from tileir.ir import OpView, Type, Value
from tileir.passes.convert_tile_gpu import fp8
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers

#: cvt to and from fp8: the first architecture, and the PTX version for it (PTX ISA, cvt).
_CVT_CAPABILITY = 89
_CVT_PTX_VERSION = 81
#: cvt to tf32 in modes other than `rna`.
_TF32_CAPABILITY = 90


@lowers("tile_gpu.ftof")
def _ftof(ctx: Lowering, op: OpView) -> None:
    source, result = (_element(v) for v in (op.operation.operands[0], op.operation.results[0]))
    rounding = text_attr(op, "rounding")
    ctx.each(op, lambda given: convert(ctx, given[0], source, result, rounding))


def _element(value: Value) -> str:
    info = tile_info(value.type)
    return info.element if info else str(value.type)


def convert(ctx: Lowering, value: Value, source: str, result: str, rounding: str) -> Value:
    """`value` of format `source` in format `result`."""
    if source in FP8:
        wide = to_float(ctx, value, source, ctx.builder.type("f32"))
        return wide if result in ("f32", "tf32") else _from_f32(ctx, wide, result, rounding)
    if source == "tf32":
        source = "f32"
    if source == "f64":
        return _from_f64(ctx, value, result, rounding)
    return _from_f32(ctx, to_float(ctx, value, source, ctx.builder.type("f32")), result, rounding)


def _from_f64(ctx: Lowering, value: Value, result: str, rounding: str) -> Value:
    """Through f32 unless that is the result: by cvt.rz, which a second rounding towards zero
    continues; for other roundings, what it cut off goes into the last bit (round to odd), from
    where the second rounding sees it."""
    b = ctx.builder
    if result == "f32":
        return _cvt(ctx, value, f"cvt.{rounding}.f32.f64 $0, $1;", "=f,d", "f32")
    cut = _cvt(ctx, value, "cvt.rz.f32.f64 $0, $1;", "=f,d", "f32")
    if rounding != "rz":
        back = b.op("arith.extf", [cut], value.type)
        predicate = {"predicate": b.i64_attr(FLOAT_PREDICATES.index("one"))}
        inexact = b.op("arith.cmpf", [back, value], b.i1, predicate)
        sticky = b.op("arith.extui", [inexact], b.i32)
        odd = b.op("arith.ori", [b.op("arith.bitcast", [cut], b.i32), sticky], b.i32)
        cut = b.op("arith.bitcast", [odd], cut.type)
    return _from_f32(ctx, cut, result, rounding)


def to_float(ctx: Lowering, value: Value, element: str, type_: Type) -> Value:
    """`value` of format `element` as f32 or f64, exactly unless f64 narrows."""
    b = ctx.builder
    if element in FP8:
        value = _from_fp8(ctx, value, element)
    if value.type == type_:
        return value
    wider = ctx.width(type_) > ctx.width(value.type)
    return b.op("arith.extf" if wider else "arith.truncf", [value], type_)


def _has_fp8(ctx: Lowering) -> bool:
    """Whether `cvt` knows 8-bit floats; then asks for the PTX version."""
    if ctx.target.capability < _CVT_CAPABILITY:
        return False
    ctx.need_ptx(_CVT_PTX_VERSION)
    return True


def _from_fp8(ctx: Lowering, value: Value, element: str) -> Value:
    """Through f16, which holds both formats."""
    if not _has_fp8(ctx):
        return fp8.to_f32(ctx, value, element)
    b, format_ = ctx.builder, FP8[element]
    pair = b.op("arith.extui", [value], b.i16)
    text = f"cvt.rn.f16x2.{format_}x2 $0, $1;"
    halves = ctx.asm(text, "=r,h", [pair], b.i32, False).results[0]
    low = b.op("arith.trunci", [halves], b.i16)
    return b.op("arith.extf", [b.op("arith.bitcast", [low], b.type("f16"))], b.type("f32"))


def _from_f32(ctx: Lowering, value: Value, result: str, rounding: str) -> Value:
    b = ctx.builder
    if result == "f32":
        return value
    if result == "f64":
        return b.op("arith.extf", [value], b.type("f64"))
    if result == "tf32":
        return _to_tf32(ctx, value, rounding)
    if result in FP8:
        if not _has_fp8(ctx):
            return fp8.from_f32(ctx, value, result)
        text = f"cvt.rn.satfinite.{FP8[result]}x2.f32 $0, $1, $2;"
        zero = b.constant(0.0, value.type)
        pair = ctx.asm(text, "=h,f,f", [zero, value], b.i16, False).results[0]
        return b.op("arith.trunci", [pair], b.i8)
    if rounding == "rn":
        return b.op("arith.truncf", [value], b.type(result))
    bits = _cvt(ctx, value, f"cvt.{rounding}.{result}.f32 $0, $1;", "=h,f", "i16")
    return b.op("arith.bitcast", [bits], b.type(result))


def _to_tf32(ctx: Lowering, value: Value, rounding: str) -> Value:
    """With `cvt`; before sm_90, to nearest even and to zero in integers. `cvt.rna` and these make
    infinity of a NaN whose payload is all in the bits that go (an H200 does): it becomes one that
    tf32 can hold."""
    b = ctx.builder
    if rounding != "rna" and ctx.target.capability >= _TF32_CAPABILITY:
        bits = _cvt(ctx, value, f"cvt.{rounding}.tf32.f32 $0, $1;", "=r,f", "i32")
        return b.op("arith.bitcast", [bits], value.type)
    if rounding == "rna":
        rounded = _cvt(ctx, value, "cvt.rna.tf32.f32 $0, $1;", "=r,f", "i32")
    else:
        rounded = _cut_to_tf32(ctx, value, rounding)
    unordered = {"predicate": b.i64_attr(FLOAT_PREDICATES.index("uno"))}
    is_nan = b.op("arith.cmpf", [value, value], b.i1, unordered)
    kept = b.op("arith.select", [is_nan, b.c32(0x7FFFE000), rounded], b.i32)
    return b.op("arith.bitcast", [kept], value.type)


def _cut_to_tf32(ctx: Lowering, value: Value, rounding: str) -> Value:
    """The bits of a number in tf32, rounded to nearest even (`rn`) or to zero."""
    b = ctx.builder
    bits = b.op("arith.bitcast", [value], b.i32)
    rounded = bits
    if rounding == "rn":
        odd = b.op("arith.shrui", [bits, b.c32(13)], b.i32)
        odd = b.op("arith.andi", [odd, b.c32(1)], b.i32)
        rounded = b.add(bits, b.add(odd, b.c32(0xFFF)))
    return b.op("arith.andi", [rounded, b.c32(~0x1FFF)], b.i32)


def _cvt(ctx: Lowering, value: Value, text: str, constraints: str, result: str) -> Value:
    return ctx.asm(text, constraints, [value], ctx.builder.type(result), False).results[0]
