"""insert-barriers: conflicting accesses to shared memory meet at a barrier.

Walks each kernel with the accesses since the last barrier. Before an access that conflicts with
one of them (same bytes, one of the two a write), a barrier goes in. Within the stages of one ring
of buffers, `pipeline-loads` has put the barriers already, and within a buffer of which each warp
uses a part of its own, `place-buffers` has put barriers of warps; these conflict only with others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tileir.compiler.ir_util import defining_op, has_flag, int_attr
from tileir.compiler.tile_types import buffer_info, is_buffer_type
from tileir.ir import Block, InsertionPoint, Operation, OpView, Value
from tileir.passes.base import ModulePass
from tileir.passes.walk import LOOPS, blocks_of, kernels, ops_on_buffers

_WRITES = ("tile_gpu.local_store", "tile_gpu.async_load", "tile_gpu.tensor_map")
#: Write to their scratch, meet at a barrier of their own, and read it.
_SCRATCH = (
    "tile_gpu.gather", "tile_gpu.atomic_rmw", "tile_gpu.atomic_cas", "tile_gpu.malloc",
    "tile_gpu.acquire_map_slot",
)  # fmt: skip


@dataclass(frozen=True)
class InsertBarriers(ModulePass):
    """Order conflicting accesses to shared memory with barriers."""

    name = "insert-barriers"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            accesses = {op: frozenset(_accesses(op)) for op in ops_on_buffers(kernel)}
            _Kernel(accesses).insert(kernel.regions[0].blocks[0], frozenset())


@dataclass(frozen=True)
class _SharedAccess:
    """Bytes `start` to `end` of shared memory, read or written. `ordered`: the buffer, if its
    accesses are in order among themselves."""

    start: int
    end: int
    writes: bool
    ordered: Operation | None

    def conflicts(self, other: _SharedAccess) -> bool:
        if not (self.writes or other.writes):
            return False
        both = self.ordered is not None and other.ordered is not None
        in_order = both and self.ordered == other.ordered
        return self.start < other.end and other.start < self.end and not in_order


Accesses = frozenset[_SharedAccess]


@dataclass(frozen=True)
class _Kernel:
    """The accesses of a kernel's operations, where they have some."""

    accesses: Mapping[OpView, Accesses]

    def insert(self, block: Block, since: Accesses) -> Accesses:
        """Inserts barriers into `block`. `since`: accesses after the last barrier, at its start;
        the result: at its end."""
        for op in list(block):
            name, new = op.operation.name, self.accesses.get(op, frozenset())
            if name in ("tile_gpu.barrier", "tile_gpu.cluster_barrier"):
                since = frozenset()
            elif op.operation.regions:
                since = self._insert_in_regions(op, since)
            elif new:
                if any(a.conflicts(b) for a in new for b in since):
                    Operation.create("tile_gpu.barrier", ip=InsertionPoint(op), loc=op.location)
                    since = frozenset()
                if name in _SCRATCH:  # its own barrier comes between writing and reading
                    since, new = frozenset(), frozenset(_reads(new))
                since |= new
        return since

    def _insert_in_regions(self, op: OpView, since: Accesses) -> Accesses:
        """A loop may start with whatever its last round has left."""
        if op.operation.name in LOOPS:
            since = since.union(*(self.accesses[inner] for inner in ops_on_buffers(op)))
        if op.operation.name == "scf.while":
            for block in blocks_of(op):
                since = self.insert(block, since)
            return since
        ends = [self.insert(block, since) for block in blocks_of(op)]
        return since.union(*ends) if ends else since


def _accesses(op: OpView) -> Iterator[_SharedAccess]:
    if op.operation.name == "tile_gpu.stage":
        return
    writes = op.operation.name in _WRITES + _SCRATCH
    for operand in op.operation.operands:
        if is_buffer_type(operand.type):
            alloc = _allocation(operand)
            info = buffer_info(alloc.operation.results[0].type)
            offset = int_attr(alloc, "offset")
            ordered = info.stages > 1 or has_flag(alloc, "per_warp")
            buffer = alloc.operation if ordered else None
            yield _SharedAccess(offset, offset + info.bytes, writes, buffer)


def _allocation(buffer: Value) -> OpView:
    op = defining_op(buffer)
    assert op is not None
    return op if op.operation.name == "tile_gpu.alloc" else _allocation(op.operation.operands[0])


def _reads(accesses: Accesses) -> Iterator[_SharedAccess]:
    for access in accesses:
        yield _SharedAccess(access.start, access.end, False, access.ordered)
