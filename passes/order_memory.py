"""order-memory: tokens become barriers.

In Tile IR, order between memory operations exists only through tokens. The threads of a block
run their parts of an operation at different times, so where a token orders two operations that
may touch the same memory, a barrier must stand between them. Everything else stays unordered.

A barrier is needed before operation B if an operation A that B's token depends on has run since
the last barrier, and one of them writes, A acquires, or B releases.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import defining_op, keyword
from tileir.dialects.cuda_tile import TokenType
from tileir.ir import Block, InsertionPoint, Operation, OpView, Value
from tileir.passes.base import ModulePass

_LOADS = {"load_ptr_tko", "load_view_tko"}
_STORES = {"store_ptr_tko", "store_view_tko"}
_ATOMICS = {"atomic_cas_tko", "atomic_rmw_tko", "atomic_red_view_tko"}
_FENCES = {"gdc_wait_tko", "gdc_launch_dependents_tko", "memory_fence_alias_tko"}
_MEMORY = {"cuda_tile." + name for name in _LOADS | _STORES | _ATOMICS | _FENCES}


@dataclass(frozen=True)
class OrderMemory(ModulePass):
    """Turn the token order of memory operations into barriers."""

    name = "order-memory"

    def apply(self, module: Operation) -> None:
        for kernel in _entries(module):
            _Kernel(kernel).run()


def _entries(module: Operation) -> list[Operation]:
    return [
        op.operation
        for top in module.regions[0].blocks[0]
        if top.operation.name == "cuda_tile.module"
        for op in top.operation.regions[0].blocks[0]
        if op.operation.name == "cuda_tile.entry"
    ]


def _short(op: OpView) -> str:
    return op.operation.name.removeprefix("cuda_tile.")


def _ordering(op: OpView) -> str:
    return keyword(op, "memory_ordering_semantics", "weak")


def _writes(op: OpView) -> bool:
    return _short(op) not in _LOADS


def _conflict(first: OpView, second: OpView) -> bool:
    """Whether threads must meet between two token-ordered operations."""
    acquires = _ordering(first) in ("acquire", "acq_rel") or _short(first) == "gdc_wait_tko"
    releases = _ordering(second) in ("release", "acq_rel")
    return _writes(first) or _writes(second) or acquires or releases


def _is_token(value: Value) -> bool:
    return isinstance(value.type, TokenType)


class _Kernel:
    def __init__(self, entry: Operation):
        self.entry = entry
        #: memory operations that a token is ordered after
        self.before: dict[Value, frozenset[OpView]] = {}

    def run(self) -> None:
        body = self.entry.regions[0].blocks[0]
        while self._propagate(body):
            pass
        self._insert(body, set())

    # ---- which operations a token stands for -------------------------------------------------

    def _propagate(self, block: Block) -> bool:
        """One round over the block; true if a set grew. Loops need several rounds."""
        changed = False
        for op in block:
            for region in op.operation.regions:
                for inner in region.blocks:
                    changed |= self._flow_into(op, inner)
                    changed |= self._propagate(inner)
            for result in op.operation.results:
                if _is_token(result):
                    changed |= self._grow(result, self._behind(op, result))
        return changed

    def _behind(self, op: OpView, result: Value) -> frozenset[OpView]:
        if op.operation.name in _MEMORY:
            return self._of_operands(op) | {op}
        if op.operation.regions:
            return self._leaving(op, result)
        return self._of_operands(op)

    def _of_operands(self, op: OpView) -> frozenset[OpView]:
        tokens = [self.of(o) for o in op.operation.operands if _is_token(o)]
        return frozenset().union(*tokens)

    def of(self, token: Value) -> frozenset[OpView]:
        return self.before.get(token, frozenset())

    def _grow(self, token: Value, more: frozenset[OpView]) -> bool:
        known = self.of(token)
        if more <= known:
            return False
        self.before[token] = known | more
        return True

    def _flow_into(self, op: OpView, block: Block) -> bool:
        """Carried tokens: from the initial values and from every `continue`."""
        changed = False
        sources = [_carried_operands(op)] + [
            list(t.operation.operands) for t in _terminators(block, "cuda_tile.continue")
        ]
        arguments = list(block.arguments)
        if op.operation.name == "cuda_tile.for":
            arguments = arguments[1:]
        elif op.operation.name != "cuda_tile.loop":
            return False
        for source in sources:
            for argument, value in zip(arguments, source, strict=True):
                if _is_token(argument):
                    changed |= self._grow(argument, self.of(value))
        return changed

    def _leaving(self, op: OpView, result: Value) -> frozenset[OpView]:
        """Tokens that leave an operation with regions, by its terminators."""
        index = list(op.operation.results).index(result)
        name = {"cuda_tile.loop": "break", "cuda_tile.for": "continue"}.get(
            op.operation.name, "yield"
        )
        leaving = [
            self.of(t.operation.operands[index])
            for region in op.operation.regions
            for block in region.blocks
            for t in _terminators(block, "cuda_tile." + name)
        ]
        if op.operation.name == "cuda_tile.for":  # no round at all
            leaving.append(self.of(_carried_operands(op)[index]))
        return frozenset().union(*leaving)

    # ---- where barriers go -------------------------------------------------------------------

    def _insert(self, block: Block, since: set[OpView]) -> set[OpView]:
        """Inserts barriers; `since` holds the operations that ran after the last one, at the
        start of the block, and the result those at its end."""
        for op in list(block):
            if op.operation.name in _MEMORY:
                ordered = self._of_operands(op) & since
                if any(_conflict(first, op) for first in ordered):
                    Operation.create("tile_gpu.barrier", ip=InsertionPoint(op), loc=op.location)
                    since = set()
                since.add(op)
            elif op.operation.name == "tile_gpu.barrier":
                since = set()
            elif op.operation.regions:
                since = self._insert_in_regions(op, since)
        return since

    def _insert_in_regions(self, op: OpView, since: set[OpView]) -> set[OpView]:
        blocks = [block for region in op.operation.regions for block in region.blocks]
        is_loop = op.operation.name in ("cuda_tile.for", "cuda_tile.loop")
        inside = set().union(*(_memory_operations(block) for block in blocks)) if is_loop else set()
        ends = [self._insert(block, since | inside) for block in blocks]
        return set().union(since, inside, *ends)


def _carried_operands(op: OpView) -> list[Value]:
    skip = 3 if op.operation.name == "cuda_tile.for" else 0
    return list(op.operation.operands)[skip:]


def _terminators(block: Block, name: str) -> list[OpView]:
    """Terminators called `name` that belong to the operation that holds `block`: `continue` and
    `break` may stand in nested branches."""
    found = []
    for op in block:
        if op.operation.name == name:
            found.append(op)
        elif op.operation.name == "cuda_tile.if" and name != "cuda_tile.yield":
            for region in op.operation.regions:
                for inner in region.blocks:
                    found += _terminators(inner, name)
    return found


def _memory_operations(block: Block) -> set[OpView]:
    found = set()
    for op in block:
        if op.operation.name in _MEMORY:
            found.add(op)
        for region in op.operation.regions:
            for inner in region.blocks:
                found |= _memory_operations(inner)
    return found
