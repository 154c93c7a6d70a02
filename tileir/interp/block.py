"""A tile block at run time: what the generated code calls.

`Block` only moves data. `CheckedBlock` does the same and reports undefined behaviour; its
memory operations also take the site of the operation and a token, and return a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import lanes, tiles
from .faults import Fault
from .lanes import Lanes
from .memory import AddressSpace, Buffer
from .numerics import bits
from .numerics.formats import Number, Tile, pointer_tile
from .poison import BEYOND_TENSOR, Poison, demand, join, make
from .races import START, Event, RaceChecker, Token
from .tiles import Places, TileIndex
from .views import TileView

_PAUSE_EVERY = 32


class Run:
    """What the blocks of one launch share."""

    def __init__(self, space: AddressSpace, grid: tuple[int, int, int]):
        self.space = space
        self.grid = tuple(np.int32(extent) for extent in grid)
        self.printed: list[str] = []
        self.version = 0  # grows whenever memory changes
        self.globals: dict[str, Tile] = {}
        self.races: RaceChecker | None = None


class Block:
    """One tile block; `x`, `y`, `z` are its coordinates, `number` its place in the grid."""

    def __init__(self, run: Run, number: int, coordinates: tuple[int, int, int]):
        self.run = run
        self.space = run.space
        self.number = number
        self.x, self.y, self.z = map(np.int32, coordinates)
        self._scratch: list[Buffer] = []
        self._rounds = 0

    # --- views -------------------------------------------------------------------------------

    def load_view(self, view: TileView, at: TileIndex) -> Tile:
        return tiles.read(self.space, view, at, self.number)[0]

    def store_view(self, view: TileView, at: TileIndex, tile: Tile) -> None:
        places, odd = tiles.locate_write(self.space, view, at, self.number)
        tiles.write(view, places, odd, tile)
        self.run.version += 1

    def update_view(
        self, view: TileView, at: TileIndex, tile: Tile, operation: Callable[[Tile, Tile], Tile]
    ) -> None:
        parts = tiles.element_lanes(self.space, view, at, self.number)
        self._update(parts, view.tiling.fmt, tile, operation=operation)

    # --- pointers ----------------------------------------------------------------------------

    def load(self, addresses: Tile, mask: Tile | None, padding: Tile, fmt: Number) -> Tile:
        """Elements at the addresses; `padding` where `mask` is false."""
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        return _gathered(parts, addresses, mask, padding, fmt)

    def store(self, addresses: Tile, mask: Tile | None, values: Tile, fmt: Number) -> None:
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        tiles.check_writeable(parts)
        lanes.scatter(parts, np.asarray(values))
        self.run.version += 1

    def update(
        self,
        addresses: Tile,
        mask: Tile | None,
        masked_off: Tile,
        operation: Callable[..., Tile],
        operands: tuple[Tile, ...],
        fmt: Number,
    ) -> Tile:
        """An atomic update; old values, or `masked_off` where `mask` is false."""
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        out = np.array(masked_off, fmt.dtype)
        return self._update(parts, fmt, *operands, operation=operation, out=out)

    def _update(
        self,
        parts: list[Lanes],
        fmt: Number,
        *operands: Tile,
        operation: Callable[..., Tile],
        out: Tile | None = None,
    ) -> Tile:
        tiles.check_writeable(parts)
        values = [np.asarray(x) for x in operands]
        old = np.empty(values[0].shape, fmt.dtype) if out is None else out
        if lanes.update(parts, old, operation, *values):
            self.run.version += 1
        return old

    # --- scratch memory ----------------------------------------------------------------------

    def allocate(self, count: int, alignment: int, shared: bool, fmt: Number) -> Tile:
        """The address of `count` elements, freed by `release`."""
        size = -(-count * fmt.memory_bits // 8)
        try:
            data = np.full(size, 0xA5, np.uint8)
        except (MemoryError, ValueError):
            raise Fault(f"alloca of {count} x {fmt.name}: there is not enough memory") from None
        buffer = self.space.allocate(data, f"alloca of {count} x {fmt.name}", alignment)
        buffer.private_to = None if shared else self.number
        buffer.uninitialised = True
        self._scratch.append(buffer)
        return pointer_tile(buffer.base)

    def scratch_mark(self) -> int:
        return len(self._scratch)

    def release(self, mark: int) -> None:
        """Frees what was allocated since `mark`."""
        while len(self._scratch) > mark:
            self.space.free(self._scratch.pop())

    # --- the outside world -------------------------------------------------------------------

    def print(self, text: str) -> None:
        self.run.printed.append(text)

    def verify(self, condition: Tile, message: str) -> None:
        """`assert`: a fault that lists the false elements."""
        failed = np.logical_not(condition)
        if not failed.any():
            return
        where = np.argwhere(failed)
        shown = [f"[{', '.join(map(str, index))}]" for index in where[:8].tolist()]
        more = ", ..." if len(where) > 8 else ""
        place = f" at {', '.join(shown)}{more}" if where.shape[1] else ""
        raise Fault(f"assertion failed: {message}{place}")

    # --- loops that wait ---------------------------------------------------------------------

    def mark(self, *carried: Any) -> tuple[int, tuple[Any, ...]]:
        """The state at the start of a round of a loop."""
        return self.run.version, carried

    def stuck(self, mark: tuple[int, tuple[Any, ...]], *carried: Any) -> bool:
        """Whether a round changed nothing, so that only another block can help."""
        version, before = mark
        return version == self.run.version and all(
            a is b or np.asarray(a).tobytes() == np.asarray(b).tobytes()
            for a, b in zip(before, carried, strict=True)
        )

    def tired(self) -> bool:
        """Whether it is time to let other blocks run."""
        self._rounds += 1
        return self._rounds % _PAUSE_EVERY == 0


def _gathered(
    parts: list[Lanes], addresses: Tile, mask: Tile | None, padding: Tile, fmt: Number
) -> Tile:
    raw = np.zeros(np.shape(addresses), fmt.memory_dtype)
    lanes.gather(parts, raw)
    values = bits.canonical(raw, fmt)
    return values if mask is None else np.where(mask, values, padding)


class CheckedBlock(Block):
    """A block whose accesses are checked for races and other undefined behaviour."""

    def __init__(self, run: Run, number: int, coordinates: tuple[int, int, int]):
        super().__init__(run, number, coordinates)
        assert run.races is not None
        self._races = run.races
        self._events = 0

    def _event(self, site: int, token: Token, scope: str | None) -> Event:
        bit = self._events
        self._events += 1
        return Event(self.number, bit, site, scope, token)

    def load_view_checked(
        self,
        view: TileView,
        at: TileIndex,
        inbounds: tuple[bool, ...],
        site: int,
        token: Token = START,
        scope: str | None = None,
        acquires: bool = False,
    ) -> tuple[Tile, Poison | None, Token]:
        """The tile; the poison marks elements outside the tensor if the view has no padding, and
        scratch memory that was never written."""
        view.check_index(at.tile, inbounds)
        values, places = tiles.read(self.space, view, at, self.number)
        fmt = view.tiling.fmt
        poison = None
        if view.tiling.padding is None:
            poison = make(tiles.missing(view, at), site, BEYOND_TENSOR)
        if places and places[0].buffer.uninitialised:
            poison = join(poison, self._fresh_in_view(view, at, places, site))
        event = self._event(site, token, scope)
        return values, poison, self._read(places, fmt, event, acquires)

    def store_view_checked(
        self,
        view: TileView,
        at: TileIndex,
        tile: Tile,
        poison: Poison | None,
        inbounds: tuple[bool, ...],
        site: int,
        token: Token = START,
        scope: str | None = None,
        releases: bool = False,
    ) -> Token:
        view.check_index(at.tile, inbounds)
        if poison is not None:
            demand(poison, "a store", ~tiles.missing(view, at))
        places, odd = tiles.locate_write(self.space, view, at, self.number)
        event = self._event(site, token, scope)
        self._write(places, view.tiling.fmt, event, releases, update=False)
        tiles.write(view, places, odd, tile)
        self.run.version += 1
        return event.done()

    def update_view_checked(
        self,
        view: TileView,
        at: TileIndex,
        tile: Tile,
        operation: Callable[[Tile, Tile], Tile],
        poison: Poison | None,
        inbounds: tuple[bool, ...],
        site: int,
        token: Token,
        scope: str,
        releases: bool = False,
    ) -> Token:
        view.check_index(at.tile, inbounds)
        if poison is not None:
            demand(poison, "an atomic update", ~tiles.missing(view, at))
        parts = tiles.element_lanes(self.space, view, at, self.number)
        event = self._event(site, token, scope)
        self._write(parts, view.tiling.fmt, event, releases, update=True)
        self._update(parts, view.tiling.fmt, tile, operation=operation)
        return event.done()

    def load_checked(
        self,
        addresses: Tile,
        mask: Tile | None,
        padding: Tile,
        fmt: Number,
        site: int,
        token: Token = START,
        scope: str | None = None,
        acquires: bool = False,
    ) -> tuple[Tile, Poison | None, Token]:
        """As `load`; the poison marks scratch memory that was never written."""
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        values = _gathered(parts, addresses, mask, padding, fmt)
        event = self._event(site, token, scope)
        fresh = self._uninitialised(parts, np.shape(addresses), fmt, site)
        return values, fresh, self._read(parts, fmt, event, acquires)

    def store_checked(
        self,
        addresses: Tile,
        mask: Tile | None,
        values: Tile,
        fmt: Number,
        poison: Poison | None,
        site: int,
        token: Token = START,
        scope: str | None = None,
        releases: bool = False,
    ) -> Token:
        demand(poison, "a store", mask)
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        tiles.check_writeable(parts)
        event = self._event(site, token, scope)
        self._write(parts, fmt, event, releases, update=False)
        lanes.scatter(parts, np.asarray(values))
        self.run.version += 1
        return event.done()

    def update_checked(
        self,
        addresses: Tile,
        mask: Tile | None,
        masked_off: Tile,
        operation: Callable[..., Tile],
        operands: tuple[Tile, ...],
        fmt: Number,
        poison: Poison | None,
        site: int,
        token: Token,
        scope: str,
        acquires: bool,
        releases: bool,
    ) -> tuple[Tile, Token]:
        demand(poison, "an atomic update", mask)
        parts = lanes.locate(self.space, addresses, mask, fmt.memory_dtype, self.number)
        event = self._event(site, token, scope)
        if acquires:
            event = self._races.acquire(_addresses(parts), event)
        self._write(parts, fmt, event, releases, update=True)
        old = self._update(
            parts, fmt, *operands, operation=operation, out=np.array(masked_off, fmt.dtype)
        )
        return old, event.done()

    def _read(self, places: Places, fmt: Number, event: Event, acquires: bool) -> Token:
        if acquires:
            event = self._races.acquire(_addresses(places), event)
        for place in places:
            self._races.read(place, fmt.memory_dtype.itemsize, event)
        return event.done()

    def _write(
        self, places: Places, fmt: Number, event: Event, releases: bool, *, update: bool
    ) -> None:
        for place in places:
            self._races.write(place, fmt.memory_dtype.itemsize, event, fmt.bits == 4)
        self._races.publish(_addresses(places), event, releases, update)

    def _fresh_in_view(
        self, view: TileView, at: TileIndex, places: Places, site: int
    ) -> Poison | None:
        fmt = view.tiling.fmt
        out = np.zeros(view.tiling.tile, bool)
        for place in places:
            fresh = self._races.never_written(place, fmt.memory_dtype.itemsize)
            if isinstance(place, Lanes):
                out[~tiles.missing(view, at)] = fresh
            else:
                out[tuple(map(slice, place.shape))] = fresh
        return make(out, site, "the memory was never written")

    def _uninitialised(
        self, parts: list[Lanes], shape: tuple[int, ...], fmt: Number, site: int
    ) -> Poison | None:
        out = np.zeros(shape, bool)
        for part in parts:
            if part.buffer.uninitialised:
                fresh = self._races.never_written(part, fmt.memory_dtype.itemsize)
                out[np.ones(shape, bool) if part.active is None else part.active] = fresh
        return make(out, site, "the memory was never written")


def _addresses(places: Places) -> Iterator[int]:
    """The address of every element of the places, in no particular order."""
    for place in places:
        if isinstance(place, Lanes):
            yield from (place.offsets() + place.buffer.base).tolist()
        else:
            start = place.buffer.base + place.offset
            steps = [np.arange(n) * s for n, s in zip(place.shape, place.strides, strict=True)]
            total = np.zeros((), np.int64)
            for step in steps:
                total = np.add.outer(total, step)
            yield from (total + start).ravel().tolist()
