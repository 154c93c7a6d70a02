"""cvt in all its forms."""

from __future__ import annotations

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..numerics import conversions
from ..numerics.floats import MODES
from ..ptx.syntax import Immediate, Operand, Special
from ..ptx.types import TYPES, U32, Type

_INTEGRAL = {
    "rni": "integral nearest_even",
    "rzi": "integral zero",
    "rmi": "integral negative_inf",
    "rpi": "integral positive_inf",
}


@instruction("cvt")
def convert(e: Emitter, f: Form) -> None:
    rounding = f.one_of(*MODES, *_INTEGRAL)
    flush, positive = f.has("ftz"), f.has("relu")
    finite, saturate = f.has("satfinite"), f.has("sat")
    target, source = f.type(), f.type()
    mode = MODES.get(rounding or "", _INTEGRAL.get(rounding or "", "nearest_even"))
    flags = f"{saturate}, {flush}, {positive}, {finite}"
    if target.lanes > 1 and source.lanes > 1:
        _pair_to_pair(e, f, target, source, mode, flags)
    elif target.lanes > 1:
        f.count(3)
        parts = [
            _converted(e, operand, source, TYPES[target.element], mode, flags)
            for operand in f.operands[1:]
        ]
        e.write(f.operand(0), f"{e.use(conversions.pack)}({', '.join(parts)})", target)
    elif not source.is_float and not target.is_float and not saturate:
        _integer(e, f, source, target)
    else:
        f.count(2)
        value = _converted(e, f.operand(1), source, target, mode, flags)
        e.write(f.operand(0), value, target)


def _integer(e: Emitter, f: Form, source: Type, target: Type) -> None:
    """Between integers: cut, or extended by the source's sign."""
    value = e.read(f.operand(1), source)
    if source.bits == target.bits:
        value = f"{value}.view({e.dtype_name(target.dtype)})"
        if isinstance(f.operand(1), (Immediate, Special)):
            value = f"w.fill({e.read(f.operand(1), target)})"
            if isinstance(f.operand(1), Special):
                value = e.read(f.operand(1), target)
    else:
        value = f"{value}.astype({e.dtype_name(target.dtype)})"
    e.write(f.operand(0), value, target)


def _converted(
    e: Emitter, operand: Operand, source: Type, target: Type, mode: str, flags: str
) -> str:
    value = e.read(operand, source)
    if isinstance(operand, Immediate):
        value = f"w.fill({value})"
    types = f"{e.object(source, source.name)}, {e.object(target, target.name)}"
    return f"{e.object(conversions.convert, 'convert')}({value}, {types}, {mode!r}, {flags})"


def _pair_to_pair(e: Emitter, f: Form, target: Type, source: Type, mode: str, flags: str) -> None:
    """fp8 pairs to and from f16 pairs."""
    f.count(2)
    element = e.dtype_name(TYPES[source.element].dtype)
    high, low = e.fresh(), e.fresh()
    value = e.read(f.operand(1), source)
    e.line(f"{high}, {low} = {e.use(conversions.unpack)}({value}, {element})")
    types = ", ".join(e.object(TYPES[name], name) for name in (source.element, target.element))
    name = e.object(conversions.convert, "convert")
    parts = [f"{name}({part}, {types}, {mode!r}, {flags})" for part in (high, low)]
    e.write(f.operand(0), f"{e.use(conversions.pack)}({', '.join(parts)})", target)


@instruction("cvt.pack")
def convert_and_pack(e: Emitter, f: Form) -> None:
    f.need("sat")
    target, source = f.type("u16", "s16", "u8", "s8"), f.type("s32")
    third = f.optional_type()
    a, b = e.read(f.operand(1), source), e.read(f.operand(2), source)
    c = e.read(f.operand(3), U32) if third is not None else "None"
    call = f"{e.use(conversions.pack_saturated)}({a}, {b}, {c}, {e.dtype_name(target.dtype)})"
    e.write(f.operand(0), call, U32)
