"""print and assert."""

from __future__ import annotations

from tileir.compiler.ir_util import text_attr
from tileir.compiler.tile_types import is_tile_type, tile_info
from tileir.compiler.unsupported import Unsupported
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers


@lowers("tile_gpu.print")
def _print(ctx: Lowering, op: OpView) -> None:
    """One thread prints for the block."""
    if any(is_tile_type(o.type) for o in op.operation.operands):
        raise Unsupported(
            "no code generation for printing a tile",
            remedy="print its elements as scalars, or run on the interpreter",
        )
    b = ctx.builder
    first = b.compare("eq", ctx.thread, b.c32(0))
    with ctx.only_if(first):
        values = [ctx.scalar(o) for o in op.operation.operands]
        b.create("gpu.printf", values, attributes={"format": op.operation.attributes["format"]})


@lowers("tile_gpu.assert")
def _assert(ctx: Lowering, op: OpView) -> None:
    """Each false element prints the message; then the kernel traps."""
    b = ctx.builder
    condition = op.operation.operands[0]
    info = tile_info(condition.type)
    count = info.layout.num_registers if info else 1
    message = text_attr(op, "message")
    text = message.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    for value in ctx.registers(condition, count):
        with ctx.only_if(_not(ctx, value)):
            attributes = {"format": b.attribute(f'"assertion failed: {text}\\0A"')}
            b.create("gpu.printf", attributes=attributes)
            ctx.call_intrinsic("llvm.trap", [], None)


def _not(ctx: Lowering, value: Value) -> Value:
    b = ctx.builder
    return b.op("arith.xori", [value, b.constant(True, b.i1)], b.i1)
