"""Arrays that other libraries keep on the device: DLPack and `__cuda_array_interface__`.

Neither copies anything; both are read with ctypes and the standard library, so no array library
needs to be installed.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from ..errors import LaunchError
from .arrays import contiguous_strides

_LEGACY_STREAM = 1
"""DLPack's and the array interface's name for the default stream; 0 is not allowed there."""

_CPU, _CUDA, _CUDA_MANAGED = 1, 2, 13

#: (DLDataTypeCode, bits) -> name in the IR; dlpack.h lists the codes.
DLPACK_TYPES = {
    (6, 8): "i1",
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (10, 8): "f8E4M3FN",
    (12, 8): "f8E5M2",
    (14, 8): "f8E8M0FNU",
}


def _parameter(index: int | str) -> str:
    return f"parameter {index}" if isinstance(index, int) else index


@dataclass(frozen=True)
class DeviceArray:
    """An array on the device: `strides` count bytes, `dtype` is the IR's name.

    `device` is the CUDA ordinal (None if unknown), `stream` the stream whose work must finish
    before the memory is read (None if that is settled), `keep` what must stay alive meanwhile.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    dtype: str
    device: int | None = None
    stream: int | None = None
    keep: Any = None


def device_array(value: Any, index: int | str, stream: int) -> DeviceArray | None:
    """`value` as an array on the device; None if it is not one.

    `stream` is where the kernel will run: a DLPack producer makes its data ready there. `index` is
    the parameter's number, or how messages call it.
    """
    if hasattr(value, "__dlpack_device__"):
        kind, ordinal = _dlpack_device(value, index)
        if kind == _CPU:
            return None
        if kind in (_CUDA, _CUDA_MANAGED):
            return _from_dlpack(value, ordinal, index, stream)
        raise LaunchError(
            f"{_parameter(index)}: the array lies on DLPack device type {kind}, "
            "expected CUDA device memory"
        )
    if hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value, index)
    return None


def _dlpack_device(value: Any, index: int | str) -> tuple[int, int]:
    """DLPack's type and number of the device on which an array lies."""
    try:
        kind, ordinal = value.__dlpack_device__()
    except Exception as error:  # producers raise what they like
        raise LaunchError(
            f"{_parameter(index)}: this {type(value).__name__} cannot be passed: {error}",
            remedy="pass an array that has memory, on the device or the host",
        ) from error
    return int(kind), int(ordinal)


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _from_dlpack(value: Any, ordinal: int, index: int | str, stream: int) -> DeviceArray:
    try:
        capsule = value.__dlpack__(stream=stream or _LEGACY_STREAM)
    except Exception as error:  # producers raise what they like
        raise LaunchError(
            f"{_parameter(index)}: {type(value).__name__} gives no DLPack: {error}"
        ) from error
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    # The capsule is not consumed: its destructor releases the tensor when `keep` is dropped.
    tensor = _DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    dtype = DLPACK_TYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise LaunchError(
            f"{_parameter(index)}: unknown DLPack element type "
            f"(code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes)"
        )
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = (
        tuple(tensor.strides[axis] for axis in range(tensor.ndim))
        if tensor.strides
        else contiguous_strides(shape)
    )
    itemsize = tensor.bits // 8
    return DeviceArray(
        address=(tensor.data or 0) + tensor.byte_offset,
        shape=shape,
        strides=tuple(stride * itemsize for stride in strides),
        itemsize=itemsize,
        dtype=dtype,
        device=ordinal,
        keep=capsule,
    )


def _from_interface(value: Any, index: int | str) -> DeviceArray:
    interface = value.__cuda_array_interface__
    try:
        typestr = interface["typestr"]
        kind, itemsize = typestr[1], int(typestr[2:])
        shape = tuple(int(extent) for extent in interface["shape"])
        strides = interface.get("strides")
        if strides is None:
            strides = tuple(stride * itemsize for stride in contiguous_strides(shape))
        address = int(interface["data"][0] or 0)
        stream = interface.get("stream")
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise LaunchError(
            f"{_parameter(index)}: malformed __cuda_array_interface__: {error!r}"
        ) from error
    prefix = {"b": "i", "i": "i", "u": "u", "f": "f", "V": "u"}.get(kind)
    if prefix is None:
        raise LaunchError(f"{_parameter(index)}: unknown element type '{typestr}'")
    dtype = "i1" if kind == "b" else f"{prefix}{8 * itemsize}"
    return DeviceArray(address, shape, tuple(strides), itemsize, dtype, stream=stream, keep=value)
