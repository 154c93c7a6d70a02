"""Floating-point arithmetic: f32, f64, f16, bf16, and the packed pairs of the last two."""

from __future__ import annotations

from ...interp.numerics import floats as rounded
from ..code.emitter import Emitter
from ..code.form import Form
from ..code.registry import instruction
from ..numerics import floats
from ..numerics.floats import MODES, format_of
from ..ptx.syntax import Register
from ..ptx.types import PRED, TYPES, Type

ROUNDINGS = ("rn", "rz", "rm", "rp")


def read(e: Emitter, f: Form, index: int, type_: Type, flush: bool = False) -> str:
    """An operand; a packed one as an array [n, 32 * lanes] of its elements."""
    operand = f.operand(index)
    if type_.lanes > 1:
        value = e.read(operand, type_)
        if not isinstance(operand, Register):
            value = f"w.fill({value})"
        value = f"{value}.view({e.dtype_name(TYPES[type_.element].dtype)})"
    else:
        value = e.read(operand, type_)
    return f"{e.use(floats.flush)}({value})" if flush else value


def _read_wide(
    e: Emitter, f: Form, indices: tuple[int, ...], type_: Type, flush: bool
) -> list[str]:
    """Operands that may be of a narrower type, which the instruction names after its own."""
    narrow = f.optional_type()
    if narrow is None:
        return [read(e, f, index, type_, flush) for index in indices]
    wide = e.dtype_name(type_.dtype)
    return [f"({read(e, f, index, narrow)}).astype({wide})" for index in indices]


def write(
    e: Emitter, f: Form, value: str, type_: Type, flush: bool = False, saturate: bool = False
) -> None:
    """The result, from elements."""
    if saturate:
        value = f"{e.use(floats.saturate)}({value})"
    if flush:
        value = f"{e.use(floats.flush)}({value})"
    if type_.lanes > 1:
        value = f"({value}).view({e.dtype_name(type_.dtype)})"
    e.write(f.operand(0), value, type_)


def _mode(rounding: str | None) -> str | None:
    """The interpreter's name of a rounding, None for nearest even."""
    return None if rounding in (None, "rn") else MODES[rounding]


def _format(e: Emitter, type_: Type) -> str:
    fmt = format_of(type_)
    return e.object(fmt, fmt.name.upper())


def add(
    e: Emitter, f: Form, type_: Type, rounding: str | None, flush: bool, saturate: bool
) -> None:
    """add and sub; of two types, the second is that of the first operand, which is widened."""
    f.count(3)
    a, b = _read_wide(e, f, (1,), type_, flush)[0], read(e, f, 2, type_, flush)
    mode = _mode(rounding)
    if mode is None:
        value = f"{a} {'+' if f.name == 'add' else '-'} {b}"
    else:
        helper = rounded.add if f.name == "add" else rounded.subtract
        value = f"{e.object(helper, f.name)}({a}, {b}, {_format(e, type_)}, {mode!r})"
    write(e, f, value, type_, flush, saturate)


def multiply(e: Emitter, f: Form) -> None:
    rounding, flush, saturate = f.one_of(*ROUNDINGS), f.has("ftz"), f.has("sat")
    type_ = f.type()
    f.count(3)
    a, b = read(e, f, 1, type_, flush), read(e, f, 2, type_, flush)
    mode = _mode(rounding)
    if flush and type_.name == "f32":
        helper = e.object(rounded.multiply_flushed, "multiply_flushed")
        value = f"{helper}({a}, {b}, {mode or 'nearest_even'!r})"
    elif mode is None:
        value = f"{a} * {b}"
    else:
        value = f"{e.use(floats.round_product)}({a}, {b}, {_format(e, type_)}, {mode!r})"
    write(e, f, value, type_, flush, saturate)


