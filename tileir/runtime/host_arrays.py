"""Arrays in host memory, of whatever library, as NumPy arrays of the same memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .dtypes import storage_dtype

# PyTorch's element types that NumPy lacks: the IR's name, and integers to carry them.
_CARRIED = {
    "torch.bfloat16": ("bf16", "int16"),
    "torch.float8_e4m3fn": ("f8E4M3FN", "int8"),
    "torch.float8_e5m2": ("f8E5M2", "int8"),
    "torch.float8_e8m0fnu": ("f8E8M0FNU", "int8"),
    "torch.float4_e2m1fn_x2": ("f4E2M1FN", "int8"),
}


def host_array(value: Any) -> np.ndarray | None:
    """`value` as a NumPy array, nothing copied; None if it is no array in host memory.

    Whatever the library raises goes through.
    """
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _from_torch(torch, value) if value.device.type == "cpu" else None
    if isinstance(value, np.generic):
        return None
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        kind, _ = value.__dlpack_device__()
        return np.from_dlpack(value) if kind == 1 else None
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    return None


def _from_torch(torch: Any, tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    carried = _CARRIED.get(str(tensor.dtype))
    if carried is None:
        return tensor.numpy()
    name, carrier = carried
    return tensor.view(getattr(torch, carrier)).numpy().view(storage_dtype(name))
