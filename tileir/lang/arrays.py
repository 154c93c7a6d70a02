"""Arrays in global memory, as kernels see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tileir.dialects.cuda_tile import DYNAMIC, Bounded, DivBy, TensorViewType
from tileir.ir import Value

from .builder import Builder, current_builder
from .constants import constant
from .dtypes import BY_NAME, DType, int64
from .enums import PaddingMode
from .errors import TileTypeError, TileValueError
from .ops.arithmetic import mul, sub
from .ops.casts import convert
from .ops.common import as_tile, axis_of
from .signature import ArrayParameter
from .values import RuntimeValue, Tile, describe

if TYPE_CHECKING:
    from .ops.gather import RawArrayMemory
    from .ops.memory import TiledView


@dataclass(frozen=True, slots=True, eq=False)
class Array(RuntimeValue):
    """An array: an address, extents and strides in elements, each a constant or a scalar.

    `names` are those of the parameters whose memory it may be; `disjoint` says that no two
    elements share memory; `view` is its tensor view.
    """

    dtype: DType
    base: Value
    shape: tuple[int | Tile, ...]
    strides: tuple[int | Tile, ...]
    view: Value
    names: frozenset[str]
    disjoint: bool = True

    #: What does not pass loops and branches, but is made again behind them by `derive`.
    derived_fields: ClassVar = ("view",)

    def derive(self) -> None:
        view = _tensor_view(current_builder(), self.dtype, self.base, self.shape, self.strides)
        object.__setattr__(self, "view", view)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __getitem__(self, index: Any) -> Any:
        from .ops.threads import no_elements

        raise no_elements()

    def __setitem__(self, index: Any, value: Any) -> None:
        from .ops.threads import no_elements

        raise no_elements()

    def slice(self, axis: int, start: int | Tile, stop: int | Tile) -> Array:
        """The elements from `start` up to but without `stop` along one axis, as an array on the
        same memory. `0 <= start <= stop <= extent`, or the behaviour is undefined."""
        return _slice(self, axis, start, stop)

    def tiled_view(
        self,
        tile_shape: Any,
        *,
        padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
        traversal_steps: Any = None,
    ) -> TiledView:
        """The array cut into tiles, `traversal_steps` elements apart along each axis: fewer than
        the size of the tile let tiles overlap, more leave gaps. By default they just meet."""
        from .ops.memory import make_view

        return make_view(
            self, tile_shape, padding_mode=padding_mode, steps=traversal_steps, name="tile_shape"
        )

    def get_raw_memory(self) -> RawArrayMemory:
        """The array's memory, addressed by distance from the first element."""
        from .ops.gather import RawArrayMemory

        return RawArrayMemory(self)


def array_parameter(
    builder: Builder,
    parameter: ArrayParameter,
    name: str,
    base: Value,
    shape: list[Tile],
    strides: list[Tile],
) -> Array:
    """The array of a parameter, with what its signature promises stated in the IR."""
    dtype = BY_NAME[parameter.dtype]
    base = assume_divisible(builder, base, parameter.pointer_divisible_by)
    extents = _words(builder, shape, parameter.static_shape, parameter.shape_divisible_by)
    steps = _words(builder, strides, parameter.static_strides, parameter.stride_divisible_by)
    # Parameters are identifiers, which no name of a group is taken for.
    names = frozenset(f"group {group}" for group in parameter.alias_groups) or {name}
    return make_array(
        builder, dtype, base, extents, steps, frozenset(names), disjoint=parameter.disjoint
    )


def _words(
    builder: Builder, words: list[Tile], static: tuple[int | None, ...], divisors: tuple[int, ...]
) -> tuple[int | Tile, ...]:
    """Extents or strides: constants where they are pinned, else scalars that are not negative."""
    found: list[int | Tile] = []
    for word, known, divisor in zip(words, static, divisors, strict=True):
        if known is not None:
            found.append(known)
            continue
        value = assume_divisible(builder, word.value, divisor)
        bounded = {"predicate": builder.types.made("bounded", Bounded(0, None).attribute)}
        value = builder.value("cuda_tile.assume", value.type, (value,), bounded)
        found.append(Tile(value, word.dtype, ()))
    return tuple(found)


def assume_divisible(builder: Builder, value: Value, divisor: int) -> Value:
    """`value`, known to be a multiple of `divisor`."""
    if divisor == 1:
        return value
    attribute = builder.types.made(("div_by", divisor), DivBy(divisor).attribute)
    return builder.value("cuda_tile.assume", value.type, (value,), {"predicate": attribute})


def make_array(
    builder: Builder,
    dtype: DType,
    base: Value,
    shape: tuple[int | Tile, ...],
    strides: tuple[int | Tile, ...],
    names: frozenset[str],
    *,
    disjoint: bool = True,
) -> Array:
    """An array and its tensor view."""
    view = _tensor_view(builder, dtype, base, shape, strides)
    return Array(dtype, base, shape, strides, view, names, disjoint)


def _tensor_view(
    builder: Builder,
    dtype: DType,
    base: Value,
    shape: tuple[int | Tile, ...],
    strides: tuple[int | Tile, ...],
) -> Value:
    types = builder.types
    static_shape = tuple(DYNAMIC if isinstance(each, Tile) else each for each in shape)
    static_strides = tuple(DYNAMIC if isinstance(each, Tile) else each for each in strides)
    view_type = types.made(
        ("tensor_view", static_shape, dtype, static_strides),
        lambda: TensorViewType.get(static_shape, types.element(dtype), static_strides),
    )
    extents = [each.value for each in shape if isinstance(each, Tile)]
    steps = [each.value for each in strides if isinstance(each, Tile)]
    return builder.value(
        "cuda_tile.make_tensor_view",
        view_type,
        (base, *extents, *steps),
        {"operandSegmentSizes": types.segments(1, len(extents), len(steps))},
    )


def moved(array: Array, base: Value, dimension: int, offset: int | Tile) -> Value:
    """An address `offset` elements further along a dimension of an array."""
    builder = current_builder()
    stride = array.strides[dimension]
    # In 64 bits: the distance may exceed what extents and strides fit in.
    steps = [convert(each, int64) if isinstance(each, Tile) else each for each in (offset, stride)]
    distance = mul(steps[0], steps[1])
    if not isinstance(distance, Tile):
        distance = constant(builder, distance, int64)
    return builder.value(
        "cuda_tile.offset", builder.types.pointers((), array.dtype), (base, distance.value)
    )


def _slice(array: Array, axis: Any, start: Any, stop: Any) -> Array:
    dimension = axis_of(axis, array.ndim)
    first, last = _bound(start, "start"), _bound(stop, "stop")
    if isinstance(first, int) and isinstance(last, int) and first > last:
        raise TileValueError(f"'start' is {first}, beyond 'stop', {last}")
    base = array.base
    if not (isinstance(first, int) and first == 0):
        base = moved(array, base, dimension, first)
    shape = list(array.shape)
    shape[dimension] = sub(last, first)
    return make_array(
        current_builder(),
        array.dtype,
        base,
        tuple(shape),
        array.strides,
        array.names,
        disjoint=array.disjoint,
    )


def _bound(value: Any, name: str) -> int | Tile:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise TileValueError(f"'{name}' must not be negative, got {value}")
        return value
    scalar = as_tile(value, name)
    if scalar.shape or not scalar.dtype.is_integer:
        raise TileTypeError(f"'{name}' must be an integer scalar, got {describe(value)}")
    return scalar
