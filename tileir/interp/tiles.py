"""Reading and writing whole tiles through views.

An ordinary view is a strided window on a buffer. Gather/scatter views and 4-bit elements go
through element addresses instead, like tiles of pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import lanes
from .faults import Fault
from .lanes import Lanes
from .memory import AddressSpace
from .numerics import bits
from .numerics.formats import I1, IntFormat, Number, Tile
from .numerics.rounding import from_float64
from .views import Region, TileView

Places = Sequence[Region | Lanes]


class TileIndex(NamedTuple):
    """Where a tile of a view is: one index a dimension, and, for a gather/scatter view, the
    element positions along its sparse dimension (whose entry in `tile` is 0)."""

    tile: tuple[int, ...]
    rows: Tile | None = None


def undefined(fmt: Number) -> Tile:
    """What stands for a value that Tile IR leaves open: NaN, or the bytes 0xA5."""
    if fmt is I1:
        return np.array(True)
    if isinstance(fmt, IntFormat):
        return bits.canonical(np.full(fmt.dtype.itemsize, 0xA5, np.uint8).view(fmt.dtype)[0], fmt)
    if fmt.dtype == np.uint8 or not fmt.has_nan:
        return np.array(0xFF if fmt.has_nan else 0x7, np.uint8).view(fmt.dtype)
    return np.array(np.nan).astype(fmt.dtype)


def read(space: AddressSpace, view: TileView, at: TileIndex, block: int) -> tuple[Tile, Places]:
    """The tile, elements outside the tensor padded, and the places that were read."""
    tiling = view.tiling
    fill = undefined(tiling.fmt) if tiling.padding is None else tiling.padding
    start, extent = view.clip(at.tile)
    if not _by_address(view):
        if 0 in extent:
            return np.full(tiling.tile, fill), ()
        region = view.region(space, start, extent, block)
        values = bits.canonical(region.array(tiling.fmt.memory_dtype), tiling.fmt)
        if extent == tiling.tile:
            return values.copy(), (region,)
        out = np.full(tiling.tile, fill)
        out[tuple(map(slice, extent))] = values
        return out, (region,)
    parts, inside, odd = _element_lanes(space, view, at, block)
    raw = np.zeros(tiling.tile, tiling.fmt.memory_dtype)
    lanes.gather(parts, raw)
    values = bits.canonical(raw, tiling.fmt)
    if odd is not None:
        values = bits.from_nibbles(np.where(odd, raw >> 4, raw & 15), tiling.fmt)
    return np.where(inside, values, fill), parts


def missing(view: TileView, at: TileIndex) -> Tile:
    """Which elements of the tile lie outside the tensor (broadcasts to its shape)."""
    start, extent = view.clip(at.tile)
    if at.rows is None and extent == view.tiling.tile:
        return np.zeros((), bool)
    return ~view.elements(start, extent, at.rows)[1]


def locate_write(
    space: AddressSpace, view: TileView, at: TileIndex, block: int
) -> tuple[Places, Tile | None]:
    """The places that storing the tile writes, and the parity of 4-bit elements."""
    start, extent = view.clip(at.tile)
    if _by_address(view):
        parts, _, odd = _element_lanes(space, view, at, block)
    elif 0 in extent:
        return (), None
    else:
        parts, odd = [view.region(space, start, extent, block)], None
    check_writeable(parts)
    return parts, odd


def check_writeable(places: Places) -> None:
    """A fault if one of the places is in read-only memory."""
    for place in places:
        if not place.buffer.writeable:
            raise Fault(f"{place.buffer.name} is read-only")


def write(view: TileView, places: Places, odd: Tile | None, tile: Tile) -> None:
    """Stores the tile's elements inside the tensor at places from `locate_write`."""
    fmt = view.tiling.fmt
    for place in places:
        if isinstance(place, Region):
            place.array(fmt.memory_dtype)[...] = tile[tuple(map(slice, place.shape))]
        elif odd is not None:
            _write_nibbles(place, odd, bits.to_nibbles(tile))
        else:
            lanes.scatter([place], tile)


def element_lanes(space: AddressSpace, view: TileView, at: TileIndex, block: int) -> list[Lanes]:
    """The elements inside the tensor as lanes, for atomic updates."""
    return _element_lanes(space, view, at, block)[0]


def _by_address(view: TileView) -> bool:
    return view.tiling.sparse is not None or view.tiling.fmt.bits == 4


def _element_lanes(
    space: AddressSpace, view: TileView, at: TileIndex, block: int
) -> tuple[list[Lanes], Tile, Tile | None]:
    """(lanes, which elements are inside, which 4-bit elements are the high half of a byte)."""
    fmt = view.tiling.fmt
    start, extent = view.clip(at.tile)
    number, inside = view.elements(start, extent, at.rows)
    dtype = fmt.memory_dtype
    if fmt.bits == 4:
        addresses, odd = view.tensor.base + (number >> 1), (number & 1).astype(bool)
    else:
        addresses, odd = view.tensor.base + number * dtype.itemsize, None
    return lanes.locate(space, addresses, inside, dtype, block), inside, odd


def _write_nibbles(place: Lanes, odd: Tile, codes: Tile) -> None:
    """Low halves first, then high halves: within each, bytes do not repeat."""
    for high in (False, True):
        chosen = odd == high if place.active is None else place.active & (odd == high)
        where = place.where[chosen]
        old = place.flat[where]
        new = codes[chosen] << 4 | old & 15 if high else codes[chosen] | old & 0xF0
        place.flat[where] = new


# In the order of the dialect's PaddingValue.
_PADDING = (0.0, -0.0, np.nan, np.inf, -np.inf)


def padding_value(kind: int, fmt: Number) -> Tile:
    """The element that a view's `padding_value` names; infinities become the largest value in
    formats that have none."""
    if isinstance(fmt, IntFormat):
        return np.zeros((), fmt.dtype)
    value = np.asarray(_PADDING[kind])
    return np.asarray(from_float64(value, fmt, saturate=not fmt.has_infinity))
