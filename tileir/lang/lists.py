"""Lists of arrays: which one is used is known only at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.dialects.cuda_tile import MemoryOrdering
from tileir.ir import Value

from .arrays import Array, array_parameter
from .builder import Builder, current_builder
from .calls import replaces
from .constants import constant
from .dtypes import BY_NAME, int32, int64
from .errors import TileTypeError, TileValueError
from .ops.arithmetic import add, mul
from .ops.casts import convert
from .ops.common import operand
from .signature import ListParameter
from .values import RuntimeValue, Tile, describe


@dataclass(frozen=True, slots=True, eq=False)
class ArrayList(RuntimeValue):
    """A list of arrays of one dtype and rank.

    `table` is the address of 1 + 2 rank 64-bit words an array: its address, extents and strides;
    `parameter` what is known of each array, `names` those of their memory.
    """

    parameter: ListParameter
    name: str
    table: Value
    length: Tile

    def __getitem__(self, index: Any) -> Array:
        return _array_at(self, index)


def list_parameter(
    builder: Builder, parameter: ListParameter, name: str, base: Value, length: Tile
) -> ArrayList:
    """The list of a parameter."""
    return ArrayList(parameter, name, base, length)


@replaces(len)
def length_of(value: Any) -> Any:
    """`len` of a list of arrays, or of a tuple."""
    if isinstance(value, ArrayList):
        return value.length
    if isinstance(value, (tuple, dict)):
        return len(value)
    raise TileTypeError(
        f"{describe(value)} has no length", remedy="use x.shape for the extents of tiles and arrays"
    )


def _array_at(arrays: ArrayList, index: Any) -> Array:
    position = operand(index, "index")
    if isinstance(position, Tile):
        if position.shape or not position.dtype.is_integer:
            raise TileTypeError(f"the index must be an integer, got {describe(position)}")
        position = convert(position, int64)
    elif not isinstance(position, int) or isinstance(position, bool):
        raise TileTypeError(f"the index must be an integer, got {describe(index)}")
    elif position < 0:
        raise TileValueError(
            f"the index is {position}, lists in kernels count from 0",
            remedy="len(...) minus the distance from the end",
        )
    element = arrays.parameter.element
    first = mul(position, 1 + 2 * element.rank)
    words = [_word(arrays, add(first, k)) for k in range(1 + 2 * element.rank)]
    builder = current_builder()
    dtype = BY_NAME[element.dtype]
    base = builder.value(
        "cuda_tile.int_to_ptr", builder.types.pointers((), dtype), (words[0].value,)
    )
    index_dtype = int64 if element.index_bits == 64 else int32
    numbers = [convert(word, index_dtype) for word in words[1:]]
    return array_parameter(
        builder, element, arrays.name, base, numbers[: element.rank], numbers[element.rank :]
    )


def _word(arrays: ArrayList, position: Any) -> Tile:
    """A word of the table, which no kernel changes: no token orders the load."""
    builder = current_builder()
    types = builder.types
    if not isinstance(position, Tile):
        position = constant(builder, position, int64)
    address = builder.value(
        "cuda_tile.offset", types.pointers((), int64), (arrays.table, position.value)
    )
    op = builder.op(
        "cuda_tile.load_ptr_tko",
        (types.tile((), int64), types.token),
        (address,),
        {
            "memory_ordering_semantics": types.enum(MemoryOrdering.Weak),
            "operandSegmentSizes": types.segments(1, 0, 0, 0),
        },
    )
    return Tile(op.results[0], int64, ())
