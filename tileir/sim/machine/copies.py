"""cp.async: copies of 4, 8 or 16 bytes a thread from global to shared memory.

Groups belong to threads: `_committed` counts those of each thread, and a copy belongs to the
group that its thread commits next. An operation holds the copies of all lanes of one instruction,
and completes for some of them earlier than for others if their threads wait at different times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .addressing import Place
from .asynchronous import Operation, slots_of
from .cohort import Array, Cohort, Lanes

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch


class ThreadCopy(Operation):
    """The copies of one instruction; arrays hold one entry a lane that takes part.

    `size` bytes are written at `target` in shared memory: `wanted` of them from `source`, the rest
    zeros.
    """

    kind = "cp.async"

    def __init__(
        self, launch: Launch, site: Instruction, threads: Array, group: Array,
        source: list[tuple[Any, Array, Array]], target: Array, wanted: Array, size: int,
    ):  # fmt: skip
        super().__init__(site, threads, slots_of(launch, launch.shared, target))
        self.group = group
        self.size = size
        self._source = source  # storage, lanes (indices), bytes
        self._target = target
        # Blocks that run in step share an instruction, and so an operation, but end on their own.
        self._slot = target // launch.shared.stride
        self._wanted = wanted
        self.left = np.ones(len(threads), bool)

    def left_in(self, slot: int) -> Array:
        """The lanes whose copies into the shared memory of a slot are under way."""
        return self.left & (self._slot == slot)

    def issuers(self, slot: int) -> Array:
        return self.threads[self.left_in(slot)]

    def leave(self, launch: Launch, slot: int) -> None:
        launch.copies.complete(lambda copy: copy.left_in(slot))

    def complete(self, launch: Launch) -> None:
        self.complete_lanes(launch, self.left)

    def complete_lanes(self, launch: Launch, lanes: Array) -> None:
        """Copies what some lanes asked for."""
        self.left = self.left & ~lanes
        chosen = np.flatnonzero(lanes)
        data = np.zeros((len(lanes), self.size), np.uint8)
        columns = np.arange(self.size)
        for storage, where, offset in self._source:
            mine = np.flatnonzero(lanes[where])
            rows, start = where[mine], offset[mine]
            self._report_source(launch, storage, rows, start)
            keep = columns < self._wanted[rows][:, None]
            bytes_, lead = storage.typed(np.dtype(np.uint8))
            index = np.where(keep, start[:, None] + columns, 0) - lead
            data[rows] = np.where(keep, bytes_[index], 0)
        target = self._target[chosen]
        self.report(launch, "write", launch.shared, target, self.size, self.threads[chosen])
        word = np.dtype(f"uint{8 * min(8, self.size)}")
        words, _ = launch.shared.typed(word)
        count = self.size // word.itemsize
        first = target // word.itemsize
        words[first[:, None] + np.arange(count)] = data[chosen].view(word)

    def _report_source(self, launch: Launch, storage: Any, rows: Array, start: Array) -> None:
        if not launch.watch:
            return
        for size in np.unique(self._wanted[rows]).tolist():
            lanes = self._wanted[rows] == size
            if size:
                self.report(launch, "read", storage, start[lanes], size, self.threads[rows[lanes]])


class Copies:
    """The cp.async groups of all threads."""

    def __init__(self, launch: Launch):
        self._launch = launch
        self._committed = np.zeros(launch.live.size, np.int64)
        self._open: list[ThreadCopy] = []

    def issue(
        self,
        w: Cohort,
        sources: list[Place],
        targets: list[Place],
        wanted: Array,
        size: int,
        site: Instruction,
    ) -> None:
        """Starts the copies of the lanes in `targets`; `wanted` int64[n, 32] bytes are read."""
        for place in targets:
            active = w.active if place.active is None else place.active
            threads = w.threads[active]
            position = np.full(active.shape, -1)
            position[active] = np.arange(len(threads))
            source = []
            for other in sources:
                both = active if other.active is None else active & other.active
                source.append((other.storage, position[both], other.offset[both]))
            copy = ThreadCopy(
                self._launch, site, threads, self._committed[threads], source,
                place.offset[active], wanted[active], size,
            )  # fmt: skip
            self._open.append(copy)
            self._launch.issue(copy)

    def commit(self, w: Cohort, lanes: Lanes, site: Instruction) -> None:
        threads = _threads(w, lanes)
        self._committed[threads] += 1
        if self._launch.watch:
            self._launch.watch.group_committed("cp.async", site, w.warps, lanes)

    def wait(self, w: Cohort, allowed: int, lanes: Lanes, site: Instruction) -> None:
        """Completes all but the youngest `allowed` groups; -1: even what is not committed."""
        threads = _threads(w, lanes)
        newest = self._committed[threads] - allowed
        limit = np.zeros(len(self._committed), np.int64)
        limit[threads] = newest
        waits = np.zeros(len(self._committed), bool)
        waits[threads] = True
        self.complete(lambda copy: waits[copy.threads] & (copy.group < limit[copy.threads]))
        if self._launch.watch:
            self._launch.watch.group_waited("cp.async", allowed, False, site, w.warps, lanes)

    def complete(self, chosen: Any) -> None:
        """Completes the lanes `chosen(copy)` of every copy under way, oldest first."""
        launch = self._launch
        self._forget_done()
        for copy in self._open:
            lanes = copy.left & chosen(copy)
            if not lanes.any():
                continue
            launch.version += 1
            copy.complete_lanes(launch, lanes)
            if not copy.left.any():
                launch.pending.remove(copy)
                if launch.watch:
                    launch.watch.async_completed(copy)

    def _forget_done(self) -> None:
        self._open = [copy for copy in self._open if copy.left.any()]


def _threads(w: Cohort, lanes: Lanes) -> Array:
    return w.threads.ravel() if lanes is None else w.threads[lanes]
