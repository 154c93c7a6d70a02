"""What warpgroups can hold, asked before products are staged and warps are chosen."""

from __future__ import annotations

from tileir.compiler import wgmma
from tileir.compiler.ir_util import defining_op
from tileir.compiler.target import Target
from tileir.dialects.cuda_tile import TileType
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.split_tile.cost import contiguous_dim
from tileir.passes.split_tile.forms import tile_type
from tileir.passes.split_tile.operations import LOADS, PRODUCTS, walk_block

#: An accumulator of f16 is one of f32, rounded at the end.
_WIDENED = {"f16": "f32"}


def on_warpgroups(entry: Operation, target: Target) -> int | None:
    """Registers that the accumulators of a kernel may fill, all of whose matrix products suit
    wgmma; None for other kernels."""
    operations = walk_block(entry.regions[0].blocks[0])
    products = [op for op in operations if op.operation.name in PRODUCTS]
    if not products or not all(_suits(product, target) for product in products):
        return None
    shapes = [tile_type(product.operation.results[0]).shape for product in products]
    return max(
        (
            wgmma.most_accumulators(groups)
            for groups in wgmma.GROUPS
            if all(wgmma.WarpgroupGrid.choose(s, wgmma.WARPS * groups, False) for s in shapes)
        ),
        default=None,
    )


def _suits(product: OpView, target: Target) -> bool:
    lhs, rhs, acc = (tile_type(operand) for operand in list(product.operation.operands)[:3])
    if len(acc.shape) != 2:
        return False
    left, right, sum_ = (_element(type_) for type_ in (lhs, rhs, acc))
    if not wgmma.takes(target, left, right, _WIDENED.get(sum_, sum_), lhs.shape[1]):
        return False
    either_way = wgmma.reads_across_depth(left)
    return either_way or all(
        _lies_along(product.operation.operands[i], dim) for i, dim in ((0, 1), (1, 0))
    )


def _element(type_: TileType) -> str:
    return str(type_.element_type)


def _lies_along(operand: Value, dim: int) -> bool:
    """Whether neighbours along `dim` are neighbours in memory."""
    load = defining_op(operand)
    if load is None or load.operation.name not in LOADS:
        return False
    return contiguous_dim(load, AxisAnalysis()) == dim
