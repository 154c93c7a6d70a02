"""pipeline-loads: copy the operands of later rounds while this round computes.

A loop that loads matrix operands and multiplies them,

    for i:  a = load(A, i);  b = load(B, i);  acc = dot(a, b, acc)

becomes a ring of buffers filled by asynchronous copies, `ahead` rounds ahead of their use:

    copy rounds 0 .. ahead-1 into stages 0 .. ahead-1, one group each
    for i:
        wait until round i has arrived (at most ahead-1 groups in flight);  barrier
        copy round i+ahead into the stage that an earlier round has left;  close the group
        acc = dot(stage of round i)

One barrier a round suffices: it publishes the copies of round i to all threads, and it stands
between the last read of a stage and the copy that overwrites it.

Where products stay in flight for a round more (`overlap-products`), the ring has one stage more,
since the stage of the round before is still being read.

A ring has as many stages as there is room for beside what else the kernel holds at the time: the
pass stands after layouts, when all of it is known (`analysis/shared_lives.py`). With a single one,
loads stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import has_flag, keyword
from tileir.compiler.tile_types import buffer_info
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, IntegerType, Operation, OpView, Value
from tileir.passes.analysis.operand_loads import OperandLoad, loads_of_rounds
from tileir.passes.analysis.shared_lives import SharedLives
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.overlap_products import SMALLEST_RING, wait_in_place
from tileir.passes.walk import kernels, ops_named, recompute


@dataclass(frozen=True)
class PipelineLoads(ModulePass):
    """Overlap the loads of a loop's matrix operands with its computation.

    `ahead` is the number of rounds that copies run ahead, fewer where shared memory is short.
    """

    name = "pipeline-loads"

    ahead: int = 2

    def apply(self, module: Operation) -> None:
        room = target_of(module).shared_bytes
        for kernel in kernels(module):
            for loop in reversed(ops_named(kernel, "scf.for")):  # inner loops first
                self._pipeline(kernel, loop, room)

    def _pipeline(self, kernel: Operation, loop: OpView, room: int) -> None:
        copies = [load for load in loads_of_rounds(loop) if load.rounding is None]
        if not copies:
            return
        lag = 2 if _stay_in_flight(loop, copies) else 1
        stages = _fitting_stages(kernel, loop, copies, self.ahead + lag, room)
        if lag == 2 and stages < SMALLEST_RING:
            wait_in_place(loop)
            lag = 1
        if stages > lag:
            _Ring(loop, copies, stages - lag, stages).build()


def _stay_in_flight(loop: OpView, copies: Sequence[OperandLoad]) -> bool:
    """Whether products still read a round's operands in the next one. (Loops inside wait for their
    products in the end.)"""
    body = loop.operation.regions[0].blocks[0]
    flying = (p for p in _products(copies) if has_flag(p, "in_flight"))
    return any(product.operation.block == body for product in flying)


def _fitting_stages(
    kernel: Operation, loop: OpView, copies: Sequence[OperandLoad], wanted: int, room: int
) -> int:
    """As many stages as there is room for beside all else that the kernel holds at the same time,
    at most `wanted`; one, which is no ring, if no more."""
    lives = SharedLives(kernel)
    operands = [copy.to_shared for copy in copies]
    rings = range(wanted, 1, -1)
    return next((n for n in rings if lives.with_rings(loop, operands, n) <= room), 1)


def _products(copies: Sequence[OperandLoad]) -> list[OpView]:
    """The products that read the buffers."""
    return [user for copy in copies for user in copy.users if isinstance(user, tile_gpu.DotOp)]


class _Ring:
    """Rewrites one loop."""

    def __init__(self, loop: OpView, copies: Sequence[OperandLoad], ahead: int, stages: int):
        self.loop, self.copies, self.ahead, self.stages = loop, copies, ahead, stages
        self.wgmma = any(keyword(p, "instruction", "") == "wgmma" for p in _products(copies))
        self.body: Block = loop.operation.regions[0].blocks[0]
        self.builder = Builder(InsertionPoint(loop), loop.location)
        self.lower, self.upper, self.step = list(loop.operation.operands)[:3]
        self.unsigned = has_flag(loop, "unsignedCmp")

    def build(self) -> None:
        results = self._build_loop()
        for old, new in zip(self.loop.operation.results, results, strict=True):
            old.replace_all_uses_with(new)
        self.loop.operation.erase()

    def _build_loop(self) -> Sequence[Value]:
        """The new loop; returns what the old one carried."""
        b = self.builder
        buffers = [self._alloc(copy) for copy in self.copies]
        b.create("tile_gpu.barrier")  # the stages may still be in use by what came before
        for round_ in range(self.ahead):
            self._copy_round(buffers, self.lower, round_, b.c32(round_))
        new, read_stage, write_stage = self._rebuild_loop()
        self._fill_body(buffers, new.regions[0].blocks[0], read_stage, write_stage)
        return list(new.results)[:-2]

    def _alloc(self, copy: OperandLoad) -> Value:
        """The ring of a load, at whose place in the program an error names it."""
        b = Builder(InsertionPoint(self.loop), copy.load.location)
        return b.alloc(replace(copy.buffer, stages=self.stages))

    def _stage(self, buffer: Value, index: Value) -> Value:
        one = replace(buffer_info(buffer.type), stages=1)
        return self.builder.op("tile_gpu.stage", [buffer, index], self.builder.type(str(one)))

    # ---- copies ------------------------------------------------------------------------------

    def _copy_round(
        self, buffers: Sequence[Value], counter: Value, ahead: int, stage: Value
    ) -> None:
        """Copies the operands of the round `ahead` of `counter`, if there is such a round."""
        b = self.builder
        exists = self._round_exists(counter, ahead)
        later = counter
        if ahead:
            distance = b.mul(self.step, b.constant(ahead, self.step.type))
            later = b.add(counter, distance)
        known: dict[Value, Value] = {self.body.arguments[0]: later}
        for copy, buffer in zip(self.copies, buffers, strict=True):
            self._copy(copy, self._stage(buffer, stage), known, exists)
        b.create("tile_gpu.async_commit")

    def _round_exists(self, counter: Value, ahead: int) -> Value:
        """counter + ahead * step < upper, in 64 bits so that nothing wraps."""
        b = self.builder
        wide = [self._widen(v) for v in (counter, self.step, self.upper)]
        position = b.add(wide[0], b.mul(wide[1], b.c64(ahead)))
        return b.compare("slt", position, wide[2])

    def _widen(self, value: Value) -> Value:
        if IntegerType(value.type).width == 64:
            return value
        name = "arith.extui" if self.unsigned else "arith.extsi"
        return self.builder.op(name, [value], self.builder.i64)

    def _copy(
        self, copy: OperandLoad, buffer: Value, known: dict[Value, Value], exists: Value
    ) -> None:
        b = self.builder
        load = copy.load
        operands = [recompute(b, o, known, self._in_body) for o in load.operation.operands]
        rank = len(copy.buffer.shape)
        attributes = {name: load.operation.attributes[name] for name in ("alignment", "in_bounds")}
        attributes["operandSegmentSizes"] = b.segments(1, rank, rank, rank, 1, 1)
        b.create("tile_gpu.async_load", [*operands, buffer, exists], attributes=attributes)

    def _in_body(self, op: OpView) -> bool:
        return op.operation.block == self.body

    # ---- the loop ----------------------------------------------------------------------------

    def _rebuild_loop(self) -> tuple[Operation, Value, Value]:
        """The same loop with two more carried values: the stages to read and to fill."""
        b = self.builder
        old = self.loop.operation
        initial = [*list(old.operands)[3:], b.c32(0), b.c32(self.ahead)]
        types = [value.type for value in initial]
        attributes = dict(old.attributes.items())
        new = b.create("scf.for", [*list(old.operands)[:3], *initial], types, attributes, regions=1)
        body = b.block(new.regions[0], [self.lower.type, *types])
        return new, body.arguments[len(types) - 1], body.arguments[len(types)]

    def _fill_body(
        self, buffers: Sequence[Value], body: Block, read_stage: Value, write_stage: Value
    ) -> None:
        b = self.builder
        with b.at(body):
            b.create("tile_gpu.async_wait", attributes={"pending": b.i64_attr(self.ahead - 1)})
            if self.wgmma:
                b.create("tile_gpu.fence_async")
            b.create("tile_gpu.barrier")
            self._copy_round(buffers, body.arguments[0], self.ahead, write_stage)
            for copy, buffer in zip(self.copies, buffers, strict=True):
                stage = self._stage(buffer, read_stage)
                copy.result.replace_all_uses_with(stage)
        for copy in self.copies:
            copy.erase()
        for old, new in zip(self.body.arguments, body.arguments, strict=False):
            old.replace_all_uses_with(new)
        for op in list(self.body):
            body.append(op)
        terminator = list(body)[-1]
        carried = list(terminator.operation.operands)
        terminator.operation.erase()
        with b.at(body):
            b.create("scf.yield", [*carried, self._advance(read_stage), self._advance(write_stage)])

    def _advance(self, stage: Value) -> Value:
        """The next stage of the ring."""
        b = self.builder
        following = b.add(stage, b.c32(1))
        wraps = b.compare("eq", following, b.c32(self.stages))
        return b.op("arith.select", [wraps, b.c32(0), following], b.i32)
