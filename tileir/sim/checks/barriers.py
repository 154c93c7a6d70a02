"""Barriers of a block: all who meet at one must name the same number of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..machine.faults import ThreadFault
from ..observer import BarrierArrival, Observer
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_REMEDY = "all bar.sync and bar.arrive of one barrier must name the same count"


class BarrierCounts(Observer):
    """Keeps the count, and the instruction, of the first arrival in each phase."""

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._open: dict[tuple[int, int], tuple[int, Instruction]] = {}

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        for key in [key for key in self._open if key[0] == slot]:
            del self._open[key]

    def barrier_arrived(self, arrival: BarrierArrival) -> None:
        if arrival.number[0] < 0:  # of the cluster
            return
        expected = arrival.expected
        if _names_no_count(arrival.site):
            expected = np.full_like(expected, self._launch.warps_per_block * 32)
        slots = arrival.warps // self._launch.warps_per_block
        keys = zip(slots.tolist(), arrival.number.tolist(), expected.tolist(), strict=True)
        for slot, number, count in dict.fromkeys(keys):
            first, site = self._open.setdefault((slot, number), (count, arrival.site))
            if first != count:
                row = int(((slots == slot) & (arrival.number == number)).argmax())
                raise ThreadFault(
                    f"barrier {number} of {self._launch.slot_name(slot)} is for {count} threads "
                    f"here and for {first} at {place(site)}", _REMEDY,
                    thread=int(arrival.warps[row]) * 32, at=arrival.site,
                )  # fmt: skip

    def barrier_completed(self, slot: int, number: int) -> None:
        self._open.pop((slot, number), None)


def _names_no_count(site: Instruction) -> bool:
    """bar.sync a; bar.red...p, a, q: all threads of the block."""
    return len(site.operands) == (3 if "red" in site.parts else 1)
