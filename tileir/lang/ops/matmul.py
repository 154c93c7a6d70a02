"""Matrix products."""

from __future__ import annotations

from typing import Any

from tileir.dialects.cuda_tile import Signedness
from tileir.ir import Attribute

from ..builder import Attributes, Builder, current_builder
from ..constants import constant
from ..dtypes import (
    DType,
    bfloat16,
    float4_e2m1fn,
    float8_e4m3fn,
    float8_e5m2,
    float8_e5m3fnu,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    int8,
    int32,
    tfloat32,
    uint8,
)
from ..errors import TileTypeError, TileValueError
from ..promotion import promote
from ..values import Tile, describe
from .casts import convert
from .common import broadcast, constant_bool
from .options import unit
from .shape import with_shape

#: Accumulators of a product, by the dtype of its operands; the first is the default of `matmul`.
ACCUMULATORS: dict[DType, tuple[DType, ...]] = {
    float16: (float16, float32),
    bfloat16: (float32,),
    float32: (float32,),
    float64: (float64,),
    tfloat32: (float32,),
    float8_e4m3fn: (float16, float32),
    float8_e5m2: (float16, float32),
    int8: (int32,),
    uint8: (int32,),
}
_FP8 = (float8_e4m3fn, float8_e5m2)


def mma(x: Tile, y: Tile, /, acc: Tile, *, use_fast_acc: bool = False) -> Tile:
    """`x @ y + acc` as one operation, in the dtype of `acc`.

    `x` is M x K, `y` K x N, `acc` M x N, each perhaps with a batch axis in front, along which `x`
    and `y` broadcast. Operands are not converted: both have one dtype (int8 and uint8 mix).

    | operands | accumulator |
    |---|---|
    | float16, float8_e4m3fn, float8_e5m2 | float16 or float32 |
    | bfloat16, float32, tfloat32 | float32 |
    | float64 | float64 |
    | int8, uint8 | int32 |

    `use_fast_acc`, for 8-bit floats, lets Hopper accumulate with fewer bits.
    """
    left, right, total = _tile(x, "x"), _tile(y, "y"), _tile(acc, "acc")
    _check_operands(left, right)
    _check_accumulator(left.dtype, total)
    return _multiply(left, right, total, constant_bool(use_fast_acc, "use_fast_acc"))


def _tile(value: Any, name: str) -> Tile:
    if isinstance(value, Tile):
        return value
    raise TileTypeError(f"'{name}' must be a tile, got {describe(value)}")


def _check_operands(x: Tile, y: Tile) -> None:
    for tile, name in ((x, "x"), (y, "y")):
        if tile.dtype not in ACCUMULATORS:
            known = ", ".join(map(str, ACCUMULATORS))
            raise TileTypeError(
                f"'{name}' is {tile.dtype}, products take {known}",
                remedy=f"convert it: {name}.astype(ct.float16), for example",
            )
    if x.dtype is not y.dtype and {x.dtype, y.dtype} != {int8, uint8}:
        raise TileTypeError(
            f"'x' is {x.dtype} and 'y' is {y.dtype}: operands of a product must have one dtype",
            remedy=f"convert one of them, for example y.astype(ct.{x.dtype})",
        )


def _check_accumulator(dtype: DType, acc: Tile) -> None:
    allowed = ACCUMULATORS[dtype]
    if acc.dtype not in allowed:
        names = " or ".join(map(str, allowed))
        raise TileTypeError(
            f"products of {dtype} accumulate in {names}, 'acc' is {acc.dtype}",
            remedy=f"start with ct.zeros(shape, ct.{allowed[-1]})",
        )


def _result_shape(x: Tile, y: Tile) -> tuple[int, ...]:
    """M x N, with the batch axis in front; operands are 2-D or 3-D."""
    ranks = {len(x.shape), len(y.shape)}
    if not ranks <= {2, 3} or x.shape[-1] != y.shape[-2]:
        raise TileValueError(
            f"{list(x.shape)} and {list(y.shape)} cannot be multiplied",
            remedy="'x' is M x K and 'y' is K x N, each perhaps with a batch axis in front",
        )
    batch = [tile.shape[0] for tile in (x, y) if len(tile.shape) == 3]
    if len({size for size in batch if size != 1}) > 1:
        raise TileValueError(f"batches of {batch[0]} and {batch[1]} do not broadcast")
    front = (max(batch),) if batch else ()
    return (*front, x.shape[-2], y.shape[-1])


def _batched(tile: Tile, shape: tuple[int, ...]) -> Tile:
    """An operand with the batch of the result."""
    if len(shape) == 2:
        return tile
    return broadcast(tile, (shape[0], *tile.shape[-2:]))


def _multiply(x: Tile, y: Tile, acc: Tile, fast: bool) -> Tile:
    shape = _result_shape(x, y)
    if acc.shape != shape:
        raise TileValueError(
            f"'acc' must have the shape of the product, {list(shape)}, got {list(acc.shape)}"
        )
    if fast and x.dtype not in _FP8:
        raise TileTypeError(f"use_fast_acc is for 8-bit floats, not for {x.dtype}")
    builder = current_builder()
    operands = [_batched(x, shape).value, _batched(y, shape).value, acc.value]
    if x.dtype.is_float:
        attributes = {"fast_acc": unit(builder)} if fast else {}
        return builder.tile("cuda_tile.mmaf", acc.dtype, shape, operands, attributes)
    return builder.tile("cuda_tile.mmai", acc.dtype, shape, operands, _signs(builder, x, y))


