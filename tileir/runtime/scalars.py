"""Packing scalar arguments into the bytes of kernel parameters, with checks."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import LaunchError
from .dtypes import Element, element

_MOST_LISTED = 12
_FLOAT_FORMATS = {"f16": "<e", "f32": "<f", "tf32": "<f", "f64": "<d"}


def wrong_count(parameters: Sequence[str], given: int) -> LaunchError:
    """The error for a number of arguments that is not that of the parameters (types as text)."""
    return LaunchError(
        f"the kernel has {len(parameters)} parameters, {given} arguments were given",
        remedy=f"parameters: {parameter_list(parameters)}",
    )


def parameter_list(parameters: Sequence[str]) -> str:
    """The types of parameters as a message shows them: only the first of very many."""
    listed = ", ".join(parameters[:_MOST_LISTED])
    if len(parameters) > _MOST_LISTED:
        listed += f" and {len(parameters) - _MOST_LISTED} more"
    return listed or "none"


def pack_scalar(value: Any, type_name: str, index: int) -> bytes:
    """The little-endian bytes of scalar parameter `index`, whose IR type is `type_name`.

    Integers must fit the type as signed or unsigned (integers of the IR have no sign); Python and
    NumPy numbers are accepted, a float where an integer is expected is not.
    """
    kind = element(type_name)
    number = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biuf" else value
    if kind.kind == "float":
        return _pack_float(value, number, kind, index)
    if isinstance(number, bool):
        number = int(number)
    if not isinstance(number, int):
        raise mismatch(index, type_name, describe(value))
    bits = 1 if kind.kind == "bool" else 8 * kind.bytes
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"parameter {index}: {number} does not fit {type_name}")
    if kind.kind == "bool":
        number &= 1
    return (number % (1 << (8 * kind.bytes))).to_bytes(kind.bytes, "little")


def _pack_float(value: Any, number: Any, kind: Element, index: int) -> bytes:
    if isinstance(value, np.generic) and value.dtype.name in (kind.numpy, kind.raw):
        return value.tobytes()
    if isinstance(value, np.generic) and value.dtype.kind == "V":
        number = float(value)  # another of ml_dtypes' types
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise mismatch(index, kind.name, describe(value))
    try:
        if kind.name == "bf16":
            return _bf16_bits(float(number)).to_bytes(2, "little")
        if kind.name in _FLOAT_FORMATS:
            return struct.pack(_FLOAT_FORMATS[kind.name], number)
    except OverflowError:
        raise LaunchError(f"parameter {index}: {number} does not fit {kind.name}") from None
    raise LaunchError(
        f"parameter {index}: cannot round {describe(value)} to {kind.name} here",
        remedy=f"pass a NumPy scalar of ml_dtypes.{kind.numpy}",
    )


def _bf16_bits(number: float) -> int:
    """The upper half of the f32 nearest to `number`, rounded to nearest, ties to even."""
    if math.isnan(number):
        return 0x7FC0
    (bits,) = struct.unpack("<I", struct.pack("<f", number))
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    if rounded & 0x7FFF == 0x7F80 and not math.isinf(number):
        raise OverflowError
    return rounded


def mismatch(index: int, expected: str, found: str) -> LaunchError:
    return LaunchError(f"parameter {index}: expected {expected}, found {found}")


def describe(value: Any) -> str:
    """A short name of an argument for messages."""
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype.name} with shape {value.shape}"
    if isinstance(value, np.generic):
        return f"{value.dtype.name} {value}"
    if isinstance(value, (bool, int, float)):
        return f"{type(value).__name__} {value}"
    return type(value).__name__
