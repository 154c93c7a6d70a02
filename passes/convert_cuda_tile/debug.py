"""print and assert."""

from __future__ import annotations

from tileir.ir import OpView
from tileir.passes.convert_cuda_tile.converter import RULES, Converter, lowers


@lowers("print", "print_tko")
def _print(c: Converter, op: OpView) -> None:
    attributes = {"format": op.operation.attributes["str"]}
    c.builder.create("tile_gpu.print", c.operands(op), attributes=attributes)
    c.set(op)


@lowers("assert")
def _assert(c: Converter, op: OpView) -> None:
    attributes = {"message": op.operation.attributes["message"]}
    c.builder.create("tile_gpu.assert", c.operands(op), attributes=attributes)


def _barrier(c: Converter, op: OpView) -> None:
    """Barriers from `order-memory` stay."""
    c.builder.create("tile_gpu.barrier")


RULES["tile_gpu.barrier"] = _barrier
