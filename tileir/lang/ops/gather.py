"""Elements of arrays at any indices: gather, scatter, and memory without a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.ir import Value

from ..arrays import Array
from ..builder import Attributes, Builder, current_builder
from ..dtypes import DType, int64
from ..enums import MemoryOrder, MemoryScope
from ..errors import TileTypeError
from ..memory_order import Effect
from ..values import RuntimeValue, Tile, describe
from .access import (
    LOAD_ORDERS,
    STORE_ORDERS,
    acquires,
    addresses,
    array_argument,
    both_masks,
    element_offsets,
    hints,
    index_shape,
    index_tiles,
    mask_argument,
    ordering,
    releases,
    value_argument,
)
from .casts import convert
from .common import Shape, as_tile, constant_bool


def load_pointers(
    array: Array,
    pointers: Value,
    shape: Shape,
    mask: Tile | None,
    padding: Tile | None,
    options: Attributes,
    order: MemoryOrder = MemoryOrder.WEAK,
) -> Tile:
    """Loads an element from each address whose mask holds, else `padding`."""
    builder = current_builder()
    types = builder.types
    others = [tile.value for tile in (mask, padding) if tile is not None]
    segments = types.segments(1, int(mask is not None), int(padding is not None), 1)
    op = builder.op(
        "cuda_tile.load_ptr_tko",
        (types.tile(shape, array.dtype), types.token),
        (pointers, *others, builder.memory.root),
        {**options, "operandSegmentSizes": segments},
    )
    builder.memory.access(op, Effect.LOAD, array.names, 1 + len(others), acquire=acquires(order))
    return Tile(op.results[0], array.dtype, shape)


def store_pointers(
    array: Array,
    pointers: Value,
    value: Tile,
    mask: Tile | None,
    options: Attributes,
    order: MemoryOrder = MemoryOrder.WEAK,
) -> None:
    """Stores an element to each address whose mask holds."""
    builder = current_builder()
    types = builder.types
    others = [] if mask is None else [mask.value]
    op = builder.op(
        "cuda_tile.store_ptr_tko",
        (types.token,),
        (pointers, value.value, *others, builder.memory.root),
        {**options, "operandSegmentSizes": types.segments(1, 1, len(others), 1)},
    )
    builder.memory.access(op, Effect.STORE, array.names, 2 + len(others), release=releases(order))


def load_scalar(array: Array, options: Attributes, order: MemoryOrder) -> Tile:
    """The element of an array without dimensions."""
    return load_pointers(array, array.base, (), None, None, options, order)


def store_scalar(array: Array, value: Tile, options: Attributes, order: MemoryOrder) -> None:
    """Stores the element of an array without dimensions."""
    store_pointers(array, array.base, value, None, options, order)


def weak(builder: Builder, latency: Any, orders: Any) -> Attributes:
    """The options of an access without order."""
    options = ordering(builder, "access", MemoryOrder.WEAK, MemoryScope.NONE, orders)
    return options | hints(builder, latency)


def gather(
    array: Array,
    indices: Any,
    /,
    *,
    mask: Any = None,
    padding_value: Any = 0,
    check_bounds: bool = True,
    latency: int | None = None,
) -> Tile:
    """The elements of an array at `indices`: one tile or scalar of integers for each dimension,
    which broadcast together to the shape of the result.

    Where `mask` is False, or an index outside of the array, the element is `padding_value`.
    Negative indices are outside. `check_bounds=False` promises that no index is.
    """
    target = array_argument(array)
    builder = current_builder()
    options = weak(builder, latency, LOAD_ORDERS)
    places = index_tiles(indices, len(target.shape))
    shape = index_shape(places)
    check = constant_bool(check_bounds, "check_bounds")
    offset, inside = element_offsets(builder, target, places, shape, check)
    chosen = both_masks(inside, mask_argument(mask, shape))
    padding = None
    if chosen is not None:
        padding = value_argument(padding_value, target.dtype, shape, "padding_value")
    return load_pointers(target, addresses(target, offset), shape, chosen, padding, options)


def scatter(
    array: Array,
    indices: Any,
    value: Any,
    /,
    *,
    mask: Any = None,
    check_bounds: bool = True,
    latency: int | None = None,
) -> None:
    """Stores `value`, broadcast to the shape of the indices, to the elements at `indices`.

    Nothing is stored where `mask` is False or an index lies outside. Indices must not name an
    element twice. Other arguments are those of `gather`.
    """
    target = array_argument(array)
    builder = current_builder()
    options = weak(builder, latency, STORE_ORDERS)
    places = index_tiles(indices, len(target.shape))
    shape = index_shape(places)
    check = constant_bool(check_bounds, "check_bounds")
    offset, inside = element_offsets(builder, target, places, shape, check)
    pointers = addresses(target, offset)
    chosen = both_masks(inside, mask_argument(mask, shape))
    stored = value_argument(value, target.dtype, shape, "value")
    store_pointers(target, pointers, stored, chosen, options)


@dataclass(frozen=True, slots=True, eq=False)
class RawArrayMemory(RuntimeValue):
    """The memory of an array without its shape: elements by their distance from the first, in
    elements; nothing checks bounds. Made by `array.get_raw_memory()`."""

    array: Array

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.array.dtype

    def load_offset(
        self,
        offset: Any,
        /,
        *,
        mask: Any = None,
        padding_value: Any = 0,
        latency: int | None = None,
    ) -> Tile:
        """The elements at `offset`, a scalar or tile; `padding_value` where `mask` is False."""
        places = offset_argument(offset)
        options = weak(current_builder(), latency, LOAD_ORDERS)
        chosen = mask_argument(mask, places.shape)
        padding = None
        if chosen is not None:
            padding = value_argument(padding_value, self.array.dtype, places.shape, "padding_value")
        pointers = addresses(self.array, places)
        return load_pointers(self.array, pointers, places.shape, chosen, padding, options)

    def store_offset(
        self, offset: Any, value: Any, /, *, mask: Any = None, latency: int | None = None
    ) -> None:
        """Stores `value` to the elements at `offset`, but not where `mask` is False."""
        places = offset_argument(offset)
        options = weak(current_builder(), latency, STORE_ORDERS)
        pointers = addresses(self.array, places)
        chosen = mask_argument(mask, places.shape)
        stored = value_argument(value, self.array.dtype, places.shape, "value")
        store_pointers(self.array, pointers, stored, chosen, options)

    def atomic_cas_offset(
        self,
        offset: Any,
        expected: Any,
        desired: Any,
        /,
        *,
        mask: Any = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """`atomic_cas` on the elements at `offset`."""
        from .atomics import compare_and_swap

        places = offset_argument(offset)
        chosen = mask_argument(mask, places.shape)
        return compare_and_swap(
            self.array, places, chosen, expected, desired, memory_order, memory_scope
        )

    def atomic_xchg_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_xchg` on the elements at `offset`; options `mask`, `memory_order` and
        `memory_scope`, as for all atomic operations here."""
        return self._update("xchg", offset, update, **options)

    def atomic_add_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_add` on the elements at `offset`."""
        return self._update("add", offset, update, **options)

    def atomic_max_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_max` on the elements at `offset`."""
        return self._update("max", offset, update, **options)

    def atomic_min_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_min` on the elements at `offset`."""
        return self._update("min", offset, update, **options)

    def atomic_and_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_and` on the elements at `offset`."""
        return self._update("and", offset, update, **options)

    def atomic_or_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_or` on the elements at `offset`."""
        return self._update("or", offset, update, **options)

    def atomic_xor_offset(self, offset: Any, update: Any, /, **options: Any) -> Tile:
        """`atomic_xor` on the elements at `offset`."""
        return self._update("xor", offset, update, **options)

    def _update(
        self,
        kind: str,
        offset: Any,
        update: Any,
        *,
        mask: Any = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        from .atomics import read_modify_write

        places = offset_argument(offset)
        chosen = mask_argument(mask, places.shape)
        return read_modify_write(
            kind, self.array, places, chosen, update, memory_order, memory_scope
        )


def offset_argument(offset: Any) -> Tile:
    """Distances in elements, as int64."""
    tile = as_tile(offset, "offset")
    if not tile.dtype.is_integer:
        raise TileTypeError(f"'offset' must be integers, got {describe(tile)}")
    return convert(tile, int64)
