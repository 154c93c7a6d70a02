"""pipeline-loads: copy the operands of later rounds while this round computes.

A loop that loads matrix operands and multiplies them,

    for i:  a = load(A, i);  b = load(B, i);  acc = dot(a, b, acc)

becomes a ring of `stages` buffers filled by asynchronous copies:

    copy round 0 .. stages-2 into stages 0 .. stages-2, one group each
    for i:
        wait until round i has arrived (at most stages-2 groups in flight);  barrier
        copy round i+stages-1 into the stage that round i-1 has left;  close the group
        acc = dot(stage of round i)

One barrier a round suffices: it publishes the copies of round i to all threads, and it stands
between the last read of a stage (round i-1) and the copy that overwrites it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, has_flag, int_attr, keyword
from tileir.compiler.tile_types import BufferInfo, buffer_info
from tileir.ir import Block, InsertionPoint, IntegerType, Operation, OpView, Value
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.stage_operands import contiguous_dim
from tileir.passes.walk import kernels, walk

#: cp.async copies 4, 8 or 16 bytes.
_SMALLEST_COPY = 4
#: Shared memory left for what comes after the loop.
_RESERVED_BYTES = 16 * 1024


@dataclass(frozen=True)
class PipelineLoads(ModulePass):
    """Overlap the loads of a loop's matrix operands with its computation.

    `stages` is the number of buffers for each operand, fewer where shared memory is short.
    """

    name = "pipeline-loads"

    stages: int = 3

    def apply(self, module: Operation) -> None:
        capacity = target_of(module).shared_bytes - _RESERVED_BYTES
        for kernel in kernels(module):
            loops = [op for op in walk(kernel) if op.operation.name == "scf.for"]
            for loop in reversed(loops):  # inner loops first
                self._pipeline(loop, capacity)

    def _pipeline(self, loop: OpView, capacity: int) -> None:
        copies = _copies(loop)
        if not copies:
            return
        per_stage = sum(copy.buffer.stage_bytes for copy in copies)
        stages = min(self.stages, capacity // per_stage)
        if stages >= 2:
            _Ring(loop, copies, stages).build()


@dataclass(frozen=True)
class _Copy:
    """A load in the loop whose only use is to become a buffer."""

    load: OpView
    to_shared: OpView
    buffer: BufferInfo


def _copies(loop: OpView) -> list[_Copy]:
    body = loop.operation.regions[0].blocks[0]
    copies = []
    for op in body:
        if op.operation.name != "tile_gpu.to_shared":
            continue
        load = defining_op(op.operation.operands[0])
        if load is None or load.operation.parent != loop.operation or not _can_be_copied(load):
            continue
        if not all(_depends_on_counter_only(o, body) for o in load.operation.operands):
            continue
        copies.append(_Copy(load, op, buffer_info(op.operation.results[0].type)))
    return copies


def _can_be_copied(load: OpView) -> bool:
    if load.operation.name != "tile_gpu.load" or keyword(load, "ordering", "weak") != "weak":
        return False
    contiguous = contiguous_dim(load)
    return (
        contiguous is not None
        and int_attr(load, "alignment") >= _SMALLEST_COPY
        and keyword(load, "padding", "zero") == "zero"
        and len(list(load.operation.results[0].uses)) == 1
    )


def _depends_on_counter_only(value: Value, body: Block) -> bool:
    """Whether `value` can be computed for any round from the loop's counter: through pure
    operations on scalars."""
    op = defining_op(value)
    if op is None:
        return value.owner != body or value == body.arguments[0]
    if op.operation.block != body:
        return True
    pure = op.operation.name.startswith(("arith.", "llvm.getelementptr", "llvm.ptrtoint"))
    return pure and all(_depends_on_counter_only(o, body) for o in op.operation.operands)


class _Ring:
    """Rewrites one loop."""

    def __init__(self, loop: OpView, copies: Sequence[_Copy], stages: int):
        self.loop, self.copies, self.stages = loop, copies, stages
        self.body: Block = loop.operation.regions[0].blocks[0]
        self.builder = Builder(InsertionPoint(loop), loop.location)
        self.lower, self.upper, self.step = list(loop.operation.operands)[:3]
        self.unsigned = has_flag(loop, "unsignedCmp")

    def build(self) -> None:
        b = self.builder
        buffers = [self._alloc(copy) for copy in self.copies]
        b.create("tile_gpu.barrier")  # the stages may still be in use by what came before
        for round_ in range(self.stages - 1):
            self._copy_round(buffers, self.lower, round_, b.c32(round_))
        new_body, read_stage, write_stage = self._rebuild_loop()
        self._fill_body(buffers, new_body, read_stage, write_stage)
        self.loop.operation.erase()

    def _alloc(self, copy: _Copy) -> Value:
        ring = replace(copy.buffer, stages=self.stages)
        return self.builder.create(
            "tile_gpu.alloc", results=[self.builder.type(str(ring))]
        ).results[0]

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
        self, copy: _Copy, buffer: Value, known: dict[Value, Value], exists: Value
    ) -> None:
        b = self.builder
        load = copy.load
        operands = [self._recompute(o, known) for o in load.operation.operands]
        rank = len(copy.buffer.shape)
        attributes = {
            name: load.operation.attributes[name] for name in ("alignment", "in_bounds")
        }
        attributes["operandSegmentSizes"] = b.attribute(
            f"array<i32: 1, {rank}, {rank}, {rank}, 1, 1>"
        )
        b.create("tile_gpu.async_load", [*operands, buffer, exists], attributes=attributes)

    def _recompute(self, value: Value, known: dict[Value, Value]) -> Value:
        """`value`, computed again where it depends on the counter."""
        if value in known:
            return known[value]
        op = defining_op(value)
        if op is None or op.operation.block != self.body:
            return value
        operands = [self._recompute(o, known) for o in op.operation.operands]
        clone = op.operation.clone(ip=self.builder.point)
        for i, operand in enumerate(operands):
            clone.operands[i] = operand
        known[value] = clone.results[0]
        return clone.results[0]

    # ---- the loop ----------------------------------------------------------------------------

    def _rebuild_loop(self) -> tuple[Block, Value, Value]:
        """The same loop with two more carried values: the stages to read and to fill."""
        b = self.builder
        old = self.loop.operation
        initial = [*list(old.operands)[3:], b.c32(0), b.c32(self.stages - 1)]
        types = [value.type for value in initial]
        attributes = dict(old.attributes.items())
        new = b.create("scf.for", [*list(old.operands)[:3], *initial], types, attributes, regions=1)
        body = b.block(new.regions[0], [self.lower.type, *types])
        for result, replacement in zip(old.results, new.results, strict=False):
            result.replace_all_uses_with(replacement)
        return body, body.arguments[len(types) - 1], body.arguments[len(types)]

    def _fill_body(
        self, buffers: Sequence[Value], body: Block, read_stage: Value, write_stage: Value
    ) -> None:
        b = self.builder
        with b.at(body):
            b.create("tile_gpu.async_wait", attributes={"pending": b.i64_attr(self.stages - 2)})
            b.create("tile_gpu.barrier")
            counter = body.arguments[0]
            self._copy_round(buffers, counter, self.stages - 1, write_stage)
            for copy, buffer in zip(self.copies, buffers, strict=True):
                stage = self._stage(buffer, read_stage)
                copy.to_shared.operation.results[0].replace_all_uses_with(stage)
        for copy in self.copies:
            copy.to_shared.operation.erase()
            copy.load.operation.erase()
        for old, new in zip(self.body.arguments, body.arguments, strict=False):
            old.replace_all_uses_with(new)
        for op in list(self.body):
            body.append(op)
        terminator = list(body)[-1]
        b.point = InsertionPoint(terminator)
        carried = [*terminator.operation.operands]
        carried += [self._advance(read_stage), self._advance(write_stage)]
        b.create("scf.yield", carried)
        terminator.operation.erase()

    def _advance(self, stage: Value) -> Value:
        """The next stage of the ring."""
        b = self.builder
        following = b.add(stage, b.c32(1))
        wraps = b.compare("eq", following, b.c32(self.stages))
        return b.op("arith.select", [wraps, b.c32(0), following], b.i32)

