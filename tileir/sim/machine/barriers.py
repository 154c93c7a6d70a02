"""The sixteen barriers of a block: bar.sync, bar.arrive, bar.red."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..observer import BarrierArrival
from .cohort import Array, Cohort
from .deadlock import Waiting
from .faults import ThreadFault

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch

COUNT = 16
_ALL = 0  # an expected count of 0 stands for all threads of the block


class Barriers:
    """Who has arrived at which barrier of which slot.

    Counts are threads; a warp counts with 32, as it does in hardware. Tables are
    int64[slots, 16]. `votes` collects the predicates of bar.red: threads for which it holds, and
    threads in all; `outcome` keeps both of the barrier completed last.
    """

    def __init__(self, launch: Launch):
        self._launch = launch
        shape = (launch.slot_count, COUNT)
        self._arrived = np.zeros(shape, np.int64)
        self._expected = np.full(shape, -1, np.int64)
        self._votes = np.zeros((*shape, 2), np.int64)
        self.outcome = np.zeros((*shape, 2), np.int64)
        self._waiting: dict[Any, tuple[Cohort, Array, Instruction]] = {}

    def waiting(self) -> list[Waiting]:
        return [
            Waiting(cohort, "a barrier", self._missing(np.unique(cohort.slots * COUNT + numbers)))
            for cohort, numbers, _ in self._waiting.values()
        ]

    def _missing(self, keys: Array) -> list[str]:
        slots, numbers = keys // COUNT, keys % COUNT
        expected = self._expected[slots, numbers]
        needed = np.where(expected == _ALL, self._alive(slots), expected)
        return [
            f"barrier {number} of {self._launch.slot_name(slot)}: {arrived} of {wanted} threads "
            "have arrived"
            for slot, number, arrived, wanted in zip(
                slots.tolist(), numbers.tolist(), self._arrived[slots, numbers].tolist(),
                needed.tolist(), strict=True,
            )
        ]  # fmt: skip

    def reset(self, slot: int) -> None:
        self._arrived[slot] = 0
        self._expected[slot] = -1
        self._votes[slot] = 0

    def arrive(
        self,
        w: Cohort,
        number: Array,
        expected: Array | None,
        site: Instruction,
        following: int,
        *,
        waits: bool,
        vote: Array | None = None,
    ) -> bool:
        """The warps of `w` arrive; whether all of them may go on to block `following`.

        `number` and `expected` are int64[n]; None stands for all threads of the block. `vote` is
        bool[n, 32]. Warps that must wait are kept here.
        """
        slots = w.slots
        self._check(w, number, expected, site)
        if self._launch.watch:
            wanted = self._wanted(slots, expected)
            self._launch.watch.barrier_arrived(
                BarrierArrival(number, wanted, waits, "acq_rel", site, w.warps, w.mask)
            )
        np.add.at(self._arrived, (slots, number), 32)
        self._expected[slots, number] = _ALL if expected is None else expected
        if vote is not None:
            held = (vote & w.active).sum(axis=1)
            np.add.at(self._votes, (slots, number), np.stack((held, w.active.sum(axis=1)), axis=1))
        complete = self._complete(np.unique(slots * COUNT + number))
        if not waits:
            self._release(complete)
            return True
        through = np.isin(slots * COUNT + number, complete)
        self._leave(w, through, number, site)
        if through.all():
            self._release(complete)
            return True
        self._keep(w, through, number, site, following)
        self._release(complete)
        return False

    def _keep(
        self, w: Cohort, through: Array, number: Array, site: Instruction, following: int
    ) -> None:
        if through.any():
            self._launch.scheduler.add(w.select(np.flatnonzero(through), following))
        rows = np.flatnonzero(~through)
        staying, numbers = w.select(rows, following), number[rows]
        key = staying.key
        if key in self._waiting:
            other, more, _ = self._waiting[key]
            joined = other.join(staying)
            numbers = np.concatenate((more, numbers))[
                np.argsort(np.concatenate((other.warps, staying.warps)))
            ]
            staying = joined
        self._waiting[key] = staying, numbers, site

    def _check(self, w: Cohort, number: Array, expected: Array | None, site: Instruction) -> None:
        if ((number < 0) | (number >= COUNT)).any():
            raise ThreadFault(f"there is no barrier {int(number.max())}, only 0 to {COUNT - 1}")
        if expected is not None and ((expected <= 0) | (expected % 32 != 0)).any():
            wrong = int(expected[(expected <= 0) | (expected % 32 != 0)][0])
            raise ThreadFault(
                f"a barrier of {wrong} threads: the count must be a multiple of 32", at=site
            )

    def _wanted(self, slots: Array, expected: Array | None) -> Array:
        return self._alive(slots) if expected is None else expected

    def _alive(self, slots: Array) -> Array:
        """32 for each warp of the slots' blocks that still runs."""
        per_block = self._launch.warps_per_block
        warps = self._launch.live.any(axis=1).reshape(-1, per_block)
        return 32 * warps.sum(axis=1)[slots]

    def _complete(self, candidates: Array) -> Array:
        """Those of `candidates` (slot * 16 + number) that have all arrivals; they start over."""
        slots, numbers = candidates // COUNT, candidates % COUNT
        expected = self._expected[slots, numbers]
        needed = np.where(expected == _ALL, self._alive(slots), expected)
        arrived = self._arrived[slots, numbers]
        too_many = (arrived > needed) & (expected != _ALL)
        if too_many.any():
            k = int(too_many.argmax())
            raise ThreadFault(
                f"barrier {numbers[k]} of {self._launch.slot_name(int(slots[k]))}: "
                f"{arrived[k]} threads arrived where {needed[k]} were expected",
                "all bar.sync and bar.arrive of one barrier must name the same count",
            )
        done = (arrived >= needed) & (arrived > 0)
        slots, numbers = slots[done], numbers[done]
        self.outcome[slots, numbers] = self._votes[slots, numbers]
        self._arrived[slots, numbers] = 0
        self._expected[slots, numbers] = -1
        self._votes[slots, numbers] = 0
        if self._launch.watch:
            for slot, number in zip(slots.tolist(), numbers.tolist(), strict=True):
                self._launch.watch.barrier_completed(slot, number)
        return candidates[done]

    def _release(self, complete: Array) -> None:
        """Wakes the warps that wait at completed barriers."""
        if not len(complete) or not self._waiting:
            return
        for key, (cohort, numbers, site) in list(self._waiting.items()):
            through = np.isin(cohort.slots * COUNT + numbers, complete)
            if not through.any():
                continue
            del self._waiting[key]
            self._leave(cohort, through, numbers, site)
            if through.all():
                self._launch.scheduler.add(cohort)
                continue
            rows, rest = np.flatnonzero(through), np.flatnonzero(~through)
            self._launch.scheduler.add(cohort.select(rows, cohort.pc))
            self._waiting[key] = cohort.select(rest, cohort.pc), numbers[rest], site

    def _leave(self, w: Cohort, through: Array, number: Array, site: Instruction) -> None:
        if self._launch.watch and through.any():
            mask = None if w.mask is None else w.mask[through]
            self._launch.watch.barrier_left(
                number[through], "acq_rel", site, w.warps[through], mask
            )

    def threads_left(self, slots: Array) -> None:
        """Threads have exited: barriers that wait for all threads may be complete now."""
        found = np.unique(slots)
        waiting = self._expected[found] == _ALL
        if not waiting.any():
            return
        rows, numbers = np.nonzero(waiting & (self._arrived[found] > 0))
        self._release(self._complete(np.sort(found[rows] * COUNT + numbers)))
