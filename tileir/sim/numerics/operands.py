"""Matrix operands in shared memory: wgmma's descriptors, and narrow elements as float64.

A descriptor holds, in units of 16 bytes, the start address, the leading (LBO) and the stride
(SBO) byte offset, and how the rows are swizzled. With S the width of the swizzled rows in bytes,
element (r, k) of a K-major operand, r along M or N, lies at linear byte

    S > 0     (r / 8) * SBO + (r % 8) * S + k * size
    S = 0     (r / 8) * SBO + (r % 8) * 16 + (k * size / 16) * LBO + k * size % 16

and of an MN-major one, where b = r * size,

    S > 0     (b / S) * LBO + b % S + (k / 8) * SBO + (k % 8) * S
    S = 0     (b / 16) * SBO + b % 16 + (k / 8) * LBO + (k % 8) * 16

from the start; swizzling then permutes 16-byte chunks by address as in tensor copies.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_SWIZZLES = (0, 128, 64, 32)


class Descriptor(NamedTuple):
    """`start` is a shared address; `swizzle` the width in bytes, 0 for none."""

    start: int
    leading: int
    stride: int
    base_offset: int
    swizzle: int


def decode(word: int) -> Descriptor:
    """A 64-bit matrix descriptor."""
    return Descriptor(
        (word & 0x3FFF) << 4,
        (word >> 16 & 0x3FFF) << 4,
        (word >> 32 & 0x3FFF) << 4,
        word >> 49 & 7,
        _SWIZZLES[word >> 62 & 3],
    )


@lru_cache(maxsize=256)
def offsets(
    rows: int, depth: int, size: int, leading: int, stride: int, swizzle: int, k_major: bool
) -> Array:
    """Linear bytes of element (r, k) from the start, int64[rows, depth]."""
    r, k = np.arange(rows)[:, None], np.arange(depth)[None, :]
    along, across = (k, r) if k_major else (r, k)
    along = along * size  # bytes in the direction that is contiguous
    if swizzle:
        inner = across // 8 * stride + across % 8 * swizzle
        blocks = 0 if k_major else along // swizzle * leading
        return inner + blocks + (along if k_major else along % swizzle)
    near, far = (leading, stride) if k_major else (stride, leading)
    return across // 8 * far + across % 8 * 16 + along // 16 * near + along % 16


def _table(dtype: Any) -> Array:
    return np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)


_E4M3, _E5M2 = _table(ml_dtypes.float8_e4m3fn), _table(ml_dtypes.float8_e5m2)
_F16 = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)


def to_float64(bits: Array, name: str) -> Array:
    """Elements of a type, given as unsigned bits, exactly. tf32 ignores the low 13 bits."""
    if name == "f16":
        return _F16[bits]
    if name == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    if name == "tf32":
        return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if name in ("e4m3", "e5m2"):
        return (_E4M3 if name == "e4m3" else _E5M2)[bits]
    return (bits.view(np.int8) if name == "s8" else bits).astype(np.float64)
