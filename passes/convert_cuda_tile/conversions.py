"""Conversions between element types."""

from __future__ import annotations

from tileir.compiler.ir_util import FLOAT_PREDICATES, element_type, has_flag, keyword
from tileir.compiler.tile_types import STORED_AS
from tileir.compiler.unsupported import Unsupported
from tileir.ir import IntegerType, OpView, Type, Value
from tileir.passes.convert_cuda_tile.converter import Converter, is_pointer, lowers
from tileir.passes.convert_cuda_tile.float_formats import BASE, convert_float
from tileir.passes.convert_cuda_tile.narrow_floats import narrow, widen


def _result_element(c: Converter, op: OpView) -> Type:
    return element_type(c.type(op.operation.results[0].type))


def _float_operand(c: Converter, op: OpView) -> Value:
    """The float that an operation converts, in a format that it can be computed in."""
    (x,) = c.operands(op)
    format_ = str(element_type(op.operation.operands[0].type))
    return widen(c, x, format_) if format_ in STORED_AS else x


@lowers("ftof")
def _ftof(c: Converter, op: OpView) -> None:
    x = _float_operand(c, op)
    to = element_type(op.operation.results[0].type)
    rounding = keyword(op, "rounding_mode", "nearest_even")
    if str(to) not in STORED_AS:
        c.set(op, convert_float(c, x, to, rounding))
        return
    if str(element_type(x.type)) not in ("f32", "f64"):
        x = convert_float(c, x, c.builder.type("f32"))
    c.set(op, narrow(c, x, str(to), rounding))


@lowers("ftoi")
def _ftoi(c: Converter, op: OpView) -> None:
    x = _float_operand(c, op)
    if str(element_type(x.type)) == "bf16":
        x = convert_float(c, x, c.builder.type("f32"))
    signed = keyword(op, "signedness") == "signed"
    to = _result_element(c, op)
    # LLVM compares with 0 to convert to one bit, which is something else.
    wide = c.builder.i32 if to == c.builder.i1 else to
    if has_flag(op, "saturating"):
        value = c.call("llvm.fptosi.sat" if signed else "llvm.fptoui.sat", [x], wide)
        if wide != to:
            # True is -1 if signed, and 1 if not.
            if signed:
                value = c.elementwise("arith.maxsi", [value, c.full(-1, value)])
            limit = c.full(0 if signed else 1, value)
            value = c.elementwise("arith.minsi" if signed else "arith.minui", [value, limit])
    else:
        value = c.elementwise("arith.fptosi" if signed else "arith.fptoui", [x], wide)
    c.set(op, value if wide == to else c.elementwise("arith.trunci", [value], to))


