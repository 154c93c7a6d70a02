"""What accesses to memory share: hints, orders and scopes, masks, element addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileir.dialects import cuda_tile
from tileir.dialects.cuda_tile import MemoryOrdering, PaddingValue, hints_attribute
from tileir.ir import Value

from ..arrays import Array
from ..builder import Attributes, Builder, current_builder
from ..constants import constant
from ..dtypes import DType, bool_, int32, int64, uint64
from ..enums import MemoryOrder, MemoryScope, PaddingMode
from ..errors import TileTypeError, TileUnsupportedFeatureError, TileValueError
from ..lists import ArrayList
from ..values import Tile, describe
from .casts import convert, implicit_cast, to_bool
from .common import (
    Shape,
    broadcast,
    broadcast_shapes,
    constant_bool,
    constant_int,
    enum_member,
    is_number,
    operand,
    shape_of_operand,
)

_ORDERS = {
    MemoryOrder.WEAK: MemoryOrdering.Weak,
    MemoryOrder.RELAXED: MemoryOrdering.Relaxed,
    MemoryOrder.ACQUIRE: MemoryOrdering.Acquire,
    MemoryOrder.RELEASE: MemoryOrdering.Release,
    MemoryOrder.ACQ_REL: MemoryOrdering.AcqRel,
}
_SCOPES = {
    MemoryScope.BLOCK: cuda_tile.MemoryScope.TileBlock,
    MemoryScope.DEVICE: cuda_tile.MemoryScope.Device,
    MemoryScope.SYS: cuda_tile.MemoryScope.System,
}
_PADDING = {
    PaddingMode.ZERO: PaddingValue.Zero,
    PaddingMode.NEG_ZERO: PaddingValue.NegZero,
    PaddingMode.NAN: PaddingValue.NaN,
    PaddingMode.POS_INF: PaddingValue.PosInf,
    PaddingMode.NEG_INF: PaddingValue.NegInf,
}

LOAD_ORDERS = (MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE)
STORE_ORDERS = (MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.RELEASE)
ATOMIC_ORDERS = (
    MemoryOrder.RELAXED,
    MemoryOrder.ACQUIRE,
    MemoryOrder.RELEASE,
    MemoryOrder.ACQ_REL,
)


def array_argument(value: Any, name: str = "array") -> Array:
    """An array. Raises `TileTypeError` otherwise."""
    if isinstance(value, Array):
        return value
    remedy = None
    if isinstance(value, Tile):
        remedy = "a tile is a value: use it as it is, ct.extract(x, index, shape) takes a part"
    elif isinstance(value, ArrayList):
        remedy = "choose one of the list: arrays[i]"
    raise TileTypeError(f"'{name}' must be an array, got {describe(value)}", remedy=remedy)


def ordering(
    builder: Builder,
    what: str,
    memory_order: MemoryOrder,
    memory_scope: MemoryScope,
    allowed: Sequence[MemoryOrder],
) -> Attributes:
    """The order of an access, and its scope if it has one."""
    order = enum_member(memory_order, MemoryOrder, "memory_order")
    scope = enum_member(memory_scope, MemoryScope, "memory_scope")
    if order not in allowed:
        names = ", ".join(f"MemoryOrder.{each.name}" for each in allowed)
        raise TileValueError(f"{what} takes {names}, not MemoryOrder.{order.name}")
    attributes = {"memory_ordering_semantics": builder.types.enum(_ORDERS[order])}
    if order is MemoryOrder.WEAK:
        if scope is not MemoryScope.NONE:
            raise TileValueError(
                f"a weak access has no scope, got MemoryScope.{scope.name}",
                remedy="pass memory_order=ct.MemoryOrder.RELAXED, or leave the scope out",
            )
        return attributes
    if scope is MemoryScope.NONE:
        raise TileValueError(
            f"{what} with MemoryOrder.{order.name} needs a scope",
            remedy="pass memory_scope=ct.MemoryScope.DEVICE",
        )
    if scope is MemoryScope.CLUSTER:
        raise TileUnsupportedFeatureError(
            "Tile IR has no MemoryScope.CLUSTER", remedy="use ct.MemoryScope.DEVICE"
        )
    return attributes | {"memory_scope": builder.types.enum(_SCOPES[scope])}


def acquires(order: MemoryOrder) -> bool:
    """Whether what follows an access of this order stays behind it."""
    return order in (MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)


def releases(order: MemoryOrder) -> bool:
    """Whether what precedes an access of this order stays before it."""
    return order in (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)


def hints(builder: Builder, latency: Any = None, allow_tma: Any = None) -> Attributes:
    """`latency` (1 to 10) and `allow_tma` as the attribute of optimisation hints."""
    values: dict[str, int | bool] = {}
    if allow_tma is not None:
        values["allow_tma"] = constant_bool(allow_tma, "allow_tma")
    if latency is not None:
        values["latency"] = constant_int(latency, "latency")
        if not 1 <= values["latency"] <= 10:
            raise TileValueError(f"'latency' must be from 1 to 10, got {latency}")
    if not values:
        return {}
    key = ("hints", *values.items())
    made = builder.types.made(key, lambda: hints_attribute({"default": values}))
    return {"optimization_hints": made}


def padding_value(mode: Any, dtype: DType) -> PaddingValue | None:
    """What a view gives outside of its array; None for anything."""
    mode = enum_member(mode, PaddingMode, "padding_mode")
    if mode is PaddingMode.UNDETERMINED:
        return None
    if mode is not PaddingMode.ZERO and not dtype.is_float:
        raise TileTypeError(
            f"arrays of {dtype} are padded with zeros only, not with PaddingMode.{mode.name}",
            remedy="pass padding_mode=ct.PaddingMode.ZERO",
        )
    return _PADDING[mode]


def index_values(builder: Builder, index: Any, rank: int, name: str = "index") -> list[Value]:
    """The position of a tile as SSA values of one dtype: int32, or int64 if one of them is."""
    entries = index if isinstance(index, (tuple, list)) else (index,)
    if len(entries) != rank:
        raise TileValueError(
            f"'{name}' has {len(entries)} number{'s' * (len(entries) != 1)}, the array has {rank} "
            f"dimension{'s' * (rank != 1)}",
            remedy="give the position among the tiles in each dimension: "
            f"({', '.join('ijklmn'[:rank])}{',' * (rank == 1)})",
        )
    numbers = [_index_entry(entry, f"{name}[{i}]") for i, entry in enumerate(entries)]
    wide = any(
        number.dtype is int64 if isinstance(number, Tile) else number > int32.maximum
        for number in numbers
    )
    dtype = int64 if wide else int32
    return [
        convert(number, dtype).value
        if isinstance(number, Tile)
        else constant(builder, number, dtype).value
        for number in numbers
    ]


def _index_entry(value: Any, name: str) -> int | Tile:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise TileValueError(
                f"'{name}' is {value}, positions count from 0",
                remedy="there is no counting from the end: compute the position",
            )
        return value
    if isinstance(value, Tile) and value.dtype.is_integer and value.dtype.signed:
        if value.shape == ():
            return value
        if all(extent == 1 for extent in value.shape):
            raise TileTypeError(
                f"'{name}' must be a scalar, got {describe(value)}", remedy="write x.item()"
            )
    raise TileTypeError(
        f"'{name}' must be a signed integer, got {describe(value)}",
        remedy="tiles of indices are for ct.gather(array, indices)",
    )


# ---- elements by address ---------------------------------------------------------------------


def index_tiles(indices: Any, rank: int) -> list[Tile | int]:
    """The indices of elements, one for each dimension; a 1-D array takes one without a tuple."""
    entries = indices if isinstance(indices, (tuple, list)) else (indices,)
    if len(entries) != rank:
        raise TileValueError(
            f"'indices' has {len(entries)} entr{'y' if len(entries) == 1 else 'ies'}, the array "
            f"has {rank} dimension{'s' * (rank != 1)}"
        )
    found: list[Tile | int] = []
    for i, entry in enumerate(entries):
        value = operand(entry, f"indices[{i}]")
        if isinstance(value, Tile):
            if not value.dtype.is_integer:
                raise TileTypeError(f"'indices[{i}]' must be integers, got {describe(value)}")
            found.append(value)
        else:
            found.append(constant_int(value, f"indices[{i}]"))
    return found


def addresses(array: Array, offset: Tile) -> Value:
    """Pointers to the elements `offset` (int64, in elements) away from the first."""
    builder = current_builder()
    pointers = repeated_pointer(builder, array.base, array.dtype, offset.shape)
    type_ = builder.types.pointers(offset.shape, array.dtype)
    return builder.value("cuda_tile.offset", type_, (pointers, offset.value))


def repeated_pointer(builder: Builder, base: Value, dtype: DType, shape: Shape) -> Value:
    """A scalar pointer as a tile of `shape`."""
    if not shape:
        return base
    ones = (1,) * len(shape)
    value = builder.value("cuda_tile.reshape", builder.types.pointers(ones, dtype), (base,))
    if ones == shape:
        return value
    return builder.value("cuda_tile.broadcast", builder.types.pointers(shape, dtype), (value,))


def element_offsets(
    builder: Builder, array: Array, indices: Sequence[Tile | int], shape: Shape, check: bool
) -> tuple[Tile, Tile | None]:
    """Offsets of elements in the array, in elements (int64), and where they are inside of it."""
    from .arithmetic import add, mul
    from .bitwise import bitwise_and
    from .comparison import less

    total: Tile | None = None
    inside: Tile | None = None
    for index, extent, stride in zip(indices, array.shape, array.strides, strict=True):
        position = _wide(builder, index, shape)
        if check:
            # Negative positions are large unsigned ones.
            bound = _unsigned(_wide(builder, extent, shape))
            fits = less(_unsigned(position), bound)
            inside = fits if inside is None else bitwise_and(inside, fits)
        step = mul(position, _wide(builder, stride, shape))
        total = step if total is None else add(total, step)
    return total if total is not None else constant(builder, 0, int64), inside


def _wide(builder: Builder, value: Tile | int, shape: Shape) -> Tile:
    """An index, extent or stride as int64, repeated to `shape`."""
    if isinstance(value, Tile):
        return broadcast(convert(value, int64), shape)
    return constant(builder, value, int64, shape)


def _unsigned(value: Tile) -> Tile:
    return Tile(value.value, uint64, value.shape)


def index_shape(indices: Sequence[Tile | int]) -> Shape:
    """The shape that all indices broadcast to."""
    return broadcast_shapes(*(shape_of_operand(each) for each in indices))


def mask_argument(mask: Any, shape: Shape) -> Tile | None:
    """A mask of the user's, repeated to `shape`; None for none."""
    if mask is None:
        return None
    value = operand(mask, "mask")
    boolean = to_bool(value) if isinstance(value, Tile) else None
    if boolean is None:
        return constant(current_builder(), bool(value), bool_, shape)
    return broadcast_argument(boolean, shape, "mask")


def broadcast_argument(value: Tile, shape: Shape, name: str) -> Tile:
    """A tile repeated to `shape`. Raises `TileValueError` if it has another one."""
    if broadcast_shapes(value.shape, shape) != shape:
        raise TileValueError(
            f"'{name}' has the shape {list(value.shape)}, which does not broadcast to that of the "
            f"indices, {list(shape)}"
        )
    return broadcast(value, shape)


def value_argument(value: Any, dtype: DType, shape: Shape, name: str) -> Tile:
    """A value to store at each of several elements of `dtype`."""
    given = implicit_cast(operand(value, name), dtype, f"'{name}'")
    if is_number(given):
        return constant(current_builder(), given, dtype, shape)
    assert isinstance(given, Tile)
    return broadcast_argument(given, shape, name)


def both_masks(first: Tile | None, second: Tile | None) -> Tile | None:
    """Where both masks are true; None stands for a mask that is true everywhere."""
    from .bitwise import bitwise_and

    if first is None or second is None:
        return second if first is None else first
    return bitwise_and(first, second)
