"""Reductions and scans: sums, extrema, prefixes along an axis, with any associative function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tileir.ir import ArrayAttr, Attribute, BoolAttr, FloatAttr, IntegerAttr

from ..builder import Attributes, Builder, current_builder
from ..constants import wrapped
from ..dtypes import DType, int32
from ..enums import RoundingMode
from ..errors import TileTypeError, TileValueError
from ..promotion import Number, category_of, check_fits
from ..values import Tile, describe
from .arithmetic import add, maximum, minimum, mul
from .bitwise import bitwise_and, bitwise_or
from .casts import convert
from .common import (
    Operand,
    as_tile,
    axis_of,
    broadcast,
    broadcast_shapes,
    constant_bool,
    constant_ints,
    is_number,
    require_arithmetic,
)
from .comparison import equal, greater, isnan, less
from .options import flush_attributes, nan_attributes, rounding_attributes
from .regions import Combine, combiner_region, user_combiner
from .selection import where
from .shape import with_shape

# ---- the operations of the IR ----------------------------------------------------------------


def _identities(builder: Builder, numbers: Sequence[Number], dtypes: Sequence[DType]) -> Attribute:
    def make() -> Attribute:
        return ArrayAttr.get(
            [
                FloatAttr.get(builder.types.element(dtype), float(number))
                if dtype.is_float
                else IntegerAttr.get(builder.types.element(dtype), wrapped(int(number), dtype))
                for number, dtype in zip(numbers, dtypes, strict=True)
            ]
        )

    key = tuple((repr(number), dtype.name) for number, dtype in zip(numbers, dtypes, strict=True))
    return builder.types.made(("identities", key), make)


def _aggregate(
    name: str,
    tiles: Sequence[Tile],
    axis: int,
    combine: Combine,
    identities: Sequence[Number],
    what: str,
    *,
    extra: Attributes | None = None,
) -> list[Tile]:
    """`reduce` or `scan` of tiles of one shape along one axis."""
    builder = current_builder()
    dtypes = [tile.dtype for tile in tiles]
    block = combiner_region(builder, dtypes, combine, what)
    shape = tiles[0].shape
    result_shape = shape if name == "scan" else shape[:axis] + shape[axis + 1 :]
    attributes = {
        "dim": builder.types.made(("i64", axis), lambda: IntegerAttr.get(builder.types.i64, axis)),
        "identities": _identities(builder, identities, dtypes),
        **(extra or {}),
    }
    types = [builder.types.tile(result_shape, dtype) for dtype in dtypes]
    values = [tile.value for tile in tiles]
    op = builder.op(f"cuda_tile.{name}", types, values, attributes, regions=1)
    block.append_to(op.regions[0])
    return [
        Tile(value, dtype, result_shape) for value, dtype in zip(op.results, dtypes, strict=True)
    ]


def _axes(axis: Any, rank: int) -> list[int]:
    """The axes to reduce, in order; None stands for all."""
    if axis is None:
        return list(range(rank))
    axes = [axis_of(each, rank) for each in constant_ints(axis, "axis")]
    if len(set(axes)) != len(axes):
        raise TileValueError(f"'axis' names an axis twice: {axis}")
    return sorted(axes)


def _reduce_axes(
    x: Tile, axis: Any, keepdims: bool, combine: Combine, identity: Number, what: str
) -> Tile:
    """Reduces several axes, one after the other."""
    axes = _axes(axis, len(x.shape))
    result = x
    for done, each in enumerate(axes):
        (result,) = _aggregate("reduce", [result], each - done, combine, [identity], what)
    return _kept(result, x.shape, axes) if constant_bool(keepdims, "keepdims") else result


def _kept(result: Tile, shape: tuple[int, ...], axes: Sequence[int]) -> Tile:
    """A result with its reduced axes back, of size 1."""
    return with_shape(result, tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _reducible(x: Operand, what: str) -> Tile:
    """A tile whose elements can be added or compared; booleans count as 0 and 1."""
    tile = as_tile(x, "x")
    require_arithmetic(tile.dtype, what)
    return convert(tile, int32) if tile.dtype.is_bool else tile


# ---- sums, products, extrema -----------------------------------------------------------------


def sum(
    x: Operand,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The sum along `axis`, a number, several or None for all; `keepdims` leaves axes of size 1.

    Elements are added in any order, in their own dtype (booleans as int32). Options as in `add`.
    """
    tile = _reducible(x, "sum")
    return _reduce_axes(
        tile, axis, keepdims, _folded(add, tile, "sum", rounding_mode, flush_to_zero), 0, "sum"
    )