def _signs(builder: Builder, x: Tile, y: Tile) -> Attributes:
    def sign(tile: Tile) -> Attribute:
        return builder.types.enum(Signedness.Signed if tile.dtype.signed else Signedness.Unsigned)

    return {"signedness_lhs": sign(x), "signedness_rhs": sign(y)}


def matmul(x: Tile, y: Tile, /) -> Tile:
    """`x @ y` in the dtype that the operands promote to; each is 1-D, 2-D or 3-D, as in NumPy.

    Products of float16 and of 8-bit floats are added in float16: use `mma` with an accumulator of
    float32 for sums that need more.
    """
    left, right = _tile(x, "x"), _tile(y, "y")
    dtype = promote(left.dtype, right.dtype)
    left, right = convert(left, dtype), convert(right, dtype)
    _check_operands(left, right)
    rows, columns = len(left.shape) == 1, len(right.shape) == 1
    if rows:
        left = with_shape(left, (1, *left.shape))
    if columns:
        right = with_shape(right, (*right.shape, 1))
    shape = _result_shape(left, right)
    zero = constant(current_builder(), 0, ACCUMULATORS[dtype][0], shape)
    product = _multiply(left, right, zero, fast=False)
    if rows or columns:
        front = () if rows else shape[:-1]
        last = () if columns else shape[-1:]
        batch = shape[:-2] if rows else ()
        product = with_shape(product, (*batch, *front, *last))
    return convert(product, dtype)


#: Dtypes of scales and the number of elements that share one, by the dtype of the operands.
_SCALES: dict[DType, dict[DType, tuple[int, ...]]] = {
    float8_e4m3fn: {float8_e8m0fnu: (32,)},
    float8_e5m2: {float8_e8m0fnu: (32,)},
    float4_e2m1fn: {float8_e8m0fnu: (16, 32), float8_e4m3fn: (16,), float8_e5m3fnu: (16, 32)},
}


def mma_scaled(x: Tile, x_scale: Tile, y: Tile, y_scale: Tile, /, acc: Tile) -> Tile:
    """`(x * x_scale) @ (y * y_scale) + acc`, where B neighbours along K share a scale.

    `x` is M x K with scales M x K/B, `y` K x N with scales K/B x N, `acc` is float32.

    | operands | scales | B |
    |---|---|---|
    | float8_e4m3fn, float8_e5m2 | float8_e8m0fnu | 32 |
    | float4_e2m1fn | float8_e8m0fnu | 16 or 32 |
    | float4_e2m1fn | float8_e4m3fn | 16 |
    """
    names = ("x", "x_scale", "y", "y_scale", "acc")
    tiles = [_tile(v, n) for v, n in zip((x, x_scale, y, y_scale, acc), names, strict=True)]
    left, left_scale, right, right_scale, total = tiles
    _check_scaled(left, right, left_scale, right_scale, total)
    shape = _result_shape(left, right)
    if total.shape != shape:
        raise TileValueError(
            f"'acc' must have the shape of the product, {list(shape)}, got {list(total.shape)}"
        )
    _check_scales(left, left_scale, right, right_scale)
    batched = [_batched(tile, shape).value for tile in (left, right)]
    scales = [_batched(tile, shape).value for tile in (left_scale, right_scale)]
    return current_builder().tile(
        "cuda_tile.mmaf_scaled", float32, shape, [*batched, total.value, *scales]
    )


def _check_scaled(x: Tile, y: Tile, x_scale: Tile, y_scale: Tile, acc: Tile) -> None:
    if x.dtype not in _SCALES or x.dtype is not y.dtype:
        known = ", ".join(map(str, _SCALES))
        raise TileTypeError(
            f"scaled products take two operands of one of {known}, got {x.dtype} and {y.dtype}"
        )
    allowed = _SCALES[x.dtype]
    if x_scale.dtype not in allowed or x_scale.dtype is not y_scale.dtype:
        known = " or ".join(map(str, allowed))
        raise TileTypeError(
            f"scales of {x.dtype} are {known}, got {x_scale.dtype} and {y_scale.dtype}"
        )
    if acc.dtype is not float32:
        raise TileTypeError(f"scaled products accumulate in float32, 'acc' is {acc.dtype}")


def _check_scales(x: Tile, x_scale: Tile, y: Tile, y_scale: Tile) -> None:
    """The shapes of scales: those of the operands, divided along K."""
    depth = x.shape[-1]
    count = x_scale.shape[-1] if x_scale.shape else 0
    sizes = _SCALES[x.dtype][x_scale.dtype]
    wanted_x = (*x.shape[:-1], count)
    wanted_y = (*y.shape[:-2], count, y.shape[-1])
    if count == 0 or depth % count or depth // count not in sizes:
        raise TileValueError(
            f"{' or '.join(map(str, sizes))} elements of {x.dtype} share a scale of "
            f"{x_scale.dtype}, got {depth} elements and {count} scales"
        )
    if x_scale.shape != wanted_x or y_scale.shape != wanted_y:
        raise TileValueError(
            f"scales must have the shapes {list(wanted_x)} and {list(wanted_y)}, got "
            f"{list(x_scale.shape)} and {list(y_scale.shape)}"
        )
