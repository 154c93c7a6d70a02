"""The loop over tiles that `persist-blocks` makes, around the loop over k that reads the ring."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_block, defining_op, parent_of
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
        tiles = loop_around(rounds)
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
        op = self.rounds
        while op.block != self.body:
            op = parent_of(op)
        return op

    def count_rounds(self, b: Builder) -> Value:
        """Rounds of the ring that a tile takes (i32)."""
        lower, upper, step = list(self.rounds.operands)[:3]
        distance = b.sub(upper, lower)
        up = b.sub(b.add(distance, step), b.constant(1, step.type))
        rounds = b.op("arith.divsi", [up, step], step.type)
        none = b.compare("sle", upper, lower)
        zero = b.constant(0, step.type)
        return b.resized(b.op("arith.select", [none, zero, rounds], step.type), b.i32)

    def defines(self, value: Value) -> bool:
        """Whether `value` is computed inside the loop over tiles."""
        op = defining_op(value) or defining_block(value).owner
        around = op.operation
        while around.name != "gpu.func":
            if around == self.tiles:
                return True
            around = parent_of(around)
        return False


def loop_around(op: Operation) -> Operation | None:
    """The loop around `op`, with nothing but branches between; None if there is none."""
    parent = parent_of(op)
    while parent.name == "scf.if":
        parent = parent_of(parent)
    return parent if parent.name == "scf.for" else None
