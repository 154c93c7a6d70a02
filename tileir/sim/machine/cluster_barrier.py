"""The barrier of a cluster: barrier.cluster.arrive and wait."""

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

_NUMBER = -1


class ClusterBarrier:
    """Arrivals by warp and by cluster.

    `_phase` counts, for each warp, the phases it has arrived in, `_waited` those it has waited
    for; `_done` counts, for each cluster, those complete. A warp that has arrived in phase k waits
    until k + 1 phases are done.
    """

    def __init__(self, launch: Launch):
        self._launch = launch
        self._size = launch.cluster_size
        self._phase = np.zeros(len(launch.live), np.int64)
        self._waited = np.zeros_like(self._phase)
        self._done = np.zeros(launch.slot_count // self._size, np.int64)
        self._waiting: dict[Any, tuple[Cohort, Instruction]] = {}

    def waiting(self) -> list[Waiting]:
        return [
            Waiting(cohort, "the barrier of its cluster", self._missing(cohort))
            for cohort, _ in self._waiting.values()
        ]

    def _missing(self, cohort: Cohort) -> list[str]:
        found = []
        per_cluster = self._size * self._launch.warps_per_block
        for cluster in np.unique(cohort.slots // self._size).tolist():
            phases = self._phase[cluster * per_cluster : (cluster + 1) * per_cluster]
            arrived = int((phases > self._done[cluster]).sum())
            first = self._launch.slot_name(cluster * self._size)
            found.append(f"cluster of {first}: {arrived} of {per_cluster} warps have arrived")
        return found

    def reset(self, slot: int) -> None:
        first = slot * self._launch.warps_per_block
        self._phase[first : first + self._launch.warps_per_block] = 0
        self._waited[first : first + self._launch.warps_per_block] = 0
        self._done[slot // self._size] = 0

    def arrive(self, w: Cohort, order: Any, site: Instruction) -> None:
        clusters = w.slots // self._size
        twice = self._phase[w.warps] > self._waited[w.warps]
        if twice.any():
            raise ThreadFault(
                "barrier.cluster.arrive twice without a wait in between",
                thread=int(w.threads[twice][0, 0]),
            )
        if self._launch.watch:
            expected = np.full(len(w.warps), self._size * self._launch.threads_per_block)
            number = np.full(len(w.warps), _NUMBER)
            self._launch.watch.barrier_arrived(
                BarrierArrival(number, expected, False, order, site, w.warps, w.mask)
            )
        self._phase[w.warps] += 1
        self._complete(np.unique(clusters))

    def wait(self, w: Cohort, site: Instruction, following: int) -> bool:
        """Whether all warps of `w` may go on; those that must wait are kept here."""
        early = self._phase[w.warps] == self._waited[w.warps]
        if early.any():
            raise ThreadFault(
                "barrier.cluster.wait without an arrive before it",
                thread=int(w.threads[early][0, 0]),
            )
        through = self._through(w)
        self._leave(w, through, site)
        if through.all():
            return True
        if through.any():
            self._launch.scheduler.add(w.select(np.flatnonzero(through), following))
        staying = w.select(np.flatnonzero(~through), following)
        key = staying.key
        if key in self._waiting:
            staying = self._waiting[key][0].join(staying)
        self._waiting[key] = staying, site
        return False

    def _through(self, w: Cohort) -> Array:
        return self._done[w.slots // self._size] >= self._phase[w.warps]

    def _complete(self, clusters: Array) -> None:
        launch = self._launch
        per_cluster = self._size * launch.warps_per_block
        alive = launch.live.any(axis=1).reshape(-1, per_cluster)[clusters]
        arrived = self._phase.reshape(-1, per_cluster)[clusters] > self._done[clusters][:, None]
        done = (arrived | ~alive).all(axis=1) & arrived.any(axis=1)
        if not done.any():
            return
        self._done[clusters[done]] += 1
        if launch.watch:
            for cluster in clusters[done].tolist():
                launch.watch.barrier_completed(cluster * self._size, _NUMBER)
        for key, (cohort, site) in list(self._waiting.items()):
            through = self._through(cohort)
            if not through.any():
                continue
            del self._waiting[key]
            self._leave(cohort, through, site)
            launch.scheduler.add(cohort.select(np.flatnonzero(through), cohort.pc))
            if not through.all():
                rest = cohort.select(np.flatnonzero(~through), cohort.pc)
                self._waiting[key] = rest, site

    def _leave(self, w: Cohort, through: Array, site: Instruction) -> None:
        self._waited[w.warps[through]] = self._phase[w.warps[through]]
        if self._launch.watch and through.any():
            mask = None if w.mask is None else w.mask[through]
            number = np.full(int(through.sum()), _NUMBER)
            self._launch.watch.barrier_left(number, "acquire", site, w.warps[through], mask)

    def threads_left(self, slots: Array) -> None:
        """Exited threads count as arrived."""
        self._complete(np.unique(slots // self._size))
