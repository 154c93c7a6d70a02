"""Conversions between element types."""

from __future__ import annotations

from tileir.compiler.ir_util import FLOAT_PREDICATES, element_type, has_flag, keyword
from tileir.compiler.unsupported import Unsupported
from tileir.ir import IntegerType, OpView, Type, Value
from tileir.passes.convert_cuda_tile.converter import Converter, is_pointer, lowers

#: Mantissa and exponent bits: a conversion is exact if neither shrinks.
_FORMATS = {
    "f64": (52, 11),
    "f32": (23, 8),
    "tf32": (10, 8),
    "f16": (10, 5),
    "bf16": (7, 8),
    "f8E5M2": (2, 5),
    "f8E4M3FN": (3, 4),
}
_BASE = ("f64", "f32", "f16", "bf16")
_CVT = {
    "nearest_even": "rn",
    "zero": "rz",
    "negative_inf": "rm",
    "positive_inf": "rp",
    "nearest_away": "rna",
}


def _widens(source: str, result: str) -> bool:
    return all(a <= b for a, b in zip(_FORMATS[source], _FORMATS[result], strict=True))


def convert_float(c: Converter, x: Value, to: Type, rounding: str = "nearest_even") -> Value:
    """Converts a scalar or tile of floats to `to`; `rounding` as in `ftof`."""
    source, result = str(element_type(x.type)), str(to)
    if source == result:
        return x
    if _widens(source, result):
        rounding = "nearest_even"  # exact in any mode
    if source in _BASE and result in _BASE:
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


def _result_element(c: Converter, op: OpView) -> Type:
    return element_type(c.type(op.operation.results[0].type))


@lowers("ftof")
def _ftof(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    to = _result_element(c, op)
    for type_ in (element_type(x.type), to):
        if str(type_) not in _FORMATS:
            raise Unsupported(f"no code generation for {type_}")
    c.set(op, convert_float(c, x, to, keyword(op, "rounding_mode", "nearest_even")))


@lowers("ftoi")
def _ftoi(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
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
    elif result in _BASE:
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
