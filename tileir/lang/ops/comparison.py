"""Comparisons, element by element: the result is a tile of bool_."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tileir.dialects import cuda_tile

from ..builder import Attributes, Builder, current_builder
from ..dtypes import DType, bool_, float32
from ..errors import TileTypeError
from ..values import Tile
from .common import Operand, common_dtype, is_number, operand, require_arithmetic, together
from .options import signedness

_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
}


def _compare(predicate: str, x: Any, y: Any) -> Any:
    if is_number(x) and is_number(y):
        return _PYTHON[predicate](x, y)
    left, right = operand(x, "x"), operand(y, "y")
    dtype = common_dtype(left, right)
    require_arithmetic(dtype, "a comparison")
    first, second = together(left, right, dtype=dtype)
    builder = current_builder()
    name = "cuda_tile.cmpf" if dtype.is_float else "cuda_tile.cmpi"
    attributes = _attributes(builder, predicate, dtype)
    return builder.tile(name, bool_, first.shape, (first.value, second.value), attributes)


def _attributes(builder: Builder, predicate: str, dtype: DType) -> Attributes:
    types = builder.types
    attributes = {"comparison_predicate": types.enum(cuda_tile.ComparisonPredicate[predicate])}
    if dtype.is_float:
        # NaN is unequal to all, itself included, and neither less nor greater.
        ordering = "Unordered" if predicate == "NotEqual" else "Ordered"
        attributes["comparison_ordering"] = types.enum(cuda_tile.ComparisonOrdering[ordering])
    else:
        attributes["signedness"] = signedness(builder, dtype)
    return attributes


def equal(x: Operand, y: Operand, /) -> Any:
    """`x == y`."""
    return _compare("Equal", x, y)


def not_equal(x: Operand, y: Operand, /) -> Any:
    """`x != y`; NaN is unequal to everything."""
    return _compare("NotEqual", x, y)


def less(x: Operand, y: Operand, /) -> Any:
    """`x < y`."""
    return _compare("LessThan", x, y)


def less_equal(x: Operand, y: Operand, /) -> Any:
    """`x <= y`."""
    return _compare("LessThanOrEqual", x, y)


def greater(x: Operand, y: Operand, /) -> Any:
    """`x > y`."""
    return _compare("GreaterThan", x, y)


def greater_equal(x: Operand, y: Operand, /) -> Any:
    """`x >= y`."""
    return _compare("GreaterThanOrEqual", x, y)


def isnan(x: Operand, /) -> Any:
    """Where `x` is NaN."""
    if is_number(x):
        return x != x
    value = operand(x, "x")
    assert isinstance(value, Tile)
    if not value.dtype.is_arithmetic or not value.dtype.is_float:
        raise TileTypeError(
            f"isnan() takes floats such as {float32}, not {value.dtype}",
            remedy="integers are never NaN; convert other floats first: .astype(ct.float32)",
        )
    return not_equal(value, value)
