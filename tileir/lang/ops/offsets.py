"""Tiles that do not begin at a multiple of their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tileir.dialects.cuda_tile import PaddingValue

from ..arrays import Array, make_array, moved
from ..builder import Attributes, current_builder
from ..constants import constant
from ..dtypes import int32, int64
from ..enums import MemoryOrder
from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .access import addresses, element_offsets, index_values
from .arithmetic import add, mul, sub
from .casts import convert
from .common import constant_bool, operand
from .gather import load_pointers, store_pointers
from .memory import TiledView, _load, _store
from .shape import with_shape

_PADDING_NUMBERS = {
    PaddingValue.Zero: 0.0,
    PaddingValue.NegZero: -0.0,
    PaddingValue.NaN: float("nan"),
    PaddingValue.PosInf: float("inf"),
    PaddingValue.NegInf: float("-inf"),
}

Offsets = Sequence["int | Tile"]


def _offsets(view: TiledView, offset: Any) -> list[int | Tile]:
    """An offset for each axis of the view's tiles."""
    entries = offset if isinstance(offset, (tuple, list)) else (offset,)
    rank = len(view.tile_shape)
    if len(entries) != rank:
        raise TileValueError(f"'offset' needs {rank} numbers, got {len(entries)}")
    found: list[int | Tile] = []
    for i, entry in enumerate(entries):
        value = operand(entry, f"offset[{i}]")
        whole = isinstance(value, int) and not isinstance(value, bool)
        scalar = isinstance(value, Tile) and not value.shape and value.dtype.is_integer
        if not (whole or scalar):
            raise TileTypeError(f"'offset[{i}]' must be an integer, got {describe(value)}")
        found.append(value)  # type: ignore[arg-type]
    return found


def _begins_before(offsets: Offsets) -> bool:
    return any(isinstance(each, int) and each < 0 for each in offsets)


def _shifted(view: TiledView, offsets: Offsets) -> TiledView:
    """The view of the array that begins `offsets` elements later and ends where it ended."""
    array = view.array
    by_dimension: list[int | Tile] = [0] * len(array.shape)
    for axis, each in zip(view.order, offsets, strict=True):
        by_dimension[axis] = each
    return replace(view, array=shifted_array(array, by_dimension))


def shifted_array(array: Array, offsets: Offsets) -> Array:
    """An array without its first elements along each dimension."""
    base, shape = array.base, list(array.shape)
    for dimension, each in enumerate(offsets):
        if not isinstance(each, Tile) and each == 0:
            continue
        base = moved(array, base, dimension, each)
        extent = shape[dimension]
        dtype = extent.dtype if isinstance(extent, Tile) else int32
        taken = convert(each, dtype) if isinstance(each, Tile) else each
        shape[dimension] = sub(extent, taken)
    return make_array(
        current_builder(),
        array.dtype,
        base,
        tuple(shape),
        array.strides,
        array.names,
        disjoint=array.disjoint,
    )


def load_at_offset(
    view: TiledView,
    index: Any,
    offset: Any,
    options: Attributes,
    check_bounds: Any,
    order: MemoryOrder,
) -> Tile:
    """`load` with an offset."""
    offsets = _offsets(view, offset)
    if not _begins_before(offsets):
        return _load(_shifted(view, offsets), index, options, check_bounds, order)
    places, inside = _elements(view, index, offsets, check_bounds)
    array = view.array
    padding = None
    if inside is not None:
        number = _PADDING_NUMBERS.get(view.padding, 0.0) if view.padding is not None else 0.0
        value = number if array.dtype.is_float else int(number)
        padding = constant(current_builder(), value, array.dtype, view.tile_shape)
    kept = _without_tma(options)
    tile = load_pointers(
        array, addresses(array, places), view.tile_shape, inside, padding, kept, order
    )
    return with_shape(tile, ()) if view.scalar else tile


def store_at_offset(
    view: TiledView,
    index: Any,
    tile: Tile,
    offset: Any,
    options: Attributes,
    check_bounds: Any,
    order: MemoryOrder,
) -> None:
    """`store` with an offset."""
    offsets = _offsets(view, offset)
    if not _begins_before(offsets):
        _store(_shifted(view, offsets), index, tile, options, check_bounds, order)
        return
    places, inside = _elements(view, index, offsets, check_bounds)
    array = view.array
    store_pointers(array, addresses(array, places), tile, inside, _without_tma(options), order)


def _without_tma(options: Attributes) -> Attributes:
    """Hints that accesses by address know: elements are not copied by tensor memory accesses."""
    if "optimization_hints" not in options:
        return options
    from tileir.dialects.cuda_tile import hints

    given = hints(options["optimization_hints"]).get("default", {})
    rest = {key: value for key, value in options.items() if key != "optimization_hints"}
    if "latency" not in given:
        return rest
    from .access import hints as hints_of

    return rest | hints_of(current_builder(), given["latency"])


def _elements(
    view: TiledView, index: Any, offsets: Offsets, check_bounds: Any
) -> tuple[Tile, Tile | None]:
    """Where the elements of a tile are, and which are inside of the array."""
    builder = current_builder()
    shape, rank = view.tile_shape, len(view.tile_shape)
    positions: list[Tile | int] = [0] * rank
    for axis, value in enumerate(index_values(builder, index, rank)):
        scalar = convert(scalar_index(value), int64)
        shift = offsets[axis]
        wide = convert(shift, int64) if isinstance(shift, Tile) else shift
        start = add(mul(scalar, view.steps[axis]), wide)
        counted = builder.tile("cuda_tile.iota", int64, (shape[axis],), ())
        column = tuple(n if i == axis else 1 for i, n in enumerate(shape))
        positions[view.order[axis]] = with_shape(add(counted, start), column)
    check = constant_bool(check_bounds, "check_bounds")
    return element_offsets(builder, view.array, positions, shape, check)


def scalar_index(value: Any) -> Tile:
    """An index as a tile again."""
    bits = str(value.type.element_type)
    return Tile(value, int64 if bits == "i64" else int32, ())
