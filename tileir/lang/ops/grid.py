"""Where a block is in the grid."""

from __future__ import annotations

from typing import Any

from ..builder import current_builder
from ..dtypes import int32
from ..errors import TileValueError
from ..values import Tile
from .common import constant_int


def _coordinate(name: str, operation: str, axis: Any) -> Tile:
    number = constant_int(axis, "axis")
    if number not in (0, 1, 2):
        raise TileValueError(f"the axes of a grid are 0, 1 and 2, got {number}")
    builder = current_builder()
    found = builder.once.get(name)
    if found is None:
        with builder.at_entry():
            scalar = builder.types.tile((), int32)
            op = builder.op(operation, (scalar,) * 3, ())
        found = builder.once[name] = tuple(Tile(result, int32, ()) for result in op.results)
    return found[number]


def bid(axis: int) -> Tile:
    """The number of this block along an axis (0, 1 or 2) of the grid, an int32."""
    return _coordinate("bid", "cuda_tile.get_tile_block_id", axis)


def num_blocks(axis: int) -> Tile:
    """The number of blocks along an axis (0, 1 or 2) of the grid, an int32."""
    return _coordinate("num_blocks", "cuda_tile.get_num_tile_blocks", axis)
