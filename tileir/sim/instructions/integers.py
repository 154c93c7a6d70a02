"""Integer arithmetic."""

from __future__ import annotations

import numpy as np

from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..numerics import integers
from ..ptx.syntax import Immediate
from ..ptx.types import S32, TYPES, U32, Type
from .floats import add as add_floats
from .floats import divide as divide_floats
from .floats import minimum_maximum as minimum_maximum_floats
from .floats import multiply as multiply_floats
from .floats import multiply_add as multiply_add_floats
from .floats import negate as negate_floats
from .halves import packed_integers


def binary(e: Emitter, f: Form, type_: Type, template: str) -> None:
    """d = template with a and b."""
    f.count(3)
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    e.write(f.operand(0), template.format(a=a, b=b), type_)


def _agnostic(e: Emitter, f: Form, type_: Type) -> Type:
    """`type_` or its twin of the other sign, as the operands are held."""
    return e.integer(type_.bits, *f.operands)


@instruction("add", "sub")
def add(e: Emitter, f: Form) -> None:
    saturate = f.has("sat")
    carries = f.has("cc")
    rounding = f.one_of("rn", "rz", "rm", "rp")
    flush = f.has("ftz")
    type_ = f.type()
    if type_.is_float:
        add_floats(e, f, type_, rounding, flush, saturate)
    elif type_.lanes > 1:
        packed_integers(e, f, type_, f.name)
    elif carries:
        _carry_of_two(e, f, type_, f.name == "sub", reads=False, writes=True)
    elif saturate:
        helper = integers.saturating_add if f.name == "add" else integers.saturating_subtract
        binary(e, f, S32, f"{e.use(helper)}({{a}}, {{b}})")
    else:
        sign = "+" if f.name == "add" else "-"
        binary(e, f, _agnostic(e, f, type_), f"{{a}} {sign} {{b}}")


@instruction("addc", "subc")
def add_carry(e: Emitter, f: Form) -> None:
    writes = f.has("cc")
    _carry_of_two(e, f, f.type(), f.name == "subc", reads=True, writes=writes)


def _carry_of_two(
    e: Emitter, f: Form, type_: Type, subtracts: bool, *, reads: bool, writes: bool
) -> None:
    unsigned = TYPES[f"u{type_.bits}"]
    a, b = e.read(f.operand(1), unsigned), e.read(f.operand(2), unsigned)
    _carrying(e, f, type_, a, b, subtracts=subtracts, reads=reads, writes=writes)


def _carrying(
    e: Emitter, f: Form, type_: Type, a: str, b: str, *, subtracts: bool, reads: bool, writes: bool
) -> None:
    """d = a + b with the carry flag as it is asked for."""
    helper = integers.subtract_with_borrow if subtracts else integers.add_with_carry
    carry = e.carry if reads else "w.fill(np.bool_(False))"
    total, flag = e.fresh(), e.fresh()
    e.line(f"{total}, {flag} = {e.use(helper)}({a}, {b}, {carry})")
    e.array_seen()
    e.write(f.operand(0), total, TYPES[f"u{type_.bits}"])
    if writes:
        kept = flag if e.guard is None else f"where({e.guard}, {flag}, {e.carry})"
        e.line(f"{e.carry} = {kept}")


@instruction("mul")
def multiply(e: Emitter, f: Form) -> None:
    part = f.one_of("lo", "hi", "wide")
    if part is None:
        multiply_floats(e, f)
        return
    type_ = f.type()
    if part == "lo":
        binary(e, f, _agnostic(e, f, type_), "{a} * {b}")
    elif part == "hi":
        binary(e, f, type_, f"{e.use(integers.multiply_high)}({{a}}, {{b}})")
    else:
        e.write(f.operand(0), _wide_product(e, f, type_), _doubled(type_))


def _doubled(type_: Type) -> Type:
    return TYPES[f"{type_.kind}{2 * type_.bits}"]


def _wide_product(e: Emitter, f: Form, type_: Type) -> str:
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    return f"{e.use(integers.multiply_wide)}({a}, {b})"