def prod(
    x: Operand,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The product along `axis`, as `sum` adds."""
    tile = _reducible(x, "prod")
    return _reduce_axes(
        tile, axis, keepdims, _folded(mul, tile, "prod", rounding_mode, flush_to_zero), 1, "prod"
    )


def _folded(
    function: Any, tile: Tile, what: str, mode: RoundingMode | None, flush_to_zero: bool
) -> Combine:
    """A combiner of `add` or `mul` with options, which are checked at once."""
    builder = current_builder()
    rounding_attributes(builder, what, tile.dtype, mode)
    flush_attributes(builder, what, tile.dtype, flush_to_zero)
    options = {"rounding_mode": mode, "flush_to_zero": flush_to_zero}
    return lambda a, b: (function(a[0], b[0], **options),)


def max(
    x: Operand,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> Tile:
    """The largest element along `axis`, as `sum` adds; NaN is ignored unless `propagate_nan`."""
    tile = _reducible(x, "max")
    lowest = -math.inf if tile.dtype.is_float else tile.dtype.minimum
    combine = _extreme(maximum, tile, "max", flush_to_zero, propagate_nan)
    return _reduce_axes(tile, axis, keepdims, combine, lowest, "max")


def min(
    x: Operand,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> Tile:
    """The smallest element along `axis`, as `max` gives the largest."""
    tile = _reducible(x, "min")
    highest = math.inf if tile.dtype.is_float else tile.dtype.maximum
    combine = _extreme(minimum, tile, "min", flush_to_zero, propagate_nan)
    return _reduce_axes(tile, axis, keepdims, combine, highest, "min")


def _extreme(
    function: Any, tile: Tile, what: str, flush_to_zero: bool, propagate_nan: bool
) -> Combine:
    builder = current_builder()
    flush_attributes(builder, what, tile.dtype, flush_to_zero)
    nan_attributes(builder, what, tile.dtype, propagate_nan)
    options = {"flush_to_zero": flush_to_zero, "propagate_nan": propagate_nan}
    return lambda a, b: (function(a[0], b[0], **options),)


# ---- where the extremum is -------------------------------------------------------------------


def argmax(
    x: Operand, /, axis: Any = None, *, keepdims: bool = False, propagate_nan: bool = False
) -> Tile:
    """The index (int32) of the largest element along `axis`, the first of several; None for the
    index among all elements in row-major order.

    NaN counts as lower than everything, or with `propagate_nan` as higher.
    """
    return _index_of_extremum("argmax", x, axis, keepdims, propagate_nan)


def argmin(
    x: Operand, /, axis: Any = None, *, keepdims: bool = False, propagate_nan: bool = False
) -> Tile:
    """The index of the smallest element, as `argmax` finds the largest."""
    return _index_of_extremum("argmin", x, axis, keepdims, propagate_nan)


def _index_of_extremum(
    what: str, x: Operand, axis: Any, keepdims: bool, propagate_nan: bool
) -> Tile:
    tile = _reducible(x, what)
    nan_attributes(current_builder(), what, tile.dtype, propagate_nan)
    if axis is not None and len(constant_ints(axis, "axis")) != 1:
        raise TileTypeError(
            f"{what}() takes one axis, got {axis}",
            remedy="reshape the tile so that the axes become one, or leave axis out for all",
        )
    shape = tile.shape
    flat = with_shape(tile, (math.prod(shape),)) if axis is None else tile
    place = 0 if axis is None else _axes(axis, len(shape))[0]
    values, worst = _ranked(what, flat, propagate_nan)
    index = _positions(flat.shape, place)
    combine = _first_extremum(what, values.dtype, propagate_nan)
    identities = [worst, int32.maximum]
    _, found = _aggregate("reduce", [values, index], place, combine, identities, what)
    if not constant_bool(keepdims, "keepdims"):
        return found
    return _kept(found, shape, range(len(shape)) if axis is None else [place])


def _ranked(what: str, tile: Tile, propagate_nan: bool) -> tuple[Tile, Number]:
    """The elements, and the value that loses against all. NaN becomes that value, unless it is to
    win."""
    dtype = tile.dtype
    if not dtype.is_float:
        return tile, dtype.minimum if what == "argmax" else dtype.maximum
    worst = -math.inf if what == "argmax" else math.inf
    return tile if propagate_nan else where(isnan(tile), worst, tile), worst


def _positions(shape: tuple[int, ...], axis: int) -> Tile:
    """The index along `axis` of each element."""
    builder = current_builder()
    counted = builder.tile("cuda_tile.iota", int32, (shape[axis],), ())
    column = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    return broadcast(with_shape(counted, column), shape)


def _first_extremum(what: str, dtype: DType, propagate_nan: bool) -> Combine:
    """Combines (value, index) pairs; of equal values the lower index is taken."""
    better = greater if what == "argmax" else less

    def combine(a: Sequence[Tile], b: Sequence[Tile]) -> Sequence[Tile]:
        takes, ties = better(a[0], b[0]), equal(a[0], b[0])
        if dtype.is_float and propagate_nan:
            nan_a, nan_b = isnan(a[0]), isnan(b[0])
            takes = bitwise_or(takes, bitwise_and(nan_a, equal(b[0], b[0])))
            ties = bitwise_or(ties, bitwise_and(nan_a, nan_b))
        takes = bitwise_or(takes, bitwise_and(ties, less(a[1], b[1])))
        return where(takes, a[0], b[0]), where(takes, a[1], b[1])

    return combine


# ---- with any function -----------------------------------------------------------------------


def _group(x: Any, identity: Any, what: str) -> tuple[list[Tile], list[Number], bool]:
    """Tiles of one shape and the identity of each; whether a tuple was given."""
    grouped = isinstance(x, (tuple, list))
    tiles = [as_tile(each, "x") for each in (x if grouped else (x,))]
    if not tiles:
        raise TileValueError(f"{what}() needs at least one tile")
    shape = broadcast_shapes(*(tile.shape for tile in tiles))
    given = identity if isinstance(identity, (tuple, list)) else (identity,)
    if len(given) != len(tiles):
        raise TileTypeError(f"'identity' must have {len(tiles)} numbers, got {describe(identity)}")
    for number, tile in zip(given, tiles, strict=True):
        if not is_number(number):
            raise TileTypeError(f"'identity' must be constant numbers, got {describe(number)}")
        if category_of(number).value > tile.dtype.category.value:
            raise TileTypeError(f"the identity {number} does not become {tile.dtype}")
        check_fits(number, tile.dtype)
    return [broadcast(tile, shape) for tile in tiles], list(given), grouped


def reduce(x: Any, /, axis: Any, func: Any, identity: Any, *, keepdims: bool = False) -> Any:
    """`x` reduced along one axis by `func`, an associative function of two scalars.

    `identity` is a constant that `func` leaves others unchanged with. For a tuple of N tiles,
    `func` takes N scalars of one group and N of the other and gives N, `identity` is a tuple of N,
    and so is the result. Elements are combined in any order.
    """
    tiles, identities, grouped = _group(x, identity, "reduce")
    shape = tiles[0].shape
    place = axis_of(axis, len(shape))
    combine = user_combiner(func, len(tiles), "reduce()", grouped=grouped)
    results = _aggregate("reduce", tiles, place, combine, identities, "reduce()")
    if constant_bool(keepdims, "keepdims"):
        results = [_kept(result, shape, [place]) for result in results]
    return tuple(results) if grouped else results[0]


def scan(x: Any, /, axis: Any, func: Any, identity: Any, *, reverse: bool = False) -> Any:
    """All partial results of a reduction along one axis, the element itself included; from the
    last element on with `reverse`. Arguments as those of `reduce`.

    `func` is given the later part first, then the one before it (with `reverse`, the one behind
    it). It matters where `func` does not commute, as for the recurrence `h = a * h + b`:

        ct.scan((a, b), 0, lambda a2, b2, a1, b1: (a2 * a1, a2 * b1 + b2), (1.0, 0.0))[1]
    """
    tiles, identities, grouped = _group(x, identity, "scan")
    place = axis_of(axis, len(tiles[0].shape))
    combine = user_combiner(func, len(tiles), "scan()", grouped=grouped)
    results = _scan(tiles, place, combine, identities, reverse, "scan()")
    return tuple(results) if grouped else results[0]


def _scan(
    tiles: list[Tile],
    axis: int,
    combine: Combine,
    identities: Sequence[Number],
    reverse: bool,
    what: str,
) -> list[Tile]:
    backwards = BoolAttr.get(constant_bool(reverse, "reverse"))
    return _aggregate("scan", tiles, axis, combine, identities, what, extra={"reverse": backwards})


def cumsum(
    x: Operand,
    /,
    axis: Any = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Sums of all elements up to each along `axis`, from the last on with `reverse`; options as
    in `add`."""
    tile = _reducible(x, "cumsum")
    combine = _folded(add, tile, "cumsum", rounding_mode, flush_to_zero)
    return _scan([tile], axis_of(axis, len(tile.shape)), combine, [0], reverse, "cumsum")[0]


def cumprod(
    x: Operand,
    /,
    axis: Any = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Products of all elements up to each along `axis`, as `cumsum` adds."""
    tile = _reducible(x, "cumprod")
    combine = _folded(mul, tile, "cumprod", rounding_mode, flush_to_zero)
    return _scan([tile], axis_of(axis, len(tile.shape)), combine, [1], reverse, "cumprod")[0]
