"""Loads and stores of tiles."""

from __future__ import annotations

from typing import Any

from tileir.dialects.cuda_tile import MemoryOrdering, PartitionViewType

from ..arrays import Array
from ..builder import Builder, current_builder
from ..constants import constant
from ..dtypes import int32
from ..memory_order import Effect
from ..values import Tile


def bid(axis: int) -> Tile:
    """The number of the block along an axis of the grid."""
    builder = current_builder()
    found = builder.once.get("bid")
    if found is None:
        with builder.at_entry():
            index = builder.types.tile((), int32)
            op = builder.op("cuda_tile.get_tile_block_id", (index,) * 3, ())
        found = builder.once["bid"] = tuple(Tile(result, int32, ()) for result in op.results)
    return found[axis]


def _partition(builder: Builder, array: Array, shape: tuple[int, ...]) -> Any:
    types = builder.types
    key = ("partition_view", shape, array.view.type)
    made = types.made(key, lambda: PartitionViewType.get(shape, array.view.type))
    return builder.value("cuda_tile.make_partition_view", made, (array.view,))


def _index(builder: Builder, index: Any) -> list[Any]:
    return [i.value if isinstance(i, Tile) else constant(builder, i, int32).value for i in index]


def load(array: Array, index: tuple[Any, ...], shape: tuple[int, ...]) -> Tile:
    builder = current_builder()
    types = builder.types
    view = _partition(builder, array, shape)
    where = _index(builder, index)
    op = builder.op(
        "cuda_tile.load_view_tko",
        (types.tile(shape, array.dtype), types.token),
        (view, *where, builder.memory.root),
        {
            "memory_ordering_semantics": types.enum(MemoryOrdering.Weak),
            "operandSegmentSizes": types.segments(1, len(where), 1),
        },
    )
    builder.memory.access(op, Effect.LOAD, array.names, 1 + len(where))
    return Tile(op.results[0], array.dtype, shape)


def store(array: Array, index: tuple[Any, ...], tile: Tile) -> None:
    builder = current_builder()
    types = builder.types
    view = _partition(builder, array, tile.shape)
    where = _index(builder, index)
    op = builder.op(
        "cuda_tile.store_view_tko",
        (types.token,),
        (tile.value, view, *where, builder.memory.root),
        {
            "memory_ordering_semantics": types.enum(MemoryOrdering.Weak),
            "operandSegmentSizes": types.segments(1, 1, len(where), 1),
        },
    )
    indices = where if array.disjoint else ()
    builder.memory.access(op, Effect.STORE, array.names, 2 + len(where), indices=indices)