@instruction("mad", "madc")
def multiply_add(e: Emitter, f: Form) -> None:
    part = f.one_of("lo", "hi", "wide")
    if part is None:
        multiply_add_floats(e, f)
        return
    saturate, carries = f.has("sat"), f.has("cc")
    type_ = f.type()
    f.count(4)
    if carries or f.name == "madc":
        a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
        product = f"{e.use(integers.multiply_high)}({a}, {b})" if part == "hi" else f"({a} * {b})"
        product = f"{product}.view(u{type_.bits})"
        added = e.read(f.operand(3), TYPES[f"u{type_.bits}"])
        _carrying(
            e, f, type_, product, added, subtracts=False, reads=f.name == "madc", writes=carries
        )
        return
    if part == "wide":
        wide = _doubled(type_)
        product = _wide_product(e, f, type_)
        e.write(f.operand(0), f"{product} + {e.read(f.operand(3), wide)}", wide)
        return
    if part == "lo":
        type_ = _agnostic(e, f, type_)
    a, b, c = (e.read(f.operand(k), type_) for k in (1, 2, 3))
    if saturate:
        e.write(f.operand(0), f"{e.use(integers.multiply_add_saturating)}({a}, {b}, {c})", type_)
    elif part == "hi":
        e.write(f.operand(0), f"{e.use(integers.multiply_high)}({a}, {b}) + {c}", type_)
    else:
        e.write(f.operand(0), f"{a} * {b} + {c}", type_)


@instruction("mul24", "mad24")
def multiply_24(e: Emitter, f: Form) -> None:
    high = f.need("lo", "hi") == "hi"
    type_ = f.type("s32", "u32")
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    product = f"{e.use(integers.multiply_24)}({a}, {b}, {high})"
    if f.name == "mad24":
        product = f"{product} + {e.read(f.operand(3), type_)}"
    e.write(f.operand(0), product, type_)


@instruction("div")
def divide(e: Emitter, f: Form) -> None:
    mode = f.one_of("approx", "full", "rn", "rz", "rm", "rp")
    if mode is not None:
        divide_floats(e, f, mode)
        return
    binary(e, f, f.type(), f"{e.use(integers.divide)}({{a}}, {{b}})")


@instruction("rem")
def remainder(e: Emitter, f: Form) -> None:
    binary(e, f, f.type(), f"{e.use(integers.remainder)}({{a}}, {{b}})")


@instruction("sad")
def absolute_differences(e: Emitter, f: Form) -> None:
    type_ = f.type()
    a, b, c = (e.read(f.operand(k), type_) for k in (1, 2, 3))
    e.write(f.operand(0), f"{e.use(integers.sum_of_absolute_differences)}({a}, {b}, {c})", type_)


@instruction("abs")
def absolute(e: Emitter, f: Form) -> None:
    flush = f.has("ftz")
    type_ = f.type()
    if type_.is_float:
        negate_floats(e, f, type_, flush, absolute=True)
    else:
        e.write(f.operand(0), f"np.abs({e.read(f.operand(1), type_)})", type_)


@instruction("neg")
def negate(e: Emitter, f: Form) -> None:
    flush = f.has("ftz")
    type_ = f.type()
    if type_.is_float:
        negate_floats(e, f, type_, flush, absolute=False)
    else:
        e.write(f.operand(0), f"-{e.read(f.operand(1), type_)}", type_)


@instruction("min", "max")
def minimum_maximum(e: Emitter, f: Form) -> None:
    flush, propagate = f.has("ftz"), f.has("NaN")
    by_magnitude, relu = f.has("xorsign"), f.has("relu")
    if by_magnitude:
        f.need("abs")
    type_ = f.type()
    if type_.is_float:
        minimum_maximum_floats(e, f, type_, flush, propagate, by_magnitude)
    elif type_.lanes > 1:
        packed_integers(e, f, type_, f.name, relu)
    else:
        clamp = f"np.maximum({e.constant(type_.dtype.type(0))}, " if relu else "("
        binary(e, f, type_, f"{clamp}np.{f.name}imum({{a}}, {{b}}))")


@instruction("dp4a", "dp2a")
def dot_product(e: Emitter, f: Form) -> None:
    high = f.has("hi") if f.name == "dp2a" else False
    f.has("lo")
    a_type, b_type = f.type("s32", "u32"), f.type("s32", "u32")
    a, b, c = (e.read(f.operand(k), U32) for k in (1, 2, 3))
    signs = f"{a_type.signed}, {b_type.signed}"
    signed = a_type.signed or b_type.signed
    c = e.read(f.operand(3), S32 if signed else U32)
    if f.name == "dp4a":
        e.write(f.operand(0), f"{e.use(integers.dot_4)}({a}, {b}, {c}, {signs})", U32)
    else:
        e.write(f.operand(0), f"{e.use(integers.dot_2)}({a}, {b}, {c}, {signs}, {high})", U32)


