"""What each thread knows: its row of the clocks, and what it knows of itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .clocks import COLUMN_MASK, INSTANCE_SHIFT, NOTHING, Array, Clocks, Foreign, Layout, merged

if TYPE_CHECKING:
    from ..machine.launch import Launch

FOREVER = np.iinfo(np.int32).max
NOBODY = COLUMN_MASK
"""The column of whoever is no single agent."""

# Sections of a row: plain order, order with a proxy fence in between, and order with a fence for
# shared memory by the very thread that made the access, before it told anyone.
ORDERED, FENCED_SHARED, FENCED_GLOBAL, FENCED_BY_ITSELF = range(4)


class View(NamedTuple):
    """What some agents know at one moment; arrays have one entry each, or one for all.

    `agent` int64[m], `row` int32[m], `own` int32[k, m]: their own entries, see `Knowledge.own`.
    """

    agent: Array
    row: Array
    own: Array


class Gathered:
    """What several threads of one instance make known together."""

    def __init__(self, instance: int, width: int):
        self.instance = instance
        self.row = np.zeros(width, np.int32)
        self.foreign: Foreign = {}


class Knowledge:
    """The state of all threads of a launch, by slot * (threads per block) + thread.

    `agent` int64[threads] are their numbers, `row` int32[threads] what they know of others, and
    `own` int32[k, threads] of themselves, which no other thread shares: the epoch they are in, the
    last of their cp.async copies known to be done, and, where there are proxies, the same as it was
    at the last proxy fence for shared and for global memory, and for shared memory once more: what
    others make known behind their fences does not count there.

    A thread's accesses are always in order for itself. Warps count epochs together: a new one
    begins whenever a thread of the warp makes something known to others.
    """

    def __init__(self, launch: Launch, layout: Layout):
        self.launch = launch
        self.layout = layout
        self.clocks = Clocks(layout)
        self.clocks.roots.append(lambda: [self.row])
        self.version = 0
        self.instances: list[tuple[tuple[int, int, int], ...]] = [()]
        count = launch.live.size
        self.row = np.zeros(count, np.int32)
        self.agent = np.zeros(count, np.int64)
        self.own = np.zeros((len(layout.own), count), np.int32)
        self._own_per_section = layout.agents // layout.threads
        self._own_columns = np.array(layout.own)[:, None]

    # --- blocks ----------------------------------------------------------------------------------

    def start_block(self, slot: int, block: tuple[int, int, int]) -> None:
        """A block takes a slot; the first one of a cluster makes a new instance."""
        size, place = self.launch.cluster_size, slot % self.launch.cluster_size
        if place == 0:
            self.instances.append(())
        self.instances[-1] += (block,)
        per_block = self.launch.warps_per_block * 32
        threads = slice(slot * per_block, (slot + 1) * per_block)
        instance = len(self.instances) - 1
        self.agent[threads] = (
            (instance << INSTANCE_SHIFT) + place * per_block + np.arange(per_block)
        )
        self.row[threads] = NOTHING
        self.own[:, threads] = 0
        self.own[0, threads] = 1
        self.version += 1
        assert size * per_block <= COLUMN_MASK

    def instance_of(self, thread: int) -> int:
        return int(self.agent[thread]) >> INSTANCE_SHIFT

    # --- looking ---------------------------------------------------------------------------------

    def view(self, threads: Array) -> View:
        """Of threads int64[m] as they are now, for their own accesses."""
        own = self.own[:, threads]
        own[0] = FOREVER
        return View(self.agent[threads], self.row[threads], own)

    def snapshot(self, threads: Array) -> View:
        """Of threads int64[m] at the issue of operations: what they do later has no order."""
        return View(self.agent[threads], self.row[threads], self.own[:, threads])

    def knows(self, view: View, agent: Array, epoch: Array, section: int = ORDERED) -> Array:
        """Whether accesses of agents int64[m, c] in these epochs happened before.

        Negative agents stand for no access. In a section behind a fence only threads and cp.async
        have columns.
        """
        layout, rows = self.layout, self.clocks.rows
        column = agent & COLUMN_MASK
        start = section * layout.agents
        instance = view.agent >> INSTANCE_SHIFT
        local = agent >> INSTANCE_SHIFT == instance[:, None]
        if section:
            local &= column < layout.agents
        known = rows[view.row[:, None], np.where(local, column + start, 0)] >= epoch
        from_own = column - (view.agent & COLUMN_MASK)[:, None]
        first = section * self._own_per_section
        known |= (from_own == 0) & (view.own[first][:, None] >= epoch)
        if layout.copies:
            known |= (from_own == layout.threads) & (view.own[first + 1][:, None] >= epoch)
        known &= local
        known |= agent < 0
        if self.clocks._foreign and not known.all():
            self._look_abroad(view, agent, epoch, start, known, local)
        return known

    def _look_abroad(self, view: View, agent: Array, epoch: Array, start: int, known: Array,
                     local: Array) -> None:  # fmt: skip
        """Fills in what is known of other instances."""
        rows = np.broadcast_to(view.row[:, None], known.shape)
        instances = agent >> INSTANCE_SHIFT
        open_ = ~known & ~local
        for row, instance in {*zip(rows[open_].tolist(), instances[open_].tolist(), strict=True)}:
            there = self.clocks.foreign(row).get(instance)
            if there is None:
                continue
            chosen = open_ & (rows == row) & (instances == instance)
            column = (agent[chosen] & COLUMN_MASK) + start
            inside = column < len(there)
            known[chosen] = inside & (there[np.where(inside, column, 0)] >= epoch[chosen])

    def fenced_by_itself(self, threads: slice) -> Array:
        """In which epochs threads had their last proxy fences for shared memory; 0 for none."""
        return self.own[FENCED_BY_ITSELF * self._own_per_section, threads]

    # --- telling ---------------------------------------------------------------------------------

    def gathered(self, thread: int) -> Gathered:
        """Nothing yet, for the instance of a thread."""
        return Gathered(self.instance_of(thread), self.clocks.width)

    def tell(self, threads: Array, into: Gathered, row: Array | None = None,
             own: Array | None = None) -> None:  # fmt: skip
        """Adds what threads know, and what they did so far (or as they were at a moment: `row`,
        `own`)."""
        rows = self.row[threads] if row is None else row
        mine = self.own[:, threads] if own is None else own
        into.row = self.clocks.padded(into.row)
        for number in set(rows.tolist()):
            np.maximum(into.row, self.clocks.rows[number], out=into.row)
            into.foreign = merged(into.foreign, self.clocks.foreign(number))
        columns = self._own_columns + (self.agent[threads] & COLUMN_MASK)
        into.row[columns] = np.maximum(into.row[columns], mine)

    def advance(self, warps: Iterable[int] | Array) -> None:
        """What these warps do from now on is not yet known to others."""
        self.own[0].reshape(-1, 32)[warps] += 1
        self.version += 1

    def meet(self, threads: Array) -> None:
        """The threads of warps, int64[n, 32], which share a row a warp, tell each other all."""
        rows = self.clocks.copies_of(self.row[threads[:, 0]])
        columns = self._own_columns[:, None] + (self.agent[threads] & COLUMN_MASK)
        table, where = self.clocks.rows, (rows[None, :, None], columns)
        table[where] = np.maximum(table[where], self.own[:, threads])
        self.row[threads] = rows[:, None]

    # --- learning --------------------------------------------------------------------------------

    def learn(self, threads: Array, row: int) -> None:
        """Threads of the row's own instance learn what it says."""
        clocks = self.clocks
        for mine in set(self.row[threads].tolist()):
            joined = clocks.join(mine, row)
            if joined != mine:
                self.row[threads[self.row[threads] == mine]] = joined
                self.version += 1

    def learn_abroad(self, thread: int, told: Gathered) -> None:
        """A thread learns what was gathered, perhaps in another instance."""
        instance, clocks = self.instance_of(thread), self.clocks
        if self._has_learnt(thread, told, instance):
            return
        if told.instance == instance:
            row = clocks.add(told.row, told.foreign)
        else:
            foreign = merged({told.instance: told.row}, told.foreign)
            here = foreign.get(instance, clocks.rows[NOTHING])
            row = clocks.add(here, {k: x for k, x in foreign.items() if k != instance})
        self.learn(np.array([thread]), row)

    def _has_learnt(self, thread: int, told: Gathered, instance: int) -> bool:
        mine = int(self.row[thread])
        known = {**self.clocks.foreign(mine), instance: self.clocks.rows[mine]}
        heard = {**told.foreign, told.instance: told.row}
        return merged(known, heard) is known

    def raise_column(self, threads: Array, column: int, epoch: int) -> None:
        """Threads learn that an agent's accesses up to an epoch are done."""
        for mine in set(self.row[threads].tolist()):
            raised = self.clocks.raised(mine, column, epoch)
            if raised != mine:
                self.row[threads[self.row[threads] == mine]] = raised
                self.version += 1

    def fence(self, threads: Array, shared: bool, global_: bool) -> None:
        """A proxy fence: what threads know, and did, is behind it."""
        per = self._own_per_section
        for wanted, section in (
            (shared, FENCED_SHARED), (global_, FENCED_GLOBAL), (shared, FENCED_BY_ITSELF),
        ):  # fmt: skip
            if wanted:
                start = section * per
                self.own[start : start + per, threads] = self.own[:per, threads]
        for mine in set(self.row[threads].tolist()):
            fenced = self.clocks.fenced(mine, shared, global_)
            self.row[threads[self.row[threads] == mine]] = fenced
        self.version += 1
