"""Where the loop over slices goes, and what stays outside of it.

A scope is a block: the body of the kernel, or of a loop or branch in it, that holds all stores. Its
operations fall into those that move into the loop over slices and those that stay in front of it:
scalars and views, which all slices share, and what the block begins with that has only scalar
results, such as an early `return`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import block_of, defining_op
from tileir.dialects.cuda_tile import TileType
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.split_tile.forms import shape_of
from tileir.passes.split_tile.operations import (
    LOADS,
    LOOPS,
    STORES,
    TERMINATORS,
    UNREPEATABLE,
    captured,
    encloses,
    is_pure,
    may_be_undefined,
    parent_op,
    walk_block,
)
from tileir.passes.walk import blocks_of


@dataclass(frozen=True)
class Scope:
    """`block` without its terminator: `outside` stays, `inside` moves into the loop."""

    block: Block
    outside: frozenset[OpView]
    inside: tuple[OpView, ...]

    def is_given(self, value: Value) -> bool:
        """Whether `value` is there before the loop over slices starts."""
        op, block = defining_op(value), block_of(value)
        if block == self.block:
            return op is None or op in self.outside
        return not encloses(self.block, block)

    def is_invariant(self, value: Value) -> bool:
        """Whether `value` is the same wherever it is used while the block runs once."""
        where = block_of(value)
        return where == self.block or not encloses(self.block, where)

    def operations(self) -> list[OpView]:
        """All operations inside, nested ones included."""
        found: list[OpView] = []
        for op in self.inside:
            found.append(op)
            for block in blocks_of(op):
                found += walk_block(block)
        return found


def scopes_of(entry: Operation) -> list[Scope]:
    """Scopes that hold all stores of a kernel, innermost first."""
    body = entry.regions[0].blocks[0]
    stores = [op for op in walk_block(body) if op.operation.name in STORES]
    chains = [_enclosing_blocks(op, body) for op in stores]
    common = [block for block in chains[0] if all(block in chain for chain in chains)]
    return [_scope(block) for block in common]


def _enclosing_blocks(op: OpView, body: Block) -> list[Block]:
    """From the block of `op` out to `body`."""
    blocks = [op.operation.block]
    while blocks[-1] != body:
        blocks.append(blocks[-1].owner.operation.block)
    return blocks


def _scope(block: Block) -> Scope:
    outside: set[OpView] = set()
    inside: list[OpView] = []
    for op in list(block):
        if op.operation.name in TERMINATORS:
            continue
        (outside.add if _stays(op, block, outside, inside) else inside.append)(op)
    return Scope(block, frozenset(outside), tuple(inside))


def _stays(op: OpView, block: Block, outside: set[OpView], inside: list[OpView]) -> bool:
    used = [*op.operation.operands, *captured(op)]
    if any(_comes_from_inside(value, block, outside) for value in used):
        return False
    if not all(_is_scalar(result) for result in op.operation.results):
        return False
    if is_pure(op):
        # Moved in front of what comes before it, which a `loop` might never leave.
        return not may_be_undefined(op) or not any(_may_not_end(each) for each in inside)
    if not all(is_pure(each) or each.operation.name in LOADS for each in inside):
        return False  # (loads without tokens between may run before or after it)
    return not _worth_slicing(op)


def _comes_from_inside(value: Value, block: Block, outside: set[OpView]) -> bool:
    op = defining_op(value)
    return op is not None and op.operation.block == block and op not in outside


def _is_scalar(value: Value) -> bool:
    return not isinstance(value.type, TileType) or value.type.rank == 0


def _may_not_end(op: OpView) -> bool:
    return any(each.operation.name == "cuda_tile.loop" for each in _with_nested(op))


def _worth_slicing(op: OpView) -> bool:
    """Whether an operation stores tiles and may run once for each slice."""
    ops = _with_nested(op)
    if any(each.operation.name in UNREPEATABLE for each in ops) or leaves(op):
        return False
    return any(each.operation.name in STORES and _stores_tile(each) for each in ops)


def _stores_tile(store: OpView) -> bool:
    return any(isinstance(v.type, TileType) and shape_of(v) for v in store.operation.operands)


def _with_nested(op: OpView) -> list[OpView]:
    return [op, *(each for block in blocks_of(op) for each in walk_block(block))]


def leaves(op: OpView) -> OpView | None:
    """The jump by which control may leave the block that `op` stands in, if there is one."""
    for block in blocks_of(op):
        for inner in walk_block(block):
            if inner.operation.name not in TERMINATORS or _target_is_within(inner, op):
                continue
            return inner
    return None


def _target_is_within(jump: OpView, op: OpView) -> bool:
    """Whether what a terminator ends or continues is `op` or inside it."""
    if jump.operation.name == "cuda_tile.yield":
        return True
    if jump.operation.name == "cuda_tile.return":
        return False
    loops = {"cuda_tile.loop"} if jump.operation.name == "cuda_tile.break" else LOOPS
    walk = parent_op(jump)
    while walk is not None:
        if walk.operation.name in loops:
            return True
        if walk == op:
            return False
        walk = parent_op(walk)
    return False
