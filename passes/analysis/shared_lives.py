"""Which buffers live in shared memory at once, and where they fit.

Buffers whose lives do not overlap share memory. A buffer lives from its first use to its last
(`lives.py`).

Before `place-buffers`, what it is going to make counts: the buffers of operands, and those through
which operations pass tiles. So what a kernel needs is known as soon as its tiles have layouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tileir.compiler.ir_util import ancestors, int_attr, parent_of
from tileir.compiler.tile_types import BufferInfo, buffer_info, is_buffer_type
from tileir.ir import Operation, OpView, Value
from tileir.passes.analysis.lives import Timeline
from tileir.passes.analysis.passing_buffers import PASSING, passing_buffers
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import LOOPS, ops_named, ops_on_buffers

#: A buffer from outside that is used in one of these lives as long as they run.
_WHOLE = (*LOOPS, "tile_gpu.specialize")
#: Operations whose result is a buffer of its own.
_MAKING = ("tile_gpu.alloc", "tile_gpu.to_shared")


@dataclass
class SharedBuffer:
    """A buffer that `op` makes or needs, alive from `first` to `last`."""

    op: OpView
    bytes: int
    alignment: int
    first: int
    last: int
    offset: int = 0

    def overlaps_life(self, other: SharedBuffer) -> bool:
        """Whether the two cannot have the same bytes."""
        return self.first <= other.last and other.first <= self.last


class SharedLives:
    """The lives of a kernel's buffers. Time is counted in operations that matter."""

    def __init__(self, kernel: Operation):
        num_warps = num_warps_of(kernel)
        self.time = Timeline(kernel, lambda op: ops_on_buffers(op, *_WHOLE, *PASSING), _WHOLE)
        self.buffers: list[SharedBuffer] = []
        for op in ops_named(kernel, *_MAKING, *PASSING):
            if op.operation.name in _MAKING:
                self.buffers.append(self._made_by(op))
            else:
                needed = passing_buffers(op, num_warps)
                self.buffers += [self._passing(op, info) for info in needed]

    def with_rings(self, loop: OpView, operands: Iterable[OpView], stages: int) -> int:
        """Bytes that the kernel needs if these operands of a loop come through rings of so many
        stages, which live as long as the loop."""
        inside = set(operands)
        start, stop = self._life_of(loop)
        buffers = []
        for buffer in self.buffers:
            if buffer.op in inside:
                first, last = min(buffer.first, start), max(buffer.last, stop)
                buffer = replace(buffer, bytes=stages * buffer.bytes, first=first, last=last)
            buffers.append(buffer)
        return place(buffers)

    def _life_of(self, op: OpView) -> tuple[int, int]:
        """When a loop, or a split of warps, runs."""
        return self.time.position[op.operation], self.time.end[op.operation]

    def _passing(self, op: OpView, info: BufferInfo) -> SharedBuffer:
        at = self.time.position[op.operation]
        return SharedBuffer(op, info.bytes, info.alignment, at, at)

    def _made_by(self, op: OpView) -> SharedBuffer:
        at = self.time.position[op.operation]
        users = _users(op.operation.results[0])
        uses = [self.time.span(parent_of(op), user) for user in users]
        split = _replicated(op)
        if split is not None:
            uses.append(self._life_of(split))
        elif op.operation.name == "tile_gpu.to_shared":
            uses.append((at, at))  # it stores what it makes
        first = min((start for start, _ in uses), default=at)
        last = max((stop for _, stop in uses), default=at)
        info = buffer_info(op.operation.results[0].type)
        copies = 1 if split is None else int_attr(split, "replicas")
        return SharedBuffer(op, copies * info.bytes, info.alignment, first, last)


def place(buffers: Sequence[SharedBuffer]) -> int:
    """Gives each buffer its offset: first fit, the largest first. Returns the bytes used."""
    placed: list[SharedBuffer] = []
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


def alive_together(buffers: Sequence[SharedBuffer]) -> list[SharedBuffer]:
    """The buffers alive at the moment at which they take most memory, the largest first."""
    moments = (
        [other for other in buffers if other.first <= buffer.first <= other.last]
        for buffer in buffers
    )
    most = max(moments, key=lambda alive: sum(b.bytes for b in alive), default=[])
    return sorted(most, key=lambda b: -b.bytes)


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