@lowers("itof")
def _itof(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    to = _result_element(c, op)
    name = "arith.sitofp" if keyword(op, "signedness") == "signed" else "arith.uitofp"
    width, result = IntegerType(element_type(x.type)).width, str(to)
    if result in _LARGEST:
        c.set(op, _to_narrow_float(c, _exact_float(c, x, name, width), to))
    elif result == "tf32" or (result in ("f16", "bf16") and width > 16):
        # One rounding only: f64 holds every 32-bit integer; 64-bit ones round to odd below.
        c.set(op, convert_float(c, _exact_float(c, x, name, width), to))
    elif result in BASE:
        c.set(op, c.elementwise(name, [x], to))
    else:
        raise Unsupported(
            f"no code generation for a conversion from an integer to {to}",
            remedy="convert to f32 first, then with ftof",
        )


def _exact_float(c: Converter, x: Value, name: str, width: int) -> Value:
    """An integer as f32 or f64, as good as exact for what rounds to less than 48 bits."""
    if width <= 16:
        return c.elementwise(name, [x], c.builder.type("f32"))
    return _to_double_odd(c, x, name, width)


#: 8-bit formats: the magnitude from which an integer is out of range (half a unit beyond the
#: largest number; the largest of f8E4M3FN is even, so the tie itself still rounds to it), and the
#: bits of what it becomes, without the sign: infinity, or NaN where there is none.
_LARGEST = {"f8E5M2": ("oge", 61440.0, 0x7C), "f8E4M3FN": ("ogt", 464.0, 0x7F)}


def _to_narrow_float(c: Converter, x: Value, to: Type) -> Value:
    """An f32 or f64 to an 8-bit format in which integers out of range do not saturate."""
    predicate, limit, bits = _LARGEST[str(to)]
    saturated = c.elementwise("arith.bitcast", [convert_float(c, x, to)], c.builder.i8)
    sign = c.elementwise("arith.andi", [saturated, c.full(0x80, saturated)])
    beyond = c.elementwise("arith.ori", [sign, c.full(bits, saturated)])
    outside = {"predicate": c.builder.i64_attr(FLOAT_PREDICATES.index(predicate))}
    magnitude = c.elementwise("math.absf", [x])
    is_outside = c.elementwise("arith.cmpf", [magnitude, c.full(limit, x)], c.builder.i1, outside)
    return c.elementwise("arith.bitcast", [c.select(is_outside, beyond, saturated)], to)


def _to_double_odd(c: Converter, x: Value, name: str, width: int) -> Value:
    """An f64 that rounds to f16 and bf16 as the integer itself does.

    A 64-bit integer keeps its high part exactly if bits that f64 cannot hold are gathered into
    one sticky bit far below the precision of the result.
    """
    f64 = c.builder.type("f64")
    if width == 64:
        low = c.elementwise("arith.andi", [x, c.full(0xFFFF, x)])
        some = c.builder.compare("ne", low, c.full(0, x), c.like(x.type, c.builder.i1))
        sticky = c.elementwise("arith.extui", [some], c.builder.i64)
        high = c.elementwise("arith.andi", [x, c.full(~0xFFFF, x)])
        gathered = c.elementwise(
            "arith.ori", [high, c.elementwise("arith.shli", [sticky, c.full(15, sticky)])]
        )
        magnitude_large = _is_large(c, x)
        x = c.select(magnitude_large, gathered, x)
    return c.elementwise(name, [x], f64)


def _is_large(c: Converter, x: Value) -> Value:
    """Whether a 64-bit integer, signed or not, has bits above 2^48."""
    i1 = c.like(x.type, c.builder.i1)
    top = c.elementwise("arith.shrsi", [x, c.full(48, x)])
    positive = c.builder.compare("ne", top, c.full(0, top), i1)
    negative = c.builder.compare("ne", top, c.full(-1, top), i1)
    return c.elementwise("arith.andi", [positive, negative])


@lowers("exti")
def _exti(c: Converter, op: OpView) -> None:
    name = "arith.extsi" if keyword(op, "signedness") == "signed" else "arith.extui"
    c.set(op, c.elementwise(name, c.operands(op), _result_element(c, op)))


@lowers("trunci")
def _trunci(c: Converter, op: OpView) -> None:
    c.set(op, c.elementwise("arith.trunci", c.operands(op), _result_element(c, op)))


@lowers("bitcast")
def _bitcast(c: Converter, op: OpView) -> None:
    c.set(op, c.elementwise("arith.bitcast", c.operands(op), _result_element(c, op)))


@lowers("int_to_ptr")
def _int_to_ptr(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    result = c.type(op.operation.results[0].type)
    is_scalar = str(result) == "!llvm.ptr<1>"
    c.set(op, c.builder.op("llvm.inttoptr", [x], result) if is_scalar else x)


@lowers("ptr_to_int")
def _ptr_to_int(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    c.set(op, c.address(x) if str(x.type) == "!llvm.ptr<1>" else x)


@lowers("ptr_to_ptr")
def _ptr_to_ptr(c: Converter, op: OpView) -> None:
    assert is_pointer(element_type(op.operation.results[0].type))
    c.set(op, *c.operands(op))
