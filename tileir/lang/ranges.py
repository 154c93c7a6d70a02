"""`range` in kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import calls
from .builder import Builder
from .constants import constant
from .dtypes import DType
from .errors import TileTypeError, TileValueError
from .promotion import default_dtype, promote
from .values import RuntimeValue, Tile, describe


@dataclass(frozen=True, slots=True)
class Range(RuntimeValue):
    """`range(...)` of numbers or run-time integers."""

    first: Any
    last: Any
    stride: Any

    def resolve(self, builder: Builder) -> ResolvedRange:
        """All three as scalars of one integer dtype. Raises `TileTypeError` for other values."""
        numbers = (self.first, self.last, self.stride)
        for each in numbers:
            if isinstance(each, Tile) and (each.shape or not each.dtype.is_integer):
                raise TileTypeError(
                    f"range() needs integer scalars, not {describe(each)}",
                    remedy="divide with // and convert with x.astype(ct.int32)",
                )
            if not isinstance(each, (Tile, int)):
                raise TileTypeError(f"range() needs integers, not {describe(each)}")
        if isinstance(self.stride, int) and self.stride <= 0:
            raise TileValueError(
                f"the step of a loop must be positive, not {self.stride}",
                remedy="count up and compute the index: for k in range(n): i = n - 1 - k",
            )
        dtypes = [each.dtype for each in numbers if isinstance(each, Tile) and not each.loose]
        if not dtypes:
            dtypes = [default_dtype(each) for each in numbers if isinstance(each, int)]
        dtype = dtypes[0]
        for other in dtypes[1:]:
            dtype = promote(dtype, other)
        start, stop, step = (_index(builder, each, dtype) for each in numbers)
        return ResolvedRange(start, stop, step, dtype)

    def known(self) -> range | None:
        """Python's range if all is known at compile time."""
        numbers = (self.first, self.last, self.stride)
        return range(*numbers) if all(type(each) is int for each in numbers) else None


@dataclass(frozen=True, slots=True)
class ResolvedRange:
    """The bounds of a loop: scalars of one dtype."""

    start: Tile
    stop: Tile
    step: Tile
    dtype: DType


def _index(builder: Builder, value: Any, dtype: DType) -> Tile:
    if not isinstance(value, Tile):
        return constant(builder, value, dtype)
    if value.dtype is dtype:
        return value
    return value.astype(dtype)  # type: ignore[attr-defined]


def make_range(*arguments: Any) -> Range:
    """What `range` means in a kernel."""
    match arguments:
        case (stop,):
            return Range(0, stop, 1)
        case (start, stop):
            return Range(start, stop, 1)
        case (start, stop, step):
            return Range(start, stop, step)
    raise TileTypeError(f"range() takes 1 to 3 arguments, {len(arguments)} are given")


make_range.always = True  # type: ignore[attr-defined]
calls.REPLACEMENTS[range] = make_range
