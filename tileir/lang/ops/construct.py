"""Tiles from shapes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileir.dialects import cuda_tile

from ..builder import current_builder
from ..constants import constant
from ..dtypes import DType, int32
from ..errors import TileTypeError, TileValueError
from ..promotion import check_target, convert_number
from ..values import Tile, describe
from .arithmetic import add, mul
from .casts import convert
from .common import (
    Operand,
    Shape,
    broadcast,
    constant_int,
    dtype_argument,
    is_number,
    operand,
    tile_shape,
)


def full(shape: Any, fill_value: Operand, dtype: Any) -> Tile:
    """A tile of `shape`, all elements `fill_value` converted to `dtype`."""
    builder = current_builder()
    sizes, target = tile_shape(shape, builder=builder), dtype_argument(dtype)
    check_target(target, builder.target)
    value = operand(fill_value, "fill_value")
    if not isinstance(value, Tile):
        return constant(builder, convert_number(value, target), target, sizes)
    if value.shape:
        raise TileTypeError(
            f"'fill_value' must be a scalar, got {describe(value)}",
            remedy="ct.broadcast_to(x, shape) repeats a tile",
        )
    return broadcast(convert(value, target), sizes)


def zeros(shape: Any, dtype: Any) -> Tile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any) -> Tile:
    """A tile of ones."""
    return full(shape, 1, dtype)


def arange(size: Any, /, *, dtype: Any, start: Operand = 0, step: Operand = 1) -> Tile:
    """The 1-D tile `start, start + step, ...` of `size` elements; `start` and `step` may be known
    only at run time."""
    builder = current_builder()
    (count,) = tile_shape((constant_int(size, "size"),), "size", builder)
    target = dtype_argument(dtype)
    check_target(target, builder.target)
    if target.is_bool:
        raise TileTypeError("arange() makes numbers, not bool_")
    result = _iota(count, target)
    if not (is_number(step) and step == 1):
        result = mul(result, _as_dtype(step, target, "step"))
    if not (is_number(start) and start == 0):
        result = add(result, _as_dtype(start, target, "start"))
    return result


def _iota(count: int, dtype: DType) -> Tile:
    """0, 1, 2, ... Floats come from integers; all of them must fit."""
    counter = dtype if dtype.is_integer else int32
    if count - 1 > dtype.maximum if dtype.is_integer else False:
        raise TileValueError(f"{dtype} cannot hold {count} different values")
    counted = current_builder().tile("cuda_tile.iota", counter, (count,), ())
    return convert(counted, dtype)


def _as_dtype(value: Operand, dtype: DType, name: str) -> Operand:
    scalar = operand(value, name)
    if isinstance(scalar, Tile):
        if scalar.shape:
            raise TileTypeError(f"'{name}' must be a scalar, got {describe(scalar)}")
        return convert(scalar, dtype)
    return convert_number(scalar, dtype)


def astile(value: Any, /, *, dtype: Any) -> Tile:
    """A tile from a scalar or nested tuples of scalars, whose nesting gives its shape."""
    builder = current_builder()
    target = dtype_argument(dtype)
    check_target(target, builder.target)
    shape, scalars = _flatten(value)
    tile_shape(shape, builder=builder)
    numbers = [convert_number(each, target) for each in scalars if is_number(each)]
    if len(numbers) == len(scalars):
        return _dense(numbers, shape, target)
    tiles = [full((1,), each, target) for each in scalars]
    return _reshape(_joined(tiles), shape)


def _flatten(value: Any) -> tuple[Shape, list[Operand]]:
    """The shape of nested tuples, and their scalars in order."""
    if not isinstance(value, (tuple, list)):
        scalar = operand(value, "value")
        if isinstance(scalar, Tile) and scalar.shape:
            raise TileTypeError(
                f"astile() takes scalars, got {describe(scalar)}",
                remedy="join tiles with ct.cat((a, b), axis)",
            )
        return (), [scalar]
    if not value:
        raise TileValueError("astile() cannot make a tile of no elements")
    parts = [_flatten(item) for item in value]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise TileValueError(
            "the tuples of one level must have one length, got "
            + " and ".join(sorted({str(list(shape)) for shape, _ in parts}))
        )
    return (len(value), *parts[0][0]), [scalar for _, scalars in parts for scalar in scalars]


def _dense(numbers: list[Any], shape: Shape, dtype: DType) -> Tile:
    """A constant with a value for each element."""
    builder = current_builder()
    type_ = builder.types.tile(shape, dtype)
    element = cuda_tile.element_dtype(builder.types.element(dtype))
    wide = np.array(numbers, np.float64 if dtype.is_float else np.int64 if dtype.signed else None)
    values = wide.reshape(shape)
    if dtype.is_integer:
        values = values.astype(f"u{element}" if not dtype.signed else element).view(element)
    attribute = cuda_tile.elements_from_array(values.astype(element, copy=False), type_)
    return builder.tile("cuda_tile.constant", dtype, shape, (), {"value": attribute})


def _joined(tiles: list[Tile]) -> Tile:
    """Tiles of one element side by side, by pairs of equal halves where it can be."""
    if len(tiles) == 1:
        return tiles[0]
    middle = len(tiles) // 2
    left, right = _joined(tiles[:middle]), _joined(tiles[middle:])
    builder = current_builder()
    count = left.shape[0] + right.shape[0]
    dim = builder.types.attribute("0 : i64")
    return builder.tile(
        "cuda_tile.cat", left.dtype, (count,), (left.value, right.value), {"dim": dim}
    )


def _reshape(tile: Tile, shape: Shape) -> Tile:
    if tile.shape == shape:
        return tile
    return current_builder().tile("cuda_tile.reshape", tile.dtype, shape, (tile.value,))
