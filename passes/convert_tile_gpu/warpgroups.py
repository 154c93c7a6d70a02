"""Which part of a block's work is this warpgroup's."""

from __future__ import annotations

from tileir.compiler.wgmma import WARPS, WarpgroupGrid
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering


def place_in_grid(ctx: Lowering, grid: WarpgroupGrid) -> tuple[Value, Value]:
    """Row and column of this warpgroup in a grid (i32)."""
    b = ctx.builder
    group = b.op("arith.divui", [ctx.warp, b.c32(WARPS)], b.i32)
    stacked = b.op("arith.remui", [group, b.c32(grid.stacked)], b.i32)
    beside = b.op("arith.divui", [group, b.c32(grid.stacked)], b.i32)
    return (beside, stacked) if grid.transposed else (stacked, beside)
