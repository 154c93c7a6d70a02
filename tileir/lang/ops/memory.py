"""Loads and stores of whole tiles, and views that cut arrays into tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.dialects.cuda_tile import PaddingValue, PartitionViewType, StridedViewType
from tileir.ir import DenseBoolArrayAttr, Value

from ..arrays import Array
from ..builder import Attributes, Builder, current_builder
from ..constants import constant
from ..dtypes import DType, int32
from ..enums import MemoryOrder, MemoryScope, PaddingMode
from ..errors import TileTypeError, TileValueError
from ..memory_order import Effect
from ..values import RuntimeValue, Tile, describe
from .access import (
    LOAD_ORDERS,
    STORE_ORDERS,
    acquires,
    array_argument,
    hints,
    index_values,
    ordering,
    padding_value,
    releases,
)
from .casts import implicit_cast
from .common import (
    Shape,
    axis_of,
    broadcast,
    broadcast_shapes,
    constant_bool,
    constant_ints,
    is_number,
    note_shape,
    operand,
    permutation_of,
    tile_shape,
)
from .shape import with_shape


@dataclass(frozen=True, slots=True, eq=False)
class TiledView(RuntimeValue):
    """An array cut into a grid of tiles; made by `array.tiled_view(...)`.

    `steps` are the elements between neighbouring tiles along each axis, `order` the axis of the
    array that each axis of the tiles follows. `scalar` views give scalars.
    """

    array: Array
    tile_shape: Shape
    steps: Shape
    order: tuple[int, ...]
    padding: PaddingValue | None
    scalar: bool = False

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.array.dtype

    @property
    def traversal_steps(self) -> Shape:
        """Elements between neighbouring tiles along each axis."""
        return self.steps

    def num_tiles(self, axis: Any) -> int | Tile:
        """The number of tiles along an axis, an int32."""
        return _count(self, axis_of(axis, len(self.steps)))

    def load(
        self,
        index: Any,
        *,
        check_bounds: bool = True,
        latency: int | None = None,
        allow_tma: bool | None = None,
    ) -> Tile:
        """The tile at a position in the grid, options as those of `load`."""
        builder = current_builder()
        options = hints(builder, latency, allow_tma)
        options |= ordering(builder, "load", MemoryOrder.WEAK, MemoryScope.NONE, LOAD_ORDERS)
        return _load(self, index, options, check_bounds)

    def store(
        self,
        index: Any,
        tile: Any,
        *,
        check_bounds: bool = True,
        latency: int | None = None,
        allow_tma: bool | None = None,
    ) -> None:
        """Stores a tile, broadcast to the view's tiles, at a position in the grid; options as
        those of `store`."""
        builder = current_builder()
        options = hints(builder, latency, allow_tma)
        options |= ordering(builder, "store", MemoryOrder.WEAK, MemoryScope.NONE, STORE_ORDERS)
        _store(self, index, _stored_tile(self, tile, "tile"), options, check_bounds)

    def atomic_store_add(self, index: Any, update: Any, /) -> None:
        """Adds `update` to a tile in memory, each element as one atomic step; no result."""
        self._atomic("add", index, update)

    def atomic_store_max(self, index: Any, update: Any, /) -> None:
        """Atomically replaces elements by the maximum of them and `update`."""
        self._atomic("max", index, update)

    def atomic_store_min(self, index: Any, update: Any, /) -> None:
        """Atomically replaces elements by the minimum of them and `update`."""
        self._atomic("min", index, update)

    def atomic_store_and(self, index: Any, update: Any, /) -> None:
        """Atomically clears the bits that are not in `update`, which has the array's dtype."""
        self._atomic("and", index, update)

    def atomic_store_or(self, index: Any, update: Any, /) -> None:
        """Atomically sets the bits in `update`, which has the array's dtype."""
        self._atomic("or", index, update)

    def atomic_store_xor(self, index: Any, update: Any, /) -> None:
        """Atomically flips the bits in `update`, which has the array's dtype."""
        self._atomic("xor", index, update)

    def _atomic(self, kind: str, index: Any, update: Any) -> None:
        from .atomics import store_atomically

        store_atomically(self, kind, index, update)


