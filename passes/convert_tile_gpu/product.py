"""Matrix products: on warpgroups, on warps, or by scalar multiply-adds."""

from __future__ import annotations

from tileir.compiler.ir_util import keyword
from tileir.compiler.tile_types import tile_of
from tileir.compiler.wgmma import grid_of
from tileir.dialects import tile_gpu
from tileir.passes.analysis.products import mma_instruction
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.mma_product import MmaProduct
from tileir.passes.convert_tile_gpu.multiply_add import multiply_add
from tileir.passes.convert_tile_gpu.warpgroup_product import WarpgroupProduct


@lowers("tile_gpu.dot")
def _dot(ctx: Lowering, op: tile_gpu.DotOp) -> None:
    info = tile_of(op.result)
    if keyword(op, "instruction", "") == "wgmma":
        grid = grid_of(info.layout, ctx.num_warps)
        assert grid is not None, f"{info.layout} is not a layout of wgmma"
        ctx.set(op, WarpgroupProduct(ctx, op, grid).run())
        return
    instruction = mma_instruction(op, ctx.target.capability)
    if instruction is None:
        registers = multiply_add(ctx, op, info)
    else:
        registers = MmaProduct(ctx, op, instruction).run()
    ctx.set(op, registers)
