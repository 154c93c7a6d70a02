"""Values that Tile IR leaves undefined, followed from where they arise to where they matter.

A tile with undefined elements carries a `Poison` beside it. Elementwise operations pass it on,
`select` drops the elements it does not choose, a store looks only at what it writes. Reaching
memory, an address, a branch, a print or an assertion is an error, reported where the value arose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .faults import Fault
from .numerics.formats import Tile

BEYOND_TENSOR = "the tile reaches beyond the tensor and its view has no padding value"
_REMEDIES = {BEYOND_TENSOR: "give it one (in tileir.lang, padding_mode of the load)"}


class Poison(NamedTuple):
    """Which elements are undefined (broadcasts to the tile), where that began, and why."""

    mask: Tile
    site: int
    why: str


def make(mask: Tile, site: int, why: str) -> Poison | None:
    """The poison of a tile, None if no element is undefined."""
    return Poison(np.asarray(mask), site, why) if mask.any() else None


def join(*poisons: Poison | None) -> Poison | None:
    """Elements undefined in any of several tiles that broadcast together."""
    found = None
    for poison in poisons:
        if poison is not None:
            found = poison if found is None else found._replace(mask=found.mask | poison.mask)
    return found


def select(
    condition: Tile, of_condition: Poison | None, if_true: Poison | None, if_false: Poison | None
) -> Poison | None:
    """Only the chosen elements count."""
    if if_true is not None:
        if_true = if_true._replace(mask=if_true.mask & condition)
    if if_false is not None:
        if_false = if_false._replace(mask=if_false.mask & ~condition)
    found = join(of_condition, if_true, if_false)
    return found if found is not None and found.mask.any() else None


def through(
    poison: Poison | None, shape: tuple[int, ...], reshape: Callable[[Tile], Tile]
) -> Poison | None:
    """The poison after an operation on shapes, which `reshape` does to a mask of `shape`."""
    if poison is None:
        return None
    mask = reshape(np.broadcast_to(poison.mask, shape))
    return poison._replace(mask=mask) if mask.any() else None


def demand(poison: Poison | None, use: str, lanes: Tile | None = None) -> None:
    """A fault if an undefined element is among those (of `lanes`) that `use` needs."""
    if poison is None:
        return
    mask = poison.mask if lanes is None else poison.mask & lanes
    if mask.any():
        remedy = _REMEDIES.get(poison.why)
        raise Fault(f"undefined value reaches {use}: {poison.why}", remedy, poison.site)


def _full(poison: Poison | None, shape: tuple[int, ...]) -> Tile:
    return np.zeros(shape, bool) if poison is None else np.broadcast_to(poison.mask, shape)


def _merged(a: Poison | None, b: Poison | None, mask: Tile) -> Poison | None:
    found = a or b
    return found._replace(mask=mask) if found is not None and mask.any() else None


def concatenate(
    a: Poison | None,
    a_shape: tuple[int, ...],
    b: Poison | None,
    b_shape: tuple[int, ...],
    axis: int,
) -> Poison | None:
    """The poison of two concatenated tiles."""
    mask = np.concatenate((_full(a, a_shape), _full(b, b_shape)), axis=axis)
    return _merged(a, b, mask)


def insert(
    piece: Poison | None,
    piece_shape: tuple[int, ...],
    into: Poison | None,
    into_shape: tuple[int, ...],
    place: Callable[[Tile, Tile], Tile],
) -> Poison | None:
    """The poison of a tile with a slice replaced; `place` does it to masks."""
    mask = place(_full(piece, piece_shape), _full(into, into_shape))
    return _merged(piece, into, mask)


def regroup(mask: Tile, width: int, target: int) -> Tile:
    """The mask of the same bits cut into elements of another width (rank 1)."""
    if width > target:
        return np.repeat(mask, width // target)
    return np.asarray(mask.reshape(-1, target // width).any(axis=1))