def make_view(
    array: Array,
    shape: Any,
    *,
    order: Any = "C",
    padding_mode: Any = PaddingMode.UNDETERMINED,
    steps: Any = None,
    name: str = "shape",
) -> TiledView:
    """The view of an array as a grid of tiles; `steps` default to the shape of the tiles."""
    rank = len(array.shape)
    sizes = tile_shape(shape, name)
    scalar = not sizes and rank > 0
    if scalar:
        sizes = (1,) * rank
    if len(sizes) != rank:
        raise TileValueError(
            f"'{name}' has {len(sizes)} size{'s' * (len(sizes) != 1)}, the array has {rank} "
            f"dimension{'s' * (rank != 1)}",
            remedy="give a size for each dimension of the array, 1 for those that are not wanted",
        )
    pace = sizes if steps is None else constant_ints(steps, "traversal_steps")
    if len(pace) != rank or any(step < 1 for step in pace):
        raise TileValueError(f"'traversal_steps' must be {rank} positive numbers, got {list(pace)}")
    axes = axis_order(order, rank)
    return TiledView(array, sizes, pace, axes, padding_value(padding_mode, array.dtype), scalar)


def axis_order(order: Any, rank: int) -> tuple[int, ...]:
    """The axis of an array that each axis of a tile follows: "C", "F" or a permutation."""
    if order == "C":
        return tuple(range(rank))
    if order == "F":
        return tuple(reversed(range(rank)))
    if isinstance(order, str):
        raise TileValueError(f'\'order\' is "C", "F" or a tuple of axes, got {order!r}')
    return permutation_of(order, rank, "order")


def view_value(builder: Builder, view: TiledView, *, padded: bool) -> Value:
    """The view in the IR; stores need no padding."""
    types = builder.types
    tensor = view.array.view
    padding = view.padding if padded else None
    strided = view.steps != view.tile_shape
    key = ("view", tensor.type, view.tile_shape, view.steps, view.order, padding)

    def make() -> Any:
        if strided:
            return StridedViewType.get(
                view.tile_shape, view.steps, tensor.type, view.order, padding
            )
        return PartitionViewType.get(view.tile_shape, tensor.type, view.order, padding)

    name = "cuda_tile.make_strided_view" if strided else "cuda_tile.make_partition_view"
    return builder.value(name, types.made(key, make), (tensor,))


