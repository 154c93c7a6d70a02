"""Constants: Python's numbers as tiles."""

from __future__ import annotations

from typing import Any

from tileir.ir import Attribute, DenseElementsAttr, FloatAttr, IntegerAttr

from .builder import Builder
from .context import Pool
from .dtypes import DType
from .promotion import Number, check_fits, default_dtype
from .values import Tile


def constant(
    builder: Builder, value: Number, dtype: DType | None = None, shape: tuple[int, ...] = ()
) -> Tile:
    """A tile whose elements are all `value`; a number that stands alone has its default dtype.

    Raises `TileValueError` for an integer that does not fit.
    """
    dtype = dtype or default_dtype(value)
    check_fits(value, dtype)
    attribute = splat(builder.types, value, dtype, shape)
    return builder.tile("cuda_tile.constant", dtype, shape, (), {"value": attribute})


def splat(types: Pool, value: Number, dtype: DType, shape: tuple[int, ...]) -> Attribute:
    """`dense<value> : tile<...>`."""
    # Negative zero and zero are equal, and so are 1, 1.0 and True.
    key = ("splat", type(value), repr(value), dtype.name, shape)

    def make() -> Any:
        element = types.element(dtype)
        scalar = (
            FloatAttr.get(element, float(value))
            if dtype.is_float
            else IntegerAttr.get(element, wrapped(int(value), dtype))
        )
        return DenseElementsAttr.get_splat(types.tile(shape, dtype), scalar)

    return types.made(key, make)


def wrapped(value: int, dtype: DType) -> int:
    """The signed number that has the bits of `value` in an integer of `dtype`."""
    if dtype.is_bool:
        return int(bool(value))
    half = 1 << (dtype.bitwidth - 1)
    return (value + half) % (2 * half) - half
