"""Operations that only regroup the digits of a layout: how layouts follow from each other; and
those that see each element alone, which keep it."""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag, int_attr, int_list
from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import tile_of
from tileir.ir import OpView

#: Beginnings of the names of operations on each element alone.
ELEMENTWISE = (
    "arith.",
    "math.",
    "tile_gpu.call",
    "tile_gpu.cast",
    "tile_gpu.ftof",
    "tile_gpu.inline_ptx",
    "tile_gpu.select",
)
REGROUPING = (
    "tile_gpu.reshape",
    "tile_gpu.permute",
    "tile_gpu.broadcast",
    "tile_gpu.reduce",
    "tile_gpu.reinterpret",
)


def forward(op: OpView, source: Layout) -> Layout | None:
    """The layout that the result has if the source has layout `source`; None if that does not
    follow."""
    name = op.operation.name
    if name == "tile_gpu.reshape":
        return source.reshape(tile_of(op.operation.results[0]).shape)
    if name == "tile_gpu.permute":
        return source.permute(int_list(op, "permutation"))
    if name == "tile_gpu.reduce" and not has_flag(op, "within_warp"):
        return source.drop(int_attr(op, "dim"))
    if name == "tile_gpu.reinterpret":
        return source.resize(tile_of(op.operation.results[0]).shape[0])
    return None


def backward(op: OpView, result: Layout) -> Layout | None:
    """The layout that the source needs for the result to have layout `result`; None if there is
    no such layout, or more than one."""
    name = op.operation.name
    shape = tile_of(op.operation.operands[0]).shape
    if name == "tile_gpu.reshape":
        return result.reshape(shape)
    if name == "tile_gpu.permute":
        permutation = int_list(op, "permutation")
        return result.permute([permutation.index(d) for d in range(len(permutation))])
    if name == "tile_gpu.broadcast":
        return result.collapse(shape)
    if name == "tile_gpu.reinterpret":
        return result.resize(shape[0])
    return None
