"""Accesses through tiles of pointers: one element per lane, anywhere in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .faults import Fault
from .memory import SLOT_BITS, AddressSpace, Buffer
from .numerics.formats import Tile


class Lanes(NamedTuple):
    """The active lanes of an access that fall into one buffer.

    `where` has the shape of the tile and counts elements of `flat`, 0 in lanes outside `active`;
    `active` is None if all lanes take part.
    """

    buffer: Buffer
    flat: Tile
    where: Tile
    active: Tile | None

    def positions(self) -> Tile:
        """The elements accessed, one per active lane in row-major order."""
        return self.where.ravel() if self.active is None else self.where[self.active]

    def offsets(self) -> Tile:
        """Their distance from the start of the buffer in bytes."""
        itemsize = self.flat.dtype.itemsize
        return self.positions() * itemsize + -self.buffer.base % itemsize


def locate(
    space: AddressSpace, addresses: Tile, mask: Tile | None, dtype: np.dtype[Any], block: int
) -> list[Lanes]:
    """The elements of `dtype` at the addresses whose mask is true, by buffer.

    A fault for an address that is misaligned or outside every buffer.
    """
    addresses = np.asarray(addresses)
    if mask is not None:
        if mask.all():
            mask = None
        elif not mask.any():
            return []
    first = addresses.flat[0] if mask is None else addresses.flat[int(mask.argmax())]
    found = _in_buffer(space.find(int(first), block), addresses, mask, dtype)
    if found is not None:
        return [found]
    return _by_buffer(space, addresses, mask, dtype, block)


def _in_buffer(
    buffer: Buffer, addresses: Tile, mask: Tile | None, dtype: np.dtype[Any]
) -> Lanes | None:
    """The lanes, if all lie in `buffer` and are aligned."""
    flat, lead = buffer.typed(dtype)
    offsets = addresses - (buffer.base + lead)
    if mask is not None:
        offsets = np.where(mask, offsets, 0)
    size = dtype.itemsize
    if size > 1 and (offsets & (size - 1)).any():
        return None
    index = offsets // size if size > 1 else offsets
    if offsets.min() < 0 or index.max() >= flat.size:
        return None
    return Lanes(buffer, flat, index, mask)


def _by_buffer(
    space: AddressSpace, addresses: Tile, mask: Tile | None, dtype: np.dtype[Any], block: int
) -> list[Lanes]:
    slots = addresses >> SLOT_BITS
    rest = np.ones(slots.shape, bool) if mask is None else mask.copy()
    parts = []
    while rest.any():
        where = int(addresses.flat[int(rest.argmax())])
        buffer = space.find(where, block)
        inside = rest & (slots == where >> SLOT_BITS)
        lanes = _in_buffer(buffer, addresses, inside, dtype)
        if lanes is None:
            raise _stray(buffer, addresses[inside], dtype)
        parts.append(lanes)
        rest &= ~inside
    return parts


def _stray(buffer: Buffer, addresses: Tile, dtype: np.dtype[Any]) -> Fault:
    """The first of `addresses` that is misaligned or outside the buffer, in words."""
    size = dtype.itemsize
    for offset in (addresses - buffer.base).tolist():
        if (buffer.base + offset) % size:
            return Fault(
                f"misaligned address: byte {offset} of {buffer.name} for an element of {size} bytes"
            )
        if not 0 <= offset <= buffer.size - size:
            return Fault(
                f"out of bounds: element {offset // size} of {buffer.name}, "
                f"which holds {buffer.size // size}"
            )
    raise AssertionError("no stray address")


def gather(parts: list[Lanes], out: Tile) -> None:
    """Reads the lanes into `out`, a tile of the memory's dtype."""
    for lanes in parts:
        values = lanes.flat[lanes.where]
        if lanes.active is None:
            out[...] = values
        else:
            np.copyto(out, values, where=lanes.active)


def scatter(parts: list[Lanes], values: Tile) -> None:
    """Writes the lanes; the last of several lanes with one address wins."""
    for lanes in parts:
        chosen = values.ravel() if lanes.active is None else values[lanes.active]
        lanes.flat[lanes.positions()] = chosen


def update(parts: list[Lanes], out: Tile, operation: Callable[..., Tile], *operands: Tile) -> bool:
    """Reads, combines and writes each lane's element as one step, lanes in row-major order.

    `operation(old, *operands)` works elementwise. Old values go to `out`; returns whether memory
    changed. Lanes with one address take turns.
    """
    changed = False
    for lanes in parts:
        positions = lanes.positions()
        mine = [x.ravel() if lanes.active is None else x[lanes.active] for x in operands]
        old = np.empty(positions.shape, lanes.flat.dtype)
        for turn in turns(positions):
            where = positions[turn]
            before = lanes.flat[where]
            after = operation(before, *(x[turn] for x in mine))
            lanes.flat[where] = after
            old[turn] = before
            changed = changed or before.tobytes() != after.tobytes()
        if lanes.active is None:
            out[...] = old.reshape(out.shape)
        else:
            out[lanes.active] = old
    return changed


def turns(positions: Tile) -> list[Any]:
    """Groups of lanes without a repeated position, in an order that keeps repeats in sequence."""
    if positions.size <= 1 or np.unique(positions).size == positions.size:
        return [slice(None)]
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, positions.size))
    rank = np.empty(positions.size, np.int64)
    rank[order] = np.arange(positions.size) - np.repeat(starts, lengths)
    return [np.flatnonzero(rank == turn) for turn in range(int(rank.max()) + 1)]
