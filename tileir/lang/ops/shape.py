"""Shapes of tiles: the same elements in another arrangement, parts of tiles."""

from __future__ import annotations

from typing import Any

from tileir.ir import DenseI32ArrayAttr, IntegerAttr

from ..builder import current_builder
from ..dtypes import int32
from ..errors import TileTypeError, TileValueError
from ..values import Tile, describe
from .casts import convert
from .common import (
    Operand,
    Shape,
    as_tile,
    axis_of,
    broadcast,
    broadcast_shapes,
    constant_int,
    constant_ints,
    note_shape,
    operand,
    permutation_of,
    tile_shape,
)


def _count(shape: Shape) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def reshape(x: Operand, /, shape: Any) -> Tile:
    """The elements of `x` in row-major order in another shape. One size may be -1: what is
    left."""
    tile = as_tile(x, "x")
    wanted = _without_minus_one(constant_ints(shape, "shape"), tile.shape)
    sizes = tile_shape(wanted)
    if _count(sizes) != _count(tile.shape):
        raise TileValueError(
            f"{list(tile.shape)} has {_count(tile.shape)} elements and cannot become "
            f"{list(sizes)}, which has {_count(sizes)}",
            remedy=f"choose sizes whose product is {_count(tile.shape)}; one of them may be -1, "
            "which stands for what is left",
        )
    return with_shape(tile, sizes)


def with_shape(tile: Tile, shape: Shape) -> Tile:
    """A tile in another shape of as many elements."""
    if tile.shape == shape:
        return tile
    return current_builder().tile("cuda_tile.reshape", tile.dtype, shape, (tile.value,))


def _without_minus_one(shape: Shape, source: Shape) -> Shape:
    if shape.count(-1) > 1:
        raise TileValueError(f"only one size of 'shape' may be -1, got {list(shape)}")
    if -1 not in shape:
        return shape
    known = -_count(shape)
    if known <= 0 or _count(source) % known:
        raise TileValueError(f"{list(source)} cannot become {list(shape)}: it does not divide")
    rest = _count(source) // known
    return tuple(rest if extent == -1 else extent for extent in shape)


def expand_dims(x: Operand, /, axis: Any) -> Tile:
    """`x` with an axis of size 1 more, at position `axis` of the result."""
    tile = as_tile(x, "x")
    place = axis_of(axis, len(tile.shape) + 1)
    return with_shape(tile, (*tile.shape[:place], 1, *tile.shape[place:]))


def item(x: Tile) -> Tile:
    """The one element of a tile, as a scalar."""
    if _count(x.shape) != 1:
        raise TileValueError(
            f"item() takes a tile of one element, got {describe(x)}",
            remedy="reduce it first, for example with ct.sum(x), or take a part with ct.extract",
        )
    return with_shape(x, ())


def subscript(x: Tile, index: Any) -> Tile:
    """`x[...]` with `None`, `:` and `...` only: `None` adds an axis of size 1."""
    entries = index if isinstance(index, tuple) else (index,)
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise TileTypeError("an index has at most one ...")
    used = 0
    shape: list[int] = []
    rank = len(x.shape)
    kept = sum(entry is not None and entry is not Ellipsis for entry in entries)
    for entry in entries:
        if entry is None:
            shape.append(1)
        elif entry is Ellipsis:
            shape += x.shape[used : used + rank - kept]
            used += rank - kept
        elif isinstance(entry, slice) and entry == slice(None):
            if used >= rank:
                raise TileTypeError(f"too many axes in the index of {describe(x)}")
            shape.append(x.shape[used])
            used += 1
        else:
            raise TileTypeError(
                "tiles cannot be indexed, only get axes: x[:, None]",
                remedy="ct.extract(x, index, shape) takes a part, x.item() the only element",
            )
    return with_shape(x, (*shape, *x.shape[used:]))


def broadcast_to(x: Operand, /, shape: Any) -> Tile:
    """`x` repeated to `shape`, by NumPy's rules."""
    tile, sizes = as_tile(x, "x"), tile_shape(shape)
    if broadcast_shapes(tile.shape, sizes) != sizes:
        raise TileValueError(f"{list(tile.shape)} does not broadcast to {list(sizes)}")
    return broadcast(tile, sizes)


def permute(x: Operand, /, axes: Any) -> Tile:
    """Axis `i` of the result is axis `axes[i]` of `x`."""
    tile = as_tile(x, "x")
    order = permutation_of(axes, len(tile.shape), "axes")
    if order == tuple(range(len(order))):
        return tile
    builder = current_builder()
    attribute = builder.types.made(("permutation", order), lambda: DenseI32ArrayAttr.get(order))
    shape = tuple(tile.shape[axis] for axis in order)
    return builder.tile(
        "cuda_tile.permute", tile.dtype, shape, (tile.value,), {"permutation": attribute}
    )


