"""Vector clocks of a cluster, kept as rows of one table.

What runs beside the rest of its cluster is an *agent* and has a column: each thread, the cp.async
copies of each thread, and, made when they first occur, the bulk copies of a thread, the products
of a warpgroup, the copies that complete on an mbarrier. An agent counts its *epochs*. A row says
of each agent up to which epoch its accesses happened before now. Threads that know the same share
a row: rows never change once they are in the table.

    columns   0 .. threads                the threads of the cluster
              threads .. agents           their cp.async copies (if the kernel has any)
              agents .. 3 agents          the same again, for accesses behind which there was a
                                          proxy fence: for shared, then for global memory
              3 agents .. 4 agents        and those behind which the agent itself had a proxy
                                          fence for shared memory before it told of them
              from there on               other agents

A cluster gets a new *instance* number when it starts. A row speaks of one instance; what is known
of others is in `foreign`: whole rows by instance number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Foreign = Mapping[int, Array]

NOTHING = 0
"""The row of who knows nothing."""

INSTANCE_SHIFT = 18
"""An agent's number is `instance << INSTANCE_SHIFT | column`."""
COLUMN_MASK = (1 << INSTANCE_SHIFT) - 1

_NONE: Foreign = {}
_SPARE_COLUMNS = 64
_FIRST_ROWS = 256


class Layout:
    """Which column is whose; `copies` and `proxies` say whether those columns exist."""

    def __init__(self, threads: int, copies: bool, proxies: bool):
        self.threads = threads
        self.copies = copies
        self.proxies = proxies
        self.agents = threads * (2 if copies else 1)
        self.first_named = self.agents * (4 if proxies else 1)
        self._named: dict[Any, int] = {}

    def named(self, *name: Any) -> int:
        """The column of another agent, a new one if there is none yet."""
        return self._named.setdefault(name, self.first_named + len(self._named))

    @property
    def width(self) -> int:
        return self.first_named + len(self._named)

    @property
    def own(self) -> list[int]:
        """Where a thread's own entries lie, relative to its column: see `Knowledge.own`."""
        sections = range(0, self.first_named, self.agents)
        return [s + part for s in sections for part in range(0, self.agents, self.threads)]


class Clocks:
    """The table: `rows` int32[rows, columns].

    Rows that nobody names any more are used again: `roots` are functions that list the rows
    in use.
    """

    def __init__(self, layout: Layout):
        self.layout = layout
        self.rows = np.zeros((_FIRST_ROWS, layout.width + _SPARE_COLUMNS), np.int32)
        self.roots: list[Callable[[], Iterable[Any]]] = []
        self._foreign: dict[int, Foreign] = {}
        self._free = list(range(_FIRST_ROWS - 1, NOTHING, -1))
        self._joined: dict[tuple[int, int], int] = {}
        self._raised: dict[tuple[int, int, int], int] = {}

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    def foreign(self, row: int) -> Foreign:
        return self._foreign.get(row, _NONE)

    def reserve(self, column: int) -> None:
        """Makes sure that a column exists."""
        while column >= self.width:
            self.rows = np.pad(self.rows, ((0, 0), (0, self.width)))

    def padded(self, row: Array) -> Array:
        """A row that was taken out of the table earlier, as long as those in it."""
        return row if len(row) == self.width else np.pad(row, (0, self.width - len(row)))

    # --- new rows --------------------------------------------------------------------------------

    def add(self, row: Array, foreign: Foreign = _NONE) -> int:
        number = self._take(1)[0]
        self.rows[number, : len(row)] = row
        self.rows[number, len(row) :] = 0
        if foreign:
            self._foreign[number] = foreign
        return number

    def copies_of(self, rows: Array) -> Array:
        """New rows equal to given ones, for the caller to change before anyone else sees them."""
        numbers = np.array(self._take(len(rows)), np.int32)
        self.rows[numbers] = self.rows[rows]
        for old, new in zip(rows.tolist(), numbers.tolist(), strict=True):
            if old in self._foreign:
                self._foreign[new] = self._foreign[old]
        return numbers

    def join(self, a: int, b: int) -> int:
        """What a and b know together."""
        key = a, b
        found = self._joined.get(key)
        if found is None:
            row = np.maximum(self.rows[a], self.rows[b])
            foreign = merged(self.foreign(a), self.foreign(b))
            same = foreign is self.foreign(a) and np.array_equal(row, self.rows[a])
            found = self._joined[key] = a if same else self.add(row, foreign)
        return found

    def raised(self, row: int, column: int, epoch: int) -> int:
        """A row that knows an agent up to an epoch, and what `row` knows."""
        self.reserve(column)
        if self.rows[row, column] >= epoch:
            return row
        key = row, column, epoch
        found = self._raised.get(key)
        if found is None:
            changed = self.rows[row].copy()
            changed[column] = epoch
            found = self._raised[key] = self.add(changed, self.foreign(row))
        return found

    def fenced(self, row: int, shared: bool, global_: bool) -> int:
        """`row` behind a proxy fence for shared or global memory."""
        key = row, -1 - shared - 2 * global_
        found = self._joined.get(key)
        if found is None:
            foreign = {k: self._behind_fence(x, shared, global_)
                       for k, x in self.foreign(row).items()}  # fmt: skip
            changed = self._behind_fence(self.rows[row], shared, global_)
            found = self._joined[key] = self.add(changed, foreign)
        return found

    def _behind_fence(self, row: Array, shared: bool, global_: bool) -> Array:
        n, row = self.layout.agents, row.copy()
        for wanted, start in ((shared, n), (global_, 2 * n)):
            if wanted:
                np.maximum(row[start : start + n], row[:n], out=row[start : start + n])
        return row

    # --- old rows --------------------------------------------------------------------------------

    def _take(self, count: int) -> list[int]:
        while len(self._free) < count:
            size = len(self.rows)
            self.rows = np.concatenate((self.rows, np.zeros_like(self.rows)))
            self._free[:0] = range(2 * size - 1, size - 1, -1)
        taken = self._free[-count:]
        del self._free[-count:]
        return taken

    def tidy(self) -> None:
        """Takes back unused rows if the table is nearly full; rows at hand must be in `roots`."""
        if len(self._free) * 4 > len(self.rows):
            return
        used = np.zeros(len(self.rows), bool)
        used[NOTHING] = True
        for root in self.roots:
            for numbers in root():
                used[numbers] = True
        self._joined.clear()
        self._raised.clear()
        self._foreign = {k: v for k, v in self._foreign.items() if used[k]}
        self._free = np.flatnonzero(~used)[::-1].tolist()
        if len(self._free) * 2 < len(self.rows):
            size = len(self.rows)
            self.rows = np.concatenate((self.rows, np.zeros_like(self.rows)))
            self._free[:0] = range(2 * size - 1, size - 1, -1)


def merged(a: Foreign, b: Foreign) -> Foreign:
    """Both together; `a` itself if b adds nothing."""
    news = {k: row for k, row in b.items() if k not in a or not _covers(a[k], row)}
    if not news:
        return a
    out = dict(a)
    for instance, row in news.items():
        out[instance] = _larger(out[instance], row) if instance in out else row
    return out


def _covers(a: Array, b: Array) -> bool:
    return a is b or (len(a) >= len(b) and bool((a[: len(b)] >= b).all()))


def _larger(a: Array, b: Array) -> Array:
    size = max(len(a), len(b))
    return np.maximum(np.pad(a, (0, size - len(a))), np.pad(b, (0, size - len(b))))
