"""Which instruction computes a matrix product, and how many warpgroups should share it."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler import wgmma
from tileir.compiler.ir_util import defining_op
from tileir.compiler.mma import Instruction, instruction_for
from tileir.compiler.target import Target
from tileir.compiler.tile_types import (
    buffer_info,
    is_buffer_type,
    is_tile_type,
    operand_of,
    tile_of,
)
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value


def mma_instruction(product: OpView, capability: int) -> Instruction | None:
    """The `mma.sync` that computes a product; None if there is none for its types and shape."""
    acc, operand = tile_of(product.operation.results[0]), operand_of(product, 0)
    shape = (*acc.shape, operand.shape[-1])
    return instruction_for(operand.element, acc.element, shape, capability)


def keep_whole_rows(products: Sequence[OpView]) -> bool:
    """Whether a warpgroup must own whole rows of every accumulator: one product's result is
    another's left operand, in registers."""
    return any(is_tile_type(product.operation.operands[0].type) for product in products)


def stored_grid(value: Value, num_warps: int, whole_rows: bool) -> wgmma.WarpgroupGrid | None:
    """How warpgroups share a tile that leaves by tensor memory accesses: as accumulators of its
    shape; if it is a permuted tile, as what those of that tile's shape become."""
    source = defining_op(value)
    if not isinstance(source, tile_gpu.PermuteOp):
        return wgmma.WarpgroupGrid.choose(tile_of(value).shape, num_warps, whole_rows)
    grid = wgmma.WarpgroupGrid.choose(tile_of(source.source).shape, num_warps, whole_rows)
    return None if grid is None else grid.transpose()


def suits_wgmma(product: OpView, target: Target, num_warps: int, whole_rows: bool) -> bool:
    """Whether so many warps can compute a product, whose operands are staged, with wgmma."""
    acc = tile_of(product.operation.results[0])
    if len(acc.shape) != 2:
        return False
    left, right = (operand_of(product, i) for i in (0, 1))
    lhs, rhs = (operand.type for operand in list(product.operation.operands)[:2])
    grid = wgmma.WarpgroupGrid.choose(acc.shape, num_warps, whole_rows)
    depth = left.shape[1]
    if grid is None or not wgmma.takes(target, left.element, right.element, acc.element, depth):
        return False
    rows, columns = grid.block_of(acc.shape)
    if not wgmma.takes_width(left.element, rows if grid.transposed else columns):
        return False
    if not is_buffer_type(rhs) or not wgmma.readable(buffer_info(rhs), 0, columns):
        return False
    return is_tile_type(lhs) or wgmma.readable(buffer_info(lhs), 1, rows)


def fits_warpgroups(products: Sequence[OpView], target: Target, groups: int) -> bool:
    """Whether so many warpgroups can compute all products without spilling registers."""
    whole_rows = keep_whole_rows(products)
    if not all(suits_wgmma(p, target, wgmma.WARPS * groups, whole_rows) for p in products):
        return False
    return accumulators(products) <= wgmma.most_accumulators(groups)


def accumulators(products: Sequence[OpView]) -> int:
    """Elements of all accumulators together."""
    return sum(tile_of(product.operation.results[0]).num_elements for product in products)


def choose_warpgroups(products: Sequence[OpView], target: Target) -> int | None:
    """How many warpgroups should compute the products; None if they do not suit wgmma.

    One for each 64 rows, so that products of one go on while another does something else, but not
    more than share out the rows evenly; side by side only where that leaves a thread fewer than
    64 accumulators instead of more.
    """
    whole_rows = keep_whole_rows(products)

    def cost(groups: int) -> tuple[int, bool, int]:
        shapes = [tile_of(product.operation.results[0]).shape for product in products]
        grids = [wgmma.WarpgroupGrid.choose(s, wgmma.WARPS * groups, whole_rows) for s in shapes]
        stacked = min(grid.stacked for grid in grids if grid is not None)
        per_thread = accumulators(products) // (wgmma.THREADS * groups)
        return -stacked, per_thread > wgmma.COMFORTABLE_ACCUMULATORS, groups

    fitting = [n for n in wgmma.GROUPS if fits_warpgroups(products, target, n)]
    return min(fitting, key=cost, default=None)
