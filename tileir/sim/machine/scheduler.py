"""Runs cohorts block by block until all threads have exited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .cohort import Array, Cohort
from .deadlock import Waiting, table
from .faults import ThreadFault
from .policy import policy_of
from .visits import Visits

if TYPE_CHECKING:
    from .launch import Launch

# Rounds that nobody but polling loops makes, without a change of memory, before they are hung.
_FRUITLESS = 512


class Scheduler:
    """The cohorts of a launch by what they are waiting for.

    `ready` can run; `sleeping` have given way; `polling` have read the same memory before and
    wait for it to change; `early` are at an instruction that needs all threads of their warps.
    Those at barriers are with `Barriers`, those at mbarriers with `Mbarriers`.
    """

    def __init__(self, launch: Launch, seed: int):
        self._launch = launch
        self.policy = policy_of(seed)
        self.ready: dict[Any, Cohort] = {}
        self.sleeping: list[Cohort] = []
        self.polling: list[Cohort] = []
        self.early: dict[Any, Cohort] = {}
        self._fruitless = 0
        self._version = -1
        self._visits = Visits(launch)

    def run(self) -> None:
        while True:
            if self.polling and self._version != self._launch.version:
                self._wake_pollers()
            if self.ready:
                key = self.policy.pick(self.ready)
                self._run(self._loosen(self.ready.pop(key)))
            elif not self._stir():
                return

    def _run(self, cohort: Cohort) -> None:
        code = self._launch.code
        functions, executed, ready = code.functions, code.executed, self.ready
        pc = cohort.pc
        while True:
            executed[pc] += cohort.rows
            pc = functions[pc](cohort, cohort.regs)
            if pc < 0:
                return
            cohort.pc = pc
            if ready and self.policy.gives_way(cohort, ready):
                self.add(cohort)
                return

    def _loosen(self, cohort: Cohort) -> Cohort:
        """Lets warps of a cohort drift apart, and operations complete, where the policy says so."""
        if self._launch.pending and self.policy.completes_early():
            self._launch.complete_one()
        parts = self.policy.splits(cohort)
        if parts is None:
            return cohort
        some, others = (cohort.select(np.flatnonzero(part), cohort.pc) for part in parts)
        self.add(some)
        return others

    # --- adding ----------------------------------------------------------------------------------

    def add(self, cohort: Cohort) -> None:
        """The cohort can run; it joins one that is at the same place."""
        _put(self.ready, cohort)

    def yield_to_others(self, cohort: Cohort, pc: int) -> None:
        """The cohort goes on at `pc` after the others had a turn."""
        cohort.pc = pc
        self.sleeping.append(cohort)

    def poll(self, cohort: Cohort, pc: int, *operands: Any) -> bool:
        """Before block `pc` reads memory that others may write: whether to go on.

        A cohort that has read with the same operands before and finds memory unchanged waits
        instead: it would spin. So do lanes that are back in the same state, as another cohort.
        """
        seen = self._launch.version, *(np.asarray(x).tobytes() for x in operands)
        if self._visits.repeats(cohort, pc) or cohort.polls.get(pc) == seen:
            cohort.pc = pc
            self._version = self._launch.version
            self.polling.append(cohort)
            return False
        cohort.polls[pc] = seen
        return True

    def _wake_pollers(self) -> None:
        self._fruitless = 0
        polling, self.polling = self.polling, []
        for cohort in polling:
            self.add(cohort)

    def converge(self, cohort: Cohort) -> bool:
        """Whether each warp of the cohort has all its threads here; otherwise lanes wait."""
        active = cohort.active
        present = active.any(axis=1)
        missing = (active != self._launch.live[cohort.warps]).any(axis=1) & present
        if present.all() and not missing.any():
            return True
        self.await_lanes(cohort, missing)
        return False

    def await_lanes(self, cohort: Cohort, waits: Array) -> None:
        """Warps in `waits` stay in front of an instruction until more of their lanes are here.

        Whoever joins them makes them look again.
        """
        others = np.flatnonzero(~waits & cohort.active.any(axis=1))
        if len(others):
            self.add(cohort.select(others, cohort.pc))
        if not waits.any():
            return
        staying = cohort.select(np.flatnonzero(waits), cohort.pc)
        key = staying.key
        if key in self.early:
            self.add(self.early.pop(key).join(staying))
        else:
            self.early[key] = staying

    def threads_left(self) -> None:
        """Threads have exited: warps that waited for them look again."""
        early, self.early = self.early, {}
        for cohort in early.values():
            self.add(cohort)

    # --- when nobody can run ---------------------------------------------------------------------

    def _stir(self) -> bool:
        """Makes something happen; False when all is done."""
        if self.sleeping:
            sleeping, self.sleeping = self.sleeping, []
            for cohort in sleeping:
                self.add(cohort)
            return True
        if self._launch.start_blocks():
            return True
        if self._launch.pending:
            self._launch.complete_one()
            return True
        if self.polling and self._fruitless < _FRUITLESS:
            fruitless = self._fruitless + 1
            self._visits.clear()
            for cohort in self.polling:
                cohort.polls.clear()
            self._wake_pollers()
            self._fruitless = fruitless
            return True
        if self._launch.finished:
            return False
        self._deadlock()

    def waiting(self) -> list[Waiting]:
        """Every cohort that waits, with what for."""
        launch = self._launch
        found = [Waiting(w, "other threads of the warp or warpgroup") for w in self.early.values()]
        found += [Waiting(w, "a change of memory") for w in self.polling]
        found += launch.barriers.waiting() + launch.cluster_barrier.waiting()
        return found + launch.mbarriers.waiting()

    def _deadlock(self) -> NoReturn:
        raise ThreadFault(table(self._launch, self.waiting()), at=None)


def _put(pool: dict[Any, Cohort], cohort: Cohort) -> Cohort:
    key = cohort.key
    other = pool.get(key)
    if other is not None:
        cohort = other.join(cohort)
    pool[key] = cohort
    return cohort
