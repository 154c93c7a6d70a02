"""Follows a run and keeps for each thread what happened before its next step.

An order between threads comes from barriers, from mbarriers, and from memory: a release that an
acquire reads from (`locations`). What asynchronous operations do becomes known to those who wait
for it: a group of cp.async or bulk copies or of wgmma products, or a phase of an mbarrier
(`operations`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..observer import Access, BarrierArrival, Fence, MbarrierEvent, Observer, Order
from .clocks import NOTHING, Array, Layout
from .knowledge import Gathered, Knowledge
from .locations import Locations
from .operations import Operations

if TYPE_CHECKING:
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_BARRIERS = 17  # keys of a slot: 16 barriers, and that of its cluster in front
_COPIES = "cp.async"
_PROXY_USERS = ("cp.async.bulk", "cp.reduce.async.bulk", "wgmma")


@dataclass(slots=True)
class Meeting:
    """A barrier of a block or cluster: what those who have arrived told (`told`, None before the
    first), the row of the last complete phase.

    If somebody follows its completions, `column` stands for them; epochs count them.
    """

    column: int | None = None
    told: Gathered | None = None
    completed: int = 0
    done: int = NOTHING

    @property
    def epoch(self) -> int:
        """That of the completion of the phase in progress."""
        return self.completed + 1


@dataclass(slots=True)
class Phases:
    """An mbarrier: what its arrivals so far told (`told`), the row of its last complete phase.

    `column` stands for the copies that complete on it, whose epochs are `base` and up.
    """

    told: Gathered
    column: int
    base: int
    phase: int = 0
    done: int = NOTHING

    @property
    def epoch(self) -> int:
        """That of copies which complete in the phase in progress."""
        return self.base + self.phase + 1


class HappensBefore(Observer):
    """The order of everything, for checks to ask.

    It must come behind those who ask on the list of observers: a release makes known what came
    before it.
    """

    knowledge: Knowledge
    operations: Operations
    locations: Locations

    def launch_started(self, launch: Launch) -> None:
        opcodes = [site.opcode for site in launch.code.sites]
        copies = any(one.startswith(_COPIES) and "bulk" not in one for one in opcodes)
        proxies = any(one.startswith(_PROXY_USERS) for one in opcodes)
        threads = launch.cluster_size * launch.warps_per_block * 32
        self.launch = launch
        self.knowledge = Knowledge(launch, Layout(threads, copies, proxies))
        self.phases: dict[int, Phases] = {}
        self.operations = Operations(self.knowledge, self.phases)
        self.locations = Locations(self.knowledge)
        self._meetings: defaultdict[int, Meeting] = defaultdict(Meeting)
        self._epochs_used: dict[int, int] = {}
        self.knowledge.clocks.roots.append(self._rows_in_use)

    def _rows_in_use(self) -> list[Any]:
        return [[one.done for one in (*self._meetings.values(), *self.phases.values())]]

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        stride = self.launch.shared.stride
        for offset in [o for o in self.phases if o // stride == slot]:
            del self.phases[offset]
        for key in range(slot * _BARRIERS, (slot + 1) * _BARRIERS):
            if key in self._meetings:
                self._meetings[key].told = None
        self.knowledge.start_block(slot, block)
        self.operations.start_block(slot)
        self.locations.start_block(slot)

    def threads_of(self, warps: Array, active: Array | None) -> Array:
        """int64[m], the active lanes."""
        threads = warps[:, None] * 32 + np.arange(32)
        return threads.ravel() if active is None else threads[active]

    # --- barriers --------------------------------------------------------------------------------

    def _keys(self, warps: Array, number: Array) -> Array:
        """int64[n], which barrier of which slot or cluster."""
        slots = warps // self.launch.warps_per_block
        first = slots - slots % self.launch.cluster_size
        return np.where(number < 0, first, slots) * _BARRIERS + number + 1

    def follow(self, slot: int, number: int) -> Meeting:
        """A barrier of a block, the completions of whose phases have a column from now on."""
        meeting = self._meetings[slot * _BARRIERS + number + 1]
        if meeting.column is None:
            place = slot % self.launch.cluster_size
            meeting.column = self.knowledge.layout.named("barrier", place, number)
            self.knowledge.clocks.reserve(meeting.column)
        return meeting

    def barrier_arrived(self, arrival: BarrierArrival) -> None:
        self.knowledge.clocks.tidy()
        keys = self._keys(arrival.warps, arrival.number)
        for key in np.unique(keys).tolist():
            rows = keys == key
            active = None if arrival.active is None else arrival.active[rows]
            threads = self.threads_of(arrival.warps[rows], active)
            if not len(threads):
                continue
            meeting = self._meetings[key]
            if meeting.told is None:
                meeting.told = self.knowledge.gathered(int(threads[0]))
            self._release(threads, meeting.told, arrival.order)
        self.knowledge.advance(arrival.warps)

    def _release(self, threads: Array, into: Gathered, order: Order) -> None:
        if order == "relaxed":
            self.locations.tell_fenced(threads, into)
        else:
            self.knowledge.tell(threads, into)

    def barrier_completed(self, slot: int, number: int) -> None:
        meeting, clocks = self._meetings[slot * _BARRIERS + number + 1], self.knowledge.clocks
        told, meeting.told, meeting.done = meeting.told, None, NOTHING
        if told is not None:
            told.row = clocks.padded(told.row)
            if meeting.column is not None:
                told.row[meeting.column] = meeting.epoch
            meeting.done = clocks.add(told.row, told.foreign)
        meeting.completed += 1

    def barrier_left(
        self, number: Array, order: Order, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        keys = self._keys(warps, number)
        for key in np.unique(keys).tolist():
            rows = keys == key
            lanes = None if active is None else active[rows]
            done = self._meetings[key].done
            self.knowledge.learn(self.threads_of(warps[rows], lanes), done)

    # --- warps -----------------------------------------------------------------------------------

    def warp_synced(self, site: Instruction, warps: Array, members: Array) -> None:
        """Shuffles and votes order no memory accesses; bar.warp.sync does."""
        if not site.opcode.startswith("bar.warp.sync"):
            return
        knowledge = self.knowledge
        knowledge.clocks.tidy()
        threads = warps[:, None] * 32 + np.arange(32)
        rows = knowledge.row[threads]
        whole = members.all(axis=1) & (rows == rows[:, :1]).all(axis=1)
        if whole.any():
            knowledge.meet(threads[whole])
        for row in np.flatnonzero(~whole & members.any(axis=1)).tolist():
            some = threads[row][members[row]]
            told = knowledge.gathered(int(some[0]))
            knowledge.tell(some, told)
            knowledge.learn(some, knowledge.clocks.add(told.row, told.foreign))
        knowledge.advance(warps)

    # --- mbarriers -------------------------------------------------------------------------------

    def mbarrier(self, event: MbarrierEvent) -> None:
        offset, kind = event.offset, event.kind
        if kind == "init":
            slot, inside = divmod(offset, self.launch.shared.stride)
            column = self.knowledge.layout.named(
                "mbarrier", slot % self.launch.cluster_size, inside
            )
            self.knowledge.clocks.reserve(column)
            base = self._epochs_used.get(offset, 0)
            told = self.knowledge.gathered(int(event.threads[0]))
            self.phases[offset] = Phases(told, column, base)
            return
        phases = self.phases[offset]
        if kind in ("arrive", "drop"):
            if event.operation is not None:
                self.operations.tell_arrival(event.operation, phases.told)
                return
            self._release(event.threads, phases.told, event.order)
            self.knowledge.advance(np.unique(event.threads // 32))
        elif kind == "wait" and phases.done != NOTHING:
            self.locations.acquire_row(event.threads, phases.done, event.order)

    def mbarrier_completed(self, storage: Any, offset: int, phase: int) -> None:
        clocks, phases = self.knowledge.clocks, self.phases[offset]
        clocks.tidy()
        phases.told.row = clocks.padded(phases.told.row)
        phases.told.row[phases.column] = self._epochs_used[offset] = phases.epoch
        phases.done = clocks.add(phases.told.row, phases.told.foreign)
        phases.phase = phase + 1

    # --- memory ----------------------------------------------------------------------------------

    def access(self, access: Access) -> None:
        if access.order != "weak" or access.kind in ("atomic", "reduce"):
            self.locations.access(access)

    def fence(self, fence: Fence) -> None:
        if fence.kind == "thread":
            self.locations.fence(fence)
        elif fence.kind == "proxy.async" and self.knowledge.layout.proxies:
            space = fence.space or ""
            threads = self.threads_of(fence.warps, fence.active)
            self.knowledge.clocks.tidy()
            self.knowledge.fence(threads, space != "global", not space.startswith("shared"))
            self.knowledge.advance(fence.warps)

    # --- asynchronous operations -----------------------------------------------------------------

    def async_issued(self, operation: Any) -> None:
        self.operations.issued(operation)

    def async_completed(self, operation: Any) -> None:
        self.operations.completed(operation)

    def group_committed(
        self, kind: str, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        self.operations.committed(kind, warps, self.threads_of(warps, active))

    def group_waited(
        self, kind: str, allowed: int, read_only: bool, site: Instruction, warps: Array,
        active: Array | None,
    ) -> None:  # fmt: skip
        threads = self.threads_of(warps, active)
        self.knowledge.clocks.tidy()
        self.operations.waited(kind, allowed, read_only, warps, threads)
