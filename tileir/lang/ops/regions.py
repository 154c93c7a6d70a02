"""Functions of scalars as regions: what combines two elements in a reduction or a scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tileir.ir import Block

from ..builder import Builder
from ..dtypes import DType
from ..errors import TileTypeError
from ..memory_order import Access
from ..values import RuntimeValue, Tile, describe
from .casts import implicit_cast
from .common import converted, operand

Combine = Callable[[Sequence[Tile], Sequence[Tile]], Sequence[Any]]


def combiner_region(
    builder: Builder, dtypes: Sequence[DType], combine: Combine, what: str
) -> Block:
    """The block that combines two groups of scalars, one of each dtype in a group.

    `combine(first, second)` gives as many scalars. Raises `TileTypeError` if they have other
    dtypes or shapes, or if memory is touched.
    """
    scalars = [builder.types.tile((), dtype) for dtype in dtypes]
    block = builder.new_block([type_ for scalar in scalars for type_ in (scalar, scalar)])
    values = list(block.arguments)
    first = [Tile(value, dtype, ()) for value, dtype in zip(values[0::2], dtypes, strict=True)]
    second = [Tile(value, dtype, ()) for value, dtype in zip(values[1::2], dtypes, strict=True)]
    memory = builder.memory
    events, memory.events = memory.events, []
    before = builder.enter(block)
    results = combine(first, second)
    yielded = [_result(result, dtype, what) for result, dtype in zip(results, dtypes, strict=True)]
    builder.op("cuda_tile.yield", (), [tile.value for tile in yielded])
    builder.leave(before)
    touched = any(isinstance(event, Access) for event in memory.events)
    memory.events = events
    if touched:
        raise TileTypeError(f"the function of {what} must not load, store or print")
    return block


def _result(value: Any, dtype: DType, what: str) -> Tile:
    scalar = operand(value, "the result")
    if isinstance(scalar, Tile) and scalar.shape:
        raise TileTypeError(f"the function of {what} must give scalars, not {describe(scalar)}")
    return converted(
        implicit_cast(scalar, dtype, f"the result of the function of {what}"), dtype, ()
    )


def user_combiner(function: Any, count: int, what: str, *, grouped: bool) -> Combine:
    """A function of the kernel's author as a combiner of `count` pairs; it gives a tuple if
    `grouped`."""
    from ..interpreter import current_interpreter

    def combine(first: Sequence[Tile], second: Sequence[Tile]) -> Sequence[Any]:
        result = current_interpreter().call(function, (*first, *second))
        if not grouped:
            return (result,)
        if not isinstance(result, tuple) or len(result) != count:
            raise TileTypeError(
                f"the function of {what} must give a tuple of {count}, not {describe(result)}"
            )
        return result

    if isinstance(function, RuntimeValue) or not callable(function):
        raise TileTypeError(f"'func' must be a function, got {describe(function)}")
    return combine
