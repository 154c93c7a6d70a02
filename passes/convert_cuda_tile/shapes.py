"""Constants, shape manipulation, the grid, promises, reductions."""

from __future__ import annotations

from tileir.compiler.constants import retype, splat_scalar
from tileir.compiler.ir_util import defining_op, int_attr, int_list
from tileir.compiler.tile_types import is_tile_type
from tileir.ir import BoolAttr, DenseElementsAttr, OpView, ShapedType, Type, Value
from tileir.passes.convert_cuda_tile.arithmetic import is_tile
from tileir.passes.convert_cuda_tile.converter import Converter, lowers


@lowers("constant")
def _constant(c: Converter, op: OpView) -> None:
    result = c.type(op.operation.results[0].type)
    value = DenseElementsAttr(op.operation.attributes["value"])
    if not is_tile_type(result):
        scalar = splat_scalar(value, result)
        c.set(op, c.builder.op("arith.constant", [], result, {"value": scalar}))
        return
    attribute = retype(value, result)
    c.set(op, c.builder.op("arith.constant", [], result, {"value": attribute}))


@lowers("iota")
def _iota(c: Converter, op: OpView) -> None:
    c.set(op, c.builder.op("tile_gpu.iota", [], c.type(op.operation.results[0].type)))


def _splatted(value: Value) -> Value | None:
    """The scalar that fills a tile, if that is how it was made."""
    op = defining_op(value)
    if op is not None and op.operation.name == "tile_gpu.splat":
        return op.operation.operands[0]
    return None


@lowers("reshape")
def _reshape(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    result = c.type(op.operation.results[0].type)
    scalar = x if not is_tile(x) else _splatted(x)
    if not is_tile_type(result):
        c.set(op, to_scalar(c, x, result))
    elif scalar is not None:
        c.set(op, c.splat(scalar, result))
    else:
        c.set(op, c.builder.op("tile_gpu.reshape", [x], result))


def to_scalar(c: Converter, x: Value, result: Type) -> Value:
    """The element of a tile that has one, as a scalar of type `result`."""
    if not is_tile(x):
        return x
    element = _splatted(x)
    if element is None:
        element = c.builder.op("tile_gpu.extract_scalar", [x], ShapedType(x.type).element_type)
    if str(result) == "!llvm.ptr<1>" and element.type != result:
        element = c.builder.op("llvm.inttoptr", [element], result)
    return element


@lowers("broadcast")
def _broadcast(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    result = c.type(op.operation.results[0].type)
    if not is_tile(x):
        c.set(op, x)
        return
    scalar = _splatted(x)
    if scalar is None:
        c.set(op, c.builder.op("tile_gpu.broadcast", [x], result))
    else:
        c.set(op, c.splat(scalar, result))


@lowers("permute")
def _permute(c: Converter, op: OpView) -> None:
    (x,) = c.operands(op)
    c.set(op, c.builder.permute(x, int_list(op, "permutation")))


@lowers("get_tile_block_id")
def _block_id(c: Converter, op: OpView) -> None:
    c.set(op, *(c.builder.op(f"nvvm.read.ptx.sreg.ctaid.{d}", [], c.builder.i32) for d in "xyz"))


@lowers("get_num_tile_blocks")
def _num_blocks(c: Converter, op: OpView) -> None:
    c.set(op, *(c.builder.op(f"nvvm.read.ptx.sreg.nctaid.{d}", [], c.builder.i32) for d in "xyz"))


@lowers("make_token", "join_tokens")
def _token(c: Converter, op: OpView) -> None:
    """Order has become barriers."""


@lowers("reduce", "scan")
def _aggregate(c: Converter, op: OpView) -> None:
    name = op.operation.name.removeprefix("cuda_tile.")
    operands = c.operands(op)
    results = [c.type(r.type) for r in op.operation.results]
    attributes = {
        "dim": c.builder.i64_attr(int_attr(op, "dim")),
        "identities": op.operation.attributes["identities"],
    }
    if name == "scan" and BoolAttr(op.operation.attributes["reverse"]).value:
        attributes["reverse"] = c.builder.attribute("unit")
    new = c.builder.create(f"tile_gpu.{name}", operands, results, attributes, regions=1)
    old_body = op.operation.regions[0].blocks[0]
    body = c.builder.block(new.regions[0], [c.type(a.type) for a in old_body.arguments])
    for old, argument in zip(old_body.arguments, body.arguments, strict=True):
        c.bind(old, argument)
    with c.builder.at(body):
        c.convert_straight_line(old_body)
        terminator = list(old_body)[-1]
        c.builder.create("tile_gpu.yield", c.operands(terminator))
    c.set(op, *new.results)
