"""swizzle-blocks: blocks that run next to each other share tiles.

A persistent kernel takes the program's blocks by number. Blocks of neighbouring numbers run on one
graphics processing cluster (GPC), whose multiprocessors fetch through one port: what several of
them want at about the same time passes it once. Programs number their blocks along a run of tiles
that share one operand, of 8 or 16 tiles, say; then 16 neighbours want 17 tiles. Here they are dealt
out in rectangles, 4 x 4 tiles with 8 operands for all:

    along the run  |  0  8 16 24      0  2  4  6
                   |  1  9 17 25  =>  1  3  5  7
                   |  2 10 18 26      8 10 12 14
                   v  3 11 19 27      9 11 13 15

(numbers in the order of execution; the next columns go upwards). Which tiles a block wants is found
by computing the places of its operands for the first blocks of a large grid. Any order is right,
since blocks do not depend on each other where `persist-blocks` made one loop of them; a run of
another length on some grid costs time only.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op
from tileir.compiler.locations import plain_location
from tileir.dialects.diagnostics import emit_explanation
from tileir.ir import Block, InsertionPoint, Operation, Value
from tileir.passes.analysis.operand_loads import OperandLoad, operand_loads
from tileir.passes.analysis.scalar_values import scalar_value
from tileir.passes.base import ModulePass
from tileir.passes.persist_blocks import BLOCKS_ATTRIBUTE
from tileir.passes.walk import kernels, redirect, uses_of

#: Multiprocessors of a GPC that have blocks of neighbouring numbers: 16 or 18 on an H100 or H200,
#: where the first eight blocks go elsewhere. So half a GPC's share is dealt out at a time.
_GPC_BLOCKS = 16
_RECTANGLE = _GPC_BLOCKS // 2
#: Rows of a rectangle. The two multiprocessors that share most (a TPC) stay neighbours in a run:
#: where a product has one row of tiles only, runs are columns, and memory is the limit.
_ROWS = (2, 4)
#: Longer runs are taken for a side of the grid.
_LONGEST_RUN = 64
#: Large enough a size or grid for runs to be what they usually are.
_LARGE = 1 << 20
#: A new order must fetch less than this share.
_WORTHWHILE = 0.85


@dataclass(frozen=True)
class SwizzleBlocks(ModulePass):
    """Take the program's blocks in an order in which neighbours share tiles."""

    name = "swizzle-blocks"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            for op in kernel.regions[0].blocks[0]:
                if BLOCKS_ATTRIBUTE in op.operation.attributes:
                    _swizzle(op.operation)


def _swizzle(loop: Operation) -> None:
    body = loop.regions[0].blocks[0]
    run = _Run.of(loop, body)
    sides = None if run is None else run.better_sides()
    if run is None or sides is None:
        return
    uses = uses_of(body.arguments[0])
    b = Builder(InsertionPoint.at_block_begin(body), loop.location)
    number = _reordered(b, body.arguments[0], loop.operands[1], run.length_in(b), sides)
    redirect(uses, number)
    rows, columns = sides
    emit_explanation(
        plain_location(run.first.users[0].location),
        f"blocks that run next to each other take rectangles of {2 * rows}x{columns} tiles",
    )


# ---- the program's order --------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """Blocks of `length` successive numbers (an integer, or a value if that is a side of the grid)
    share one operand, of which a round fetches `shared` bytes; each has `own` bytes of the other
    that it shares with blocks of later runs."""

    length: int | Value
    own: int
    shared: int
    first: OperandLoad

    @staticmethod
    def of(loop: Operation, body: Block) -> _Run | None:
        """The runs of a loop over blocks; None if it is not one of products of two operands."""
        loads = list(operand_loads(loop))
        if len(loads) != 2:
            return None
        number = body.arguments[0]
        lengths = [_constant_for(load, number) for load in loads]
        if min(lengths) != 1 or max(lengths) == 1:
            return None
        bytes_ = [load.buffer.stage_bytes for load in loads]
        own, shared = bytes_ if lengths[0] == 1 else reversed(bytes_)
        length = max(lengths)
        side = length if length < _LONGEST_RUN else _fastest_side(number)
        return None if side is None else _Run(side, own, shared, loads[0])

    def length_in(self, b: Builder) -> Value:
        return b.c32(self.length) if isinstance(self.length, int) else self.length

    def better_sides(self) -> tuple[int, int] | None:
        """Rows, along the run, and columns of the rectangle whose blocks fetch least; None if that
        is about what they do as they are."""
        known = self.length if isinstance(self.length, int) else _LONGEST_RUN
        now = self._fetched(min(known, _GPC_BLOCKS))
        sides = [rows for rows in _ROWS if known % rows == 0]
        if not sides:
            return None

        def cost(rows: int) -> tuple[int, int]:
            # Of those that fetch as much, the one with fewer of the larger tiles.
            return self._fetched(min(known, 2 * rows)), rows if self.own > self.shared else -rows

        best = min(sides, key=cost)
        if self._fetched(min(known, 2 * best)) > _WORTHWHILE * now:
            return None
        return best, _RECTANGLE // best

    def _fetched(self, rows: int) -> int:
        """Bytes that neighbours fetch which are so many rows of tiles."""
        return rows * self.own + _GPC_BLOCKS // rows * self.shared


def _constant_for(load: OperandLoad, number: Value) -> int:
    """For how many successive blocks from the first a load is of the same tile, at most
    `_LONGEST_RUN`; 0 if that cannot be found out."""

    def place(block: int) -> list[int | None]:
        known = {number: block}
        return [scalar_value(start, known, _LARGE) for start in load.load.starts]

    first = place(0)
    if None in first:
        return 0
    return next((n for n in range(1, _LONGEST_RUN) if place(n) != first), _LONGEST_RUN)


def _fastest_side(number: Value) -> Value | None:
    """The extent of the grid along which numbers run fastest."""
    for use in number.uses:
        user = defining_op(use.owner.results[0]) if len(use.owner.results) else None
        if user is not None and user.operation.name == "arith.remui":
            return user.operation.operands[1]
    return None


# ---- the new order ----------------------------------------------------------------------------


def _reordered(
    b: Builder, number: Value, count: Value, run: Value, sides: tuple[int, int]
) -> Value:
    """The program's number of the block that is `number` in the order of execution. Rectangles one
    after another fill a panel, as many runs as they are wide, first downwards, in the next panel
    upwards, so that the last of one share tiles with the first of the next. The last blocks, too
    few for a panel, stay as they are."""
    rows, columns = (b.c32(side) for side in sides)
    size = b.mul(run, columns)
    panel, place = b.divided(number, size)
    before = b.mul(panel, size)
    rectangle, within = b.divided(place, b.c32(_RECTANGLE))
    right, down = b.divided(within, rows)
    upwards = b.compare("ne", b.op("arith.andi", [panel, b.c32(1)], b.i32), b.c32(0))
    last = b.sub(b.op("arith.divui", [run, rows], b.i32), b.c32(1))
    rectangle = b.op("arith.select", [upwards, b.sub(last, rectangle), rectangle], b.i32)
    along = b.add(b.mul(rectangle, rows), down)
    moved = b.add(b.add(before, b.mul(right, run)), along)
    whole = b.compare("ule", b.add(before, size), count)
    even = b.compare("eq", b.op("arith.remui", [run, rows], b.i32), b.c32(0))
    fits = b.op("arith.andi", [whole, even], b.i1)
    return b.op("arith.select", [fits, moved, number], b.i32)
