"""order-memory: tokens become barriers.

In Tile IR, order between memory operations exists only through tokens. The threads of a block
run their parts of an operation at different times, so where a token orders two operations that
may touch the same memory, a barrier must stand between them. Everything else stays unordered.

A barrier is needed before operation B if an operation A that B's token depends on has run since
the last barrier, and one of them writes, A acquires, or B releases.

Loads that are ordered after a write (or an acquire) are marked, and kernels in which that was done:
there all other loads may be done ahead of time, barriers or not.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.ir_util import keyword
from tileir.ir import Block, InsertionPoint, Operation, OpView, UnitAttr
from tileir.passes.analysis.token_order import LOADS, MEMORY, TokenOrder
from tileir.passes.base import ModulePass
from tileir.passes.walk import entries

#: On a kernel: only loads that say so have to wait for a write.
FREE_LOADS_ATTRIBUTE = "tile_gpu.free_loads"
#: On a load until it is one of `tile_gpu`: it may see what an operation before it wrote.
ORDERED_ATTRIBUTE = "tile_gpu.ordered"


@dataclass(frozen=True)
class OrderMemory(ModulePass):
    """Turn the token order of memory operations into barriers."""

    name = "order-memory"

    def apply(self, module: Operation) -> None:
        for entry in entries(module):
            body = entry.regions[0].blocks[0]
            order, unit = TokenOrder(body), UnitAttr.get(module.context)
            waiting = [op for op in _memory_operations(body) if _must_wait(op, order)]
            _Kernel(order).insert(body, set())
            # Last, since attributes change the hashes of operations.
            for op in waiting:
                op.operation.attributes[ORDERED_ATTRIBUTE] = unit
            entry.attributes[FREE_LOADS_ATTRIBUTE] = unit


def _must_wait(op: OpView, order: TokenOrder) -> bool:
    """Whether a load may see what an operation before it wrote."""
    if _writes(op):
        return False
    return any(_conflict(first, op) for first in order.of_operands(op))


def _ordering(op: OpView) -> str:
    return keyword(op, "memory_ordering_semantics", "weak")


def _writes(op: OpView) -> bool:
    return op.operation.name not in LOADS


def _conflict(first: OpView, second: OpView) -> bool:
    """Whether threads must meet between two token-ordered operations."""
    waits = first.operation.name == "cuda_tile.gdc_wait_tko"
    acquires = waits or _ordering(first) in ("acquire", "acq_rel")
    releases = _ordering(second) in ("release", "acq_rel")
    return _writes(first) or _writes(second) or acquires or releases


class _Kernel:
    def __init__(self, order: TokenOrder):
        self.order = order

    def insert(self, block: Block, since: set[OpView]) -> set[OpView]:
        """Inserts barriers; `since` holds the operations that ran after the last one, at the
        start of the block, and the result those at its end."""
        for op in list(block):
            if op.operation.name in MEMORY:
                ordered = self.order.of_operands(op) & since
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
        ends = [self.insert(block, since | inside) for block in blocks]
        return set().union(since, inside, *ends)


def _memory_operations(block: Block) -> set[OpView]:
    found = set()
    for op in block:
        if op.operation.name in MEMORY:
            found.add(op)
        for region in op.operation.regions:
            for inner in region.blocks:
                found |= _memory_operations(inner)
    return found
