"""Scratch memory of a block: `alloca`, which lives until the block of operations around it ends.

It comes from the heap of the device, since nobody knows at compile time how many blocks there will
be. Whatever ends a block frees what was allocated in it, and a `break`, `continue` or `return`
also what was allocated in the blocks that it leaves behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileir.compiler.ir_util import element_bytes, int_attr
from tileir.ir import Block, OpView
from tileir.passes.convert_cuda_tile.converter import Converter, lowers


@lowers("alloca")
def _alloca(c: Converter, op: OpView) -> None:
    size = element_bytes(op.operation.results[0].type)
    attributes = {
        "bytes": c.builder.i64_attr(int_attr(op, "num_elem") * size),
        "alignment": c.builder.i64_attr(int_attr(op, "alignment")),
    }
    pointer = c.builder.op("tile_gpu.malloc", [], c.builder.type("!llvm.ptr<1>"), attributes)
    c.scratch.append((op.operation.block, pointer))
    c.set(op, pointer)


def free_scratch(c: Converter, terminator: OpView) -> None:
    """Frees the memory of the blocks that a terminator ends."""
    if not c.scratch:
        return
    ended = list(_ended_blocks(terminator))
    for block, pointer in reversed(c.scratch):
        if block in ended:
            c.builder.create("tile_gpu.free", [pointer])


def _ended_blocks(terminator: OpView) -> Iterator[Block]:
    """The block that holds the terminator and those around it, as far as it leaves them."""
    last = {
        "cuda_tile.continue": ("cuda_tile.for", "cuda_tile.loop"),
        "cuda_tile.break": ("cuda_tile.loop",),
        "cuda_tile.return": ("cuda_tile.entry",),
    }.get(terminator.operation.name)
    block = terminator.operation.block
    yield block
    while last is not None and block.owner.operation.name not in last:
        block = block.owner.operation.block
        yield block
