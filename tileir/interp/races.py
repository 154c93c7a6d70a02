"""Data races: conflicting accesses to one element without an order between them.

Inside a tile block only tokens order memory operations; between blocks, a release that an acquire
reads from. So every execution of a memory operation is an *event*, and a token carries the set of
events ordered before it: a bit set over the events of its own block and, once an acquire has
synchronised, bit sets over those of other blocks.

The shadow of a buffer names, for each element, the last event that wrote it and those that read
it since. A new access is compared with these alone. That finds every race with a weak access in
between two writes; strong accesses do not race with each other, so an earlier strong write hidden
behind a later strong one is not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from .faults import Fault
from .lanes import Lanes
from .memory import Buffer
from .numerics.formats import Tile
from .shadow import Granules, granules
from .views import Region

Clock = dict[int, int]  # block -> bit set of its events

_SYNCHRONISE = "order them: pass the token of the first to the second"
_OVERLAP = (
    "; kernels in Python take their arrays not to overlap unless they begin at one address: pass "
    "one array and cut it in the kernel, or pass copies"
)
_BETWEEN_BLOCKS = (
    "tile blocks are ordered only by a release that an acquire reads from, "
    "with scope device or sys; otherwise they must not share elements"
)


class Token(NamedTuple):
    """The events ordered before a point: those of the block itself, and of other blocks."""

    own: int
    foreign: Clock | None


START = Token(0, None)


def join(*tokens: Token) -> Token:
    """A token ordered after all of `tokens`."""
    own, foreign = 0, None
    for token in tokens:
        own |= token.own
        foreign = _merge(foreign, token.foreign)
    return Token(own, foreign)


def _merge(a: Clock | None, b: Clock | None) -> Clock | None:
    if not a or not b or a is b:
        return a or b
    out = dict(a)
    for block, events in b.items():
        out[block] = out.get(block, 0) | events
    return out


class Event(NamedTuple):
    """One execution of a memory operation; `after` is what is ordered before it.

    `scope` is "tl_blk", "device" or "sys", and None for a weak access.
    """

    block: int
    bit: int
    site: int
    scope: str | None
    after: Token

    def follows(self, other: Event) -> bool:
        """Whether `other` is ordered before this event."""
        if other.block == self.block:
            return bool(self.after.own >> other.bit & 1)
        foreign = self.after.foreign
        return foreign is not None and bool(foreign.get(other.block, 0) >> other.bit & 1)

    def strong_with(self, other: Event) -> bool:
        """Whether both are strong and their scopes include each other's block."""
        if self.scope is None or other.scope is None:
            return False
        return self.block == other.block or "tl_blk" not in (self.scope, other.scope)

    def done(self) -> Token:
        """The token that the operation returns."""
        return Token(self.after.own | 1 << self.bit, self.after.foreign)


class _Readers(NamedTuple):
    """Events that read an element since it was written; lists share their ends."""

    event: Event
    rest: int


class _Access(NamedTuple):
    """An access under test, with what an error message needs."""

    event: Event
    buffer: Buffer
    granule: int
    itemsize: int
    elements: Granules
    verb: str


