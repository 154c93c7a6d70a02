"""What a tile comes from, and whether it can be had permuted for nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.compiler.ir_util import defining_op, splat_integer
from tileir.compiler.tile_types import is_tile_type
from tileir.dialects import tile_gpu
from tileir.ir import Block, DenseElementsAttr, Operation, OpView, Value
from tileir.passes.analysis.regrouping import ELEMENTWISE
from tileir.passes.fold_permutes.permutations import (
    TRANSPOSED,
    Permutation,
    before_reshape,
    composed,
    is_identity,
)


@dataclass
class Origins:
    """Goes from a tile to the operations that it is computed from, as far as nothing else needs
    what they give. `products` are those found, unless they `may_be_products` not; `loads` those of
    whole tiles besides the products' operands."""

    may_be_products: bool = True
    products: list[tile_gpu.DotOp] = field(default_factory=list)
    loads: list[tile_gpu.LoadOp] = field(default_factory=list)
    #: What loops carry, and whose permuted form they would carry instead.
    _carried: set[Value] = field(default_factory=set)
    #: What was found out: a value that is used twice is met twice.
    _known: dict[tuple[Value, Permutation], bool] = field(default_factory=dict)

    def are_free(self, value: Value, permutation: Permutation) -> bool:
        """Whether the tile can be had permuted for nothing, instead of as it is or because it was
        permuted to start with."""
        if is_identity(permutation) or not is_tile_type(value.type):
            return True
        op = defining_op(value)
        if isinstance(op, tile_gpu.PermuteOp):
            return self.are_free(op.source, composed(op, permutation))
        if op is not None and is_splat(op):
            return True
        if len({use.owner.operation for use in value.uses}) != 1:
            return False
        if op is None:
            return self._is_expected(value)
        key = value, permutation
        if key not in self._known:
            self._known[key] = self._is_free(op, value, permutation)
        return self._known[key]

    def _is_free(self, op: OpView, value: Value, permutation: Permutation) -> bool:
        if isinstance(op, tile_gpu.LoadOp):
            self.loads.append(op)
            return _runs_one_way(op)
        if isinstance(op, tile_gpu.BroadcastOp):
            return True
        if isinstance(op, tile_gpu.ReshapeOp):
            before = before_reshape(op, permutation)
            return before is not None and self.are_free(op.source, before)
        if isinstance(op, tile_gpu.DotOp):
            return permutation == TRANSPOSED and self._is_free_product(op)
        if op.operation.name == "scf.for":
            return self._is_free_loop(op, value, permutation)
        operands = op.operation.operands
        return is_elementwise(op) and all(self.are_free(each, permutation) for each in operands)

    def _is_free_product(self, op: tile_gpu.DotOp) -> bool:
        """Whether a product can be that of the transposed operands, which come from memory."""
        self.products.append(op)
        operands = (op.lhs, op.rhs)
        return (
            self.may_be_products
            and self.are_free(op.acc, TRANSPOSED)
            and all(Origins(may_be_products=False).are_free(each, TRANSPOSED) for each in operands)
        )

    def _is_free_loop(self, op: OpView, result: Value, permutation: Permutation) -> bool:
        """Whether a loop can carry the permuted tile."""
        first, argument, last = carried_by(op, result)
        self._carried.add(argument)
        if not (self.are_free(first, permutation) and self.are_free(last, permutation)):
            return False
        # Whatever uses it leads to what the loop yields, or else it was not met on the way.
        return argument not in self._carried

    def _is_expected(self, argument: Value) -> bool:
        """Whether a block's argument is a tile carried by a loop on the way."""
        expected = argument in self._carried
        self._carried.discard(argument)
        return expected


def carried_by(loop: OpView | Operation, result: Value) -> tuple[Value, Value, Value]:
    """Of a tile that a loop carries and gives as `result`: its value before the loop, at the start
    of a round, and at the end of one."""
    body: Block = loop.operation.regions[0].blocks[0]
    index = list(loop.operation.results).index(result)
    yielded = list(body)[-1].operation.operands
    return loop.operation.operands[index + 3], body.arguments[index + 1], yielded[index]


def is_splat(op: OpView) -> bool:
    if op.operation.name == "arith.constant":
        return DenseElementsAttr(op.operation.attributes["value"]).is_splat
    return isinstance(op, tile_gpu.SplatOp)


def is_elementwise(op: OpView) -> bool:
    """Whether an operation sees each element of tiles alone, and gives one tile."""
    return (
        op.operation.name.startswith(ELEMENTWISE)
        and op.operation.name != "arith.constant"
        and len(op.operation.results) == 1
    )


def _runs_one_way(load: tile_gpu.LoadOp) -> bool:
    """Whether neighbours are adjacent in memory along one dimension at most. Of several, the last
    is what a load's alignment is about."""
    return [splat_integer(defining_op(stride)) for stride in load.strides].count(1) <= 1
