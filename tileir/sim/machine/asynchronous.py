"""Operations that go on beside the thread that issued them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..observer import AsyncAccess
from .storage import SharedMemory

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch

Array = np.ndarray[Any, np.dtype[Any]]


class Operation:
    """An asynchronous operation between its issue and its completion.

    `kind` is "cp.async", "bulk", "bulk.tensor", "reduce", ...; `threads` int64[k] issued it;
    `slots` are those whose shared memory it reads or writes.
    """

    kind = ""

    def __init__(self, site: Instruction, threads: Array, slots: tuple[int, ...]):
        self.site = site
        self.threads = threads
        self.slots = slots
        self.has_read = False

    def issuers(self, slot: int) -> Array:
        """The threads for which it still has to touch the shared memory of a slot."""
        return self.threads if slot in self.slots else self.threads[:0]

    def leave(self, launch: Launch, slot: int) -> None:
        """The block in a slot ends: does what is left to do there."""
        if self in launch.pending:
            launch.complete(self)

    def read(self, launch: Launch) -> None:
        """Reads the sources, unless that is done."""
        if not self.has_read:
            self.has_read = True
            self._read(launch)

    def complete(self, launch: Launch) -> None:
        """Does everything that is left."""
        self.read(launch)
        self._write(launch)

    def _read(self, launch: Launch) -> None:
        """Takes what the sources hold now; nothing, for kinds without sources."""

    def _write(self, launch: Launch) -> None:
        """Puts it where it goes; nothing, for kinds that complete in another way."""

    def report(
        self, launch: Launch, kind: Any, storage: Any, offset: Array, size: int, owner: Any = None
    ) -> None:
        """Tells observers what is read or written."""
        if launch.watch and len(offset):
            launch.watch.async_access(self, AsyncAccess(kind, storage, offset, size, owner))


def slots_of(launch: Launch, storage: Any, offset: Array) -> tuple[int, ...]:
    """The slots whose shared memory holds bytes of a storage."""
    if not isinstance(storage, SharedMemory):
        return ()
    return tuple(np.unique(offset // launch.shared.stride).tolist())
