"""overlap-products: a round's products go on while the next round starts.

`wgmma` goes on after it was issued. In a loop whose products only add to accumulators that the
loop carries,

    for i:                                     if there is a round:
        acc = dot(a_i, b_i, acc)                   for i:
                                       =>              acc = dot(a_i, b_i, acc) in flight
                                                       wait for all but the last round's
                                                   wait for all

so that the tensor cores always have the next product at hand. Round i+1 then still reads the
operands of round i, which the ring of buffers has to allow for. Without the branch, ptxas would
see accumulators that were in flight meet others that were not, and make every product wait (C7515).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import ancestors, has_flag, keyword, parent_of
from tileir.compiler.tile_types import is_buffer_type
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.operand_loads import OperandLoad, loads_of_rounds
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_named, ops_of, replace_op

#: The round that arrives, the one that is computed and the one before it.
SMALLEST_RING = 3
#: Shared memory that rings may not take, as far as can be said before layouts are known.
_RESERVED_BYTES = 16 * 1024


@dataclass(frozen=True)
class OverlapProducts(ModulePass):
    """Keep the products of a loop in flight into its next round."""

    name = "overlap-products"

    def apply(self, module: Operation) -> None:
        capacity = target_of(module).shared_bytes - _RESERVED_BYTES
        for kernel in kernels(module):
            for loop in ops_named(kernel, "scf.for"):
                products = _overlapping(loop, capacity)
                if products:
                    _Rewrite(loop, products).run()


def _overlapping(loop: OpView, capacity: int) -> list[tile_gpu.DotOp]:
    """All products of the loop, if they can stay in flight; else none."""
    products = ops_of(loop, tile_gpu.DotOp)
    loads = [load for load in loads_of_rounds(loop) if _arrives_as_it_is(load)]
    copied = {load.result for load in loads}
    if capacity < SMALLEST_RING * sum(load.buffer.stage_bytes for load in loads):
        return []
    stay = all(_only_accumulates(p, loop) and _reads(p, copied, loop) for p in products)
    return products if stay else []


def _arrives_as_it_is(load: OperandLoad) -> bool:
    """Whether asynchronous copies alone bring an operand; rounded ones come by tensor accesses."""
    return load.rounding is None or load.suits_tensor_access


def _only_accumulates(product: tile_gpu.DotOp, loop: OpView) -> bool:
    """Whether a product adds to an accumulator that the loop carries, and nothing else looks."""
    body = loop.operation.regions[0].blocks[0]
    if keyword(product, "instruction", "") != "wgmma" or product.operation.block != body:
        return False
    if has_flag(product, "promoted"):
        return False
    carried, uses = list(body.arguments)[1:], list(product.result.uses)
    acc = product.acc
    if acc not in carried or len(list(acc.uses)) != 1 or len(uses) != 1:
        return False
    terminator = uses[0].owner.operation
    return terminator.name == "scf.yield" and uses[0].operand_number == carried.index(acc)


def _reads(product: tile_gpu.DotOp, copied: set[Value], loop: OpView) -> bool:
    """Whether the operands are copies, or buffers that outlive the loop."""
    return all(
        is_buffer_type(operand.type) and (operand in copied or not _inside(operand, loop))
        for operand in (product.lhs, product.rhs)
    )


def _inside(value: Value, loop: OpView) -> bool:
    owner = value.owner
    around = owner.owner if isinstance(owner, Block) else parent_of(owner)
    return loop.operation in (around.operation, *ancestors(around))


def wait_in_place(around: Operation | OpView) -> None:
    """Undoes the pass in a kernel, or in one of its loops, except for the branches around loops and
    the waits behind them: no product stays in flight."""
    for product in ops_of(around, tile_gpu.DotOp):
        if has_flag(product, "in_flight"):
            del product.operation.attributes["in_flight"]
    for wait in ops_of(around, tile_gpu.DotWaitOp):
        replace_op(wait, *wait.operation.operands)


class _Rewrite:
    """Rewrites one loop."""

    def __init__(self, loop: OpView, products: Sequence[tile_gpu.DotOp]):
        self.loop, self.products = loop.operation, products
        self.body: Block = self.loop.regions[0].blocks[0]
        self.builder = Builder(InsertionPoint(loop), loop.location)

    def run(self) -> None:
        b = self.builder
        initial = list(self.loop.operands)[3:]
        types = [value.type for value in initial]
        for product in self.products:
            product.operation.attributes["in_flight"] = b.attribute("unit")
        guard = b.create("scf.if", [self._has_rounds()], types, regions=2)
        for old, new in zip(self.loop.results, guard.results, strict=True):
            old.replace_all_uses_with(new)
        then = b.block(guard.regions[0])
        then.append(self.loop)
        with b.at(then):
            b.create("scf.yield", self._after_wait(list(self.loop.results)))
        with b.at(b.block(guard.regions[1])):
            b.create("scf.yield", self._after_wait(initial))
        b.point = InsertionPoint.at_block_terminator(self.body)
        b.create("tile_gpu.dot_wait", attributes={"pending": b.i64_attr(len(self.products))})

    def _has_rounds(self) -> Value:
        lower, upper = list(self.loop.operands)[:2]
        return self.builder.compare(
            "ult" if has_flag(self.loop.opview, "unsignedCmp") else "slt", lower, upper
        )

    def _after_wait(self, values: list[Value]) -> list[Value]:
        """What the loop carries, its accumulators as they are after a wait for all products. Where
        there was no round, the wait keeps LLVM from computing with the initial values in advance,
        which would again make the two cases meet too early."""
        b = self.builder
        carried = list(self.body.arguments)[1:]
        results = list(values)
        flying = [carried.index(product.acc) for product in self.products]
        operands = [results[i] for i in flying]
        wait = b.create(
            "tile_gpu.dot_wait", operands, [o.type for o in operands], {"pending": b.i64_attr(0)}
        )
        for i, value in zip(flying, wait.results, strict=True):
            results[i] = value
        return results