# --- bits ----------------------------------------------------------------------------------------


@instruction("popc", "clz", "brev", "bfind", "fns")
def count_bits(e: Emitter, f: Form) -> None:
    as_shift = f.has("shiftamt")
    type_ = f.type()
    a = e.read(f.operand(1), type_)
    if f.name == "popc":
        e.write(f.operand(0), f"{e.use(integers.count_ones)}({a})", U32)
    elif f.name == "clz":
        e.write(f.operand(0), f"{e.use(integers.count_leading_zeros)}({a})", U32)
    elif f.name == "brev":
        e.write(f.operand(0), f"{e.use(integers.reverse_bits)}({a})", type_)
    elif f.name == "bfind":
        e.write(f.operand(0), f"{e.use(integers.find_highest)}({a}, {as_shift})", U32)
    else:
        base, offset = e.read(f.operand(2), U32), e.read(f.operand(3), S32)
        e.write(f.operand(0), f"{e.use(integers.find_nth)}({a}, {base}, {offset})", U32)


@instruction("bfe")
def extract_field(e: Emitter, f: Form) -> None:
    type_ = f.type()
    a, position, length = (
        e.read(f.operand(1), type_), e.read(f.operand(2), U32), e.read(f.operand(3), U32)
    )  # fmt: skip
    e.write(f.operand(0), f"{e.use(integers.extract_field)}({a}, {position}, {length})", type_)


@instruction("bfi")
def insert_field(e: Emitter, f: Form) -> None:
    type_ = f.type()
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), type_)
    position, length = e.read(f.operand(3), U32), e.read(f.operand(4), U32)
    call = f"{e.use(integers.insert_field)}({a}, {b}, {position}, {length})"
    e.write(f.operand(0), call, type_)


@instruction("bmsk", "szext")
def masks(e: Emitter, f: Form) -> None:
    wraps = f.need("clamp", "wrap") == "wrap"
    type_ = f.type()
    a, b = e.read(f.operand(1), type_), e.read(f.operand(2), U32)
    helper = integers.make_mask if f.name == "bmsk" else integers.extend_sign
    e.write(f.operand(0), f"{e.use(helper)}({a}, {b}, {wraps})", type_)


@instruction("shl", "shr")
def shift(e: Emitter, f: Form) -> None:
    type_ = f.type()
    f.count(3)
    a, amount = e.read(f.operand(1), type_), f.operand(2)
    sign = "<<" if f.name == "shl" else ">>"
    # NumPy shifts by the width or more as PTX does: all bits leave, the sign stays.
    if isinstance(amount, Immediate):
        count = e.constant(type_.dtype.type(min(int(amount.value) & 0xFFFFFFFF, type_.bits)))
    elif type_.bits == 16:
        limit = e.constant(np.uint32(16))
        count = f"np.minimum({e.read(amount, U32)}, {limit}).astype({type_.dtype.char!r})"
    elif type_.bits == 32 and not type_.signed:
        count = e.read(amount, U32)
    else:
        count = f"{e.read(amount, U32)}.astype({e.dtype_name(type_.dtype)})"
    e.write(f.operand(0), f"{a} {sign} {count}", type_)


@instruction("shf")
def funnel_shift(e: Emitter, f: Form) -> None:
    left = f.need("l", "r") == "l"
    wraps = f.need("clamp", "wrap") == "wrap"
    f.type("b32")
    low, high, amount = (e.read(f.operand(k), U32) for k in (1, 2, 3))
    call = f"{e.use(integers.funnel_shift)}({low}, {high}, {amount}, {left}, {wraps})"
    e.write(f.operand(0), call, U32)


@instruction("prmt")
def permute_bytes(e: Emitter, f: Form) -> None:
    f.type("b32")
    mode = f.one_of("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    a, b, selector = (e.read(f.operand(k), U32) for k in (1, 2, 3))
    call = f"{e.use(integers.permute_bytes)}({a}, {b}, {selector}, {mode!r})"
    e.write(f.operand(0), call, U32)
