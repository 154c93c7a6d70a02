"""Integer arithmetic, comparison and selection."""

from __future__ import annotations

from tileir.compiler.ir_util import FLOAT_PREDICATES, element_bytes, element_type, keyword
from tileir.compiler.tile_types import is_tile_type
from tileir.ir import IntegerType, OpView, Value
from tileir.passes.convert_cuda_tile.converter import Converter, is_pointer, lowers

_OVERFLOW = {
    "no_signed_wrap": "nsw",
    "no_unsigned_wrap": "nuw",
    "no_wrap": "nsw, nuw",
}


@lowers("addi", "subi", "muli", "shli")
def _wrapping(c: Converter, op: OpView) -> None:
    flags = _OVERFLOW.get(keyword(op, "overflow", "none"))
    attributes = {}
    if flags:
        attributes["overflowFlags"] = c.builder.attribute(f"#arith.overflow<{flags}>")
    name = "arith." + op.operation.name.removeprefix("cuda_tile.")
    c.set(op, c.elementwise(name, c.operands(op), attributes=attributes))


@lowers("andi", "ori", "xori")
def _bitwise(c: Converter, op: OpView) -> None:
    name = "arith." + op.operation.name.removeprefix("cuda_tile.")
    c.set(op, c.elementwise(name, c.operands(op)))


@lowers("maxi", "mini", "shri")
def _signed_or_unsigned(c: Converter, op: OpView) -> None:
    name = op.operation.name.removeprefix("cuda_tile.").removesuffix("i")
    suffix = "si" if keyword(op, "signedness") == "signed" else "ui"
    c.set(op, c.elementwise(f"arith.{name}{suffix}", c.operands(op)))


@lowers("remi")
def _remi(c: Converter, op: OpView) -> None:
    suffix = "si" if keyword(op, "signedness") == "signed" else "ui"
    c.set(op, c.elementwise(f"arith.rem{suffix}", c.operands(op)))


@lowers("negi")
def _negi(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    c.set(op, c.elementwise("arith.subi", [c.full(0, x), x]))


@lowers("absi")
def _absi(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    zero = c.full(0, x)
    negative = compare(c, "slt", x, zero)
    negated = c.elementwise("arith.subi", [zero, x])
    c.set(op, c.select(negative, negated, x))


@lowers("mulhii")
def _mulhii(c: Converter, op: OpView) -> None:
    a, b = c.operands(op)
    element = element_type(a.type)
    width = IntegerType(element).width
    if width >= 32:
        callee = "llvm.nvvm.mulhi.ui" if width == 32 else "llvm.nvvm.mulhi.ull"
        c.set(op, c.call(callee, [a, b]))
        return
    wide = [c.elementwise("arith.extui", [x], c.builder.i32) for x in (a, b)]
    product = c.elementwise("arith.muli", wide)
    high = c.elementwise("arith.shrui", [product, c.full(width, product)])
    c.set(op, c.elementwise("arith.trunci", [high], element))


@lowers("divi")
def _divi(c: Converter, op: OpView) -> None:
    """Truncated division, then one step up or down where the remainder asks for it."""
    a, b = c.operands(op)
    signed = keyword(op, "signedness") == "signed"
    rounding = keyword(op, "rounding", "zero")
    quotient = c.elementwise("arith.divsi" if signed else "arith.divui", [a, b])
    if rounding != "zero":
        product = c.elementwise("arith.muli", [quotient, b])
        zero, one = c.full(0, a), c.full(1, a)
        remainder = c.elementwise("arith.subi", [a, product])
        adjust = compare(c, "ne", remainder, zero)
        if signed:
            signs = c.elementwise("arith.xori", [remainder, b])
            wrong_side = compare(c, "slt" if rounding == "negative_inf" else "sge", signs, zero)
            adjust = c.elementwise("arith.andi", [adjust, wrong_side])
        step = "arith.subi" if rounding == "negative_inf" else "arith.addi"
        quotient = c.select(adjust, c.elementwise(step, [quotient, one]), quotient)
    c.set(op, quotient)


_PREDICATES = {
    "equal": "eq",
    "not_equal": "ne",
    "less_than": "lt",
    "less_than_or_equal": "le",
    "greater_than": "gt",
    "greater_than_or_equal": "ge",
}


@lowers("cmpi")
def _cmpi(c: Converter, op: OpView) -> None:
    predicate = _PREDICATES[keyword(op, "comparison_predicate")]
    if predicate not in ("eq", "ne"):
        predicate = ("s" if keyword(op, "signedness") == "signed" else "u") + predicate
    c.set(op, compare(c, predicate, *c.operands(op)))


@lowers("cmpf")
def _cmpf(c: Converter, op: OpView) -> None:
    ordering = "o" if keyword(op, "comparison_ordering") == "ordered" else "u"
    predicate = ordering + _PREDICATES[keyword(op, "comparison_predicate")]
    attributes = {"predicate": c.builder.i64_attr(FLOAT_PREDICATES.index(predicate))}
    c.set(op, c.elementwise("arith.cmpf", c.operands(op), c.builder.i1, attributes))


@lowers("select")
def _select(c: Converter, op: OpView) -> None:
    condition, a, b = c.operands(op)
    c.set(op, c.select(condition, a, b))


@lowers("offset")
def _offset(c: Converter, op: OpView) -> None:
    pointer, offset = c.operands(op)
    if IntegerType(element_type(offset.type)).width < 64:
        offset = c.elementwise("arith.extsi", [offset], c.builder.i64)
    size = pointee_bytes(op.operation.operands[0])
    if not is_tile(pointer):
        c.set(op, c.builder.advance(pointer, offset, size))
        return
    scaled = c.elementwise("arith.muli", [offset, c.full(size, offset)])
    c.set(op, c.elementwise("arith.addi", [pointer, scaled]))


def compare(c: Converter, predicate: str, a: Value, b: Value) -> Value:
    """Integer comparison of scalars or tiles."""
    return c.builder.compare(predicate, a, b, c.like(a.type, c.builder.i1))


def is_tile(value: Value) -> bool:
    return is_tile_type(value.type)


def pointee_bytes(pointer: Value) -> int:
    """Size of what a pointer (of cuda_tile) points to."""
    assert is_pointer(element_type(pointer.type))
    return element_bytes(pointer.type)
