"""The fundamental types of PTX and the NumPy types that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


@dataclass(frozen=True)
class Type:
    """A type as an instruction names it.

    `kind` is "u", "s", "b" (bits), "f" or "pred"; packed types (f16x2) are of kind "f" with
    `lanes` 2 or 4, and their `dtype` is the unsigned integer that holds all of them.
    """

    name: str
    kind: str
    bits: int
    dtype: np.dtype[Any]
    element: str = ""
    lanes: int = 1

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def signed(self) -> bool:
        return self.kind == "s"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    def __repr__(self) -> str:
        return self.name


WIDE = np.dtype([("low", np.uint64), ("high", np.uint64)])
"""128 bits."""


def _types() -> dict[str, Type]:
    found = [Type("pred", "pred", 1, np.dtype(np.bool_)), Type("b128", "b", 128, WIDE)]
    for bits in (8, 16, 32, 64):
        unsigned = np.dtype(f"uint{bits}")
        found += [
            Type(f"u{bits}", "u", bits, unsigned),
            Type(f"b{bits}", "b", bits, unsigned),
            Type(f"s{bits}", "s", bits, np.dtype(f"int{bits}")),
        ]
    found += [
        Type("f16", "f", 16, np.dtype(np.float16)),
        Type("bf16", "f", 16, np.dtype(ml_dtypes.bfloat16)),
        Type("f32", "f", 32, np.dtype(np.float32)),
        Type("tf32", "f", 32, np.dtype(np.float32)),
        Type("f64", "f", 64, np.dtype(np.float64)),
        Type("e4m3", "f", 8, np.dtype(ml_dtypes.float8_e4m3fn)),
        Type("e5m2", "f", 8, np.dtype(ml_dtypes.float8_e5m2)),
        Type("f16x2", "f", 32, np.dtype(np.uint32), "f16", 2),
        Type("bf16x2", "f", 32, np.dtype(np.uint32), "bf16", 2),
        Type("f32x2", "f", 64, np.dtype(np.uint64), "f32", 2),
        Type("e4m3x2", "f", 16, np.dtype(np.uint16), "e4m3", 2),
        Type("e5m2x2", "f", 16, np.dtype(np.uint16), "e5m2", 2),
        Type("u16x2", "u", 32, np.dtype(np.uint32), "u16", 2),
        Type("s16x2", "s", 32, np.dtype(np.uint32), "s16", 2),
    ]
    return {one.name: one for one in found}


TYPES = _types()

PRED, B128 = TYPES["pred"], TYPES["b128"]
B8, B16, B32, B64 = TYPES["b8"], TYPES["b16"], TYPES["b32"], TYPES["b64"]
U8, U16, U32, U64 = TYPES["u8"], TYPES["u16"], TYPES["u32"], TYPES["u64"]
S8, S16, S32, S64 = TYPES["s8"], TYPES["s16"], TYPES["s32"], TYPES["s64"]
F16, BF16, F32, F64 = TYPES["f16"], TYPES["bf16"], TYPES["f32"], TYPES["f64"]
TF32, E4M3, E5M2 = TYPES["tf32"], TYPES["e4m3"], TYPES["e5m2"]
F16X2, BF16X2 = TYPES["f16x2"], TYPES["bf16x2"]


def bits_type(bits: int) -> Type:
    """The untyped bits of a width."""
    return PRED if bits == 1 else TYPES[f"b{bits}"]
