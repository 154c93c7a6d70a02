"""Counting."""

from __future__ import annotations

from typing import Any

from ..builder import current_builder
from ..dtypes import int32
from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .bitwise import bitwise_and
from .casts import convert
from .common import as_tile, broadcast, broadcast_shapes, constant_int, tile_shape
from .comparison import equal
from .reduce import sum
from .shape import with_shape


def histogram(x: Any, bins: int, /, *, mask: Any = None) -> Tile:
    """How often each of 0, 1, ..., bins - 1 is among the elements of `x`, as int32[bins].

    `x` are integers; others than these, and elements where `mask` is False, are not counted. Every
    element is compared with every bin: for thousands of bins, use `ct.atomic_add` on an array.
    """
    tile = as_tile(x, "x")
    if not tile.dtype.is_integer:
        raise TileTypeError(
            f"histogram() counts integers, got {describe(tile)}",
            remedy="compute the bin first: ct.floor((x - low) / width).astype(ct.int32)",
        )
    count = constant_int(bins, "bins")
    if count < 1 or count - 1 > tile.dtype.maximum:
        raise TileValueError(f"'bins' must be positive and within {tile.dtype}, got {count}")
    builder = current_builder()
    elements = 1
    for extent in tile.shape:
        elements *= extent
    tile_shape((count, elements), "bins", builder)
    numbers = convert(builder.tile("cuda_tile.iota", int32, (count,), ()), tile.dtype)
    hits = equal(with_shape(numbers, (count, 1)), with_shape(tile, (1, elements)))
    if mask is not None:
        chosen = as_tile(mask, "mask")
        if not chosen.dtype.is_bool or broadcast_shapes(chosen.shape, tile.shape) != tile.shape:
            raise TileTypeError(
                f"'mask' must be bool_ and broadcast to {describe(tile)}, got {describe(chosen)}"
            )
        flat = with_shape(broadcast(chosen, tile.shape), (1, elements))
        hits = bitwise_and(hits, flat)
    return sum(hits, 1)
