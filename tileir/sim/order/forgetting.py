"""Which reads of shared memory no later access can conflict with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .clocks import Array
from .happens_before import HappensBefore
from .history import Limits

if TYPE_CHECKING:
    from ..machine.launch import Launch

_ALL = np.iinfo(np.int64).max


class Forgetting:
    """For each slot the numbers of entries of `Readers` below which all is forgotten.

    A barrier at which all threads of a block wait puts what they read before in order for
    everything to come. A copy may overwrite it if each thread had a proxy fence, too: after the
    barrier before, which tells what it read from what it has read since, and before this one.
    """

    def __init__(self, order: HappensBefore, launch: Launch):
        self._order = order
        self._launch = launch
        self._ordered = np.zeros(launch.slot_count, np.int64)
        self._fenced = np.zeros(launch.slot_count, np.int64)
        self._epochs = np.zeros(launch.live.size, np.int32)  # of threads at their last barrier

    @property
    def below(self) -> int:
        """Entries below this number are forgotten by all."""
        return int(self._fenced.min())

    def of(self, threads: Array) -> Limits:
        slots = threads // (32 * self._launch.warps_per_block)
        return Limits(self._ordered[slots], self._fenced[slots])

    def start_block(self, slot: int, count: int) -> None:
        """`count`: entries there are so far."""
        self._ordered[slot] = self._fenced[slot] = count

    def end_block(self, slot: int) -> None:
        self._ordered[slot] = self._fenced[slot] = _ALL

    def met(self, slot: int, count: int) -> None:
        """All threads of the block wait at one barrier."""
        knowledge, launch = self._order.knowledge, self._launch
        first = slot * 32 * launch.warps_per_block
        threads = slice(first, first + launch.threads_per_block)
        if not knowledge.layout.proxies:
            self._fenced[slot] = count
        elif (knowledge.fenced_by_itself(threads) >= self._epochs[threads]).all():
            self._fenced[slot] = self._ordered[slot]
        self._ordered[slot] = count
        self._epochs[threads] = knowledge.own[0, threads]
