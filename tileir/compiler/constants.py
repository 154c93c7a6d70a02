"""Dense constants under other types."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tileir.dialects.cuda_tile import PaddingValue
from tileir.dialects.elements import array_from_elements, element_dtype, elements_from_array
from tileir.ir import (
    Attribute,
    DenseElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    Type,
)


def retype(value: DenseElementsAttr, type_: Type) -> Attribute:
    """The same elements, or their bits, under another shaped type of the same shape."""
    array, wanted = array_from_elements(value), element_dtype(ShapedType(type_).element_type)
    if array.dtype != wanted and array.dtype.kind == "V":
        # The narrow floats that are stored as integers; NumPy has a byte for four bits, too.
        array = array.view(np.uint8).astype(wanted)
    return elements_from_array(array.reshape(-1)[0].reshape(()) if value.is_splat else array, type_)


def retype_to_bits(value: DenseElementsAttr, type_: Type) -> Attribute:
    """The elements as they lie in memory, under a shaped type of integers of their size."""
    array = array_from_elements(value)
    if value.is_splat:
        array = array.reshape(-1)[:1]
    bits = np.ascontiguousarray(array).reshape(-1).view(f"i{array.dtype.itemsize}")
    return elements_from_array(bits[0].reshape(()) if value.is_splat else bits, type_)


def splat_scalar(value: DenseElementsAttr, type_: Type) -> Attribute:
    """The repeated element as an attribute of a register type: 8-bit floats are held in i8."""
    element = np.asarray(array_from_elements(value).reshape(-1)[0])
    if not isinstance(type_, IntegerType):
        return FloatAttr.get(type_, float(element))
    if element.dtype.kind == "b":
        return IntegerAttr.get(type_, int(element))
    bits = element.view(f"i{element.dtype.itemsize}") if element.dtype.kind != "i" else element
    return IntegerAttr.get(type_, int(bits))


#: Formats that cannot say zero, or that hold two elements in a byte.
_WITHOUT_PADDING = ("f8E8M0FNU", "f4E2M1FN", "fnv8E5M3FNU")


def padding_element(padding: PaddingValue | None, element: Type) -> float | None:
    """What a view with `padding` loads outside the tensor (anything without one), or None if no
    constant says it. Formats without infinity have their largest value instead."""
    if str(element) in _WITHOUT_PADDING:
        return None
    if padding is None or padding == PaddingValue.Zero:
        return 0.0
    if padding == PaddingValue.NegZero:
        return -0.0
    if padding == PaddingValue.NaN:
        return float("nan")
    dtype = element_dtype(element)
    largest = float(np.array(np.inf).astype(dtype))
    if not np.isinf(largest):
        largest = float(ml_dtypes.finfo(dtype).max)
    return largest if padding == PaddingValue.PosInf else -largest