def transpose(x: Operand, /, axis0: Any = None, axis1: Any = None) -> Tile:
    """`x` with two axes exchanged: those of a 2-D tile, or `axis0` and `axis1`."""
    tile = as_tile(x, "x")
    rank = len(tile.shape)
    if rank < 2:
        raise TileTypeError(f"transpose() needs at least two axes, got {describe(tile)}")
    if axis0 is None and axis1 is None:
        if rank > 2:
            raise TileTypeError(
                f"{describe(tile)} has {rank} axes: which two are to be exchanged?",
                remedy="name them: ct.transpose(x, 0, 1)",
            )
        axis0, axis1 = 0, 1
    if axis0 is None or axis1 is None:
        raise TileTypeError("transpose() takes both axes or none")
    first, second = axis_of(axis0, rank, "axis0"), axis_of(axis1, rank, "axis1")
    order = list(range(rank))
    order[first], order[second] = second, first
    return permute(tile, tuple(order))


def cat(tiles: Any, /, axis: Any) -> Tile:
    """Two tiles, equal but for their sizes along `axis`, one after the other."""
    if not isinstance(tiles, (tuple, list)) or len(tiles) != 2:
        raise TileTypeError(
            f"cat() joins a pair of tiles, got {describe(tiles)}",
            remedy="join more in several steps: ct.cat((ct.cat((a, b), 0), ct.cat((c, d), 0)), 0)",
        )
    left, right = as_tile(tiles[0], "tiles[0]"), as_tile(tiles[1], "tiles[1]")
    if left.dtype is not right.dtype:
        raise TileTypeError(f"cat() joins tiles of one dtype, got {left.dtype} and {right.dtype}")
    place = axis_of(axis, len(left.shape))
    shape = list(left.shape)
    others = [size for i, size in enumerate(right.shape) if i != place]
    if len(right.shape) != len(shape) or others != shape[:place] + shape[place + 1 :]:
        raise TileValueError(
            f"cat() along axis {place} needs equal sizes in the others, got {list(left.shape)} "
            f"and {list(right.shape)}"
        )
    shape[place] += right.shape[place]
    builder = current_builder()
    note_shape(builder, tuple(shape))
    dim = builder.types.made(("i64", place), lambda: IntegerAttr.get(builder.types.i64, place))
    return builder.tile(
        "cuda_tile.cat", left.dtype, tuple(shape), (left.value, right.value), {"dim": dim}
    )


def _slice_indices(index: Any, whole: Shape, part: Shape) -> list[Any]:
    """The numbers of a slice along each axis, as SSA values."""
    entries = index if isinstance(index, (tuple, list)) else (index,)
    if len(entries) != len(whole):
        raise TileValueError(f"'index' needs {len(whole)} numbers, got {len(entries)}")
    values = []
    for axis, (entry, extent, size) in enumerate(zip(entries, whole, part, strict=True)):
        number = operand(entry, f"index[{axis}]")
        if not isinstance(number, Tile):
            constant_int(number, f"index[{axis}]")
            if not 0 <= number < extent // size:
                raise TileValueError(
                    f"'index[{axis}]' is {number}: {extent} elements have {extent // size} "
                    f"parts of {size}, counted from 0",
                    remedy="the index counts parts, not elements",
                )
        elif number.shape or not number.dtype.is_integer:
            raise TileTypeError(f"'index[{axis}]' must be an integer, got {describe(number)}")
        values.append(convert(as_tile(number, "index"), int32).value)
    return values


def _check_part(whole: Shape, part: Shape, what: str) -> None:
    if len(part) != len(whole) or any(
        extent % size for extent, size in zip(whole, part, strict=False)
    ):
        raise TileValueError(
            f"{what}: the sizes of the part, {list(part)}, must divide those of the tile, "
            f"{list(whole)}"
        )


def extract(x: Operand, /, index: Any, shape: Any) -> Tile:
    """One part of a tile that is cut into parts of `shape`; `index` counts parts, not elements,
    and may be known only at run time."""
    tile = as_tile(x, "x")
    builder = current_builder()
    sizes = tile_shape(shape, builder=builder)
    if not sizes and tile.shape:
        return with_shape(extract(tile, index, (1,) * len(tile.shape)), ())
    _check_part(tile.shape, sizes, "extract()")
    indices = _slice_indices(index, tile.shape, sizes)
    return builder.tile("cuda_tile.extract", tile.dtype, sizes, (tile.value, *indices))


def insert(x: Operand, /, index: Any, value: Operand) -> Tile:
    """`x` with one part replaced by `value`: the inverse of `extract`."""
    tile, part = as_tile(x, "x"), operand(value, "value")
    if not isinstance(part, Tile):
        from .common import converted

        part = converted(part, tile.dtype, ())
    if part.dtype is not tile.dtype:
        raise TileTypeError(
            f"'value' is {part.dtype}, the tile is {tile.dtype}",
            remedy=f"convert it: value.astype(ct.{tile.dtype})",
        )
    if not part.shape:
        part = with_shape(part, (1,) * len(tile.shape))
    _check_part(tile.shape, part.shape, "insert()")
    indices = _slice_indices(index, tile.shape, part.shape)
    return current_builder().tile(
        "cuda_tile.insert", tile.dtype, tile.shape, (part.value, tile.value, *indices)
    )
