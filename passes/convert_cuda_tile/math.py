"""Floating-point arithmetic and functions.

Three ways down, best first: `arith` and `math`, an NVVM intrinsic (rounding modes, flush to zero,
approximations), a function of libdevice. f16 and bf16 go through f32 where they have no
instruction of their own; `divf` and `sqrt` in f32 then round once more, which is still correct
since f32 has more than twice their precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tileir.compiler.ir_util import element_type, has_flag, keyword, text_attr
from tileir.ir import OpView, Value
from tileir.passes.convert_cuda_tile.converter import Converter, lowers
from tileir.passes.convert_cuda_tile.float_formats import convert_float, round_from_f32

_MODES = {"nearest_even": "rn", "zero": "rz", "negative_inf": "rm", "positive_inf": "rp"}


def _in_f32(
    c: Converter, operands: Sequence[Value], compute: Callable[[list[Value]], Value],
    rounding: str = "nearest_even",
) -> Value:  # fmt: skip
    """Applies `compute` in f32 to f16 or bf16 operands and rounds its result."""
    narrow = element_type(operands[0].type)
    wide = [convert_float(c, x, c.builder.type("f32")) for x in operands]
    return round_from_f32(c, compute(wide), narrow, rounding)


def _is_half(value: Value) -> bool:
    return str(element_type(value.type)) in ("f16", "bf16")


def _is_double(value: Value) -> bool:
    return str(element_type(value.type)) == "f64"


def _rounding(op: OpView) -> str:
    return keyword(op, "rounding_mode", "nearest_even")


# ---- arithmetic ------------------------------------------------------------------------------

_ARITH = {"addf": "arith.addf", "subf": "arith.subf", "mulf": "arith.mulf", "fma": "math.fma"}


@lowers("addf", "subf", "mulf", "fma")
def _rounded_arithmetic(c: Converter, op: OpView) -> None:
    name, rounding = op.operation.name.removeprefix("cuda_tile."), _rounding(op)
    operands = c.operands(op)
    flush = has_flag(op, "flush_to_zero")
    if rounding == "nearest_even" and not flush:
        c.set(op, c.elementwise(_ARITH[name], operands))
    elif _is_half(operands[0]):
        compute = lambda wide: _directed(c, name, wide, rounding, flush=False)  # noqa: E731
        c.set(op, _in_f32(c, operands, compute, rounding))
    else:
        c.set(op, _directed(c, name, operands, rounding, flush))


def _directed(
    c: Converter, name: str, operands: Sequence[Value], rounding: str, flush: bool
) -> Value:
    """add, sub, mul or fma through the NVVM intrinsic of a rounding mode."""
    operands = list(operands)
    if name == "subf":  # a - b is a + (-b) in every mode
        operands[1] = c.elementwise("arith.negf", [operands[1]])
    base = {"addf": "add", "subf": "add", "mulf": "mul", "fma": "fma"}[name]
    suffix = "d" if _is_double(operands[0]) else "f"
    ftz = ".ftz" if flush else ""
    return c.call(f"llvm.nvvm.{base}.{_MODES[rounding]}{ftz}.{suffix}", operands)


@lowers("divf")
def _divf(c: Converter, op: OpView) -> None:
    rounding, flush = _rounding(op), has_flag(op, "flush_to_zero")

    def compute(operands: Sequence[Value]) -> Value:
        if rounding == "nearest_even" and not flush:
            return c.elementwise("arith.divf", operands)
        if rounding == "full":
            return c.call("llvm.nvvm.div.full.ftz" if flush else "llvm.nvvm.div.full", operands)
        suffix = "d" if _is_double(operands[0]) else "f"
        mode = "approx" if rounding == "approx" else _MODES[rounding]
        return c.call(f"llvm.nvvm.div.{mode}{'.ftz' if flush else ''}.{suffix}", operands)

    operands = c.operands(op)
    half = _is_half(operands[0])
    c.set(op, _in_f32(c, operands, compute, rounding) if half else compute(operands))


@lowers("sqrt")
def _sqrt(c: Converter, op: OpView) -> None:
    rounding, flush = _rounding(op), has_flag(op, "flush_to_zero")

    def compute(operands: Sequence[Value]) -> Value:
        suffix = "d" if _is_double(operands[0]) else "f"
        mode = "approx" if rounding == "approx" else _MODES[rounding]
        return c.call(f"llvm.nvvm.sqrt.{mode}{'.ftz' if flush else ''}.{suffix}", operands)

    operands = c.operands(op)
    half = _is_half(operands[0])
    c.set(op, _in_f32(c, operands, compute, rounding) if half else compute(operands))


@lowers("absf")
def _absf(c: Converter, op: OpView) -> None:
    """Clears the sign bit, of NaN too, which the instruction does not promise."""
    (x,) = c.operands(op)
    element = element_type(x.type)
    width = {"f64": 64, "f32": 32}.get(str(element), 16)
    bits = c.elementwise("arith.bitcast", [x], c.builder.type(f"i{width}"))
    magnitude = c.elementwise("arith.andi", [bits, c.full((1 << (width - 1)) - 1, bits)])
    c.set(op, c.elementwise("arith.bitcast", [magnitude], element))


@lowers("negf")
def _negf(c: Converter, op: OpView) -> None:
    c.set(op, c.elementwise("arith.negf", c.operands(op)))


@lowers("maxf", "minf")
def _min_max(c: Converter, op: OpView) -> None:
    name = op.operation.name.removeprefix("cuda_tile.").removesuffix("f")
    nan = has_flag(op, "propagate_nan")
    operands = c.operands(op)
    if has_flag(op, "flush_to_zero"):
        c.set(op, c.call(f"llvm.nvvm.f{name}.ftz{'.nan' if nan else ''}.f", operands))
    else:
        c.set(op, c.elementwise(f"arith.{name}{'imumf' if nan else 'numf'}", operands))


# ---- functions -------------------------------------------------------------------------------

#: libdevice functions: the name for f64; for f32 an `f` is appended.
_LIBDEVICE = {
    "log": "__nv_log",
    "log2": "__nv_log2",
    "sin": "__nv_sin",
    "cos": "__nv_cos",
    "tan": "__nv_tan",
    "sinh": "__nv_sinh",
    "cosh": "__nv_cosh",
    "atan2": "__nv_atan2",
    "fpowf": "__nv_pow",
    "pow": "__nv_pow",
    "remf": "__nv_fmod",
    "ceil": "__nv_ceil",
    "floor": "__nv_floor",
    "exp": "__nv_exp",
    "tanh": "__nv_tanh",
}


def _libdevice(c: Converter, name: str, operands: Sequence[Value]) -> Value:
    function = _LIBDEVICE[name]
    if _is_half(operands[0]):
        return _in_f32(c, operands, lambda wide: c.call(function + "f", wide))
    return c.call(function if _is_double(operands[0]) else function + "f", operands)


@lowers(*(name for name in _LIBDEVICE if name not in ("exp", "tanh")))
def _function(c: Converter, op: OpView) -> None:
    c.set(op, _libdevice(c, op.operation.name.removeprefix("cuda_tile."), c.operands(op)))


LOG2_E = 1.4426950408889634


@lowers("exp")
def _exp(c: Converter, op: OpView) -> None:
    operands = c.operands(op)
    if keyword(op, "rounding_mode", "full") != "approx":
        c.set(op, _libdevice(c, "exp", operands))
        return
    scaled = c.elementwise("arith.mulf", [operands[0], c.full(LOG2_E, operands[0])])
    c.set(op, c.ptx("ex2.approx.f32 $0, $1;", "=f,f", [scaled]))


@lowers("tanh")
def _tanh(c: Converter, op: OpView) -> None:
    operands = c.operands(op)
    if keyword(op, "rounding_mode", "full") == "approx":
        c.set(op, c.ptx("tanh.approx.f32 $0, $1;", "=f,f", operands))
    else:
        c.set(op, _libdevice(c, "tanh", operands))


@lowers("exp2", "rsqrt")
def _approximate(c: Converter, op: OpView) -> None:
    """The hardware's approximation in f32; libdevice in f64."""
    name = op.operation.name.removeprefix("cuda_tile.")
    instruction = {"exp2": "ex2", "rsqrt": "rsqrt"}[name]
    ftz = ".ftz" if has_flag(op, "flush_to_zero") else ""

    def compute(operands: Sequence[Value]) -> Value:
        return c.ptx(f"{instruction}.approx{ftz}.f32 $0, $1;", "=f,f", operands)

    operands = c.operands(op)
    if _is_double(operands[0]):
        c.set(op, c.call(f"__nv_{name}", operands))
    elif _is_half(operands[0]):
        c.set(op, _in_f32(c, operands, compute))
    else:
        c.set(op, compute(operands))


@lowers("fpowi")
def _fpowi(c: Converter, op: OpView) -> None:
    base, exponent = c.operands(op)
    if element_type(exponent.type) != c.builder.i32:
        exponent = c.elementwise("arith.extsi", [exponent], c.builder.i32)
    if _is_half(base):
        c.set(op, _in_f32(c, [base], lambda wide: c.call("__nv_powif", [wide[0], exponent])))
        return
    callee = "__nv_powi" if _is_double(base) else "__nv_powif"
    c.set(op, c.call(callee, [base, exponent]))


#: Constraints of LLVM inline assembly: the registers that hold a type.
_REGISTERS = {"i16": "h", "f16": "h", "bf16": "h", "i32": "r", "f32": "f", "i64": "l", "f64": "d"}


@lowers("inline_ptx")
def _inline_ptx(c: Converter, op: OpView) -> None:
    operands = c.operands(op)
    result = element_type(op.operation.results[0].type)
    types = [result, *(element_type(x.type) for x in operands)]
    registers = ",".join(_REGISTERS[str(type_)] for type_ in types)
    # Braces of its own, so that the registers that it declares do not clash.
    text = f"{{ {text_attr(op, 'ptx')} }}"
    c.set(op, c.ptx(text, f"={registers}", operands, result))
