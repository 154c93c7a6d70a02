"""split-reductions: reductions whose dimension lies across warps happen in two steps.

Within a warp, partial results travel by shuffles; across warps they must pass through shared
memory. So a reduction over a dimension with warp digits becomes

    %p = tile_gpu.reduce %x ... within_warp      // one partial result for each warp
    %q = tile_gpu.convert_layout %p              // all partial results in each thread
    %r = tile_gpu.reduce %q ...                  // in registers
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import has_flag, int_attr
from tileir.compiler.layout import Layout, Owner, reg
from tileir.compiler.tile_types import TileInfo, tile_of, tile_type
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, OpView
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_of


@dataclass(frozen=True)
class SplitReductions(ModulePass):
    """Split reductions across warps into a part within warps and the rest."""

    name = "split-reductions"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            for reduce in ops_of(kernel, tile_gpu.ReduceOp):
                if _crosses_warps(reduce):
                    _split(reduce)


def _crosses_warps(reduce: OpView) -> bool:
    layout = tile_of(reduce.operation.operands[0]).layout
    across = layout.count(Owner.WARP, int_attr(reduce, "dim")) > 1
    return across and not has_flag(reduce, "within_warp")


def _split(reduce: OpView) -> None:
    dim = int_attr(reduce, "dim")
    b = Builder(InsertionPoint(reduce), reduce.location)
    partial = _partial_infos(reduce, dim)
    first = reduce.operation.clone(ip=b.point)
    within = b.create(
        "tile_gpu.reduce",
        list(first.operands),
        [tile_type(b, info) for info in partial],
        dict(first.attributes.items()) | {"within_warp": b.attribute("unit")},
        regions=1,
    )
    first.regions[0].blocks[0].append_to(within.regions[0])
    first.erase()
    gathered = []
    for info, value in zip(partial, within.results, strict=True):
        in_registers = info.with_layout(_in_registers(info.layout, dim))
        gathered.append(b.op("tile_gpu.convert_layout", [value], tile_type(b, in_registers)))
    for index, value in enumerate(gathered):
        reduce.operation.operands[index] = value


def _partial_infos(reduce: OpView, dim: int) -> list[TileInfo]:
    """The operands with one element along `dim` for each warp that holds a part of it."""
    infos = []
    for operand in reduce.operation.operands:
        info = tile_of(operand)
        layout = info.layout.only(dim, Owner.WARP)
        infos.append(TileInfo(layout.shape, info.element, layout))
    return infos


def _in_registers(layout: Layout, dim: int) -> Layout:
    dims = list(layout.dims)
    dims[dim] = (reg(layout.shape[dim]),)
    return Layout.of(*dims)
