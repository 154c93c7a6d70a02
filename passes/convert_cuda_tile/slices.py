"""Parts of tiles: concatenation, slices, and elements read as others of another width."""

from __future__ import annotations

from tileir.compiler.ir_util import int_attr
from tileir.compiler.unsupported import Unsupported
from tileir.ir import OpView, ShapedType
from tileir.passes.convert_cuda_tile.converter import Converter, lowers


@lowers("cat")
def _cat(c: Converter, op: OpView) -> None:
    lhs, rhs = c.operands(op)
    if lhs.type != rhs.type:
        raise Unsupported("no code generation for operands of different shapes")
    attributes = {"dim": c.builder.i64_attr(int_attr(op, "dim"))}
    result = c.type(op.operation.results[0].type)
    c.set(op, c.builder.op("tile_gpu.cat", [lhs, rhs], result, attributes))


@lowers("extract")
def _extract(c: Converter, op: OpView) -> None:
    source, *indices = c.operands(op)
    result = c.type(op.operation.results[0].type)
    if ShapedType(source.type).shape == ShapedType(result).shape:
        c.set(op, source)
        return
    c.set(op, c.builder.op("tile_gpu.extract", [source, *indices], result))


@lowers("insert")
def _insert(c: Converter, op: OpView) -> None:
    source, destination, *indices = c.operands(op)
    if source.type == destination.type:
        c.set(op, source)
        return
    operands = [source, destination, *indices]
    c.set(op, c.builder.op("tile_gpu.insert", operands, destination.type))


@lowers("pack", "unpack")
def _reinterpret(c: Converter, op: OpView) -> None:
    result = c.type(op.operation.results[0].type)
    c.set(op, c.builder.op("tile_gpu.reinterpret", c.operands(op), result))
