"""Arrays in global memory, as kernels see them."""

from __future__ import annotations

from dataclasses import dataclass

from tileir.dialects.cuda_tile import DYNAMIC, Bounded, DivBy, TensorViewType
from tileir.ir import Value

from .builder import Builder
from .dtypes import BY_NAME, DType
from .signature import ArrayParameter, ListParameter
from .values import RuntimeValue, Tile


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

    @property
    def ndim(self) -> int:
        return len(self.shape)


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
    return make_array(
        builder, dtype, base, extents, steps, frozenset({name}), disjoint=parameter.disjoint
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
    types = builder.types
    static_shape = tuple(DYNAMIC if isinstance(each, Tile) else each for each in shape)
    static_strides = tuple(DYNAMIC if isinstance(each, Tile) else each for each in strides)
    view_type = types.made(
        ("tensor_view", static_shape, dtype, static_strides),
        lambda: TensorViewType.get(static_shape, types.element(dtype), static_strides),
    )
    extents = [each.value for each in shape if isinstance(each, Tile)]
    steps = [each.value for each in strides if isinstance(each, Tile)]
    view = builder.value(
        "cuda_tile.make_tensor_view",
        view_type,
        (base, *extents, *steps),
        {"operandSegmentSizes": types.segments(1, len(extents), len(steps))},
    )
    return Array(dtype, base, shape, strides, view, names, disjoint)


def list_parameter(
    builder: Builder, parameter: ListParameter, name: str, base: Value, length: Tile
) -> object:
    """The list of a parameter."""
    raise NotImplementedError