def _count(view: TiledView, axis: int) -> int | Tile:
    extent = view.array.shape[view.order[axis]]
    if isinstance(extent, int):
        return -(-extent // view.steps[axis])
    builder = current_builder()
    scalar = builder.types.tile((), int32)
    value = view_value(builder, view, padded=False)
    rank = len(view.steps)
    op = builder.op("cuda_tile.get_index_space_shape", (scalar,) * rank, (value,))
    return Tile(op.results[axis], int32, ())


def _inside(builder: Builder, rank: int, check_bounds: Any) -> Attributes:
    """The promise that a tile lies inside of the array as a whole."""
    if constant_bool(check_bounds, "check_bounds"):
        return {}
    attribute = builder.types.made(
        ("inbounds", rank), lambda: DenseBoolArrayAttr.get([True] * rank)
    )
    return {"inbounds": attribute}


def _load(
    view: TiledView,
    index: Any,
    options: Attributes,
    check_bounds: Any,
    order: MemoryOrder = MemoryOrder.WEAK,
) -> Tile:
    builder = current_builder()
    array, rank = view.array, len(view.array.shape)
    if rank == 0:
        from .gather import load_scalar

        return load_scalar(array, options, order)
    value = view_value(builder, view, padded=True)
    where = index_values(builder, index, rank)
    types = builder.types
    attributes = {
        **options,
        **_inside(builder, rank, check_bounds),
        "operandSegmentSizes": types.segments(1, rank, 1),
    }
    op = builder.op(
        "cuda_tile.load_view_tko",
        (types.tile(view.tile_shape, array.dtype), types.token),
        (value, *where, builder.memory.root),
        attributes,
    )
    builder.memory.access(op, Effect.LOAD, array.names, 1 + rank, acquire=acquires(order))
    tile = Tile(op.results[0], array.dtype, view.tile_shape)
    return with_shape(tile, ()) if view.scalar else tile


def _stored_tile(view: TiledView, tile: Any, name: str) -> Tile:
    """A value as a tile of the view's shape and dtype."""
    builder = current_builder()
    dtype, shape = view.array.dtype, view.tile_shape
    value = implicit_cast(operand(tile, name), dtype, f"'{name}'")
    if is_number(value):
        return constant(builder, value, dtype, shape)
    assert isinstance(value, Tile)
    if broadcast_shapes(value.shape, shape) != shape:
        raise TileValueError(
            f"'{name}' has the shape {list(value.shape)}, which does not broadcast to the view's "
            f"tiles, {list(shape)}"
        )
    return broadcast(value, shape)


def _store(
    view: TiledView,
    index: Any,
    tile: Tile,
    options: Attributes,
    check_bounds: Any,
    order: MemoryOrder = MemoryOrder.WEAK,
) -> None:
    builder = current_builder()
    array, rank = view.array, len(view.array.shape)
    if rank == 0:
        from .gather import store_scalar

        store_scalar(array, tile, options, order)
        return
    value = view_value(builder, view, padded=False)
    where = index_values(builder, index, rank)
    types = builder.types
    attributes = {
        **options,
        **_inside(builder, rank, check_bounds),
        "operandSegmentSizes": types.segments(1, 1, rank, 1),
    }
    op = builder.op(
        "cuda_tile.store_view_tko",
        (types.token,),
        (tile.value, value, *where, builder.memory.root),
        attributes,
    )
    apart = array.disjoint and all(
        step >= size for step, size in zip(view.steps, view.tile_shape, strict=True)
    )
    builder.memory.access(
        op,
        Effect.STORE,
        array.names,
        2 + rank,
        release=releases(order),
        indices=where if apart else (),
    )


def _hinted(array: Array, hint: Any) -> Array:
    if hint is None:
        return array
    from .hints import aligned

    return aligned(array, hint)


def load(
    array: Array,
    /,
    index: Any,
    shape: Any,
    *,
    order: Any = "C",
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: MemoryOrder = MemoryOrder.WEAK,
    memory_scope: MemoryScope = MemoryScope.NONE,
    offset: Any = None,
    hint: Any = None,
) -> Tile:
    """The tile at position `index` of an array that is cut into tiles of `shape`.

    `order` maps axes: axis `i` of the tile follows axis `order[i]` of the array, "C" for as they
    are, "F" for reversed. Elements beyond the edge are what `padding_mode` says; a tile that lies
    outside as a whole is undefined. `check_bounds=False` promises that the tile lies inside.
    `latency`, 1 to 10, hints how long memory takes, `allow_tma=False` at copies by threads.
    `memory_order` WEAK, RELAXED or ACQUIRE, the latter two with a `memory_scope`.

    `offset` moves all tiles by so many elements along each axis of the tile: `index * shape +
    offset` is the first. That must be an element of the array, or the tile is undefined: for 17
    elements in tiles of 8, `offset=1` leaves no third tile. Where the offset is negative, elements
    before the beginning are padded, too; one that is known only at run time must not be negative.
    `hint` may be a promise `ct.align(n)`.
    """
    target = _hinted(array_argument(array), hint)
    builder = current_builder()
    options = ordering(builder, "load", memory_order, memory_scope, LOAD_ORDERS)
    options |= hints(builder, latency, allow_tma)
    if offset is None:
        view = make_view(target, shape, order=order, padding_mode=padding_mode)
        return _load(view, index, options, check_bounds, memory_order)
    from .offsets import load_at_offset

    view = make_view(target, shape, order=order, padding_mode=padding_mode)
    return load_at_offset(view, index, offset, options, check_bounds, memory_order)


def store(
    array: Array,
    /,
    index: Any,
    tile: Any,
    *,
    order: Any = "C",
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: MemoryOrder = MemoryOrder.WEAK,
    memory_scope: MemoryScope = MemoryScope.NONE,
    offset: Any = None,
    hint: Any = None,
) -> None:
    """Stores `tile` at position `index` of an array that is cut into tiles of its shape.

    Elements beyond the edge are dropped. A scalar is stored at the element `index`. Other options
    are those of `load`; `memory_order` is WEAK, RELAXED or RELEASE.
    """
    target = _hinted(array_argument(array), hint)
    builder = current_builder()
    options = ordering(builder, "store", memory_order, memory_scope, STORE_ORDERS)
    options |= hints(builder, latency, allow_tma)
    value = implicit_cast(operand(tile, "tile"), target.dtype, "'tile'")
    if is_number(value):
        value = constant(builder, value, target.dtype)
    assert isinstance(value, Tile)
    rank = len(target.shape)
    if value.shape and len(value.shape) != rank:
        raise TileTypeError(
            f"'tile' is {describe(value)}, the array has {rank} dimensions",
            remedy="reshape the tile, with sizes of 1 for the other dimensions: x[None, :]",
        )
    view = make_view(target, value.shape, order=order)
    note_shape(builder, value.shape)
    if view.scalar:
        value = with_shape(value, view.tile_shape)
    if offset is None:
        _store(view, index, value, options, check_bounds, memory_order)
        return
    from .offsets import store_at_offset

    store_at_offset(view, index, value, offset, options, check_bounds, memory_order)


def num_tiles(array: Array, /, axis: int, shape: Any, order: Any = "C") -> int | Tile:
    """The number of tiles of `shape` along an axis of the grid that `load` cuts an array into: the
    extent divided by the size, rounded up."""
    view = make_view(array_argument(array), shape, order=order)
    return _count(view, axis_of(axis, len(view.steps)))
