"""Which part of a block's work is this warpgroup's."""

from __future__ import annotations

from tileir.compiler.wgmma import WARPS, WarpgroupGrid
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering
from tileir.passes.convert_tile_gpu.shuffles import shuffle


def group_and_warp(ctx: Lowering) -> tuple[Value, Value]:
    """The number of this warpgroup, and of this warp in it (i32)."""
    return ctx.builder.divided(ctx.warp, ctx.builder.c32(WARPS))


def place_in_grid(ctx: Lowering, grid: WarpgroupGrid) -> tuple[Value, Value]:
    """Row and column of this warpgroup in a grid (i32)."""
    b = ctx.builder
    stacked, beside = b.c32(0), b.c32(0)
    if grid.rows * grid.columns > 1:
        group = ctx.remembered("warpgroup", lambda: same_in_warp(ctx, group_and_warp(ctx)[0]))
        if grid.stacked == 1:
            beside = group
        elif grid.stacked == grid.rows * grid.columns:
            stacked = group
        else:
            beside, stacked = b.divided(group, b.c32(grid.stacked))
    return (beside, stacked) if grid.transposed else (stacked, beside)


def same_in_warp(ctx: Lowering, value: Value) -> Value:
    """A value (i32) that is the same for all threads of a warp, so that ptxas knows it, too, and
    keeps what is computed from it in registers that a warp shares. A shuffle stays where it is,
    and so does what it shuffles."""
    return shuffle(ctx, "idx", value, ctx.builder.c32(0))
