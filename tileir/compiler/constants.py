"""Dense constants under other types."""

from __future__ import annotations

import numpy as np

from tileir.dialects.elements import array_from_elements, elements_from_array
from tileir.ir import Attribute, DenseElementsAttr, FloatAttr, IntegerAttr, IntegerType, Type


def retype(value: DenseElementsAttr, type_: Type) -> Attribute:
    """The same elements under another shaped type of the same shape and element type."""
    array = array_from_elements(value)
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
