"""The region of a reduction or scan, built once for each application, on scalars."""

from __future__ import annotations

from tileir.ir import Block, OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering

#: Combiners whose operands may be exchanged: all lanes of a butterfly get the same bits.
_COMMUTATIVE = {
    "arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.maxnumf", "arith.minnumf",
    "arith.maximumf", "arith.minimumf", "arith.maxsi", "arith.minsi", "arith.maxui",
    "arith.minui", "arith.andi", "arith.ori", "arith.xori",
}  # fmt: skip

#: One value for each operand.
Values = list[Value]


class Combiner:
    """The region of a reduction or scan."""

    def __init__(self, ctx: Lowering, op: OpView):
        self.ctx = ctx
        self.body: Block = op.operation.regions[0].blocks[0]
        ops = list(self.body)
        self.commutative = len(ops) == 2 and ops[0].operation.name in _COMMUTATIVE

    def __call__(self, element: Values, accumulator: Values) -> Values:
        """The new accumulators: region arguments alternate element and accumulator."""
        arguments = [v for pair in zip(element, accumulator, strict=True) for v in pair]
        self.ctx.bind(self.body.arguments, arguments)
        *ops, end = list(self.body)
        for op in ops:
            self.ctx.lower(op)
        return [self.ctx.scalar(o) for o in end.operation.operands]

    def tree(self, elements: list[Values]) -> Values:
        """Combines neighbours pairwise: short chains, and an order that does not depend on how the
        elements are spread."""
        while len(elements) > 1:
            pairs = [self(elements[i + 1], elements[i]) for i in range(0, len(elements) - 1, 2)]
            elements = pairs + elements[len(elements) // 2 * 2 :]
        return elements[0]
