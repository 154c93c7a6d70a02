"""Slices of tiles."""

from __future__ import annotations

from collections.abc import Sequence

from .numerics.formats import Tile


def _slices(index: Sequence[int], extents: Sequence[int], source: Tile) -> tuple[slice, ...]:
    # Out of range is undefined; the nearest slice keeps the shape right.
    starts = [
        min(max(i, 0) * n, total - n)
        for i, n, total in zip(index, extents, source.shape, strict=True)
    ]
    return tuple(slice(start, start + n) for start, n in zip(starts, extents, strict=True))


def extract(source: Tile, index: Sequence[int], shape: Sequence[int]) -> Tile:
    """Slice number `index[d]` of extent `shape[d]` in each dimension d."""
    return source[_slices(index, shape, source)]


def insert(piece: Tile, destination: Tile, index: Sequence[int]) -> Tile:
    """A copy of `destination` with that slice replaced."""
    out = destination.copy()
    out[_slices(index, piece.shape, out)] = piece
    return out
