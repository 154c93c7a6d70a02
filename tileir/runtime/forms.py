"""How the native launcher reads arguments of a Python type; it asks once a type.

The numbers are those of `Form::Kind` in native/arrays.h.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import numpy as np


class Form(IntEnum):
    """How a type's values are read as arguments."""

    OTHER = 0
    #: DLPack's table of C functions (PyTorch since 2.10): about 50 ns an array.
    EXCHANGE = 1
    #: A function that makes a DLPack capsule (older PyTorch): half a microsecond.
    CAPSULE = 2
    #: `__dlpack__`, a microsecond or more, depending on the library.
    DLPACK = 3
    #: `__cuda_array_interface__`, likewise.
    INTERFACE = 4
    #: NumPy's scalars.
    NUMBER = 5
    INTEGER = 6
    REAL = 7
    TUPLE = 8
    LIST = 9


def form_of(kind: type) -> tuple[Form, Any]:
    """The form of a type's objects, and the capsule or function that goes with it."""
    if issubclass(kind, np.ndarray):
        return Form.OTHER, None  # in host memory
    table = getattr(kind, "__dlpack_c_exchange_api__", None)
    if type(table).__name__ == "PyCapsule":
        return Form.EXCHANGE, table
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return Form.CAPSULE, torch._C._to_dlpack
    if issubclass(kind, np.generic):
        return Form.NUMBER, None
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return Form.DLPACK, None
    if hasattr(kind, "__cuda_array_interface__"):
        return Form.INTERFACE, None
    for base, form in _BUILTIN:
        if issubclass(kind, base):
            return form, None
    return Form.OTHER, None


_BUILTIN = ((int, Form.INTEGER), (float, Form.REAL), (tuple, Form.TUPLE), (list, Form.LIST))