@instruction("fma")
def multiply_add(e: Emitter, f: Form) -> None:
    """fma, and mad of floats, which is fma; of two types, the second is that of the factors."""
    rounding, flush, saturate = f.one_of(*ROUNDINGS), f.has("ftz"), f.has("sat")
    relu = f.has("relu")
    type_ = f.type()
    f.count(4)
    (a, b), c = _read_wide(e, f, (1, 2), type_, flush), read(e, f, 3, type_, flush)
    mode = _mode(rounding)
    if flush and type_.name == "f32":
        helper = e.object(rounded.fma_flushed, "fma_flushed")
        value = f"{helper}(*np.broadcast_arrays({a}, {b}, {c}), {mode or 'nearest_even'!r})"
    elif type_.name == "f32" and mode is None:
        value = f"{e.use(floats.fma32)}({a}, {b}, {c})"
    else:
        helper = e.object(rounded.fma, "fma")
        value = f"{helper}(*np.broadcast_arrays({a}, {b}, {c}), {_format(e, type_)}, "
        value += f"{mode or 'nearest_even'!r})"
    if relu:
        value = f"{e.use(floats.relu)}({value})"
    write(e, f, value, type_, flush, saturate)


def divide(e: Emitter, f: Form, mode: str) -> None:
    flush = f.has("ftz")
    type_ = f.type("f32", "f64")
    a, b = read(e, f, 1, type_, flush), read(e, f, 2, type_, flush)
    if mode == "approx":
        value = f"{e.use(floats.approximate_quotient)}({a}, {b})"
    elif mode in ("full", "rn"):
        value = f"{a} / {b}"
    else:
        name = e.object(floats.divide, "quotient")
        value = f"{name}({a}, {b}, {_format(e, type_)}, {MODES[mode]!r})"
    write(e, f, value, type_, flush)


@instruction("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
def function(e: Emitter, f: Form) -> None:
    rounding, flush = f.one_of("approx", *ROUNDINGS), f.has("ftz")
    type_ = f.type()
    f.count(2)
    a = read(e, f, 1, type_, flush)
    if rounding in ROUNDINGS:
        value = _rounded_function(e, f, a, type_, MODES[rounding])
    else:
        value = f"{e.use(floats.approximate)}({a}, {f.name!r})"
        if type_.name == "f64" and flush:  # `rsqrt.approx.f64` has all bits
            value = f"{e.use(floats.drop_low_word)}({value})"
    write(e, f, value, type_, flush)


def _rounded_function(e: Emitter, f: Form, a: str, type_: Type, mode: str) -> str:
    if f.name == "sqrt":
        return f"{e.object(rounded.sqrt, 'sqrt')}({a}, {_format(e, type_)}, {mode!r})"
    if f.name == "rcp":
        one = e.constant(type_.dtype.type(1))
        name = e.object(floats.divide, "quotient")
        return f"{name}({one}, {a}, {_format(e, type_)}, {mode!r})"
    raise f.error(f"{f.name} has no correctly rounded form")


def minimum_maximum(
    e: Emitter, f: Form, type_: Type, flush: bool, propagate: bool, by_magnitude: bool
) -> None:
    helper = floats.by_magnitude if by_magnitude else floats.minimum_maximum
    name = e.object(helper, "extreme")
    value = read(e, f, 1, type_, flush)
    for index in range(2, f.count(3, 4)):
        other = read(e, f, index, type_, flush)
        value = f"{name}({value}, {other}, {f.name!r}, {_format(e, type_)}, {propagate})"
    write(e, f, value, type_)


def negate(e: Emitter, f: Form, type_: Type, flush: bool, *, absolute: bool) -> None:
    """neg and abs: only the sign bit changes."""
    a = read(e, f, 1, type_, flush)
    write(e, f, f"np.abs({a})" if absolute else f"-{a}", type_)


@instruction("copysign")
def copy_sign(e: Emitter, f: Form) -> None:
    """d has the sign of a and the rest of b."""
    type_ = f.type("f32", "f64")
    sign, magnitude = read(e, f, 1, type_), read(e, f, 2, type_)
    write(e, f, f"np.copysign({magnitude}, {sign})", type_)


@instruction("testp")
def test_property(e: Emitter, f: Form) -> None:
    what = f.need("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    a = read(e, f, 1, f.type("f32", "f64"))
    e.write(f.operand(0), f"{e.use(floats.classify)}({a}, {what!r})", PRED)
