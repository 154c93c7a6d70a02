"""What the producer computes: where its loads start, and the control flow around them."""

from __future__ import annotations

from tileir.compiler.ir_util import defining_block, defining_op, parent_of
from tileir.dialects import tile_gpu
from tileir.ir import Block, Operation, Value
from tileir.passes.specialize_warps.rings import Ring, encloses
from tileir.passes.specialize_warps.sources import Source
from tileir.passes.walk import walk

_PURE = ("arith.", "math.", "nvvm.read.ptx.sreg.")
_CONTROL = ("scf.for", "scf.if")


class ProducerSlice:
    """The values that the producer needs: where its loads start, and the control flow around
    them."""

    def __init__(self, kernel: Operation, rings: list[Ring], sources: list[Source]):
        self.kernel = kernel
        self.rings = rings
        self.sources = sources
        self.seen: set[Value] = set()
        self.possible = True

    def values(self) -> set[Value] | None:
        """All values needed; None if one of them cannot be computed by a single thread."""
        for ring in self.rings:
            for fetch in ring.fetches:
                for value in [*fetch.tensor.place, *fetch.tensor.description]:
                    self._need(value)
                if fetch.shared is not None:
                    self._need(fetch.shared)
            self._need_control(ring.block)
        for source in self.sources:
            for value in [*source.tensor.place, *source.tensor.description]:
                self._need(value)
        for op in self.kernel.regions[0].blocks[0]:
            if isinstance(op, tile_gpu.ExitIfOp):
                self._need(op.condition)
        return self.seen if self.possible else None

    def _need_control(self, block: Block) -> None:
        op = block.owner.operation
        while op.name != "gpu.func":
            if op.name not in _CONTROL:
                self.possible = False
                return
            controls = list(op.operands)[: 3 if op.name == "scf.for" else 1]
            for value in controls:
                self._need(value)
            op = parent_of(op)

    def _need(self, value: Value) -> None:
        if value in self.seen or not self.possible:
            return
        self.seen.add(value)
        op = defining_op(value)
        if op is None:
            self._need_argument(value)
        elif _is_pure(op.operation) or _is_choice(op.operation):
            for operand in _inputs(op.operation):
                self._need(operand)
        elif op.operation.name in _CONTROL:
            self._need_result(op.operation, list(op.operation.results).index(value))
        else:
            self.possible = False

    def _need_argument(self, value: Value) -> None:
        block = defining_block(value)
        loop = block.owner.operation
        index = list(block.arguments).index(value) - 1
        if loop.name == "scf.for" and index >= 0:
            self._need_result(loop, index)

    def _need_result(self, op: Operation, index: int) -> None:
        """A carried value takes its start and what each round yields."""
        self._need(op.results[index])
        if op.name == "scf.for":
            self._need(op.operands[3 + index])
            self._need(op.regions[0].blocks[0].arguments[1 + index])
        if not any(encloses(op, ring.block) for ring in self.rings):
            self.possible = False
            return
        for region in op.regions:
            end = list(region.blocks[0])[-1]
            self._need(end.operation.operands[index])


def shared_operations(kernel: Operation, needed: set[Value]) -> set[Operation]:
    """The operations at the top of the kernel that give needed values and depend on no loop, and
    those that end blocks without work."""
    body = kernel.regions[0].blocks[0]
    known: set[Value] = set(body.arguments)
    shared = set()
    for op in body:
        results = list(op.operation.results)
        is_needed = isinstance(op, tile_gpu.ExitIfOp) or any(r in needed for r in results)
        if not is_needed or (op.operation.name in _CONTROL and not _is_choice(op.operation)):
            continue
        if all(operand in known for operand in _inputs(op.operation)):
            known.update(results)
            shared.add(op.operation)
    return shared


def _is_pure(op: Operation) -> bool:
    return op.name.startswith(_PURE) and not op.regions


def _is_choice(op: Operation) -> bool:
    """Whether this is a branch at the top of the kernel that only computes scalars."""
    if op.name != "scf.if" or parent_of(op).name != "gpu.func":
        return False
    inner = [inside.operation for inside in walk(op)]
    return all(_is_pure(inside) or inside.name == "scf.yield" for inside in inner)


def _inputs(op: Operation) -> list[Value]:
    """The operands of an operation and of those inside it, as far as they come from outside."""
    inner = [inside.operation for inside in walk(op)]
    own = {result for inside in inner for result in inside.results}
    return [v for user in (op, *inner) for v in user.operands if v not in own]


def describable(rings: list[Ring], sources: list[Source], shared: set[Operation]) -> bool:
    """Whether the tensors are known before the kernel's loops: each is described once."""
    tensors = [fetch.tensor for ring in rings for fetch in ring.fetches]
    tensors += [source.tensor for source in sources]
    return all(_known_to_both(value, shared) for each in tensors for value in each.description)


def _known_to_both(value: Value, shared: set[Operation]) -> bool:
    op = defining_op(value)
    if op is None:
        return defining_block(value).owner.operation.name == "gpu.func"
    return op.operation in shared
