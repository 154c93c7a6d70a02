"""Order that passes through memory: releases, acquires and fences.

A release pattern is a release, or a strong write behind a fence; an acquire pattern an acquire,
or a strong read in front of a fence. They order what comes before the one and behind the other
if the read takes its value from the write, or from atomic updates that follow it, and the scopes
of both include the other's thread.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..observer import Access, Fence, Order
from .clocks import COLUMN_MASK, INSTANCE_SHIFT, Array, merged
from .knowledge import Gathered, Knowledge

SCOPES = {"cta": 1, "cluster": 2, "gpu": 3, "sys": 4}
_RELEASES = ("release", "acq_rel", "sc")
_ACQUIRES = ("acquire", "acq_rel", "sc")


class Release(NamedTuple):
    """What a release at a location makes known, as far as its scope, from thread `agent`."""

    told: Gathered
    scope: int
    agent: int


class Locations:
    """Strong accesses, and what they carry from thread to thread."""

    def __init__(self, knowledge: Knowledge):
        self._knowledge = knowledge
        self._at: dict[tuple[Any, int], list[Release]] = {}
        count = knowledge.launch.live.size
        # What each thread knew at its last fence, and how far that fence reaches.
        self._fenced_row = np.zeros(count, np.int32)
        self._fenced_own = np.zeros_like(knowledge.own)
        self._fenced_scope = np.zeros(count, np.int8)
        # What relaxed reads have seen and the next fence makes known.
        self._seen: dict[int, list[Release]] = {}
        self._rows_seen: dict[int, int] = {}
        knowledge.clocks.roots.append(lambda: [self._fenced_row, list(self._rows_seen.values())])

    def access(self, access: Access) -> None:
        """A strong access, or an atomic one."""
        threads = access.warps[:, None] * 32 + np.arange(32)
        active = slice(None) if access.active is None else access.active
        threads, offsets = threads[active].ravel(), access.offset[active].ravel()
        scope = SCOPES[access.scope or "sys"]
        reads, writes = access.kind != "store", access.kind != "load"
        releases = writes and access.order in _RELEASES
        if writes and not releases:
            releases = bool(self._fenced_scope[threads].any())
        if not releases and not self._at:
            return
        for thread, offset in zip(threads.tolist(), offsets.tolist(), strict=True):
            place = access.storage, offset
            found = self._at.get(place)
            if reads and found:
                self._acquire(thread, found, scope, access.order)
            if writes and releases:
                keeps = found if reads and found else []
                mine = self._released(thread, scope, access.order)
                self._at[place] = _with(keeps, mine) if mine else keeps
            elif writes and not reads and found:
                del self._at[place]
        if releases:
            self._knowledge.advance(np.unique(threads // 32))

    def start_block(self, slot: int) -> None:
        per_block = self._knowledge.launch.warps_per_block * 32
        self._fenced_scope[slot * per_block : (slot + 1) * per_block] = 0
        for thread in range(slot * per_block, (slot + 1) * per_block):
            self._seen.pop(thread, None)
            self._rows_seen.pop(thread, None)

    def _released(self, thread: int, scope: int, order: Order) -> Release | None:
        knowledge, one = self._knowledge, np.array([thread])
        told = knowledge.gathered(thread)
        if order in _RELEASES:
            knowledge.tell(one, told)
        elif self._fenced_scope[thread]:
            scope = min(scope, int(self._fenced_scope[thread]))
            self.tell_fenced(one, told)
        else:
            return None
        return Release(told, scope, int(knowledge.agent[thread]))

    def tell_fenced(self, threads: Array, into: Gathered) -> None:
        """Adds what threads knew at their last fences."""
        behind = threads[self._fenced_scope[threads] > 0]
        if len(behind):
            row, own = self._fenced_row[behind], self._fenced_own[:, behind]
            self._knowledge.tell(behind, into, row, own)

    def _acquire(self, thread: int, found: list[Release], scope: int, order: Order) -> None:
        for one in found:
            if not self._in_scope(one, thread, scope):
                continue
            if order in _ACQUIRES:
                self._knowledge.learn_abroad(thread, one.told)
            else:
                self._seen.setdefault(thread, []).append(one)

    def _in_scope(self, release: Release, thread: int, scope: int) -> bool:
        reach = min(release.scope, scope)
        agent = int(self._knowledge.agent[thread])
        if reach >= SCOPES["gpu"]:
            return True
        if agent >> INSTANCE_SHIFT != release.agent >> INSTANCE_SHIFT:
            return False
        per_block = self._knowledge.launch.warps_per_block * 32
        same = (agent & COLUMN_MASK) // per_block == (release.agent & COLUMN_MASK) // per_block
        return same or reach == SCOPES["cluster"]

    def acquire_row(self, threads: Array, row: int, order: Order) -> None:
        """Threads have seen what a row says: they know it, or will behind their next fence."""
        if order == "relaxed":
            self._rows_seen.update(dict.fromkeys(threads.tolist(), row))
        else:
            self._knowledge.learn(threads, row)

    def fence(self, fence: Fence) -> None:
        knowledge, scope = self._knowledge, SCOPES[fence.scope or "sys"]
        threads = fence.warps[:, None] * 32 + np.arange(32)
        threads = threads.ravel() if fence.active is None else threads[fence.active]
        if self._seen or self._rows_seen:
            for thread in threads.tolist():
                for release in self._seen.pop(thread, ()):
                    if self._in_scope(release, thread, scope):
                        knowledge.learn_abroad(thread, release.told)
                if thread in self._rows_seen:
                    knowledge.learn(np.array([thread]), self._rows_seen.pop(thread))
        self._fenced_row[threads] = knowledge.row[threads]
        self._fenced_own[:, threads] = knowledge.own[:, threads]
        self._fenced_scope[threads] = scope
        knowledge.advance(fence.warps)


def _with(found: list[Release], mine: Release) -> list[Release]:
    """One more release at a location whose earlier ones still count; those alike become one."""
    rest = []
    for one in found:
        alike = one.told.instance == mine.told.instance and one.scope == mine.scope
        if not alike or one.scope == SCOPES["cta"]:
            rest.append(one)
            continue
        size = max(len(one.told.row), len(mine.told.row))
        told = Gathered(mine.told.instance, size)
        for part in (one.told, mine.told):
            np.maximum(told.row[: len(part.row)], part.row, out=told.row[: len(part.row)])
            told.foreign = merged(told.foreign, part.foreign)
        mine = Release(told, mine.scope, mine.agent)
    return [*rest, mine]
