"""Reductions and scans: the combiner runs on whole slices at once.

`combine(e0, a0, e1, a1, ...)` takes an element and an accumulator for each operand, as arrays of
any one shape, and returns a tuple.

A reduction is a balanced tree: the upper half of the dimension is combined, element by element,
with the lower half (the accumulators), until one slice is left; an odd one out waits for the next
level. A scan takes ceil(log2(n)) steps, each combining every slice with the one 1, 2, 4, ... places
before it (Hillis and Steele, "Data parallel algorithms", CACM 29(12), 1986). Both orders are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import checks
from .numerics.formats import Tile

Combine = Callable[..., tuple[Tile, ...]]


def _interleave(elements: Sequence[Tile], accumulators: Sequence[Tile]) -> list[Tile]:
    return [x for pair in zip(elements, accumulators, strict=True) for x in pair]


def reduce(combine: Combine, operands: Sequence[Tile], axis: int) -> tuple[Tile, ...]:
    """The operands without dimension `axis`."""
    tiles = [np.moveaxis(x, axis, 0) for x in operands]
    while (n := len(tiles[0])) > 1:
        half = n // 2
        pairs = _interleave([x[half : 2 * half] for x in tiles], [x[:half] for x in tiles])
        combined = combine(*pairs)
        if n % 2:
            combined = [
                np.concatenate([done, x[-1:]]) for done, x in zip(combined, tiles, strict=True)
            ]
        tiles = list(combined)
    return tuple(x[0] for x in tiles)


def scan(combine: Combine, operands: Sequence[Tile], axis: int, reverse: bool) -> tuple[Tile, ...]:
    """Inclusive prefixes along `axis`, from the high end if `reverse`."""
    tiles = [np.moveaxis(x, axis, 0) for x in operands]
    if reverse:
        tiles = [x[::-1] for x in tiles]
    distance = 1
    while distance < len(tiles[0]):
        pairs = _interleave([x[distance:] for x in tiles], [x[:-distance] for x in tiles])
        combined = combine(*pairs)
        tiles = [
            np.concatenate([x[:distance], done]) for x, done in zip(tiles, combined, strict=True)
        ]
        distance *= 2
    if reverse:
        tiles = [x[::-1] for x in tiles]
    return tuple(np.moveaxis(x, 0, axis) for x in tiles)


def one_by_one(combine: Combine) -> Combine:
    """A combiner that only works on scalars (it has control flow inside), for arrays."""

    def combine_all(*arrays: Tile) -> tuple[Tile, ...]:
        arrays = tuple(np.asarray(x) for x in arrays)
        out = [np.empty(x.shape, x.dtype) for x in arrays[::2]]
        for index in np.ndindex(arrays[0].shape):
            results = combine(*(x[index] for x in arrays))
            for tile, value in zip(out, results, strict=True):
                tile[index] = value
        return tuple(out)

    return combine_all


def check_identity(combine: Combine, operand: Tile, axis: int, identity: Tile) -> None:
    """A fault if the identity is not neutral, tried on the first slice."""
    first = np.take(operand, 0, axis=axis)
    checks.neutral(identity, first, combine(first, np.full_like(first, identity))[0])


def poison_prefixes(mask: Tile, axis: int, reverse: bool) -> Tile:
    """Which prefixes contain an element of `mask`."""
    if reverse:
        return np.flip(np.logical_or.accumulate(np.flip(mask, axis), axis=axis), axis)
    return np.logical_or.accumulate(mask, axis=axis)
