"""Prefetching tiles of tensors into the second-level cache: `cp.async.bulk.prefetch.L2`."""

from __future__ import annotations

from tileir.compiler.tile_types import tile_info
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers

#: The instruction takes multiples of this.
_UNIT = 16


@lowers("tile_gpu.prefetch")
def _prefetch(ctx: Lowering, op: tile_gpu.PrefetchOp) -> None:
    """A row by each thread, as far as it lies inside the tensor, in whole units: what is left of
    it is fetched when it is read."""
    tile, along = tile_info(op.tile.value), contiguous_dim(op)
    assert tile is not None and along is not None, "specialize-warps prefetches rows of tiles"
    across = 1 - along
    b, threads = ctx.builder, 32 * ctx.num_warps
    left = _rest(ctx, op, along, tile.shape[along])
    unit = _UNIT // tile.element_bytes
    whole = b.op("arith.andi", [left, b.c64(-unit)], b.i64)
    size = b.op("arith.trunci", [b.mul(whole, b.c64(tile.element_bytes))], b.i32)
    rows = _rest(ctx, op, across, tile.shape[across])
    start = ctx.scalar(op.starts[across])
    for first in range(0, tile.shape[across], threads):
        row = b.op("arith.extui", [b.add(ctx.thread, b.c32(first))], b.i64)
        place = b.mul(b.add(start, row), ctx.scalar(op.strides[across]))
        address = b.advance(
            ctx.scalar(op.base), b.add(place, ctx.scalar(op.starts[along])), tile.element_bytes
        )
        inside = b.compare("slt", row, rows)
        some = b.compare("sgt", size, b.c32(0))
        with ctx.only_if(b.op("arith.andi", [inside, some], b.i1)):
            text = "cp.async.bulk.prefetch.L2.global [$0], $1;"
            ctx.asm(text, "l,r,~{memory}", [address, size], None, True)


def _rest(ctx: Lowering, op: tile_gpu.PrefetchOp, dim: int, extent: int) -> Value:
    """Elements of the tile along a dimension that lie inside the tensor, if any do (i64)."""
    b = ctx.builder
    left = b.sub(ctx.scalar(op.sizes[dim]), ctx.scalar(op.starts[dim]))
    return b.op("arith.minsi", [left, b.c64(extent)], b.i64)
