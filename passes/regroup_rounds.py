"""regroup-rounds: a round of a loop over k fetches a cache line of it.

    for k = 0 to n:                       for r = 0 to ceil(n / 2):
      a = load [i, 32 k]         =>         a = load [i, 64 r - 32 (n mod 2)]
      acc = dot a, b, acc                   acc = dot a, b, acc

Tensor memory accesses fetch rows of a cache line (128 bytes) at full rate and shorter ones more
slowly, and a thread cannot fetch as many shallow tiles as it takes. Of deeper ones, fewer fit.

Rounds that take several of the program's begin with those that are missing to make them whole.
Their elements, before the first of the tensors, are zeros; sums start at zero and go on in the
program's order, so that results are the same to the bit. This is for loops whose operands a
producer is going to fetch: ordinary loads do not ask whether an index is negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import (
    EXTENSIONS,
    block_of,
    bool_list,
    defining_op,
    has_flag,
    is_zero,
    splat_integer,
)
from tileir.compiler.locations import plain_location
from tileir.compiler.tile_types import LINE_BYTES, operand_buffer, tile_of, tile_type
from tileir.dialects import tile_gpu
from tileir.dialects.diagnostics import emit_explanation
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.operand_loads import OperandLoad, loads_of_rounds
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.rings import fetched_loads
from tileir.passes.walk import kernels, ops_named

#: Stages of rounds that must fit: as many as products in flight need.
_STAGES = 3


@dataclass(frozen=True)
class RegroupRounds(ModulePass):
    """Let a round of a loop over k fetch a cache line of it."""

    name = "regroup-rounds"

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        for kernel in kernels(module):
            loops = map(_Rounds.of, ops_named(kernel, "scf.for"))
            rounds = [found for found in loops if found is not None]
            plan = Plan.of(kernel, target, _STAGES) if len(rounds) == 1 else None
            if plan is not None and rounds[0].suit(plan):
                rounds[0].regroup()


@dataclass(frozen=True)
class _Rounds:
    """A loop that does nothing but add up products of tiles along k, from the first on."""

    loop: Operation
    product: tile_gpu.DotOp
    #: Left and right operand.
    loads: tuple[OperandLoad, OperandLoad]
    #: Elements of k in a round, before and after.
    depth: int
    new_depth: int

    @staticmethod
    def of(op: OpView) -> _Rounds | None:
        """The rounds of a loop that can be regrouped, and fetch more or less than a line."""
        loop = op.operation
        body = loop.regions[0].blocks[0]
        products = [inner for inner in body if isinstance(inner, tile_gpu.DotOp)]
        found = {load.result: load for load in loads_of_rounds(op) if load.rounding is None}
        if len(products) != 1 or len(loop.results) != 1 or not _counts_from_zero(loop):
            return None
        (product,) = products
        lhs, rhs = found.get(product.lhs), found.get(product.rhs)
        if lhs is None or rhs is None or len(found) != 2 or not _only_adds_up(product, loop):
            return None
        if len(lhs.buffer.shape) != 2:
            return None
        depth = lhs.buffer.shape[1]
        new_depth = LINE_BYTES // lhs.buffer.element_bytes
        uneven = max(depth, new_depth) % min(depth, new_depth)
        if depth == new_depth or uneven or (depth < new_depth and not is_zero(loop.operands[3])):
            return None
        rounds = _Rounds(loop, product, (lhs, rhs), depth, new_depth)
        return rounds if all(map(rounds._goes_along, (0, 1))) else None

    def _goes_along(self, side: int) -> bool:
        """Whether an operand's place along k is the round's number times the depth, and all else
        about its load the same for all rounds."""
        load, body = self.loads[side].load, self.loop.regions[0].blocks[0]
        others = list(load.operation.operands)
        op = defining_op(others.pop(_start_operand(1 - side)))
        if op is None or op.operation.name != "arith.muli":
            return False
        factors = [_unextended(factor) for factor in op.operation.operands]
        sizes = [splat_integer(defining_op(factor)) for factor in factors]
        counts = body.arguments[0] in factors and self.depth in sizes
        return counts and all(block_of(operand) != body for operand in others)

    def suit(self, plan: Plan) -> bool:
        """Whether the producer is going to fetch both operands, and enough new rounds fit."""
        fetched = fetched_loads(plan.rings)
        now = sum(load.buffer.stage_bytes for load in self.loads)
        room = plan.has_room_for(_STAGES, now * self.new_depth // self.depth)
        return room and all(load.load.operation in fetched for load in self.loads)

    def regroup(self) -> None:
        """Puts the new loop in the place of this one."""
        b = Builder(InsertionPoint(self.loop), self.loop.location)
        first, last, step, zero = list(self.loop.operands)
        count, missing = self._count(b, last)
        new = b.create("scf.for", [first, count, step, zero], [zero.type], regions=1)
        body = b.block(new.regions[0], [first.type, zero.type])
        with b.at(body):
            start = self._start(b, body.arguments[0], missing)
            operands = [self._fetch(b, side, start) for side in (0, 1)]
            product = self.product.operation.clone(ip=b.point)
            for index, value in enumerate([*operands, body.arguments[1]]):
                product.operands[index] = value
            b.create("scf.yield", list(product.results))
        emit_explanation(
            plain_location(self.product.location),
            f"a round fetches {self.new_depth} elements of k, a cache line, not {self.depth}",
        )
        self.loop.results[0].replace_all_uses_with(new.results[0])
        self.loop.erase()

    def _count(self, b: Builder, count: Value) -> tuple[Value, Value | None]:
        """How many new rounds there are, and how many of the program's are missing to make the
        first one whole, if they take several."""
        type_ = count.type
        if self.new_depth < self.depth:
            return b.mul(count, b.constant(self.depth // self.new_depth, type_)), None
        factor = b.constant(self.new_depth // self.depth, type_)
        some = b.op("arith.maxsi", [count, b.constant(0, type_)], type_)
        rounds = b.op("arith.ceildivui", [some, factor], type_)
        return rounds, b.sub(b.mul(rounds, factor), some)

    def _start(self, b: Builder, counter: Value, missing: Value | None) -> Value:
        """The round's first element along k (i64)."""
        start = b.mul(b.zext_or_trunc(counter, b.i64), b.c64(self.new_depth))
        if missing is None:
            return start
        return b.sub(start, b.mul(b.zext_or_trunc(missing, b.i64), b.c64(self.depth)))

    def _fetch(self, b: Builder, side: int, start: Value) -> Value:
        """The load of an operand, and the buffer it becomes."""
        old, along = self.loads[side], 1 - side
        load = old.load.operation.clone(ip=b.point)
        load.operands[_start_operand(along)] = start
        shape = list(old.buffer.shape)
        shape[along] = self.new_depth
        tile = replace(tile_of(old.load.result), shape=tuple(shape))
        load.results[0].set_type(tile_type(b, tile))
        inside = bool_list(old.load, "in_bounds")
        inside[along] = False
        load.attributes["in_bounds"] = b.flags_attr(inside)
        buffer = operand_buffer(shape, old.buffer.element, old.buffer.order)
        return b.op("tile_gpu.to_shared", [load.results[0]], b.type(str(buffer)))


def _counts_from_zero(loop: Operation) -> bool:
    first, step = (splat_integer(defining_op(loop.operands[i])) for i in (0, 2))
    return (first, step) == (0, 1) and "unsignedCmp" not in loop.attributes


def _only_adds_up(product: tile_gpu.DotOp, loop: Operation) -> bool:
    """Whether a product by warpgroups is added to the loop's sum, which is all that the loop does
    besides scalars and loads."""
    body = loop.regions[0].blocks[0]
    *work, end = list(body)
    allowed = (tile_gpu.LoadOp, tile_gpu.ToSharedOp, tile_gpu.DotOp)
    simple = all(isinstance(op, allowed) or op.operation.name.startswith("arith.") for op in work)
    summed = product.acc == body.arguments[1] and list(end.operation.operands) == [product.result]
    plain = not has_flag(product, "promoted") and "instruction" in product.operation.attributes
    return simple and summed and plain


def _start_operand(dim: int) -> int:
    """The operand of a load that says where its tile starts along `dim`: the first is the base."""
    return 1 + dim


def _unextended(value: Value) -> Value:
    op = defining_op(value)
    if op is not None and op.operation.name in EXTENSIONS:
        return op.operation.operands[0]
    return value
