"""split-reductions: how the threads of a block share out a reduction.

Within a warp, partial results travel by shuffles; across warps they must pass through shared
memory. So a reduction over a dimension with warp digits becomes

    %p = tile_gpu.reduce %x ... within_warp      // one partial result for each warp
    %q = tile_gpu.convert_layout %p              // all partial results in each thread
    %r = tile_gpu.reduce %q ...                  // in registers

Where threads hold many results, the lanes of a warp share them out (`tileir.compiler.halving`), and
then all threads of the block: `%r` has a layout with few registers, from which another
`convert_layout` gives each thread what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.halving import halved, lane_steps
from tileir.compiler.ir_util import has_flag, int_attr
from tileir.compiler.layout import Layout, Owner, blocked, reg
from tileir.compiler.tile_types import TileInfo, is_tile_type, tile_info, tile_of, tile_type
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, OpView
from tileir.passes.analysis.passing_buffers import same_threads
from tileir.passes.analysis.reductions import copied, crosses_warps, shared_out
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import kernels, ops_of, redirect, uses_of

#: Quarters of cycles that a multiprocessor takes for a warp: to combine with another lane's part,
#: to do so by halves (which has to choose, too, what to give and what to keep), to combine two
#: elements, to read one from shared memory. A trip there is mostly waiting, of which other warps
#: hide some.
_SHUFFLE, _EXCHANGE, _COMBINE, _READ, _TRIP = 5, 9, 2, 2, 200


@dataclass(frozen=True)
class SplitReductions(ModulePass):
    """Split reductions across warps into a part within warps and the rest, and share out results
    among threads that would all compute many."""

    name = "split-reductions"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            num_warps = num_warps_of(kernel)
            for reduce in ops_of(kernel, tile_gpu.ReduceOp):
                if has_flag(reduce, "within_warp"):
                    continue
                if crosses_warps(reduce, _source(reduce)):
                    _split(reduce, num_warps)
                else:
                    _share_out_lanes(reduce)


def _source(reduce: OpView) -> Layout:
    return tile_of(reduce.operation.operands[0]).layout


def _split(reduce: OpView, num_warps: int) -> None:
    dim = int_attr(reduce, "dim")
    b = Builder(InsertionPoint(reduce), reduce.location)
    layout = _combining_layout(reduce, num_warps)
    parts = halved(_source(reduce), dim)
    partial = [TileInfo(parts.shape, tile_of(o).element, parts) for o in reduce.operation.operands]
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
    for index, (info, value) in enumerate(zip(partial, within.results, strict=True)):
        dims = (*layout.dims[:dim], (reg(info.shape[dim]),), *layout.dims[dim:])
        type_ = tile_type(b, info.with_layout(Layout.of(*dims)))
        reduce.operation.operands[index] = b.op("tile_gpu.convert_layout", [value], type_)
    _set_layout(reduce, layout)


def _share_out_lanes(reduce: OpView) -> None:
    """Within warps: by halves, if what all lanes need can come from shared memory sooner."""
    if not is_tile_type(reduce.operation.results[0].type):
        return
    source = _source(reduce)
    layouts = [copied(reduce, source), shared_out(reduce, source)]
    _set_layout(reduce, min(layouts, key=lambda each: _lane_cost(reduce, each)))


def _lane_cost(reduce: OpView, result: Layout) -> int:
    """What it costs to combine lanes so that the result has this layout, and to convert that."""
    dim = int_attr(reduce, "dim")
    results = copied(reduce, _source(reduce)).num_registers
    cost = 0
    for step in lane_steps(_source(reduce), dim, result.dims):
        if step.halves:
            results //= 2
        cost += results * (_EXCHANGE if step.halves else _SHUFFLE)
    return cost + _conversion_cost(reduce, result)


def _combining_layout(reduce: OpView, num_warps: int) -> Layout:
    """The layout in which threads combine the parts of all warps: that of the result, in which many
    threads may do the same, or one that shares out the results among them."""
    natural = _result(reduce)
    if not natural.rank:
        return natural
    share = max(1, tile_of(reduce.operation.results[0]).num_elements // (32 * num_warps))
    vector = min(1 << (share.bit_length() - 1), 4)
    shape = natural.shape
    even = blocked(shape, tuple(range(len(shape))), vector, num_warps)
    warps = _source(reduce).count(Owner.WARP, int_attr(reduce, "dim"))
    each_result = warps * (_READ + _COMBINE)
    return min(
        (natural, *_layouts_needed(reduce), even),
        key=lambda each: each_result * each.num_registers + _conversion_cost(reduce, each),
    )


def _conversion_cost(reduce: OpView, layout: Layout) -> int:
    """What users pay if the result has this layout."""
    needed = (each for each in _layouts_needed(reduce) if not same_threads(each, layout))
    return sum(_TRIP + _READ * (layout.num_registers + each.num_registers) for each in needed)


def _result(reduce: OpView) -> Layout:
    """The layout of a reduction's results; of scalars, one without dimensions."""
    info = tile_info(reduce.operation.results[0].type)
    return info.layout if info else Layout(())


def _layouts_needed(reduce: OpView) -> list[Layout]:
    """The layouts in which the results are used, each once."""
    users = [use.owner for result in reduce.operation.results for use in result.uses]
    needed = (
        tile_of(user.result).layout
        if isinstance(user, tile_gpu.ConvertLayoutOp)
        else _result(reduce)
        for user in users
    )
    return list(dict.fromkeys(needed))


def _set_layout(reduce: OpView, layout: Layout) -> None:
    """Has a reduction give its results in a layout, and converts them for their users."""
    if layout == _result(reduce):
        return
    b = Builder(InsertionPoint.after(reduce), reduce.location)
    for result in reduce.operation.results:
        uses, old = uses_of(result), result.type
        result.set_type(tile_type(b, tile_of(result).with_layout(layout)))
        redirect(uses, b.op("tile_gpu.convert_layout", [result], old))
