"""Tensor maps in memory.

The hardware's 128 bytes are not documented; ours hold the fields one behind the other, so that
kernels can copy maps, and build them with tensormap.replace from zeros:

    byte 0 address (8)   8 rank - 1   9 element type   10 interleave   11 swizzle   12 fill
    16 dimensions (5 x 4)   40 strides (4 x 8)   72 box (5 x 4)   92 element strides (5 x 4)
"""

from __future__ import annotations

import struct
from functools import lru_cache

from ...errors import LaunchError
from ...runtime.tensor_map import BYTES, FILLS, TensorMap
from .faults import ThreadFault

# The numbers that tensormap.replace gives to element types, with our names for them.
_ELEMENTS = {
    0: ("u8", "i8", "i1", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"),
    1: ("u16", "i16"),
    2: ("u32",),
    3: ("i32",),
    4: ("u64",),
    5: ("i64",),
    6: ("f16",),
    7: ("f32",),
    8: ("f32",),
    9: ("f64",),
    10: ("bf16",),
    11: ("tf32",),
    12: ("tf32",),
}
_CODES = {name: code for code, names in reversed(_ELEMENTS.items()) for name in names}
_SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}

# field of tensormap.replace: (first byte, bytes of one entry, entries)
FIELDS = {
    "global_address": (0, 8, 1),
    "rank": (8, 1, 1),
    "elemtype": (9, 1, 1),
    "interleave_layout": (10, 1, 1),
    "swizzle_mode": (11, 1, 1),
    "fill_mode": (12, 1, 1),
    "swizzle_atomicity": (13, 1, 1),
    "global_dim": (16, 4, 5),
    "global_stride": (40, 8, 4),
    "box_dim": (72, 4, 5),
    "element_stride": (92, 4, 5),
}


def encode(tensor: TensorMap) -> bytes:
    """128 bytes."""
    data = bytearray(BYTES)
    rank = len(tensor.dims)
    swizzle = next(code for code, width in _SWIZZLES.items() if width == tensor.swizzle)
    codes = rank - 1, _CODES[tensor.dtype], 0, swizzle, FILLS.index(tensor.fill)
    struct.pack_into("<Q5B", data, 0, tensor.base, *codes)
    struct.pack_into(f"<{rank}I", data, 16, *(extent & 0xFFFFFFFF for extent in tensor.dims))
    struct.pack_into(f"<{rank - 1}Q", data, 40, *tensor.strides)
    struct.pack_into(f"<{rank}I", data, 72, *tensor.box)
    struct.pack_into(f"<{rank}I", data, 92, *tensor.element_strides)
    return bytes(data)


@lru_cache(maxsize=64)
def decode(data: bytes) -> TensorMap:
    """The map in 128 bytes; a fault if they hold none."""
    base, less, element, interleave, swizzle, fill = struct.unpack_from("<Q5B", data, 0)
    rank = less + 1
    if rank > 5 or element not in _ELEMENTS or swizzle not in _SWIZZLES or fill > 1:
        raise ThreadFault(
            "there is no tensor map at this address",
            "pass it as a 64-byte aligned .param, or build it with tensormap.replace",
        )
    if interleave:
        raise ThreadFault("interleaved tensor maps are not supported")
    dims = struct.unpack_from(f"<{rank}I", data, 16)
    try:
        return TensorMap(
            _ELEMENTS[element][0],
            base,
            tuple(extent or 1 << 32 for extent in dims),
            struct.unpack_from(f"<{rank - 1}Q", data, 40),
            struct.unpack_from(f"<{rank}I", data, 72),
            struct.unpack_from(f"<{rank}I", data, 92),
            _SWIZZLES[swizzle],
            FILLS[fill],
        )
    except LaunchError as error:
        raise ThreadFault(error.reason) from None
