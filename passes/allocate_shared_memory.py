"""allocate-shared-memory: where each buffer lies.

Buffers whose lives do not overlap share memory. A buffer lives from its first use to its last; a
use inside a loop, of a buffer made outside, keeps it alive for the whole loop; likewise inside
specialised warps, which run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from tileir.compiler.ir_util import ancestors, int_attr, parent_of
from tileir.compiler.tile_types import buffer_info, is_buffer_type
from tileir.dialects import tile_gpu
from tileir.ir import IntegerAttr, IntegerType, Operation, OpView, Value
from tileir.passes.analysis.shared_demand import too_much_shared_memory
from tileir.passes.attach_target import target_of
from tileir.passes.base import ModulePass
from tileir.passes.walk import LOOPS, kernels, ops_of, ops_on_buffers

#: A buffer from outside that is used in one of these lives as long as they run.
_WHOLE = (*LOOPS, "tile_gpu.specialize")

SHARED_BYTES_ATTRIBUTE = "tile_gpu.shared_bytes"


@dataclass(frozen=True)
class AllocateSharedMemory(ModulePass):
    """Give each buffer its place in shared memory."""

    name = "allocate-shared-memory"

    def apply(self, module: Operation) -> None:
        target = target_of(module)
        i64 = IntegerType.get_signless(64, module.context)
        for kernel in kernels(module):
            buffers = _live_buffers(kernel)
            total = _place(buffers)
            if total > target.shared_bytes:
                raise too_much_shared_memory(kernel, total, target)
            for buffer in buffers:
                buffer.alloc.operation.attributes["offset"] = IntegerAttr.get(i64, buffer.offset)
            kernel.attributes[SHARED_BYTES_ATTRIBUTE] = IntegerAttr.get(i64, total)


@dataclass
class _Buffer:
    alloc: OpView
    bytes: int
    alignment: int
    first: int
    last: int
    offset: int = 0

    def overlaps_life(self, other: _Buffer) -> bool:
        return self.first <= other.last and other.first <= self.last


def _live_buffers(kernel: Operation) -> list[_Buffer]:
    # Time is counted in operations that matter.
    position = {op: index for index, op in enumerate(ops_on_buffers(kernel, *_WHOLE))}
    end = {op: _end(op, position) for op in position if op.operation.name in _WHOLE}
    buffers = []
    for op in ops_of(kernel, tile_gpu.AllocOp):
        uses = [_seen_from(op, user, position, end) for user in _users(op.operation.results[0])]
        split = _replicated(op)
        if split is not None:
            uses.append((position[split], end[split]))
        first = min((start for start, _ in uses), default=position[op])
        last = max((stop for _, stop in uses), default=position[op])
        info = buffer_info(op.operation.results[0].type)
        copies = 1 if split is None else int_attr(split, "replicas")
        buffers.append(_Buffer(op, copies * info.bytes, info.alignment, first, last))
    return buffers


def _replicated(alloc: OpView) -> OpView | None:
    """The split of warps of whose sets each has its own copy of a buffer, for its whole life, since
    one set may be anywhere while another is here."""
    splits = (op.opview for op in ancestors(alloc) if op.name == "tile_gpu.specialize")
    split = next(splits, None)
    return split if split is not None and int_attr(split, "replicas", 1) > 1 else None


def _users(buffer: Value) -> list[OpView]:
    """Operations that access a buffer, itself or one of its stages."""
    users = []
    for use in buffer.uses:
        user = use.owner
        users.append(user)
        for result in user.operation.results:
            if is_buffer_type(result.type):
                users += _users(result)
    return users


def _end(op: OpView, position: dict[OpView, int]) -> int:
    inside = ops_on_buffers(op, *_WHOLE)
    return position[inside[-1] if inside else op]


def _seen_from(
    alloc: OpView, user: OpView, position: dict[OpView, int], end: dict[OpView, int]
) -> tuple[int, int]:
    """The life that a use asks for: the outermost loop (or split of warps) around it that does
    not hold the allocation, or just the use."""
    home = parent_of(alloc)
    span = (position[user.operation.opview], position[user.operation.opview])
    for around in takewhile(lambda op: op != home, ancestors(user)):
        if around.name in _WHOLE:
            span = (position[around.opview], end[around.opview])
    return span


def _place(buffers: list[_Buffer]) -> int:
    """First fit, the largest first. Returns the bytes used."""
    placed: list[_Buffer] = []
    for buffer in sorted(buffers, key=lambda b: -b.bytes):
        rivals = sorted((b for b in placed if b.overlaps_life(buffer)), key=lambda b: b.offset)
        offset = 0
        for rival in rivals:
            if offset + buffer.bytes <= rival.offset:
                break
            offset = max(offset, rival.offset + rival.bytes)
            offset = -(-offset // buffer.alignment) * buffer.alignment
        buffer.offset = offset
        placed.append(buffer)
    return max((b.offset + b.bytes for b in placed), default=0)
