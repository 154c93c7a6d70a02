"""Dense constants from and to NumPy arrays, for every element type.

The bytes of MLIR's dense attributes are read and written directly: one copy, no Python loop.
"""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
from mlir import ir

from ._native import Handle, function, unwrap_attribute, unwrap_type, wrap_attribute

_get_raw = function(
    "mlirDenseElementsAttrRawBufferGet", Handle, Handle, ctypes.c_size_t, ctypes.c_void_p
)
_raw_data = function("mlirDenseElementsAttrGetRawData", ctypes.c_void_p, Handle)
_is_splat = function("mlirDenseElementsAttrIsSplat", ctypes.c_bool, Handle)

_DTYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    "i4": np.dtype(ml_dtypes.int4),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "tf32": np.dtype(np.float32),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
}

# tf32 is the upper 19 bits of an f32; MLIR stores them in three bytes.
_TF32_DROPPED_BITS = 13
_TF32_BYTES = 3


def element_dtype(element_type: ir.Type) -> np.dtype:
    """The dtype that holds values of an element type; tf32 values are held in float32.

    Raises `ValueError` for types without one: pointers, fnv8E5M3FNU.
    """
    try:
        return _DTYPES[str(element_type)]
    except KeyError:
        raise ValueError(f"there is no dtype for {element_type}") from None


def elements_from_array(array: np.ndarray, type_: ir.Type) -> ir.Attribute:
    """The dense attribute of a shaped type (such as a tile) that holds `array`.

    The array has the type's shape, or rank 0 for a splat; its dtype is that of `element_dtype`.
    float32 values for tf32 are rounded to nearest even. Raises `ValueError` otherwise.
    """
    shaped = ir.ShapedType(type_)
    expected = element_dtype(shaped.element_type)
    if array.dtype != expected:
        raise ValueError(f"{type_} takes an array of {expected}, not {array.dtype}")
    if array.ndim != 0 and list(array.shape) != list(shaped.shape):
        raise ValueError(f"{type_} takes an array of its shape, not {array.shape}")
    data = _to_raw(array, str(shaped.element_type))
    buffer = np.ascontiguousarray(data)
    handle = _get_raw(unwrap_type(type_), buffer.nbytes, buffer.ctypes.data)
    if not handle.pointer:
        raise ValueError(f"{array.nbytes} bytes do not make a {type_}")
    return wrap_attribute(handle)


def array_from_elements(attribute: ir.Attribute) -> np.ndarray:
    """The values of a dense attribute, in its shape.

    A splat gives a read-only array that repeats one element in memory.
    """
    shaped = ir.ShapedType(_type_of(attribute))
    shape = list(shaped.shape)
    element = str(shaped.element_type)
    dtype = element_dtype(shaped.element_type)
    handle = unwrap_attribute(attribute)
    splat = _is_splat(handle)
    count = 1 if splat else int(np.prod(shape, dtype=np.int64))
    raw = ctypes.string_at(_raw_data(handle), _raw_size(element, dtype, count))
    values = _from_raw(raw, element, dtype, count)
    return np.broadcast_to(values.reshape(()), shape) if splat else values.reshape(shape)


def _type_of(attribute: ir.Attribute) -> ir.Type:
    return attribute.type  # pyright: ignore[reportAttributeAccessIssue]


def _raw_size(element: str, dtype: np.dtype, count: int) -> int:
    if element == "i1":
        return (count + 7) // 8
    return count * (_TF32_BYTES if element == "tf32" else dtype.itemsize)


def _to_raw(array: np.ndarray, element: str) -> np.ndarray:
    if element == "i1":
        if array.size == 1:
            # A single byte of zeros or ones is a splat.
            return np.array([0xFF if array.item() else 0], np.uint8)
        return np.packbits(array, axis=None, bitorder="little")
    if element != "tf32":
        return array
    bits = _round_to_tf32(np.ascontiguousarray(array)) >> _TF32_DROPPED_BITS
    return bits.astype("<u4").reshape(-1, 1).view(np.uint8)[:, :_TF32_BYTES]


def _round_to_tf32(array: np.ndarray) -> np.ndarray:
    """Bits of float32 values rounded to nearest even in the precision of tf32."""
    bits = array.view(np.uint32).reshape(-1)
    odd = (bits >> _TF32_DROPPED_BITS) & 1
    rounded = bits + ((1 << (_TF32_DROPPED_BITS - 1)) - 1 + odd)
    # A NaN stays one: keep its payload's upper bits and set the quiet bit.
    return np.where(np.isnan(array).reshape(-1), bits | 0x00400000, rounded).astype(np.uint32)


def _from_raw(raw: bytes, element: str, dtype: np.dtype, count: int) -> np.ndarray:
    data = np.frombuffer(raw, np.uint8)
    if element == "i1":
        return np.unpackbits(data, count=count, bitorder="little").astype(np.bool_)
    if element != "tf32":
        return data.view(dtype).copy()
    wide = np.zeros((count, 4), np.uint8)
    wide[:, :_TF32_BYTES] = data.reshape(count, _TF32_BYTES)
    return (wide.view("<u4").reshape(-1) << _TF32_DROPPED_BITS).view(np.float32)
