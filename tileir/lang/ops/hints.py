"""Hints and promises about memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arrays import Array, assume_divisible, make_array
from ..builder import current_builder
from ..constants import constant
from ..dtypes import bool_, int64
from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .access import addresses, array_argument, element_offsets, index_values
from .arithmetic import add, mul
from .casts import convert
from .common import constant_int
from .memory import TiledView, make_view
from .offsets import scalar_index
from .shape import with_shape

#: Bits of a cache line.
_LINE = 128 * 8


@dataclass(frozen=True)
class Alignment:
    """A promise about addresses, made by `align`."""

    divisor: int


def align(n: int, /) -> Alignment:
    """The promise that addresses are multiples of `n` bytes, a power of two: for `hint=` of
    `load` and `store`.

        ct.load(x, (i,), (256,), hint=ct.align(16))

    The array's first element lies at such an address, and so does the beginning of each of its
    rows. If that is not so, the behaviour is undefined. Launches find out about 16 bytes by
    themselves.
    """
    divisor = constant_int(n, "n")
    if divisor < 1 or divisor & (divisor - 1):
        raise TileValueError(f"an alignment is a power of two, got {divisor}")
    return Alignment(divisor)


def aligned(array: Array, hint: Any) -> Array:
    """An array with what a hint promises of it."""
    if hint is None:
        return array
    if not isinstance(hint, Alignment):
        raise TileTypeError(
            f"'hint' must be ct.align(n), got {describe(hint)}",
            remedy="ct.swizzle gives the place of a block, ct.prefetch is a statement",
        )
    builder = current_builder()
    base = assume_divisible(builder, array.base, hint.divisor)
    elements = max(1, hint.divisor * 8 // array.dtype.bitwidth)
    strides = tuple(
        Tile(assume_divisible(builder, each.value, elements), each.dtype, ())
        if isinstance(each, Tile)
        else each
        for each in array.strides
    )
    return make_array(
        builder, array.dtype, base, array.shape, strides, array.names, disjoint=array.disjoint
    )


def prefetch(array: Array, /, index: Any, shape: Any, *, order: Any = "C") -> None:
    """Has the tile that `load` would get with these arguments brought into the L2 cache.

    A hint without effect on results, for tiles that are needed later. The compiler keeps the tiles
    of loops in flight by itself; this is for what it cannot foresee, such as tables that are used
    after a loop. Elements outside of the array are left out. Such a kernel has no place in Tile IR
    bytecode.
    """
    view = make_view(array_argument(array), shape, order=order)
    if not view.array.shape:
        raise TileValueError("an array without dimensions is not worth a prefetch")
    builder = current_builder()
    positions = _line_positions(view, index)
    sizes = tuple(
        max(each.shape[i] for each in positions if isinstance(each, Tile))
        for i in range(len(positions))
    )
    offset, inside = element_offsets(builder, view.array, positions, sizes, True)
    mask = inside if inside is not None else constant(builder, True, bool_, sizes)
    builder.extended = True
    builder.op("cuda_tile.prefetch", (), (addresses(view.array, offset), mask.value))


def _line_positions(view: TiledView, index: Any) -> list[Tile | int]:
    """One element of each cache line of a tile, as positions along each dimension of the array."""
    builder = current_builder()
    rank = len(view.tile_shape)
    per_line = max(1, _LINE // view.array.dtype.bitwidth)
    positions: list[Tile | int] = [0] * rank
    for axis, value in enumerate(index_values(builder, index, rank)):
        dimension, size = view.order[axis], view.tile_shape[axis]
        stride = view.array.strides[dimension]
        step = min(size, per_line) if isinstance(stride, int) and stride == 1 else 1
        counted = builder.tile("cuda_tile.iota", int64, (-(-size // step),), ())
        first = mul(convert(scalar_index(value), int64), size)
        column = tuple(counted.shape[0] if i == axis else 1 for i in range(rank))
        positions[dimension] = with_shape(add(mul(counted, step), first), column)
    return positions
