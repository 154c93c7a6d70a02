"""persist-blocks: a block that stays on its multiprocessor does the work of many.

    body(blockIdx)     =>     for block = blockIdx.x to number of the program's blocks
                                      step gridDim.x:
                                  body(coordinates of block)

so that a specialised producer fetches the next tile's operands while the consumers still finish
the last one. As many blocks start as there are multiprocessors, or rather so few that all do the
same number of rounds.

Only where our launcher starts the kernel (it passes the program's grid), and only for kernels
whose blocks cannot tell: no atomics, no order of memory between blocks, nothing printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import keyword
from tileir.ir import Block, InsertionPoint, Operation, Value
from tileir.passes.attach_target import is_managed, target_of
from tileir.passes.base import ModulePass
from tileir.passes.launch_contract import program_grid, set_launch_grid
from tileir.passes.specialize_warps.plan import suits
from tileir.passes.walk import kernels, walk
from tileir.runtime.expressions import Expression
from tileir.runtime.metadata import PROGRAM_GRID

#: Reads and writes that blocks do not notice of each other.
_UNNOTICED = ("tile_gpu.load", "tile_gpu.store", "tile_gpu.gather", "tile_gpu.scatter")
_OBSERVABLE = ("tile_gpu.atomic", "tile_gpu.print", "tile_gpu.assert")
_BLOCK_INDEX = "nvvm.read.ptx.sreg.ctaid."
_GRID_SIZE = "nvvm.read.ptx.sreg.nctaid."
_AXES = "xyz"


@dataclass(frozen=True)
class PersistBlocks(ModulePass):
    """Let each block that is started do the work of several."""

    name = "persist-blocks"

    def apply(self, module: Operation) -> None:
        if not is_managed(module):
            return
        target = target_of(module)
        for kernel in kernels(module):
            if suits(kernel, target) and _independent(kernel):
                _persist(kernel)


def _independent(kernel: Operation) -> bool:
    """Whether nothing that a block does depends on when or where others run."""
    for op in walk(kernel):
        name = op.operation.name
        if name.startswith(_OBSERVABLE):
            return False
        if name in _UNNOTICED and keyword(op, "ordering", "weak") != "weak":
            return False
    return True


def _persist(kernel: Operation) -> None:
    body = kernel.regions[0].blocks[0]
    *work, end = list(body)
    b = Builder(InsertionPoint(end), kernel.location)
    grid = program_grid(kernel, b.i32)
    count = b.mul(b.mul(grid[0], grid[1]), grid[2])
    first, step = (b.op(f"nvvm.read.ptx.sreg.{name}.x", [], b.i32) for name in ("ctaid", "nctaid"))
    loop = b.create("scf.for", [first, count, step], regions=1)
    inner = b.block(loop.regions[0], [b.i32])
    with b.at(inner):
        index = _coordinates(b, inner.arguments[0], grid)
        b.create("scf.yield")
    _move(work, inner, index, grid)
    set_launch_grid(kernel, _launch_grid())


def _coordinates(b: Builder, block: Value, grid: list[Value]) -> list[Value]:
    """The program's block index of a block's number; x runs fastest."""
    rest = b.op("arith.divui", [block, grid[0]], b.i32)
    return [
        b.op("arith.remui", [block, grid[0]], b.i32),
        b.op("arith.remui", [rest, grid[1]], b.i32),
        b.op("arith.divui", [rest, grid[1]], b.i32),
    ]


def _move(work: list, inner: Block, index: list[Value], grid: list[Value]) -> None:
    """Moves the kernel's work into the loop, where block indices and grid are the program's."""
    end = list(inner)[-1]
    for op in work:
        op.operation.move_before(end)
    for op in list(walk(inner.owner.operation)):
        name = op.operation.name
        for prefix, values in ((_BLOCK_INDEX, index), (_GRID_SIZE, grid)):
            if name.startswith(prefix):
                value = values[_AXES.index(name.removeprefix(prefix))]
                op.operation.results[0].replace_all_uses_with(value)
                op.operation.erase()
                break


def _launch_grid() -> list[Expression]:
    """As many blocks as there are multiprocessors, less if that saves no round."""
    blocks: Expression = ["mul", ["mul", PROGRAM_GRID[0], PROGRAM_GRID[1]], PROGRAM_GRID[2]]
    rounds = ["max", 1, ["ceildiv", blocks, "multiprocessors"]]
    return [["ceildiv", blocks, rounds], 1, 1]
