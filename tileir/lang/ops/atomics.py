"""Atomic updates of elements in memory.

Each element is updated as one step, in an order that is not specified; the operation as a whole is
not atomic.
"""

from __future__ import annotations

from typing import Any

from tileir.dialects.cuda_tile import AtomicRMWMode

from ..arrays import Array
from ..builder import Builder, current_builder
from ..dtypes import DType, bfloat16, float16, float32, float64, int32, int64, uint32, uint64
from ..enums import MemoryOrder, MemoryScope
from ..errors import TileTypeError
from ..memory_order import Effect
from ..values import Tile, describe
from .access import (
    ATOMIC_ORDERS,
    acquires,
    addresses,
    array_argument,
    element_offsets,
    index_shape,
    index_tiles,
    index_values,
    ordering,
    releases,
    value_argument,
)
from .common import constant_bool
from .memory import TiledView, _stored_tile, view_value

_INTEGERS = (int32, uint32, int64, uint64)
#: The dtypes of the elements that each kind of update works on.
_DTYPES: dict[str, tuple[DType, ...]] = {
    "add": (*_INTEGERS, float16, bfloat16, float32, float64),
    "xchg": (*_INTEGERS, float32, float64),
    "cas": (*_INTEGERS, float32, float64),
    **dict.fromkeys(("max", "min", "and", "or", "xor"), _INTEGERS),
}
_BITWISE = ("and", "or", "xor")


def _mode(kind: str, dtype: DType) -> AtomicRMWMode:
    if kind == "add":
        return AtomicRMWMode.AddF if dtype.is_float else AtomicRMWMode.Add
    if kind in ("max", "min"):
        signed = {"max": AtomicRMWMode.Max, "min": AtomicRMWMode.Min}
        unsigned = {"max": AtomicRMWMode.UMax, "min": AtomicRMWMode.UMin}
        return (signed if dtype.signed else unsigned)[kind]
    modes = {
        "and": AtomicRMWMode.And,
        "or": AtomicRMWMode.Or,
        "xor": AtomicRMWMode.Xor,
        "xchg": AtomicRMWMode.Xchg,
    }
    return modes[kind]


def _check_dtype(kind: str, dtype: DType) -> None:
    if dtype not in _DTYPES[kind]:
        known = ", ".join(map(str, _DTYPES[kind]))
        raise TileTypeError(f"atomic_{kind} works on arrays of {known}, not of {dtype}")


def _update_argument(kind: str, update: Any, dtype: DType, shape: tuple[int, ...]) -> Tile:
    if kind in _BITWISE and isinstance(update, Tile) and update.dtype is not dtype:
        raise TileTypeError(
            f"'update' is {describe(update)}: bits are updated in the array's dtype, {dtype}",
            remedy=f"convert it: .astype(ct.{dtype})",
        )
    return value_argument(update, dtype, shape, "update")


def read_modify_write(
    kind: str,
    array: Array,
    offset: Tile,
    mask: Tile | None,
    update: Any,
    memory_order: MemoryOrder,
    memory_scope: MemoryScope,
) -> Tile:
    """Updates the elements at `offset` (int64, in elements) and returns what they were."""
    _check_dtype(kind, array.dtype)
    builder = current_builder()
    options = ordering(builder, f"atomic_{kind}", memory_order, memory_scope, ATOMIC_ORDERS)
    value = _update_argument(kind, update, array.dtype, offset.shape)
    types = builder.types
    others = [] if mask is None else [mask.value]
    op = builder.op(
        "cuda_tile.atomic_rmw_tko",
        (types.tile(offset.shape, array.dtype), types.token),
        (addresses(array, offset), value.value, *others, builder.memory.root),
        {
            **options,
            "mode": types.enum(_mode(kind, array.dtype)),
            "operandSegmentSizes": types.segments(1, 1, len(others), 1),
        },
    )
    _record(builder, op, array, 2 + len(others), memory_order)
    return Tile(op.results[0], array.dtype, offset.shape)


def _record(builder: Builder, op: Any, array: Array, token: int, memory_order: MemoryOrder) -> None:
    builder.memory.access(
        op,
        Effect.ATOMIC,
        array.names,
        token,
        acquire=acquires(memory_order),
        release=releases(memory_order),
    )


