"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.builder import Attributes
from tileir.compiler.ir_util import element_type, has_flag, is_zero, keyword
from tileir.compiler.tile_types import STORED_AS
from tileir.ir import OpView, ShapedType, Type, Value
from tileir.passes.convert_cuda_tile.converter import Converter, lowers
from tileir.passes.convert_cuda_tile.float_formats import convert_float
from tileir.passes.convert_cuda_tile.narrow_floats import widen

_PRODUCTS, _ACCUMULATOR = ("cuda_tile.mmaf", "cuda_tile.mmai"), 2


@lowers("mmaf", "mmai")
def _mma(c: Converter, op: OpView) -> None:
    """An accumulator of f16 is one of f32, rounded at the end; a batch of one is no batch."""
    lhs, rhs, acc = c.operands(op)
    flags = {}
    for side in ("lhs", "rhs"):
        if keyword(op, f"signedness_{side}", "signed") == "unsigned":
            flags[f"{side}_unsigned"] = c.builder.attribute("unit")
    if has_flag(op, "fast_acc"):
        flags["fast_acc"] = c.builder.attribute("unit")
    c.set(op, _product(c, lhs, rhs, acc, flags))


def _product(c: Converter, lhs: Value, rhs: Value, acc: Value, flags: Attributes) -> Value:
    narrow = element_type(acc.type)
    if str(narrow) == "f16":
        acc = convert_float(c, acc, c.builder.type("f32"))
    type_ = acc.type
    if ShapedType(type_).shape[0] == 1 and len(ShapedType(type_).shape) == 3:
        lhs, rhs, acc = (_drop_batch(c, x) for x in (lhs, rhs, acc))
    result = c.builder.op("tile_gpu.dot", [lhs, rhs, acc], acc.type, flags)
    if result.type != type_:
        result = c.builder.op("tile_gpu.reshape", [result], type_)
    return convert_float(c, result, narrow) if str(narrow) == "f16" else result


def carried_type(c: Converter, argument: Value) -> Type:
    """The type in which a loop carries a value: if that is a batch of one that products are added
    to, a matrix. Then nothing stands between the products of one round and of the next."""
    type_, uses = c.type(argument.type), list(argument.uses)
    if len(uses) != 1 or uses[0].owner.operation.name not in _PRODUCTS:
        return type_
    shape = ShapedType(type_).shape
    is_batch = uses[0].operand_number == _ACCUMULATOR and len(shape) == 3 and shape[0] == 1
    return c.tile_type(shape[1:], element_type(type_)) if is_batch else type_


def reshaped(c: Converter, x: Value, type_: Type) -> Value:
    """A tile, or a scalar, as it is or with or without a dimension of size 1."""
    if x.type == type_:
        return x
    return (
        c.builder.constant(0, type_) if is_zero(x) else c.builder.op("tile_gpu.reshape", [x], type_)
    )


def _drop_batch(c: Converter, x: Value) -> Value:
    shape = ShapedType(x.type).shape[1:]
    return c.builder.op("tile_gpu.reshape", [x], c.tile_type(shape, element_type(x.type)))


@lowers("mmaf_scaled")
def _scaled(c: Converter, op: OpView) -> None:
    """A product of bf16, which holds an element times its scale exactly unless that is beyond
    2^128 or below 2^-126: the formats have at most four bits, scales at most four more."""
    lhs, rhs, acc, lhs_scale, rhs_scale = (_as_float(c, value) for value in op.operation.operands)
    rank = len(ShapedType(acc.type).shape)
    bf16 = c.builder.type("bf16")
    factors = [
        convert_float(c, _scale(c, data, scale, dim), bf16)
        for data, scale, dim in ((lhs, lhs_scale, rank - 1), (rhs, rhs_scale, rank - 2))
    ]
    c.set(op, _product(c, factors[0], factors[1], acc, {}))


def _as_float(c: Converter, value: Value) -> Value:
    """An operand in f32."""
    format_, x = str(element_type(value.type)), c[value]
    return (
        widen(c, x, format_) if format_ in STORED_AS else convert_float(c, x, c.builder.type("f32"))
    )


def _scale(c: Converter, data: Value, scale: Value, dim: int) -> Value:
    """`data` times the scales of its blocks along a dimension."""
    shape, scales = list(ShapedType(data.type).shape), list(ShapedType(scale.type).shape)
    block = shape[dim] // scales[dim]
    spread = _reshape(c, scale, [*scales[: dim + 1], 1, *scales[dim + 1 :]])
    whole = [*scales[: dim + 1], block, *scales[dim + 1 :]]
    spread = c.builder.op(
        "tile_gpu.broadcast", [spread], c.tile_type(whole, element_type(scale.type))
    )
    return c.elementwise("arith.mulf", [data, _reshape(c, spread, shape)])


def _reshape(c: Converter, x: Value, shape: Sequence[int]) -> Value:
    if list(ShapedType(x.type).shape) == list(shape):
        return x
    return c.builder.op("tile_gpu.reshape", [x], c.tile_type(shape, element_type(x.type)))
