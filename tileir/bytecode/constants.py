"""Constants: the bytes of the format are those of MLIR's dense attributes.

A splat is one element. Otherwise all elements follow in row-major order, little endian; i1 is
packed, eight to a byte, low bit first, with a splat of true as FF; f4 takes one byte an element
and tf32 three. So constants are copied, never expanded.
"""

from __future__ import annotations

import ctypes

from tileir import ir
from tileir.bytecode.tags import FLOAT_WIDTHS, INTEGER_WIDTHS
from tileir.dialects import cuda_tile
from tileir.dialects._native import (
    Handle,
    function,
    unwrap_attribute,
    unwrap_type,
    wrap_attribute,
)

_from_raw = function(
    "mlirDenseElementsAttrRawBufferGet", Handle, Handle, ctypes.c_size_t, ctypes.c_char_p
)
_raw_data = function("mlirDenseElementsAttrGetRawData", ctypes.c_void_p, Handle)
_is_splat = function("mlirDenseElementsAttrIsSplat", ctypes.c_bool, Handle)

_WIDTHS = {**INTEGER_WIDTHS, **FLOAT_WIDTHS}


def elements_from_bytes(data: bytes, type: ir.Type) -> ir.Attribute:
    """The dense attribute of a tile type; `ValueError` if `data` does not fit the type."""
    if not isinstance(type, cuda_tile.TileType):
        raise ValueError(f"a constant has a tile type, not {type}")
    element = str(type.element_type)
    if element not in _WIDTHS:
        raise ValueError(f"constants of {type.element_type} are not supported")
    handle = _from_raw(unwrap_type(type), len(data), data)
    if not handle.pointer:
        raise ValueError(
            f"{len(data)} bytes hold neither one element nor the {type.num_elements} of {type}"
        )
    return wrap_attribute(handle)


def bytes_from_elements(attribute: ir.Attribute) -> bytes:
    """The bytes of a dense attribute of numbers."""
    handle = unwrap_attribute(attribute)
    shaped = ir.ShapedType(attribute.type)  # pyright: ignore[reportAttributeAccessIssue]
    width = _WIDTHS[str(shaped.element_type)]
    count = 1
    if not _is_splat(handle):
        for size in shaped.shape:
            count *= size
    size = (count + 7) // 8 if width == 1 else count * ((width + 7) // 8)
    return ctypes.string_at(_raw_data(handle), size)


def float_from_bits(bits: int, type: ir.Type) -> ir.Attribute:
    """The float attribute of a type with exactly these bits, which fit the type."""
    width = FLOAT_WIDTHS.get(str(type))
    if width is None:
        raise ValueError(f"constants of {type} are not supported")
    data = bits.to_bytes((width + 7) // 8, "little")
    elements = _from_raw(unwrap_type(_one(type)), len(data), data)
    return ir.DenseElementsAttr(wrap_attribute(elements)).get_splat_value()


def bits_from_float(attribute: ir.FloatAttr) -> int:
    elements = ir.DenseElementsAttr.get_splat(_one(attribute.type), attribute)
    return int.from_bytes(bytes_from_elements(elements), "little")


def _one(type: ir.Type) -> ir.Type:
    """A shaped type of one element."""
    return ir.RankedTensorType.get([1], type, loc=ir.Location.unknown(type.context))
