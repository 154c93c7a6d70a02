"""Immediate operands as NumPy scalars."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ptx.syntax import Immediate
from ..ptx.types import PRED, WIDE, Type


def immediate(operand: Immediate, type_: Type) -> Any:
    """An immediate as a scalar of `type_`'s NumPy type.

    Integers wrap. The bits of a 0f or 0d literal are kept where the width fits, so that NaNs and
    bit operations come out right; elsewhere its value is converted.
    """
    value, dtype = operand.value, type_.dtype
    if type_ is PRED:
        return np.bool_(bool(value))
    if dtype == WIDE:
        return np.array((int(value) & (2**64 - 1), int(value) >> 64 & (2**64 - 1)), WIDE)[()]
    if operand.bits is not None and operand.width == type_.bits:
        return _from_bits(operand.bits, dtype)
    if isinstance(value, float):
        if type_.kind == "f" and type_.lanes == 1:
            return np.float64(value).astype(dtype)
        narrow = np.float32(value) if type_.bits == 32 else np.float64(value)
        return narrow.view(f"u{narrow.itemsize}").astype(dtype)
    if type_.kind == "f" and type_.lanes == 1 and type_.bits in (32, 64):
        return dtype.type(value)
    return _from_bits(value, dtype)


def _from_bits(bits: int, dtype: np.dtype[Any]) -> Any:
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    return np.array(bits & (1 << 8 * dtype.itemsize) - 1, unsigned).view(dtype)[()]
