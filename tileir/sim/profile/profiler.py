"""The observer that counts, and its report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.storage import SharedMemory
from ..observer import Access, AsyncAccess, Observer
from ..ptx.syntax import Instruction
from . import sites
from .kinds import kind_of, matrix_work
from .report import report
from .sites import Accesses, Array

if TYPE_CHECKING:
    from ..machine.launch import Launch

_KINDS = {"load": "load", "store": "store", "atomic": "atomic", "reduce": "atomic"}
_DIRECTIONS = {"read": "read", "write": "written", "reduce": "written"}


class Profile(Observer):
    """Counts of the last launch that it watched.

    `executed` says how often each instruction was executed, in warps; `instructions` the same by
    kind. `bytes[space, direction]` are those that threads, or asynchronous operations ("global,
    async" and "shared, async"), have "read" or "written"; operands of wgmma count as read.
    """

    def __init__(self) -> None:
        self.executed: Counter[Instruction] = Counter()
        self.bytes: Counter[tuple[str, str]] = Counter()
        self._sites: dict[tuple[int, str], Accesses] = {}

    # --- what one may ask ------------------------------------------------------------------------

    @property
    def instructions(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for site, count in self.executed.items():
            found[kind_of(site)] += count
        return found

    @property
    def accesses(self) -> list[Accesses]:
        """Those to global and shared memory by instructions, in the order of the PTX."""
        return sorted(self._sites.values(), key=lambda one: (one.site.line, one.space))

    @property
    def global_loads(self) -> list[Accesses]:
        return [one for one in self.accesses if (one.space, one.kind) == ("global", "load")]

    @property
    def global_stores(self) -> list[Accesses]:
        return [one for one in self.accesses if (one.space, one.kind) == ("global", "store")]

    @property
    def shared(self) -> list[Accesses]:
        return [one for one in self.accesses if one.space == "shared"]

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts that conflicts add, over all instructions."""
        return sum(one.conflicts for one in self.shared)

    @property
    def matrix_work(self) -> int:
        """Multiplications and additions that matrix instructions did."""
        return sum(matrix_work(site) * count for site, count in self.executed.items())

    def report(self) -> str:
        """Everything as text."""
        return report(self)

    # --- the run ---------------------------------------------------------------------------------

    def launch_started(self, launch: Launch) -> None:
        self.bytes.clear()
        self._sites.clear()

    def launch_finished(self, launch: Launch) -> None:
        self.executed = launch.code.counts()

    def access(self, access: Access) -> None:
        lanes = access.offset.size if access.active is None else np.count_nonzero(access.active)
        if access.kind != "store":
            self.bytes[access.space, "read"] += int(lanes) * access.size
        if access.kind != "load":
            self.bytes[access.space, "written"] += int(lanes) * access.size
        if access.space not in ("global", "shared") or not lanes:
            return
        key = id(access.site), access.space
        if key not in self._sites:
            self._sites[key] = Accesses(access.site, _KINDS[access.kind], access.space, access.size)
        found = self._sites[key]
        active = _active(access)
        found.requests += int(active.any(axis=1).sum())
        found.bytes += int(lanes) * access.size
        if access.space == "global":
            buffer: Any = access.storage
            address = access.offset + buffer.base % sites.SECTOR
            found.sectors += sites.sectors(address, access.size, active)
        else:
            taken, needed = sites.wavefronts(access.offset, access.size, active)
            found.wavefronts += taken
            found.needed += needed

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        space = "shared" if isinstance(access.storage, SharedMemory) else "global"
        size = len(access.offset) * access.size
        self.bytes[f"{space}, async", _DIRECTIONS[access.kind]] += size


def _active(access: Access) -> Array:
    return np.ones(access.offset.shape, bool) if access.active is None else access.active
