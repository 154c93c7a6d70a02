"""Shadow memory: two integers per granule of bytes of a buffer."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from .lanes import Lanes
from .memory import Buffer
from .numerics.formats import Tile
from .views import Region


class Shadow:
    """Who wrote and who reads each granule: event number and reader list, 0 for none.

    A granule is the largest unit that no access so far splits, usually one element.
    """

    def __init__(self, buffer: Buffer, granule: int):
        self.granule = granule
        count = -(-buffer.size // granule)
        self.writer = np.zeros(count, np.int32)
        self.reader = np.zeros(count, np.int32)
        self.written = False

    def refine(self, granule: int) -> None:
        """Splits granules; each part keeps the record of the whole."""
        if granule != self.granule:
            factor = self.granule // granule
            self.writer = np.repeat(self.writer, factor)
            self.reader = np.repeat(self.reader, factor)
            self.granule = granule


class Granules(Protocol):
    """The granules of one access, in row-major order of its elements."""

    def get(self, table: Tile) -> Tile: ...

    def set(self, table: Tile, value: Any) -> None: ...

    def number(self, position: int) -> int:
        """Which granule of the buffer is the `position`-th of the access."""
        ...


class _Strided:
    def __init__(self, first: int, shape: tuple[int, ...], strides: tuple[int, ...]):
        self._first = first
        self._shape = shape
        self._strides = strides

    def get(self, table: Tile) -> Tile:
        steps = [4 * stride for stride in self._strides]
        return np.ndarray(self._shape, np.int32, table, 4 * self._first, steps)

    def set(self, table: Tile, value: Any) -> None:
        self.get(table)[...] = value

    def number(self, position: int) -> int:
        where = np.unravel_index(position, self._shape)
        return self._first + sum(int(i) * s for i, s in zip(where, self._strides, strict=True))


class _Scattered:
    def __init__(self, index: Tile):
        self._index = index

    def get(self, table: Tile) -> Tile:
        return table[self._index]

    def set(self, table: Tile, value: Any) -> None:
        table[self._index] = value

    def number(self, position: int) -> int:
        return int(self._index.flat[position])


def granules(where: Region | Lanes, itemsize: int) -> tuple[Shadow, Granules]:
    """The shadow of the accessed buffer and the granules of the accessed elements."""
    buffer = where.buffer
    if buffer.shadow is None:
        buffer.shadow = Shadow(buffer, itemsize)
    shadow: Shadow = buffer.shadow
    if isinstance(where, Region):
        return shadow, _strided(shadow, where, itemsize)
    offsets = where.offsets()
    unit = math.gcd(shadow.granule, itemsize, int(offsets[0]))
    shadow.refine(unit)
    index = offsets // unit
    if itemsize > unit:
        index = (index[:, None] + np.arange(itemsize // unit)).ravel()
    return shadow, _Scattered(index)


def _strided(shadow: Shadow, region: Region, itemsize: int) -> Granules:
    unit = math.gcd(shadow.granule, itemsize, region.offset, *region.strides)
    shadow.refine(unit)
    shape, strides = region.shape, tuple(stride // unit for stride in region.strides)
    if itemsize > unit:
        shape, strides = (*shape, itemsize // unit), (*strides, 1)
    return _Strided(region.offset // unit, shape, strides)
