"""Promises to the compiler, and the order of dependent grids."""

from __future__ import annotations

from typing import Any

from tileir.dialects.cuda_tile import DivBy

from ..builder import current_builder
from ..errors import TileTypeError, TileValueError
from ..memory_order import EVERYTHING, Effect
from ..values import Tile, describe
from .common import constant_int, is_number


def assume_divisible_by(x: Any, divisor: int) -> Any:
    """`x`, an integer scalar, with the promise that `divisor` divides it: if it does not, the
    behaviour is undefined. The compiler makes use of powers of two."""
    number = constant_int(divisor, "divisor")
    if number < 1:
        raise TileValueError(f"'divisor' must be positive, got {number}")
    if is_number(x):
        if x % number:
            raise TileValueError(f"{x} is not divisible by {number}")
        return x
    if not isinstance(x, Tile) or x.shape or not x.dtype.is_integer:
        raise TileTypeError(f"'x' must be an integer scalar, got {describe(x)}")
    power = number & -number
    if power == 1:
        return x
    builder = current_builder()
    predicate = builder.types.made(("div_by", power), DivBy(power).attribute)
    return builder.tile("cuda_tile.assume", x.dtype, (), (x.value,), {"predicate": predicate})


def _grid_dependency(name: str) -> None:
    builder = current_builder()
    op = builder.op(name, (builder.types.token,), (builder.memory.root,))
    builder.memory.access(op, Effect.ATOMIC, EVERYTHING, 0, acquire=True, release=True)


def grid_dependency_control_wait() -> None:
    """Waits until the kernel before, in a programmatic dependent launch, has ended; what it wrote
    is visible to all that follows."""
    _grid_dependency("cuda_tile.gdc_wait_tko")


def grid_dependency_control_launch_dependents() -> None:
    """Lets the kernel after this one, in a programmatic dependent launch, begin before this one
    ends; it sees what this one writes only after `grid_dependency_control_wait`."""
    _grid_dependency("cuda_tile.gdc_launch_dependents_tko")
