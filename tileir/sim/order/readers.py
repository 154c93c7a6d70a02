"""Lists of the threads that have read each granule of memory since it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .clocks import Array

NONE = -1

_FIRST_SIZE = 1024
_ROOM = 1 << 20  # entries below which nothing is cleared away
_COLUMNS = ("agent", "epoch", "lanes", "mark", "next")
_LANE = np.arange(32)


class Reads(NamedTuple):
    """Earlier reads, int64[k] each: by which agents, in which epochs, marked how, and to which
    granule of the access in question (its place in the flat array of granules)."""

    agent: Array
    epoch: Array
    mark: Array
    place: Array


class Readers:
    """Entries that form lists; granules share their ends. An entry's number never changes.

    An entry is a warp (the agent of its first lane), an epoch, lanes, the mark of the access, and
    the number of the next entry, NONE at the end. What lies below `first` is cleared away.
    """

    def __init__(self) -> None:
        self.first = self.count = 0
        self.agent = np.zeros(_FIRST_SIZE, np.int64)
        self.epoch = np.zeros(_FIRST_SIZE, np.int64)
        self.lanes = np.zeros(_FIRST_SIZE, np.uint32)
        self.mark = np.zeros(_FIRST_SIZE, np.int32)
        self.next = np.zeros(_FIRST_SIZE, np.int64)

    def add(self, agent: Array, epoch: Array, lanes: Array, mark: Any, following: Array) -> Array:
        """New entries, one for each of `following`; their numbers."""
        size, start = len(following), self.count - self.first
        while start + size > len(self.agent):
            for name in _COLUMNS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate((old, np.zeros_like(old))))
        where = slice(start, start + size)
        self.agent[where], self.epoch[where], self.lanes[where] = agent, epoch, lanes
        self.mark[where], self.next[where] = mark, following
        numbers = np.arange(self.count, self.count + size)
        self.count += size
        return numbers

    def clear_below(self, number: int) -> None:
        """Nobody asks for entries below `number` any more."""
        if number - self.first < _ROOM or 2 * (number - self.first) < self.count - self.first:
            return
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[number - self.first :].copy())
        self.first = number

    def repeat(self, head: Array, agent: Array, lanes: Array, mark: int, since: Array) -> Array:
        """Whether entries `head` are reads of the same warps, by no other lanes, marked alike.

        Entries below `since` may belong to several granules and do not count.
        """
        where = np.maximum(head - self.first, 0)
        same = (head >= np.maximum(since, self.first)) & (self.agent[where] == agent)
        return same & (self.mark[where] == mark) & (self.lanes[where] & ~lanes == 0)

    def renew(self, head: Array, epoch: Array, lanes: Array) -> None:
        """The reads of these entries happen again."""
        self.epoch[head - self.first] = epoch
        self.lanes[head - self.first] = lanes

    def walk(self, heads: Array, limit: Array) -> Iterator[Reads]:
        """All reads on the lists that begin with `heads`, both int64[k], step by step; entries
        below `limit` are not looked at."""
        place = np.flatnonzero(heads >= limit)
        entry = heads[place]
        while len(entry):
            where = entry - self.first
            which, lane = np.nonzero(self.lanes[where][:, None] >> _LANE & 1)
            chosen = where[which]
            yield Reads(
                self.agent[chosen] + lane, self.epoch[chosen], self.mark[chosen], place[which]
            )
            entry = self.next[where]
            left = entry >= limit[place]
            entry, place = entry[left], place[left]
