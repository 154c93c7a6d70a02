"""What touched each byte of a storage: the last write, and all reads since.

Memory is divided into granules, the largest units that no access so far splits. A granule keeps
the record of its last write, the threads that read it since, and the asynchronous operations that
read it since, of up to four agents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .clocks import COLUMN_MASK, Array
from .readers import NONE, Readers, Reads

EPOCH_BITS = 24
"""A record is `agent << EPOCH_BITS | epoch`, or NONE."""
EPOCH_MASK = (1 << EPOCH_BITS) - 1

_LARGEST = 16
_ASYNC_READERS = 4


class Earlier(NamedTuple):
    """Earlier accesses to granules, in arrays of the granules' shape: by which agents (negative
    for none), in which epochs, marked how."""

    agent: Array
    epoch: Array
    mark: Array


class Limits(NamedTuple):
    """Of whose reads nobody asks any more: entries of `Readers` below these, int64[m], for each
    lane of an access. `ordered`: every thread knows them; `fenced`: also behind a proxy fence of
    the threads that read."""

    ordered: Array
    fenced: Array


def record(agent: Array, epoch: Array) -> Array:
    return agent << EPOCH_BITS | epoch


class History:
    """Of one storage; `lead` bytes lie between the aligned address before it and its first byte.
    Agents below `threads` are threads.

    Granules are numbered; `granules` gives those of an access as int64[m, c].
    """

    def __init__(self, size: int, lead: int, threads: int, readers: Readers):
        self.lead = lead
        self.granule = _LARGEST
        self.written = False
        self._threads = threads
        self._readers = readers
        count = -(-(size + lead) // _LARGEST)
        self.writer = np.full(count, NONE, np.int64)
        self.writer_mark = np.zeros(count, np.int32)
        self._reader = np.full(count, NONE, np.int64)
        self._async: list[tuple[Array, Array]] = []  # records, marks
        self._unshared = 0

    def granules(self, offset: Array, size: int) -> Array:
        """Of runs of `size` bytes at offsets int64[m]."""
        start = offset + self.lead
        lowest = int(np.bitwise_or.reduce(start)) | size
        if lowest & self.granule - 1:
            self._refine(lowest & -lowest)
        first = start // self.granule
        count = size // self.granule
        return first[:, None] if count == 1 else first[:, None] + np.arange(count)

    def _refine(self, granule: int) -> None:
        factor = self.granule // granule
        self.granule = granule
        self.writer = np.repeat(self.writer, factor)
        self.writer_mark = np.repeat(self.writer_mark, factor)
        self._reader = np.repeat(self._reader, factor)
        self._async = [(np.repeat(x, factor), np.repeat(y, factor)) for x, y in self._async]
        self._unshared = self._readers.count

    def byte(self, granule: int) -> int:
        """The first byte of a granule."""
        return granule * self.granule - self.lead

    def reset(self, first: int, size: int) -> None:
        """Nothing is known of these bytes: they are a new block's."""
        where = slice(first // self.granule, (first + size) // self.granule)
        self.writer[where] = NONE
        self._reader[where] = NONE
        for records, _ in self._async:
            records[where] = NONE

    # --- what was --------------------------------------------------------------------------------

    def last_write(self, cells: Array) -> Earlier:
        found = self.writer[cells]
        return Earlier(found >> EPOCH_BITS, found & EPOCH_MASK, self.writer_mark[cells])

    def async_reads(self, cells: Array) -> Iterator[Earlier]:
        for records, marks in self._async:
            found = records[cells]
            if (found != NONE).any():
                yield Earlier(found >> EPOCH_BITS, found & EPOCH_MASK, marks[cells])

    def reads(self, cells: Array, limit: Array) -> Iterator[Reads]:
        """By threads; entries below `limit`, int64[m], are not looked at."""
        limits = np.broadcast_to(limit[:, None], cells.shape).ravel()
        return self._readers.walk(self._reader[cells].ravel(), limits)

    # --- what is ---------------------------------------------------------------------------------

    def write(self, cells: Array, records: Array, mark: int) -> None:
        """Writes by agents: records int64[m] or [1]."""
        self.written = True
        self.writer[cells] = records[:, None]
        self.writer_mark[cells] = mark
        self._reader[cells] = NONE
        for old, _ in self._async:
            old[cells] = NONE

    def keep(self, cells: Array, agent: Array, epoch: Array, mark: Array) -> None:
        """Writes by threads that later ones of the same value hide, all int64[k]: they are kept
        among the reads, for the next write to be compared with."""
        threads = agent & COLUMN_MASK < self._threads
        cells, agent, epoch, mark = (x[threads] for x in (cells, agent, epoch, mark))
        lane = agent & 31
        lanes = np.uint32(1) << lane.astype(np.uint32)
        for one in np.unique(mark).tolist():
            chosen = mark == one
            self._read_together(
                cells[chosen], self._reader[cells[chosen]], (agent - lane)[chosen], epoch[chosen],
                lanes[chosen], one,
            )  # fmt: skip

    def read_async(self, cells: Array, records: Array, mark: int) -> None:
        """Reads by agents other than threads; an agent that has read before replaces its own
        record, since its epochs are known in order."""
        cells, records = cells.ravel(), np.broadcast_to(records[:, None], cells.shape).ravel()
        for old, marks in self._async:
            before = old[cells]
            mine = (before == NONE) | (before >> EPOCH_BITS == records >> EPOCH_BITS)
            old[cells[mine]], marks[cells[mine]] = records[mine], mark
            cells, records = cells[~mine], records[~mine]
            if not len(cells):
                return
        if len(self._async) < _ASYNC_READERS:
            self._async.append((np.full_like(self.writer, NONE), np.zeros_like(self.writer_mark)))
        old, marks = self._async[-1]
        old[cells], marks[cells] = records, mark

    def read(self, cells: Array, agent: Array, epoch: Array, mark: int, limits: Limits) -> None:
        """Reads by threads int64[m]."""
        heads = self._reader[cells]
        heads[heads < limits.fenced[:, None]] = NONE
        lane = agent & 31
        warp, bits = (agent - lane)[:, None], (np.uint32(1) << lane.astype(np.uint32))[:, None]
        numbers = np.arange(cells.size).reshape(cells.shape)
        self._reader[cells] = numbers
        if not np.array_equal(self._reader[cells], numbers):
            self._read_together(cells, heads, warp, epoch[:, None], bits, mark)
            return
        readers = self._readers
        # Entries below `limits.ordered` stay as they are: they will be forgotten before this read.
        since = np.maximum(limits.ordered, self._unshared)[:, None]
        again = readers.repeat(heads, warp, bits, mark, since)
        if again.all():
            readers.renew(heads, epoch[:, None], bits)
            self._reader[cells] = heads
            return
        warps, epochs, lanes = (
            np.broadcast_to(x, cells.shape).ravel() for x in (warp, epoch[:, None], bits)
        )
        entries = readers.add(warps, epochs, lanes, mark, heads.ravel())
        self._reader[cells] = entries.reshape(cells.shape)

    def _read_together(self, cells: Array, heads: Array, warp: Array, epoch: Array, bits: Array,
                       mark: int) -> None:  # fmt: skip
        """Several threads read one granule: one entry for each of their warps."""
        warp, epoch, bits = (np.broadcast_to(x, cells.shape).ravel() for x in (warp, epoch, bits))
        cell, heads = cells.ravel(), heads.ravel()
        order = np.lexsort((warp, cell))
        cell, warp = cell[order], warp[order]
        new_cell = np.append(True, cell[1:] != cell[:-1])
        first = np.flatnonzero(new_cell | np.append(True, warp[1:] != warp[:-1]))
        lanes = np.bitwise_or.reduceat(bits[order], first)
        at = order[first]
        numbers = self._readers.add(warp[first], epoch[at], lanes, mark, heads[at])
        chained = np.flatnonzero(~new_cell[first])
        self._readers.next[numbers[chained] - self._readers.first] = numbers[chained - 1]
        self._reader[cell[first]] = numbers  # of equal granules the last entry counts


class Notes:
    """Reads of a buffer that nothing has written: kept aside, and told when something does."""

    def __init__(self) -> None:
        self.lanes = 0
        self._threads: list[tuple[Array, int, Array, Array, int]] = []
        self._async: list[tuple[Array, int, Array, int]] = []

    def read(self, offset: Array, size: int, agent: Array, epoch: Array, mark: int) -> None:
        self._threads.append((offset, size, agent, epoch, mark))
        self.lanes += len(offset)

    def read_async(self, offset: Array, size: int, records: Array, mark: int) -> None:
        self._async.append((offset, size, records, mark))
        self.lanes += len(offset)

    def tell(self, history: History) -> None:
        none = np.zeros(1, np.int64)
        for offset, size, agent, epoch, mark in self._threads:
            cells = history.granules(offset, size)
            history.read(cells, agent, epoch, mark, Limits(none, none))
        for offset, size, records, mark in self._async:
            history.read_async(history.granules(offset, size), records, mark)
        self._threads, self._async, self.lanes = [], [], 0
