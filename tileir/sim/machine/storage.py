"""Where bytes lie: buffers in global memory, shared memory of all slots, local memory, parameters.

Fresh shared memory and registers hold ones everywhere: NaN in every float format, -1 as an
address or index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
POISON = 0xFF


class Storage(Protocol):
    """Bytes with typed views. A global `Buffer` of the address space is one, too."""

    name: str

    @property
    def size(self) -> int: ...

    def typed(self, dtype: np.dtype[Any]) -> tuple[Array, int]:
        """(the aligned elements as `dtype`, bytes in front of the first of them)."""
        ...


class Bytes:
    """Plain bytes, aligned to 8 or more."""

    def __init__(self, size: int, name: str, fill: int = POISON):
        self.name = name
        self.data = np.full(-(-size // 16) * 16, fill, np.uint8)
        self._typed: dict[np.dtype[Any], Array] = {}

    @property
    def size(self) -> int:
        return self.data.size

    def typed(self, dtype: np.dtype[Any]) -> tuple[Array, int]:
        found = self._typed.get(dtype)
        if found is None:
            found = self._typed[dtype] = self.data.view(dtype)
        return found, 0


class SharedMemory(Bytes):
    """The shared memory of all slots, one behind the other, `stride` bytes each."""

    def __init__(self, slots: int, size: int):
        self.used = size
        self.stride = -(-max(size, 1) // 1024) * 1024
        super().__init__(slots * self.stride, "shared memory")

    def reset(self, slot: int) -> None:
        self.data[slot * self.stride : (slot + 1) * self.stride] = POISON


class LocalMemory(Bytes):
    """The local memory of all threads, one behind the other; it grows as calls need it."""

    def __init__(self, threads: int):
        self._threads = threads
        self.stride = 0
        super().__init__(0, "local memory")

    def reserve(self, size: int) -> None:
        """Makes room for `size` bytes a thread."""
        if size <= self.stride:
            return
        stride = max(-(-size // 64) * 64, 2 * self.stride)
        grown = np.full((self._threads, stride), POISON, np.uint8)
        if self.stride:
            grown[:, : self.stride] = self.data.reshape(self._threads, self.stride)
        self.stride = stride
        self.data = grown.reshape(-1)
        self._typed.clear()


def describe(storage: Any, offset: int, slot_name: Callable[[int], str]) -> str:
    """A byte of a storage in words: `byte 12 of parameter 0`."""
    if isinstance(storage, SharedMemory):
        slot, inside = divmod(offset, storage.stride)
        return f"byte {inside} of the shared memory of {slot_name(slot)}"
    if isinstance(storage, LocalMemory):
        return f"byte {offset % max(1, storage.stride)} of a thread's local memory"
    return f"byte {offset} of {storage.name}"
