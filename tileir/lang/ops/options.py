"""Options of floating-point operations: rounding modes, flushing to zero, propagation of NaN."""

from __future__ import annotations

from tileir.dialects import cuda_tile
from tileir.ir import Attribute

from ..builder import Attributes, Builder
from ..dtypes import DType, float32
from ..enums import RoundingMode
from ..errors import TileTypeError
from .common import constant_bool, enum_member

#: The rounding modes of IEEE 754.
IEEE = frozenset({RoundingMode.RN, RoundingMode.RZ, RoundingMode.RM, RoundingMode.RP})
NONE: frozenset[RoundingMode] = frozenset()

ROUNDING = {
    RoundingMode.RN: cuda_tile.RoundingMode.NearestEven,
    RoundingMode.RZ: cuda_tile.RoundingMode.Zero,
    RoundingMode.RM: cuda_tile.RoundingMode.NegativeInf,
    RoundingMode.RP: cuda_tile.RoundingMode.PositiveInf,
    RoundingMode.RA: cuda_tile.RoundingMode.NearestAway,
    RoundingMode.FULL: cuda_tile.RoundingMode.Full,
    RoundingMode.APPROX: cuda_tile.RoundingMode.Approx,
    RoundingMode.RZI: cuda_tile.RoundingMode.NearestIntToZero,
}


def unit(builder: Builder) -> Attribute:
    """The attribute of a flag that is set."""
    return builder.types.attribute("unit")


def rounding_attributes(
    builder: Builder,
    what: str,
    dtype: DType,
    mode: RoundingMode | None,
    *,
    ieee: bool = True,
    only_float32: frozenset[RoundingMode] = NONE,
) -> Attributes:
    """`rounding_mode` as attribute; the default mode needs none.

    `what` is the function, for messages; `only_float32` are modes that float32 has besides.
    """
    if mode is None:
        return {}
    mode = enum_member(mode, RoundingMode, "rounding_mode")
    if not dtype.is_float:
        raise TileTypeError(f"{what} rounds only floats, not {dtype}: leave rounding_mode out")
    allowed = (IEEE if ieee else NONE) | only_float32
    if mode not in allowed:
        names = ", ".join(sorted(f"RoundingMode.{each.name}" for each in allowed))
        raise TileTypeError(f"{what} has no RoundingMode.{mode.name}, only {names}")
    if mode in only_float32 and dtype is not float32:
        raise TileTypeError(f"{what} has RoundingMode.{mode.name} in float32 only, not in {dtype}")
    if mode is RoundingMode.RN:
        return {}
    return {"rounding_mode": builder.types.enum(ROUNDING[mode])}


def flush_attributes(builder: Builder, what: str, dtype: DType, flush_to_zero: bool) -> Attributes:
    """`flush_to_zero` as attribute."""
    if not constant_bool(flush_to_zero, "flush_to_zero"):
        return {}
    if dtype is not float32:
        raise TileTypeError(f"{what} flushes subnormals to zero in float32 only, not in {dtype}")
    return {"flush_to_zero": unit(builder)}


def nan_attributes(builder: Builder, what: str, dtype: DType, propagate_nan: bool) -> Attributes:
    """`propagate_nan` as attribute; integers have no NaN to propagate."""
    if not constant_bool(propagate_nan, "propagate_nan"):
        return {}
    if not dtype.is_float:
        raise TileTypeError(f"{what} has no NaN to propagate in {dtype}: leave propagate_nan out")
    return {"propagate_nan": unit(builder)}


def signedness(builder: Builder, dtype: DType) -> Attribute:
    """`signed` or `unsigned`, which operations on integers say since their types do not."""
    signed = cuda_tile.Signedness.Signed if dtype.signed else cuda_tile.Signedness.Unsigned
    return builder.types.enum(signed)
