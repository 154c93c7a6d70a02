"""Conversions between dtypes."""

from __future__ import annotations

from typing import Any

from ..builder import Attributes, Builder, current_builder
from ..calls import replaces
from ..constants import constant
from ..dtypes import DType, float32, int32, tfloat32, uint8
from ..enums import RoundingMode
from ..errors import TileTypeError, TileValueError
from ..promotion import (
    category_of,
    check_fits,
    check_target,
    convert_number,
    promote,
)
from ..values import Tile, describe
from .common import Operand, as_tile, dtype_argument, enum_member, is_number, note_shape, operand
from .options import ROUNDING, signedness


def astype(x: Any, dtype: Any, /, *, rounding_mode: RoundingMode | None = None) -> Tile:
    """`x` converted to `dtype`.

    Floats become integers by cutting off, integers of fewer bits keep the low ones, anything but
    zero becomes True. `rounding_mode` is for floats that become floats: RN (the default), RZ, for
    float8_e8m0fnu RZ or RP, for tfloat32 also RA.
    """
    source, target = as_tile(x, "x"), dtype_argument(dtype)
    if rounding_mode is None:
        return convert(source, target)
    mode = enum_member(rounding_mode, RoundingMode, "rounding_mode")
    if not (source.dtype.is_float and target.is_float):
        raise TileTypeError(
            f"rounding_mode is for floats that become floats, not for {source.dtype} to {target}"
        )
    if mode not in _modes(source.dtype, target):
        names = ", ".join(f"RoundingMode.{each.name}" for each in _modes(source.dtype, target))
        raise TileTypeError(
            f"{source.dtype} converts to {target} by {names}, not by RoundingMode.{mode.name}"
        )
    return convert(source, target, mode)


def _modes(source: DType, target: DType) -> tuple[RoundingMode, ...]:
    """The modes in which one float dtype converts to another."""
    if target.bitwidth <= 8:
        if target.mantissa_bits == 0:
            return (RoundingMode.RZ, RoundingMode.RP)
        return (RoundingMode.RN,)
    if (source.name, target.name) == ("float64", "float32") or _is_widening(source, target):
        return (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RM, RoundingMode.RP)
    if target is tfloat32:
        return (RoundingMode.RN, RoundingMode.RZ, RoundingMode.RA)
    return (RoundingMode.RN, RoundingMode.RZ)


def _is_widening(source: DType, target: DType) -> bool:
    return (
        source.mantissa_bits <= target.mantissa_bits
        and source.exponent_bits <= target.exponent_bits
    )


def convert(x: Tile, target: DType, mode: RoundingMode | None = None) -> Tile:
    """`x` in another dtype, whatever gets lost."""
    source = x.dtype
    if source is target:
        return Tile(x.value, source, x.shape) if x.loose else x
    builder = current_builder()
    check_target(target, builder.target)
    if target.is_bool:
        return to_bool(x)
    if source.is_integral and target.is_integral:
        return _between_integers(builder, x, target)
    if target.is_integral:
        return builder.tile(
            "cuda_tile.ftoi", target, x.shape, (x.value,), _to_integer(builder, target)
        )
    if source.is_integral:
        return _from_integer(builder, x, target)
    attributes: Attributes = {}
    if mode is None and target.name == "float8_e8m0fnu":
        mode = RoundingMode.RZ
    if mode not in (None, RoundingMode.RN):
        attributes["rounding_mode"] = builder.types.enum(ROUNDING[mode])
    return builder.tile("cuda_tile.ftof", target, x.shape, (x.value,), attributes)


def _to_integer(builder: Builder, target: DType) -> Attributes:
    return {"signedness": signedness(builder, target)}


def _from_integer(builder: Builder, x: Tile, target: DType) -> Tile:
    if target.name == "float8_e8m0fnu":  # which no integer converts to directly
        return convert(convert(x, float32), target)
    return builder.tile(
        "cuda_tile.itof",
        target,
        x.shape,
        (x.value,),
        {"signedness": signedness(builder, x.dtype)},
    )


def _between_integers(builder: Builder, x: Tile, target: DType) -> Tile:
    source_bits = 1 if x.dtype.is_bool else x.dtype.bitwidth
    if source_bits < target.bitwidth:
        attributes = {"signedness": signedness(builder, x.dtype)}
        return builder.tile("cuda_tile.exti", target, x.shape, (x.value,), attributes)
    if source_bits > target.bitwidth:
        return builder.tile("cuda_tile.trunci", target, x.shape, (x.value,))
    return Tile(x.value, target, x.shape)  # the IR's integers have no sign


def to_bool(x: Operand) -> Tile:
    """Where `x` is not zero; NaN counts as True, as in Python."""
    if not isinstance(x, Tile):
        return constant(current_builder(), bool(x))
    if x.dtype.is_bool:
        return x
    if not x.dtype.is_arithmetic:
        raise TileTypeError(
            f"{x.dtype} cannot be tested", remedy="convert it to a larger float first"
        )
    from .comparison import not_equal

    return not_equal(x, 0)


