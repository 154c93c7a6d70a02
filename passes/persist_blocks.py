"""persist-blocks: a block that stays on its multiprocessor does the work of many.

    body(blockIdx)     =>     for block = first to number of the program's blocks step workers:
                                  body(coordinates of block)

so that a specialised producer fetches the next tile's operands while the consumers still finish
the last one. As many blocks work as there are multiprocessors, or rather so few that all do the
same number of rounds. Where our launcher starts the kernel, it starts no others; elsewhere the rest
of the program's grid ends at once.

Only for kernels that get such a producer, since others would lose the blocks that share their
multiprocessor; and whose blocks cannot tell: no atomics, no order of memory between blocks, nothing
printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import keyword
from tileir.ir import Block, InsertionPoint, Operation, OpView, Value
from tileir.passes.attach_target import is_managed, target_of
from tileir.passes.base import ModulePass
from tileir.passes.launch_contract import program_grid, set_launch_grid
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.walk import kernels, ops_named, replace_op, walk
from tileir.runtime.expressions import Expression
from tileir.runtime.metadata import PROGRAM_GRID

#: Marks the loop over the program's blocks, which may be taken in any order.
BLOCKS_ATTRIBUTE = "tile_gpu.blocks"

#: Reads and writes that blocks do not notice of each other.
_UNNOTICED = ("tile_gpu.load", "tile_gpu.store", "tile_gpu.gather", "tile_gpu.scatter")
_OBSERVABLE = ("tile_gpu.atomic", "tile_gpu.print", "tile_gpu.assert")
#: Stages of a ring that is worth it.
_STAGES = 3
_BLOCK_INDEX = "nvvm.read.ptx.sreg.ctaid."
_GRID_SIZE = "nvvm.read.ptx.sreg.nctaid."
_AXES = "xyz"


@dataclass(frozen=True)
class PersistBlocks(ModulePass):
    """Let each block that is started do the work of several."""

    name = "persist-blocks"

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        for kernel in kernels(module):
            plan = Plan.of(kernel, target, _STAGES) if _independent(kernel) else None
            if plan is not None:
                _persist(kernel, plan.blocks_per_multiprocessor, is_managed(module))


def _independent(kernel: Operation) -> bool:
    """Whether nothing that a block does depends on when or where others run."""
    for op in walk(kernel):
        name = op.operation.name
        if name.startswith(_OBSERVABLE):
            return False
        if name in _UNNOTICED and keyword(op, "ordering", "weak") != "weak":
            return False
    return True


def _persist(kernel: Operation, each: int, managed: bool) -> None:
    *work, end = list(kernel.regions[0].blocks[0])
    b = Builder(InsertionPoint(end), kernel.location)
    grid = _managed_grid(b, kernel, each) if managed else _plain_grid(b, each)
    attributes = {BLOCKS_ATTRIBUTE: b.attribute("unit")}
    loop = b.create("scf.for", [grid.first, grid.count, grid.workers], regions=1,
                    attributes=attributes)  # fmt: skip
    inner = b.block(loop.regions[0], [b.i32])
    with b.at(inner):
        index = _coordinates(b, inner.arguments[0], grid.extents)
        b.create("scf.yield")
    _move(work, inner, index, grid.extents)


@dataclass(frozen=True)
class _Grid:
    """The program's grid: its extents and size, and this block's place among those that work (all
    i32)."""

    extents: list[Value]
    count: Value
    first: Value
    workers: Value


def _managed_grid(b: Builder, kernel: Operation, each: int) -> _Grid:
    """The launcher passes the program's grid, and starts as many blocks as shall work: `each` on a
    multiprocessor."""
    extents = program_grid(kernel, b.i32)
    set_launch_grid(kernel, _launch_grid(each))
    first, workers = (_special(b, name) for name in ("ctaid.x", "nctaid.x"))
    return _Grid(extents, _product(b, extents), first, workers)


def _plain_grid(b: Builder, each: int) -> _Grid:
    """The program's grid is started as it is: those beyond the workers end at once."""
    x, y, z = (_special(b, f"ctaid.{axis}") for axis in _AXES)
    extents = [_special(b, f"nctaid.{axis}") for axis in _AXES]
    count = _product(b, extents)
    room = _special(b, "nsmid")
    if each > 1:
        room = b.mul(room, b.c32(each))
    first = b.add(x, b.mul(extents[0], b.add(y, b.mul(extents[1], z))))
    # Most end here, before two divisions.
    b.create("tile_gpu.exit_if", [b.compare("uge", first, room)])
    workers = _workers(b, count, room)
    b.create("tile_gpu.exit_if", [b.compare("uge", first, workers)])
    return _Grid(extents, count, first, workers)


def _workers(b: Builder, count: Value, room: Value) -> Value:
    """All, without a division, where there is room for all of a grid; else so few that all do the
    same number of rounds."""

    def even_share() -> Value:
        rounds = b.op("arith.ceildivui", [count, room], b.i32)
        return b.op("arith.ceildivui", [count, rounds], b.i32)

    return b.either(b.compare("ule", count, room), b.i32, lambda: count, even_share)


def _special(b: Builder, name: str) -> Value:
    return b.op(f"nvvm.read.ptx.sreg.{name}", [], b.i32)


def _product(b: Builder, extents: list[Value]) -> Value:
    x, y, z = extents
    return b.mul(b.mul(x, y), z)


def _coordinates(b: Builder, block: Value, grid: list[Value]) -> list[Value]:
    """The program's block index of a block's number; x runs fastest."""
    rest = b.op("arith.divui", [block, grid[0]], b.i32)
    return [
        b.op("arith.remui", [block, grid[0]], b.i32),
        b.op("arith.remui", [rest, grid[1]], b.i32),
        b.op("arith.divui", [rest, grid[1]], b.i32),
    ]


def _move(work: list[OpView], inner: Block, index: list[Value], grid: list[Value]) -> None:
    """Moves the kernel's work into the loop, where block indices and grid are the program's."""
    end = list(inner)[-1]
    for op in work:
        op.operation.move_before(end)
    for prefix, values in ((_BLOCK_INDEX, index), (_GRID_SIZE, grid)):
        for axis, value in zip(_AXES, values, strict=True):
            for op in ops_named(inner.owner, prefix + axis):
                replace_op(op, value)


def _launch_grid(each: int) -> list[Expression]:
    """As many blocks as multiprocessors hold, less if that saves no round."""
    blocks: Expression = ["mul", ["mul", PROGRAM_GRID[0], PROGRAM_GRID[1]], PROGRAM_GRID[2]]
    room: Expression = "multiprocessors"
    if each > 1:
        room = ["mul", room, each]
    rounds = ["max", 1, ["ceildiv", blocks, room]]
    return [["ceildiv", blocks, rounds], 1, 1]
