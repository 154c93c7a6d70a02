"""Which part of a block's work is this warpgroup's."""

from __future__ import annotations

from tileir.compiler.wgmma import WARPS, WarpgroupGrid
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering


def group_and_warp(ctx: Lowering) -> tuple[Value, Value]:
    """The number of this warpgroup, and of this warp in it (i32)."""
    return ctx.builder.divided(ctx.warp, ctx.builder.c32(WARPS))


def place_in_grid(ctx: Lowering, grid: WarpgroupGrid) -> tuple[Value, Value]:
    """Row and column of this warpgroup in a grid (i32)."""
    group, _ = group_and_warp(ctx)
    beside, stacked = ctx.builder.divided(group, ctx.builder.c32(grid.stacked))
    return (beside, stacked) if grid.transposed else (stacked, beside)
