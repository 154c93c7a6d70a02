"""Encoding a `TensorMap` for the hardware with the driver's cuTensorMapEncodeTiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .tensor_map import BYTES, TensorMap, TensorMapRecipe

_TYPES = {
    "i1": "UINT8", "i8": "UINT8", "u8": "UINT8", "i16": "UINT16", "u16": "UINT16",
    "i32": "INT32", "u32": "UINT32", "i64": "INT64", "u64": "UINT64",
    "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "tf32": "TFLOAT32", "f64": "FLOAT64",
    "f8E4M3FN": "UINT8", "f8E5M2": "UINT8", "f8E8M0FNU": "UINT8", "f4E2M1FN": "UINT8",
}  # fmt: skip


#: Bytes of a line of the second-level cache, of which it may fetch two at once.
_LINE = 128


def _fetched(tensor_map: TensorMap) -> int:
    """Bytes to fetch into the second-level cache for each access: rows that do not start on a line
    would have it fetch neighbours' ends, too."""
    aligned = all(place % _LINE == 0 for place in (tensor_map.base, *tensor_map.strides))
    return 2 * _LINE if aligned else _LINE


def codes(cu: Any, tensor_map: TensorMap | TensorMapRecipe) -> tuple[int, int, int]:
    """The driver's numbers for type, swizzle and fill; `cu` is cuda.bindings.driver."""
    swizzle = f"{tensor_map.swizzle}B" if tensor_map.swizzle else "NONE"
    fill = "NAN_REQUEST_ZERO_FMA" if tensor_map.fill == "nan" else "NONE"
    name = _TYPES[tensor_map.dtype]
    return (
        int(getattr(cu.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{name}")),
        int(getattr(cu.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzle}")),
        int(getattr(cu.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}")),
    )


def encode(cu: Any, tensor_map: TensorMap, call: Callable[..., Any]) -> bytes:
    """The map's 128 bytes; `cu` is cuda.bindings.driver and `call` checks a call's status."""
    kind, swizzle, fill = codes(cu, tensor_map)
    promotion = f"L2_{_fetched(tensor_map)}B"
    encoded = call(
        cu.cuTensorMapEncodeTiled,
        cu.CUtensorMapDataType(kind),
        len(tensor_map.dims),
        tensor_map.base,
        [cu.cuuint64_t(extent) for extent in tensor_map.dims],
        # The driver wants an address even where there are no strides.
        [cu.cuuint64_t(stride) for stride in tensor_map.strides or (16,)],
        [cu.cuuint32_t(extent) for extent in tensor_map.box],
        [cu.cuuint32_t(step) for step in tensor_map.element_strides],
        cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        cu.CUtensorMapSwizzle(swizzle),
        getattr(cu.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{promotion}"),
        cu.CUtensorMapFloatOOBfill(fill),
    )
    return ctypes.string_at(int(encoded.getPtr()), BYTES)