class RaceChecker:
    """All events of a run, and which of them touched what.

    `describe` gives the location of a site, `block_name` the coordinates of a block.
    """

    def __init__(self, describe: Callable[[int], str], block_name: Callable[[int], str]):
        self._describe = describe
        self._block_name = block_name
        self._writers: list[Event | None] = [None]
        self._readers: list[_Readers | None] = [None]
        # address -> what to synchronise with: from this block (any scope), from any block (None)
        self._released: dict[int, dict[int | None, Clock]] = {}

    def read(self, where: Region | Lanes, itemsize: int, event: Event) -> None:
        """Records a read; a fault if it races with the last write of an element."""
        shadow, elements = granules(where, itemsize)
        if shadow.written:
            access = _Access(event, where.buffer, shadow.granule, itemsize, elements, "reads")
            self._check_writers(access, elements.get(shadow.writer))
        current = elements.get(shadow.reader)
        numbers = _distinct(current)
        lists = [self._with_reader(number, event) for number in numbers]
        if len(numbers) == 1:
            elements.set(shadow.reader, lists[0])
        else:
            replacement = np.array(lists, np.int32)
            elements.set(shadow.reader, replacement[np.searchsorted(numbers, current)])

    def write(
        self, where: Region | Lanes, itemsize: int, event: Event, shared_bytes: bool = False
    ) -> None:
        """Records a write; a fault if it races with the last write of an element or with a read
        since, or, for a weak one, writes an element twice. With `shared_bytes`, elements are
        narrower than the bytes that are recorded, which may then repeat."""
        shadow, elements = granules(where, itemsize)
        access = _Access(event, where.buffer, shadow.granule, itemsize, elements, "writes")
        if shadow.written:
            self._check_writers(access, elements.get(shadow.writer))
        self._check_readers(access, elements.get(shadow.reader))
        if event.scope is None and not shared_bytes:
            self._check_repeats(where, access, shadow.writer)
        shadow.written = True
        self._writers.append(event)
        elements.set(shadow.writer, len(self._writers) - 1)
        elements.set(shadow.reader, 0)

    @staticmethod
    def never_written(where: Region | Lanes, itemsize: int) -> Tile:
        """Which elements nothing has written yet: the region's shape, or one per active lane."""
        shadow, elements = granules(where, itemsize)
        missing = elements.get(shadow.writer) == 0
        parts = itemsize // shadow.granule
        if parts > 1:
            missing = missing.reshape(-1, parts).any(axis=1)
        return missing.reshape(where.shape) if isinstance(where, Region) else missing.ravel()

    def _with_reader(self, number: int, event: Event) -> int:
        """The list `number` with `event` in front; reads that it follows need no entry."""
        while (last := self._readers[number]) is not None and event.follows(last.event):
            number = last.rest
        self._readers.append(_Readers(event, number))
        return len(self._readers) - 1

    # --- conflicts ---------------------------------------------------------------------------

    def _check_writers(self, access: _Access, numbers: Tile) -> None:
        for number in _distinct(numbers):
            other = self._writers[number]
            if other is not None and not _ordered(access.event, other):
                raise self._race(access, other, numbers == number, "written")

    def _check_readers(self, access: _Access, numbers: Tile) -> None:
        for number in _distinct(numbers):
            walk = number
            while (entry := self._readers[walk]) is not None:
                if not _ordered(access.event, entry.event):
                    raise self._race(access, entry.event, numbers == number, "read")
                walk = entry.rest

    def _check_repeats(self, where: Region | Lanes, access: _Access, writer: Tile) -> None:
        if isinstance(where, Region) and not where.may_overlap(access.itemsize):
            return
        elements = access.elements
        marks = elements.get(writer)
        if marks.size == 1:
            return
        count = np.arange(marks.size, dtype=np.int32).reshape(marks.shape)
        elements.set(writer, count)
        repeated = elements.get(writer) != count
        if repeated.any():
            name = _element(access, repeated)
            raise Fault(
                f"race: this store writes {name} more than once",
                "the elements of one store must lie at different addresses",
            )

    def _race(self, access: _Access, other: Event, where: Tile, verb: str) -> Fault:
        same = access.event.block == other.block
        within = _SYNCHRONISE + _OVERLAP * access.buffer.is_shared
        by = "" if same else f" by tile block {self._block_name(other.block)}"
        return Fault(
            f"race: this operation {access.verb} {_element(access, where)}, {verb}{by} at "
            f"{self._describe(other.site)} without an order between the two",
            within if same else _BETWEEN_BLOCKS,
        )

    # --- release and acquire -----------------------------------------------------------------

    def publish(self, addresses: Iterable[int], event: Event, releases: bool, update: bool) -> None:
        """After a write: a release starts something to synchronise with, a plain write ends what
        was there, an atomic update (`update`) carries it on."""
        if not releases:
            if self._released and not update:
                for address in addresses:
                    self._released.pop(address, None)
            return
        clock = _clock(event)
        keys = [event.block] if event.scope == "tl_blk" else [event.block, None]
        for address in addresses:
            before = self._released.get(address, {}) if update else {}
            after = dict(before)
            for key in keys:
                after[key] = _merge(before.get(key), clock) or clock
            self._released[address] = after

    def acquire(self, addresses: Iterable[int], event: Event) -> Event:
        """`event`, which reads `addresses` with acquire, ordered after the releases it sees."""
        keys = [event.block] if event.scope == "tl_blk" else [event.block, None]
        clock: Clock | None = None
        for address in addresses if self._released else ():
            seen = self._released.get(address, {})
            for key in keys:
                clock = _merge(clock, seen.get(key))
        if not clock:
            return event
        foreign = dict(clock)
        own = foreign.pop(event.block, 0)
        return event._replace(after=join(event.after, Token(own, foreign)))


def _ordered(event: Event, other: Event) -> bool:
    return event.follows(other) or event.strong_with(other)


def _clock(event: Event) -> Clock:
    """Everything ordered before `event`, and itself."""
    clock = dict(event.after.foreign or ())
    clock[event.block] = clock.get(event.block, 0) | event.after.own | 1 << event.bit
    return clock


def _element(access: _Access, where: Tile) -> str:
    """Words for the first element of the access for which `where` holds."""
    offset = access.elements.number(int(where.argmax())) * access.granule
    return f"element {offset // access.itemsize} of {access.buffer.name}"


def _distinct(numbers: Tile) -> list[int]:
    """The different values, sorted; quick if there is one."""
    low = int(numbers.min())
    return [low] if low == int(numbers.max()) else np.unique(numbers).tolist()
