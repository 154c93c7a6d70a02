"""Pairs of blocks: of an operand that both need, each fetches half for both.

Rows that do not start on cache lines (sizes like 3000) halve the rate of tensor memory accesses.
The launcher then forms clusters of two blocks, which take neighbouring tiles of the result. Where
an operand is the same for both, each producer fetches one half of it into the shared memory of
both, and a stage is free again when the consumers of both blocks have given it back.

Whether there is a pair is known at launch only: elsewhere a block is a cluster by itself. Both
blocks of a pair do the same number of tiles; the last may be there for company only, and is not
stored.
"""

from __future__ import annotations

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_block, defining_op, int_attr
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.launch_expressions import launch_expression
from tileir.passes.launch_contract import launch_grid, set_launch_cluster, set_launch_grid
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.rings import Fetch
from tileir.passes.specialize_warps.tile_loop import TileLoop
from tileir.passes.walk import computed_from, ops_of, recompute, redirect, uses_of
from tileir.runtime.expressions import Expression
from tileir.runtime.metadata import PROGRAM_GRID

_CACHE_LINE = 128
#: cuTile states divisibility of sizes up to this.
_STRONGEST = 16
_STORES = (tile_gpu.StoreOp, tile_gpu.ScatterOp)


def pair_blocks(kernel: Operation, plan: Plan) -> dict[Operation, Value] | None:
    """Lets the two blocks of a pair take neighbouring tiles. Returns for each load of an operand
    whether both need the same tile (i1).

    None if pairs do not suit: they must go through one ring in step, and the launcher must know how
    far rows are apart.
    """
    is_persistent = launch_grid(kernel) != PROGRAM_GRID
    loop = TileLoop.of(kernel, plan) if is_persistent and not _seems_on_lines(plan) else None
    off_lines = _off_cache_lines(plan)
    if loop is None or off_lines is None:
        return None
    fetches = plan.rings[0].fetches
    if any(fetch.tensor.batch for fetch in fetches) or not all(
        _keeps_step(fetch, loop) for fetch in fetches
    ):
        return None
    _set_launch(kernel, off_lines)
    b = Builder(InsertionPoint(loop.tiles), loop.tiles.location)
    rank, size = (
        b.op(f"nvvm.read.ptx.sreg.cluster.{name}", [], b.i32) for name in ("ctarank", "nctarank")
    )
    paired = b.compare("ugt", size, b.c32(1))
    _take_pairs_of_tiles(b, loop, rank)
    b.point = InsertionPoint(loop.guard)
    other = _OtherBlock(b, loop, rank)
    return {fetch.load.load.operation: other.needs_same(fetch, paired) for fetch in fetches}


def _seems_on_lines(plan: Plan) -> bool:
    """Whether the length of all rows has the strongest fact that front ends state: then pairs would
    hardly ever form, and their barriers would cost every launch a microsecond."""
    fetches = [fetch for ring in plan.rings for fetch in ring.fetches]
    return all(int_attr(fetch.load.load, "extent_multiple", 1) >= _STRONGEST for fetch in fetches)


def _off_cache_lines(plan: Plan) -> Expression | None:
    """1 if rows of an operand do not start on cache lines, else 0, as the launcher sees it."""
    result: Expression = 0
    for ring in plan.rings:
        for fetch in ring.fetches:
            box = fetch.load.buffer
            stride = launch_expression(fetch.load.load.strides[box.order[0]])
            if stride is None:
                return None
            length: Expression = ["mul", stride, box.element_bytes]
            whole: Expression = ["mul", ["floordiv", length, _CACHE_LINE], _CACHE_LINE]
            result = ["max", result, ["min", 1, ["sub", length, whole]]]
    return result


def _keeps_step(fetch: Fetch, loop: TileLoop) -> bool:
    """Whether the fetch's place along k is the same for all tiles, and that across is known before
    the loop over k."""
    across, along = fetch.outer_dim, 1 - fetch.outer_dim
    starts = list(fetch.load.load.starts)
    where = defining_op(starts[across])
    early = not loop.defines(starts[across]) or (
        where is not None and where.operation.block == loop.body
    )
    return early and not _depends_on_tile(starts[along], loop)


def _depends_on_tile(value: Value, loop: TileLoop) -> bool:
    of_rounds = loop.rounds.regions[0].blocks[0]
    return any(
        defining_op(source) is None and loop.defines(source) and defining_block(source) != of_rounds
        for source in computed_from(value, lambda op: loop.defines(op.operation.results[0]))
    )


def _set_launch(kernel: Operation, off_lines: Expression) -> None:
    """Pairs, where rows are off the cache lines and there is work for most multiprocessors."""
    x, y, z = launch_grid(kernel)
    count: Expression = ["mul", ["mul", PROGRAM_GRID[0], PROGRAM_GRID[1]], PROGRAM_GRID[2]]
    twice: Expression = ["mul", count, 2]
    many: Expression = ["min", 1, ["floordiv", twice, ["add", "multiprocessors", 1]]]
    blocks: Expression = ["add", 1, ["mul", off_lines, many]]
    set_launch_cluster(kernel, blocks)
    set_launch_grid(kernel, [["mul", blocks, ["ceildiv", x, blocks]], y, z])


def _take_pairs_of_tiles(b: Builder, loop: TileLoop, rank: Value) -> None:
    """Both blocks of a pair count in steps of the pair, so that they go round equally often."""
    lower, upper, _ = list(loop.tiles.operands)[:3]
    loop.tiles.operands[0] = b.sub(lower, rank)
    last = b.sub(upper, b.c32(1))
    counter = loop.body.arguments[0]
    uses = uses_of(counter)
    with b.at(InsertionPoint.at_block_begin(loop.body)):
        tile = b.add(counter, rank)
        exists = b.compare("slt", tile, upper)
        place = b.op("arith.minsi", [tile, last], b.i32)
    redirect(uses, place)
    for kind in _STORES:
        for store in ops_of(loop.tiles, kind):
            _store_if(exists, store)


def _store_if(exists: Value, store: tile_gpu.StoreOp | tile_gpu.ScatterOp) -> None:
    b = Builder(InsertionPoint(store), store.location)
    branch = b.create("scf.if", [exists], regions=2)
    with b.at(b.block(branch.regions[0])):
        end = b.create("scf.yield")
    store.operation.move_before(end)


class _OtherBlock:
    """Computes what the other block of the pair computes, where `b` stands."""

    def __init__(self, b: Builder, loop: TileLoop, rank: Value):
        self.b, self.loop = b, loop
        self.known: dict[Value, Value] = {rank: b.sub(b.c32(1), rank)}

    def needs_same(self, fetch: Fetch, paired: Value) -> Value:
        """Whether there is another block, and it fetches the same tile (i1)."""
        mine = fetch.load.load.starts[fetch.outer_dim]
        other = recompute(self.b, mine, self.known, self._per_tile)
        equal = self.b.compare("eq", mine, other)
        return self.b.op("arith.andi", [paired, equal], self.b.i1)

    def _per_tile(self, op: OpView) -> bool:
        return self.loop.defines(op.operation.results[0])
