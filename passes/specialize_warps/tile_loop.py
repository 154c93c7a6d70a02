"""The loop over tiles that `persist-blocks` makes, around the loop over k that reads the ring."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import (
    ancestor_in,
    ancestors,
    defining_block,
    defining_op,
    parent_of,
    with_branches,
)
from tileir.ir import Block, Operation, Value
from tileir.passes.specialize_warps.plan import Plan


@dataclass(frozen=True)
class TileLoop:
    """`tiles` has no results and stands at the top of the kernel; `rounds` is inside it, perhaps in
    a branch, and takes the same number of rounds for every tile."""

    tiles: Operation
    rounds: Operation

    @staticmethod
    def of(kernel: Operation, plan: Plan) -> TileLoop | None:
        """The loops of a kernel with one ring; None if they are not like this."""
        if len(plan.rings) != 1:
            return None
        rounds = plan.rings[0].block.owner.operation
        tiles = _loop_around(rounds)
        if tiles is None or len(tiles.results) or tiles.block != kernel.regions[0].blocks[0]:
            return None
        loop = TileLoop(tiles, rounds)
        bounds = list(rounds.operands)[:3]
        return None if any(loop.defines(value) for value in bounds) else loop

    @property
    def body(self) -> Block:
        return self.tiles.regions[0].blocks[0]

    @property
    def guard(self) -> Operation:
        """The operation of the body that is `rounds` or holds it."""
        return ancestor_in(self.rounds, self.body)

    def defines(self, value: Value) -> bool:
        """Whether `value` is computed inside the loop over tiles."""
        op = defining_op(value) or defining_block(value).owner
        return self.tiles in (op.operation, *ancestors(op))


def _loop_around(op: Operation) -> Operation | None:
    parent = parent_of(with_branches(op))
    return parent if parent.name == "scf.for" else None