def compare_and_swap(
    array: Array,
    offset: Tile,
    mask: Tile | None,
    expected: Any,
    desired: Any,
    memory_order: MemoryOrder,
    memory_scope: MemoryScope,
) -> Tile:
    """Replaces the elements at `offset` that are `expected`; returns what they were."""
    _check_dtype("cas", array.dtype)
    builder = current_builder()
    options = ordering(builder, "atomic_cas", memory_order, memory_scope, ATOMIC_ORDERS)
    shape, dtype = offset.shape, array.dtype
    compared = value_argument(expected, dtype, shape, "expected")
    value = value_argument(desired, dtype, shape, "desired")
    types = builder.types
    others = [] if mask is None else [mask.value]
    op = builder.op(
        "cuda_tile.atomic_cas_tko",
        (types.tile(shape, dtype), types.token),
        (addresses(array, offset), compared.value, value.value, *others, builder.memory.root),
        {**options, "operandSegmentSizes": types.segments(1, 1, 1, len(others), 1)},
    )
    _record(builder, op, array, 3 + len(others), memory_order)
    return Tile(op.results[0], dtype, shape)


def store_atomically(view: TiledView, kind: str, index: Any, update: Any) -> None:
    """Updates a tile of a view in memory; what the elements were is not asked for."""
    array = view.array
    _check_dtype(kind, array.dtype)
    if kind in _BITWISE and isinstance(update, Tile) and update.dtype is not array.dtype:
        _update_argument(kind, update, array.dtype, view.tile_shape)
    value = _stored_tile(view, update, "update")
    builder = current_builder()
    types = builder.types
    where = index_values(builder, index, len(array.shape))
    options = ordering(
        builder, "atomic_store", MemoryOrder.RELAXED, MemoryScope.DEVICE, ATOMIC_ORDERS
    )
    op = builder.op(
        "cuda_tile.atomic_red_view_tko",
        (types.token,),
        (view_value(builder, view, padded=False), *where, value.value, builder.memory.root),
        {
            **options,
            "mode": types.enum(_mode(kind, array.dtype)),
            "operandSegmentSizes": types.segments(1, len(where), 1, 1),
        },
    )
    _record(builder, op, array, 2 + len(where), MemoryOrder.RELAXED)


def _elements(array: Any, indices: Any, check_bounds: Any) -> tuple[Array, Tile, Tile | None]:
    target = array_argument(array)
    builder = current_builder()
    places = index_tiles(indices, len(target.shape))
    check = constant_bool(check_bounds, "check_bounds")
    offset, inside = element_offsets(builder, target, places, index_shape(places), check)
    return target, offset, inside


def _atomic(
    kind: str,
    array: Any,
    indices: Any,
    update: Any,
    check_bounds: bool,
    memory_order: MemoryOrder,
    memory_scope: MemoryScope,
) -> Tile:
    target, offset, inside = _elements(array, indices, check_bounds)
    return read_modify_write(kind, target, offset, inside, update, memory_order, memory_scope)


def atomic_cas(
    array: Array,
    indices: Any,
    expected: Any,
    desired: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replaces elements that are `expected`, bit by bit, by `desired`; returns what they were.

    Arguments as those of `atomic_add`. For indices outside of the array the result is `expected`.
    """
    target, offset, inside = _elements(array, indices, check_bounds)
    return compare_and_swap(target, offset, inside, expected, desired, memory_order, memory_scope)


def atomic_xchg(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replaces elements by `update` and returns what they were. Arguments as those of
    `atomic_add`."""
    return _atomic("xchg", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_add(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Adds `update` to elements of an array and returns what they were.

    `indices` are those of `gather`, `update` broadcasts to their shape. Nothing happens for
    indices outside of the array, and the result there is not defined; `check_bounds=False`
    promises that there are none. `memory_order` is RELAXED, ACQUIRE, RELEASE or ACQ_REL, among
    the blocks of `memory_scope`. TiledView.atomic_store_add is faster where the old value is not
    needed.
    """
    return _atomic("add", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_max(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replaces integers by the maximum of them and `update`, as `atomic_add` adds."""
    return _atomic("max", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_min(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replaces integers by the minimum of them and `update`, as `atomic_add` adds."""
    return _atomic("min", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_and(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Clears the bits of integers that are not in `update`, as `atomic_add` adds; `update` has the
    array's dtype."""
    return _atomic("and", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_or(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Sets the bits of integers that are in `update`, as `atomic_and` clears others."""
    return _atomic("or", array, indices, update, check_bounds, memory_order, memory_scope)


def atomic_xor(
    array: Array,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Flips the bits of integers that are in `update`, as `atomic_and` clears others."""
    return _atomic("xor", array, indices, update, check_bounds, memory_order, memory_scope)
