"""bar.arrive: a thread arrives again only when it knows that the phase it arrived in is complete.

Otherwise both arrivals may count in one phase, which then goes on without a thread that is still to
come. Barriers count arrivals and do not ask whose they are. Whoever waits (bar.sync, bar.red) knows
the phase to be complete; after a bar.arrive a thread must hear it from one that has left the phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..machine.faults import ThreadFault
from ..observer import BarrierArrival, Observer
from ..order.happens_before import HappensBefore
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.cohort import Array
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_ALL = np.ones(32, bool)
_REMEDY = "use another barrier for what comes next, or wait for a thread that has left this phase"


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A warp's last bar.arrive at a barrier: its lanes bool[32]; the completion of the phase in
    which it counts, as a column of the clocks and an epoch."""

    lanes: Array
    column: int
    epoch: int
    site: Instruction


class Arrivals(Observer):
    """Must come in front of `order` on the list of observers."""

    def __init__(self, order: HappensBefore):
        self._order = order

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._last: dict[tuple[int, int], _Arrival] = {}

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        per_block = self._launch.warps_per_block
        for key in [key for key in self._last if key[0] // per_block == slot]:
            del self._last[key]

    def barrier_arrived(self, arrival: BarrierArrival) -> None:
        if arrival.number[0] < 0 or (arrival.waits and not self._last):  # of the cluster
            return
        pairs = zip(arrival.warps.tolist(), arrival.number.tolist(), strict=True)
        for row, (warp, number) in enumerate(pairs):
            lanes = _ALL if arrival.active is None else arrival.active[row]
            last = self._last.get((warp, number))
            if last is not None and (last.lanes & lanes).any():
                self._must_be_complete(last, warp, lanes, arrival, number)
            if not arrival.waits:
                self._note(warp, number, lanes, last, arrival.site)

    def _must_be_complete(
        self, last: _Arrival, warp: int, lanes: Array, arrival: BarrierArrival, number: int
    ) -> None:
        """The lanes of a warp arrive together: it does for one of them to know."""
        knowledge = self._order.knowledge
        threads = warp * 32 + np.flatnonzero(lanes)
        known = knowledge.clocks.rows[knowledge.row[threads], last.column]
        if (known < last.epoch).all():
            raise ThreadFault(
                f"a thread arrives again at barrier {number} of "
                f"{self._launch.slot_name(warp // self._launch.warps_per_block)}, and nothing "
                f"orders this behind the end of the phase in which its bar.arrive at "
                f"{place(last.site)} counts: both may count in it",
                _REMEDY, thread=int(threads[0]), at=arrival.site,
            )  # fmt: skip

    def _note(
        self, warp: int, number: int, lanes: Array, last: _Arrival | None, site: Instruction
    ) -> None:
        barrier = self._order.follow(warp // self._launch.warps_per_block, number)
        assert barrier.column is not None
        if last is not None and last.epoch == barrier.epoch:
            lanes = lanes | last.lanes
        self._last[warp, number] = _Arrival(lanes, barrier.column, barrier.epoch, site)
