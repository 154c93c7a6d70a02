"""The memory of a run: buffers at made-up addresses, so that runs are reproducible.

Each buffer has a terabyte of address space to itself and lies in its middle, so an address that
strays below or above a buffer is still known to belong to it. A buffer keeps the alignment that
its host memory has within 16 bytes, and is otherwise aligned like device memory, to 256 bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import LaunchError
from ..runtime.arrays import address, byte_range, owner
from .faults import Fault
from .numerics.formats import Tile

SLOT_BITS = 40
_MIDDLE = 1 << (SLOT_BITS - 1)
_ALIGNMENT = 256
_MAX_ALIGNMENT = 1 << 30
# Slots are not used again before there are this many, so that stale pointers are noticed.
_SLOTS_BEFORE_REUSE = 1 << 20


class Buffer:
    """`size` bytes at address `base`; `data` is None once freed."""

    __slots__ = (
        "base",
        "size",
        "data",
        "name",
        "is_shared",
        "writeable",
        "private_to",
        "uninitialised",
        "shadow",
        "_typed",
    )

    def __init__(self, base: int, data: Tile, name: str, writeable: bool = True):
        self.base = base
        self.size = int(data.size)
        self.data: Tile | None = data
        self.name = name
        self.is_shared = False  # memory of several arguments
        self.writeable = writeable
        self.private_to: int | None = None  # the only block that may use it
        self.uninitialised = False  # holds no value until written
        self.shadow: Any = None  # what the race checker knows about it
        self._typed: dict[np.dtype[Any], tuple[Tile, int]] = {}

    def typed(self, dtype: np.dtype[Any]) -> tuple[Tile, int]:
        """(the aligned elements as `dtype`, bytes from `base` to the first of them)."""
        found = self._typed.get(dtype)
        if found is None:
            assert self.data is not None
            lead = -self.base % dtype.itemsize
            count = max(0, self.size - lead) // dtype.itemsize
            flat = self.data[lead : lead + count * dtype.itemsize].view(dtype)
            found = self._typed[dtype] = (flat, lead)
        return found

    def free(self) -> None:
        self.data = None
        self.shadow = None
        self._typed.clear()


class AddressSpace:
    """All buffers of a run, found by address."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []
        self._freed: deque[int] = deque()
        self._host: list[tuple[int, Buffer, list[np.ndarray]]] = []

    def map_arrays(self, arrays: Iterable[tuple[str, np.ndarray]]) -> None:
        """Makes the memory behind named arrays reachable; overlapping memory is one buffer."""
        ranges = [(*byte_range(owner(array)), name, array) for name, array in arrays]
        ranges.sort(key=lambda one: one[:2])
        start = end = -1
        group: list[tuple[str, np.ndarray]] = []
        for low, high, name, array in ranges:
            if group and low >= end and low != start:
                self._map(start, end, group)
                group = []
            if not group:
                start = end = low
            end = max(end, high)
            group.append((name, array))
        if group:
            self._map(start, end, group)

    def _map(self, start: int, end: int, group: list[tuple[str, np.ndarray]]) -> None:
        names = " / ".join(dict.fromkeys(name for name, _ in group))
        writeable = any(array.flags.writeable for _, array in group)
        buffer = self._add(_bytes_at(start, end - start), names, _ALIGNMENT + start % 16)
        buffer.writeable = writeable
        buffer.is_shared = len(group) > 1
        self._host.append((start, buffer, [array for _, array in group]))

    def address_of(self, array: np.ndarray) -> int:
        """The address in this space of the first element of a mapped array."""
        found = self.simulated(address(array))
        if found is None:
            raise LaunchError("this array is not among the arguments")
        return found

    def simulated(self, host: int) -> int | None:
        """The address in this space of a host address, None if no mapped array has it."""
        for start, buffer, _ in self._host:
            if start <= host <= start + buffer.size:
                return buffer.base + host - start
        return None

    def allocate(self, data: Tile, name: str, alignment: int = 1) -> Buffer:
        """A new buffer of bytes (uint8), aligned to at least 256."""
        if alignment > _MAX_ALIGNMENT:
            raise Fault(f"{name}: an alignment of {alignment} bytes cannot be had")
        return self._add(data, name, max(_ALIGNMENT, alignment))

    def free(self, buffer: Buffer) -> None:
        """Ends the life of an allocated buffer."""
        buffer.free()
        self._freed.append((buffer.base >> SLOT_BITS) - 1)

    def _add(self, data: Tile, name: str, skew: int) -> Buffer:
        slot = len(self._buffers)
        reuse = slot >= _SLOTS_BEFORE_REUSE and bool(self._freed)
        if reuse:
            slot = self._freed.popleft()
        buffer = Buffer(((slot + 1) << SLOT_BITS) + _MIDDLE + skew, data, name)
        if reuse:
            self._buffers[slot] = buffer
        else:
            self._buffers.append(buffer)
        return buffer

    def find(self, where: int, block: int) -> Buffer:
        """The buffer around `where`; a fault if there is none or `block` may not use it."""
        slot = (where >> SLOT_BITS) - 1
        if not 0 <= slot < len(self._buffers):
            raise Fault(f"address {where & (2**64 - 1):#x} is in no array or allocation")
        buffer = self._buffers[slot]
        if buffer.data is None:
            raise Fault(f"{buffer.name} is used after the block that allocated it has ended")
        if buffer.private_to is not None and buffer.private_to != block:
            raise Fault(
                f"{buffer.name} belongs to another tile block",
                "only an alloca marked `global` may be used by other tile blocks",
            )
        return buffer


class _Window:
    """A range of host memory, in the form that NumPy takes."""

    def __init__(self, start: int, size: int):
        self.__array_interface__ = {
            "data": (start, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }


def _bytes_at(start: int, size: int) -> Tile:
    return np.asarray(_Window(start, size)) if size else np.empty(0, np.uint8)
