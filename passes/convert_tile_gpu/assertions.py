"""assert."""

from __future__ import annotations

from tileir.compiler.tile_types import tile_info
from tileir.ir import OpView
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers


@lowers("tile_gpu.assert")
def _assert(ctx: Lowering, op: OpView) -> None:
    """A false element ends the kernel as C's assert does: the driver prints the message with the
    place, the host gets an error."""
    condition = op.operation.operands[0]
    info = tile_info(condition.type)
    count = info.layout.num_registers if info and info.layout else 1
    attributes = {"msg": op.operation.attributes["message"]}
    for value in ctx.registers(condition, count):
        ctx.builder.create("cf.assert", [value], attributes=attributes)
