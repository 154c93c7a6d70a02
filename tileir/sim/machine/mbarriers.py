"""mbarrier objects in shared memory.

An object counts arrivals and bytes of asynchronous copies; its phase is complete when none is
missing. The state lives here; the eight bytes in shared memory get a copy, which the tokens of
`mbarrier.arrive` look like:

    bits 63..40  number of the phase    39..20  expected arrivals    19..0  pending arrivals
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..observer import MbarrierEvent
from .addressing import locate
from .cohort import Array, Cohort, Lanes
from .deadlock import Waiting
from .faults import ThreadFault

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch

MAX_COUNT = (1 << 20) - 1
_PHASE_SHIFT = 40


@dataclass(slots=True)
class Mbarrier:
    """`pending` arrivals are missing in phase number `phase`, and `bytes` of copies."""

    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0

    @property
    def token(self) -> int:
        return self.phase << _PHASE_SHIFT | self.expected << 20 | self.pending


class Mbarriers:
    """The objects by their byte in the shared memory of all slots, and who waits for them."""

    def __init__(self, launch: Launch):
        self._launch = launch
        self._objects: dict[int, Mbarrier] = {}
        self._waiting: dict[Any, tuple[Cohort, set[int]]] = {}

    def waiting(self) -> list[Waiting]:
        return [
            Waiting(cohort, "an mbarrier", [self._missing(offset) for offset in sorted(offsets)])
            for cohort, offsets in self._waiting.values()
        ]

    def _missing(self, offset: int) -> str:
        slot, inside = divmod(offset, self._launch.shared.stride)
        name = f"mbarrier at byte {inside} of the shared memory of {self._launch.slot_name(slot)}"
        barrier = self._objects.get(offset)
        if barrier is None:
            return f"{name} is gone"
        text = f"{name}, phase {barrier.phase}: {barrier.pending} of {barrier.expected} arrivals"
        if barrier.bytes > 0:
            return f"{text} and {barrier.bytes} bytes of copies are missing"
        return f"{text} are missing" + (f", {-barrier.bytes} bytes too many" * (barrier.bytes < 0))

    def at(self, offset: int, site: Instruction, thread: int | None) -> Mbarrier:
        found = self._objects.get(offset)
        if found is None:
            slot, inside = divmod(offset, self._launch.shared.stride)
            raise ThreadFault(
                f"there is no mbarrier at byte {inside} of the shared memory of "
                f"{self._launch.slot_name(slot)}",
                "mbarrier.init comes first, and a barrier that makes it known to others",
                thread=thread,
                at=site,
            )
        return found

    def forget(self, first: int, size: int) -> None:
        """The objects in a range of bytes are gone: another block has the memory now."""
        for offset in [o for o in self._objects if first <= o < first + size]:
            del self._objects[offset]

    # --- steps, by threads (int64[k]) or an asynchronous operation -------------------------------

    def init(self, offset: int, count: int, site: Instruction, threads: Array) -> None:
        if not 1 <= count <= MAX_COUNT:
            raise ThreadFault(
                f"mbarrier.init with a count of {count}, expected 1 to {MAX_COUNT}",
                thread=int(threads[0]),
            )
        self._objects[offset] = Mbarrier(count, count)
        self._changed(offset, "init", count, 0, "weak", None, site, threads, None)

    def invalidate(self, offset: int, site: Instruction, threads: Array) -> None:
        phase = self.at(offset, site, int(threads[0])).phase
        del self._objects[offset]
        self._notify("invalidate", offset, 0, phase, "weak", None, site, threads, None)

    def arrive(
        self,
        offset: int,
        count: int,
        site: Instruction,
        threads: Array,
        order: Any = "release",
        scope: Any = "cta",
        *,
        drop: bool = False,
        operation: Any = None,
    ) -> int:
        """The token of the phase in which the arrival counts."""
        thread = int(threads[0]) if len(threads) else None
        barrier = self.at(offset, site, thread)
        token = barrier.token
        if count > barrier.pending:
            raise ThreadFault(
                f"mbarrier: {count} arrivals where {barrier.pending} of {barrier.expected} are "
                f"missing in this phase",
                "the count of mbarrier.init must be the number of arrivals in each phase",
                thread=thread,
                at=site,
            )
        barrier.pending -= count
        if drop:
            barrier.expected -= count
        kind = "drop" if drop else "arrive"
        self._changed(offset, kind, count, barrier.phase, order, scope, site, threads, operation)
        self._settle(offset, barrier)
        return token

    def expect(
        self, offset: int, count: int, site: Instruction, threads: Array, scope: Any = "cta"
    ) -> None:
        barrier = self.at(offset, site, int(threads[0]))
        barrier.bytes += count
        phase = barrier.phase
        self._changed(offset, "expect_tx", count, phase, "relaxed", scope, site, threads, None)
        self._settle(offset, barrier)

    def complete_bytes(
        self, offset: int, count: int, site: Instruction, threads: Array, operation: Any = None
    ) -> None:
        barrier = self.at(offset, site, None)
        barrier.bytes -= count
        if abs(barrier.bytes) > MAX_COUNT:
            raise ThreadFault(
                f"mbarrier: the transaction count is {barrier.bytes}, beyond 2^20 - 1", at=site
            )
        self._changed(
            offset, "complete_tx", count, barrier.phase, "relaxed", "cluster", site, threads,
            operation,
        )  # fmt: skip
        self._settle(offset, barrier)

    def _settle(self, offset: int, barrier: Mbarrier) -> None:
        """Completes the phase if nothing is missing, and wakes who waits for it."""
        if barrier.pending or barrier.bytes:
            return
        launch = self._launch
        if launch.watch:
            launch.watch.mbarrier_completed(launch.shared, offset, barrier.phase)
        barrier.phase += 1
        barrier.pending = barrier.expected
        self._store(offset, barrier)
        for key in [key for key, (_, offsets) in self._waiting.items() if offset in offsets]:
            launch.scheduler.add(self._waiting.pop(key)[0])

    def _changed(self, offset: int, kind: Any, count: int, phase: int, *rest: Any) -> None:
        self._launch.version += 1
        self._store(offset, self._objects[offset])
        self._notify(kind, offset, count, phase, *rest)

    def _store(self, offset: int, barrier: Mbarrier) -> None:
        words, _ = self._launch.shared.typed(np.dtype(np.uint64))
        words[offset >> 3] = barrier.token & (1 << 64) - 1

    def _notify(
        self,
        kind: Any,
        offset: int,
        count: int,
        phase: int,
        order: Any,
        scope: Any,
        site: Instruction,
        threads: Array,
        operation: Any,
    ) -> None:
        watch = self._launch.watch
        if watch:
            storage = self._launch.shared
            watch.mbarrier(
                MbarrierEvent(
                    kind, storage, offset, count, phase, order, scope, site, threads, operation
                )
            )

    # --- waiting ---------------------------------------------------------------------------------

    def test(
        self,
        w: Cohort,
        address: Array,
        phase: Array,
        lanes: Lanes,
        site: Instruction,
        by_parity: bool,
        space: str,
    ) -> tuple[Array, Array]:
        """(whether the phase is complete, byte of the object), both [n, 32].

        `phase` is the parity of the phase to wait for, or the token of an arrival in it.
        """
        done = np.zeros((len(w.warps), 32), bool)
        offsets = np.zeros(done.shape, np.int64)
        for place in locate(w, space, address, 8, lanes):
            active = w.active if place.active is None else place.active
            offsets = np.where(active, place.offset, offsets)
            for offset, group in groups(place.offset, active):
                thread = int(w.threads[group][0])
                current = self.at(offset, site, thread).phase
                if by_parity:
                    done |= group & ((phase & 1) != (current & 1))
                else:
                    done |= group & ((phase >> np.uint64(_PHASE_SHIFT)) != current)
        return done, offsets

    def waited(
        self, w: Cohort, offsets: Array, done: Array, site: Instruction, order: Any, scope: Any
    ) -> None:
        """Tells observers of successful tests."""
        if self._launch.watch:
            for offset, group in groups(offsets, done):
                phase = self._objects[offset].phase
                threads = w.threads[group]
                self._notify("wait", offset, 0, phase, order, scope, site, threads, None)

    def suspend(self, cohort: Cohort, offsets: Array) -> None:
        """The cohort, at its test, runs again when one of the objects completes a phase."""
        wanted = set(offsets[cohort.active].tolist()) if offsets.ndim else {int(offsets)}
        key = cohort.key
        if key in self._waiting:
            other, more = self._waiting[key]
            cohort, wanted = other.join(cohort), wanted | more
        self._waiting[key] = cohort, wanted


def groups(offsets: Array, active: Array) -> Iterator[tuple[int, Array]]:
    """The distinct offsets among active lanes, each with its lanes."""
    found = offsets[active]
    if found.size == 0:
        return
    if found.min() == found.max():
        yield int(found[0]), active
        return
    for offset in np.unique(found).tolist():
        yield offset, active & (offsets == offset)
