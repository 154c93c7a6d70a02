"""mov, selp, slct, logic on predicates and bits."""

from __future__ import annotations

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..numerics import floats, integers
from ..ptx.syntax import Operand, Register, Sink, Vector
from ..ptx.types import B128, PRED, TYPES, U32, WIDE, Type, bits_type
from .compare import COMBINATIONS


@instruction("mov")
def move(e: Emitter, f: Form) -> None:
    type_ = f.type()
    f.count(2)
    result, source = f.operands
    if isinstance(source, Vector):
        e.write(result, _pack(e, source, type_), type_)
    elif isinstance(result, Vector):
        _unpack(e, result, source, type_)
    else:
        held = type_
        if isinstance(source, Register) and e.home(source).itemsize == type_.dtype.itemsize:
            held = Type(type_.name, type_.kind, type_.bits, e.home(source))
        if type_ is PRED:
            held = PRED
        e.write(result, e.read(source, held), held)


def _pack(e: Emitter, source: Vector, type_: Type) -> str:
    """{low, ..., high} as one value."""
    count = len(source.elements)
    part = bits_type(type_.bits // count)
    if type_ is B128:
        words = [e.read(element, TYPES["u64"]) for element in source.elements]
        if count != 2:
            raise e.error("128 bits are packed from two 64-bit registers")
        return e.call(pack_wide, *words)
    if type_.bits % 8 or part.bits < 8:
        raise e.error(f"cannot pack {count} parts into .{type_}")
    pieces = []
    for place, element in enumerate(source.elements):
        cast = e.dtype_name(TYPES[f"u{type_.bits}"].dtype)
        value = f"{e.read(element, part)}.astype({cast})"
        shift = e.constant(TYPES[f"u{type_.bits}"].dtype.type(place * part.bits))
        pieces.append(f"({value} << {shift})" if place else value)
    return " | ".join(pieces)


def _unpack(e: Emitter, result: Vector, source: Operand, type_: Type) -> None:
    count = len(result.elements)
    part = bits_type(type_.bits // count)
    if type_ is B128:
        value = e.temporary(e.read(source, B128))
        for element, name in zip(result.elements, ("low", "high"), strict=True):
            if not isinstance(element, Sink):
                e.write(element, f"np.ascontiguousarray({value}[{name!r}])", TYPES["u64"])
        return
    unsigned = TYPES[f"u{type_.bits}"]
    value = e.temporary(e.read(source, unsigned))
    for place, element in enumerate(result.elements):
        if isinstance(element, Sink):
            continue
        shift = e.constant(unsigned.dtype.type(place * part.bits))
        shifted = f"({value} >> {shift})" if place else value
        e.write(element, f"{shifted}.astype({e.dtype_name(part.dtype)})", part)


def pack_wide(w: object, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """128 bits of two words."""
    out = np.empty(np.broadcast_shapes(np.shape(low), np.shape(high)), WIDE)
    out["low"], out["high"] = low, high
    return out


@instruction("selp")
def select(e: Emitter, f: Form) -> None:
    type_ = f.type()
    f.count(4)
    a, b, condition = e.read(f.operand(1), type_), e.read(f.operand(2), type_), f.operand(3)
    e.write(f.operand(0), f"where({e.read(condition, PRED)}, {a}, {b})", type_)


@instruction("slct")
def select_by_sign(e: Emitter, f: Form) -> None:
    """a where c >= 0 (-0 included, NaN not), b elsewhere."""
    flush = f.has("ftz")
    type_, sign_type = f.type(), f.type("s32", "f32")
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    c = e.read(f.operand(3), sign_type)
    if flush:
        c = f"{e.use(floats.flush)}({c})"
    e.write(f.operand(0), f"where({c} >= 0, {a}, {b})", type_)


@instruction("and", "or", "xor")
def logic(e: Emitter, f: Form) -> None:
    type_ = f.type()
    f.count(3)
    if type_ is not PRED:
        type_ = e.integer(type_.bits, *f.operands)
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    e.write(f.operand(0), f"{a} {COMBINATIONS[f.name]} {b}", type_)


@instruction("not", "cnot")
def invert(e: Emitter, f: Form) -> None:
    type_ = f.type()
    a = e.read(f.operand(1), type_)
    if f.name == "cnot":
        e.write(f.operand(0), f"({a} == 0).astype({e.dtype_name(type_.dtype)})", type_)
    else:
        e.write(f.operand(0), f"~{a}", type_)


@instruction("lop3")
def logic_of_three(e: Emitter, f: Form) -> None:
    """lop3.b32 d, a, b, c, table; with .and/.or also a predicate d|p, ..., q."""
    combination = f.one_of("and", "or")
    f.type("b32")
    operands = f.operands
    a, b, c = (e.read(operand, U32) for operand in operands[1:4])
    table = getattr(operands[4], "value", None)
    if not isinstance(table, int):
        raise f.error("the table of lop3 must be a number")
    value = f"{e.use(integers.logic)}({a}, {b}, {c}, {table & 0xFF})"
    result = operands[0]
    predicate = getattr(result, "second", None)
    if predicate is None:
        e.write(result, value, U32)
        return
    value = e.temporary(value)
    other = e.read(operands[5], PRED)
    if not isinstance(result.first, Sink):  # type: ignore[union-attr]
        e.write(result.first, value, U32)  # type: ignore[union-attr]
    e.write(predicate, f"({value} != 0) {COMBINATIONS[combination or 'and']} {other}", PRED)
