"""The number formats of Tile IR and the NumPy type that holds each of them.

| format | NumPy type of a tile | in memory |
|---|---|---|
| i1 | bool | one byte, 0 or 1 |
| i4 | int8, sign extended | never |
| i8 ... i64 | int8 ... int64 | as is |
| f16, f32, f64 | float16, float32, float64 | as is |
| bf16, f8E4M3FN, f8E5M2, f8E8M0FNU | ml_dtypes | as is |
| f4E2M1FN | ml_dtypes, one byte each | two to a byte, even element in the low half |
| tf32 | float32 whose low 13 bits are zero | 4 bytes |
| fnv8E5M3FNU | uint8, the bits | as is |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

# A tile in flight: an array, or a NumPy scalar where the tile has rank 0.
Tile = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class IntFormat:
    """A two's complement integer of `bits` bits; the operation decides how it is read."""

    name: str
    bits: int

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of a tile."""
        return np.dtype(np.bool_) if self.bits == 1 else np.dtype(f"int{max(8, self.bits)}")

    @cached_property
    def unsigned(self) -> np.dtype[Any]:
        """The unsigned type of the same width (uint8 below a byte)."""
        return np.dtype(f"uint{max(8, self.bits)}")

    @property
    def memory_dtype(self) -> np.dtype[Any]:
        """NumPy type of an element in memory."""
        return np.dtype(np.uint8) if self.bits == 1 else self.dtype

    @property
    def memory_bits(self) -> int:
        return max(8, self.bits)

    @property
    def value_bits(self) -> int:
        return self.bits


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format.

    `precision` counts the hidden bit; `min_exponent` is that of the smallest normal number
    (1.0 has exponent 0); `maximum` is the largest finite value.
    """

    name: str
    dtype: np.dtype[Any]
    bits: int
    precision: int
    min_exponent: int
    maximum: float
    has_infinity: bool = True
    has_nan: bool = True
    signed: bool = True
    storage_bits: int = 0

    @property
    def memory_dtype(self) -> np.dtype[Any]:
        """NumPy type of an element in memory (of a pair of elements for f4E2M1FN)."""
        return np.dtype(np.uint8) if self.bits == 4 else self.dtype

    @property
    def memory_bits(self) -> int:
        return self.storage_bits or self.bits

    @property
    def value_bits(self) -> int:
        return self.bits


@dataclass(frozen=True)
class PointerFormat:
    """A 64-bit address of elements of `pointee`."""

    pointee: IntFormat | FloatFormat

    name = "ptr"
    dtype = np.dtype(np.int64)
    memory_dtype = dtype
    memory_bits = 64
    value_bits = 64


Number = IntFormat | FloatFormat
Format = IntFormat | FloatFormat | PointerFormat

I1, I4, I8, I16, I32, I64 = (IntFormat(f"i{n}", n) for n in (1, 4, 8, 16, 32, 64))
F16 = FloatFormat("f16", np.dtype(np.float16), 16, 11, -14, 65504.0)
BF16 = FloatFormat("bf16", np.dtype(ml_dtypes.bfloat16), 16, 8, -126, float.fromhex("0x1.fep127"))
F32 = FloatFormat("f32", np.dtype(np.float32), 32, 24, -126, float.fromhex("0x1.fffffep127"))
F64 = FloatFormat("f64", np.dtype(np.float64), 64, 53, -1022, float(np.finfo(np.float64).max))
TF32 = FloatFormat(
    "tf32", np.dtype(np.float32), 19, 11, -126, float.fromhex("0x1.ffcp127"), storage_bits=32
)
F8E4M3FN = FloatFormat(
    "f8E4M3FN", np.dtype(ml_dtypes.float8_e4m3fn), 8, 4, -6, 448.0, has_infinity=False
)
F8E5M2 = FloatFormat("f8E5M2", np.dtype(ml_dtypes.float8_e5m2), 8, 3, -14, 57344.0)
F8E8M0FNU = FloatFormat(
    "f8E8M0FNU",
    np.dtype(ml_dtypes.float8_e8m0fnu),
    8,
    1,
    -127,
    2.0**127,
    has_infinity=False,
    signed=False,
)
F4E2M1FN = FloatFormat(
    "f4E2M1FN", np.dtype(ml_dtypes.float4_e2m1fn), 4, 2, 0, 6.0, has_infinity=False, has_nan=False
)
# All ones is NaN, so the largest finite value is 1.75 * 2^16.
F8E5M3FNU = FloatFormat(
    "fnv8E5M3FNU", np.dtype(np.uint8), 8, 4, -14, 1.75 * 2.0**16, has_infinity=False, signed=False
)

NUMBERS: dict[str, Number] = {
    f.name: f
    for f in (
        I1,
        I4,
        I8,
        I16,
        I32,
        I64,
        F16,
        BF16,
        F32,
        F64,
        TF32,
        F8E4M3FN,
        F8E5M2,
        F8E8M0FNU,
        F4E2M1FN,
        F8E5M3FNU,
    )
}


def pointer_tile(address: int) -> Tile:
    """An address as a rank-0 tile."""
    return np.array(address & (2**64 - 1), np.uint64).view(np.int64)[()]


def canonical_nan(fmt: FloatFormat) -> Tile:
    """The NaN that max and min give: PTX's, all bits but the sign set in f16, bf16 and f32."""
    bits = {
        "f16": np.uint16(0x7FFF),
        "bf16": np.uint16(0x7FFF),
        "f32": np.uint32(0x7FFFFFFF),
        "f64": np.uint64(0x7FF8000000000000),
    }[fmt.name]
    return np.asarray(bits).view(fmt.dtype)
