"""Rows of an array in any order: loads and stores with one axis of indices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.dialects.cuda_tile import GatherScatterViewType, PaddingValue
from tileir.ir import Value

from ..arrays import Array
from ..builder import Builder, current_builder
from ..constants import constant
from ..dtypes import int32
from ..enums import MemoryOrder, MemoryScope, PaddingMode
from ..errors import TileTypeError, TileValueError
from ..memory_order import Effect
from ..values import Tile, describe
from .access import LOAD_ORDERS, STORE_ORDERS, array_argument, hints, ordering, padding_value
from .casts import convert, implicit_cast
from .common import Shape, constant_int, converted, operand, tile_shape


@dataclass(frozen=True)
class Slice:
    """`length` elements from `start` on, along one dimension: an entry of the indices of
    `load_advanced_indexing`. `length` must be known at compile time."""

    start: Any
    length: Any


@dataclass(frozen=True)
class _Selection:
    """Indices taken apart: the axis of indices, and for each dimension where the tile begins."""

    sparse: int
    rows: Tile
    starts: tuple[Any, ...]
    shape: Shape


def _selection(array: Array, indices: Any) -> _Selection:
    rank = len(array.shape)
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    if len(entries) != rank:
        raise TileValueError(
            f"'indices' has {len(entries)} entries, the array has {rank} dimensions"
        )
    sparse = [i for i, entry in enumerate(entries) if not isinstance(entry, Slice)]
    if len(sparse) != 1:
        raise TileTypeError(
            f"exactly one entry of 'indices' must be a tile, got {len(sparse)}",
            remedy="give the others as ct.Slice(start, length)",
        )
    rows = operand(entries[sparse[0]], f"indices[{sparse[0]}]")
    if not isinstance(rows, Tile) or len(rows.shape) != 1 or not rows.dtype.is_integer:
        raise TileTypeError(
            f"'indices[{sparse[0]}]' must be a 1-D tile of integers, got {describe(rows)}"
        )
    sizes = tuple(
        rows.shape[0] if i == sparse[0] else constant_int(entry.length, f"indices[{i}].length")
        for i, entry in enumerate(entries)
    )
    starts = tuple(0 if i == sparse[0] else entry.start for i, entry in enumerate(entries))
    return _Selection(sparse[0], rows, starts, tile_shape(sizes, "indices"))


def _view(
    builder: Builder, array: Array, selection: _Selection, padding: PaddingValue | None
) -> tuple[Value, list[Value]]:
    """The view and its indices, which count elements along every dimension."""
    places = []
    for axis, start in enumerate(selection.starts):
        position = selection.rows if axis == selection.sparse else start
        tile = isinstance(position, Tile)
        number = convert(position, int32) if tile else constant(builder, position, int32)
        places.append(number.value)
    types = builder.types
    key = ("sparse_view", array.view.type, selection.shape, selection.sparse, padding)
    made = types.made(
        key,
        lambda: GatherScatterViewType.get(
            selection.shape, array.view.type, selection.sparse, padding
        ),
    )
    return builder.value("cuda_tile.make_gather_scatter_view", made, (array.view,)), places


def load_advanced_indexing(
    array: Array,
    indices: Any,
    /,
    *,
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> Tile:
    """A tile made of slices of an array in any order.

    One entry of `indices` is a 1-D tile of positions along its dimension, the others are
    `Slice(start, length)`. Elements outside are what `padding_mode` says, hints as in `load`.
    """
    target = array_argument(array)
    builder = current_builder()
    options = ordering(builder, "load", MemoryOrder.WEAK, MemoryScope.NONE, LOAD_ORDERS)
    options |= hints(builder, latency, allow_tma)
    selection = _selection(target, indices)
    padding = padding_value(padding_mode, target.dtype)
    view, places = _view(builder, target, selection, padding)
    types = builder.types
    op = builder.op(
        "cuda_tile.load_view_tko",
        (types.tile(selection.shape, target.dtype), types.token),
        (view, *places, builder.memory.root),
        {**options, "operandSegmentSizes": types.segments(1, len(places), 1)},
    )
    builder.memory.access(op, Effect.LOAD, target.names, 1 + len(places))
    return Tile(op.results[0], target.dtype, selection.shape)


def store_advanced_indexing(
    array: Array,
    indices: Any,
    tile: Any,
    /,
    *,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> None:
    """Stores a tile as slices of an array in any order; `indices` are those of
    `load_advanced_indexing` and must not name a slice twice. What lies outside is dropped."""
    target = array_argument(array)
    builder = current_builder()
    options = ordering(builder, "store", MemoryOrder.WEAK, MemoryScope.NONE, STORE_ORDERS)
    options |= hints(builder, latency, allow_tma)
    selection = _selection(target, indices)
    value = implicit_cast(operand(tile, "tile"), target.dtype, "'tile'")
    if isinstance(value, Tile) and value.shape not in ((), selection.shape):
        raise TileValueError(
            f"'tile' has the shape {list(value.shape)}, the indices that of {list(selection.shape)}"
        )
    stored = converted(value, target.dtype, selection.shape)
    view, places = _view(builder, target, selection, None)
    types = builder.types
    op = builder.op(
        "cuda_tile.store_view_tko",
        (types.token,),
        (stored.value, view, *places, builder.memory.root),
        {**options, "operandSegmentSizes": types.segments(1, 1, len(places), 1)},
    )
    builder.memory.access(op, Effect.STORE, target.names, 2 + len(places))