def implicit_cast(value: Operand, target: DType, what: str) -> Operand:
    """A value that is to be held as `target`; allowed only if nothing gets lost.

    Raises `TileTypeError` that begins with `what`.
    """
    if is_number(value):
        if category_of(value).value <= target.category.value:
            check_fits(value, target)
            return value
        source: Any = describe(value)
    else:
        assert isinstance(value, Tile)
        source = value.dtype
        try:
            if source is target or promote(source, target) is target:
                return convert(value, target)
        except TileTypeError:
            pass
        if value.loose and source.category.value <= target.category.value:
            return convert(value, target)
    raise TileTypeError(
        f"{what} is {source}, which does not become {target} by itself",
        remedy=f"convert it: .astype(ct.{target})",
    )


def bitcast(x: Any, /, dtype: Any) -> Tile:
    """The bits of `x` read as `dtype`, which has as many. tfloat32 counts 19 bits."""
    source, target = as_tile(x, "x"), dtype_argument(dtype)
    builder = current_builder()
    check_target(target, builder.target)
    if source.dtype is target:
        return source
    bits, wanted = _value_bits(source.dtype), _value_bits(target)
    if bits != wanted:
        raise TileTypeError(
            f"{source.dtype} has {bits} bits, {target} {wanted}: bitcast needs as many",
            remedy="ct.pack_to_bytes and ct.unpack_from_bytes change the number of elements",
        )
    if source.dtype.element == target.element:
        return Tile(source.value, target, source.shape)
    return builder.tile("cuda_tile.bitcast", target, source.shape, (source.value,))


def _value_bits(dtype: DType) -> int:
    if dtype is tfloat32:
        return 19
    return 1 if dtype.is_bool else dtype.bitwidth


def pack_to_bytes(x: Any, /) -> Tile:
    """The bytes of a tile in row-major order, little endian, as a 1-D tile of uint8."""
    tile = as_tile(x, "x")
    builder = current_builder()
    elements = _count(tile)
    bits = elements * _packed_bits(tile.dtype)
    if bits % 8:
        raise TileValueError(f"{elements} elements of {tile.dtype} do not fill whole bytes")
    if tile.shape != (elements,):
        tile = builder.tile("cuda_tile.reshape", tile.dtype, (elements,), (tile.value,))
    if tile.dtype.bitwidth == 8 and not tile.dtype.is_bool:
        return bitcast(tile, uint8)
    note_shape(builder, (bits // 8,))
    return builder.tile("cuda_tile.pack", uint8, (bits // 8,), (tile.value,))


def unpack_from_bytes(x: Any, /, dtype: Any) -> Tile:
    """A 1-D tile of uint8 read as elements of `dtype`: the inverse of `pack_to_bytes`."""
    tile, target = as_tile(x, "x"), dtype_argument(dtype)
    if tile.dtype is not uint8 or len(tile.shape) != 1:
        raise TileTypeError(f"'x' must be a 1-D tile of uint8, got {describe(tile)}")
    builder = current_builder()
    check_target(target, builder.target)
    bits = tile.shape[0] * 8
    if bits % _packed_bits(target):
        raise TileValueError(f"{tile.shape[0]} bytes do not make whole elements of {target}")
    if target.bitwidth == 8 and not target.is_bool:
        return bitcast(tile, target)
    count = bits // _packed_bits(target)
    note_shape(builder, (count,))
    return builder.tile("cuda_tile.unpack", target, (count,), (tile.value,))


def _packed_bits(dtype: DType) -> int:
    return 1 if dtype.is_bool else dtype.bitwidth


def _count(tile: Tile) -> int:
    count = 1
    for extent in tile.shape:
        count *= extent
    return count


def scalar(dtype: DType, value: Any) -> Tile:
    """What a dtype gives when it is called in a kernel: a scalar of that dtype."""
    x = operand(value, "value")
    if isinstance(x, Tile):
        if x.shape:
            raise TileTypeError(
                f"ct.{dtype}(...) makes a scalar, not a tile from {describe(x)}",
                remedy=f"convert the tile: .astype(ct.{dtype})",
            )
        return convert(x, dtype)
    return constant(current_builder(), convert_number(x, dtype), dtype)


def _scalar_argument(value: Any, name: str) -> Tile:
    x = as_tile(value, "value")
    if x.shape:
        raise TileTypeError(
            f"{name}() takes a scalar, not {describe(x)}",
            remedy="convert the tile with .astype(...)",
        )
    return x


@replaces(bool)
def bool_of(value: Any) -> Tile:
    """`bool(x)`: whether a scalar is not zero."""
    return to_bool(_scalar_argument(value, "bool"))


@replaces(int)
def int_of(value: Any) -> Tile:
    """`int(x)` of a scalar: int32, a float cut off."""
    return convert(_scalar_argument(value, "int"), int32)


@replaces(float)
def float_of(value: Any) -> Tile:
    """`float(x)` of a scalar: float32."""
    return convert(_scalar_argument(value, "float"), float32)
