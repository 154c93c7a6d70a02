"""The cuda_tile dialect in Python: operations, types, attributes.

    from tileir.dialects import cuda_tile
    x = cuda_tile.addf(a, b, rounding_mode=cuda_tile.RoundingMode.Zero)
    x.type.shape

Operation classes and builders are generated from the TableGen definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._cuda_tile_enum_gen import *
from ._cuda_tile_ops_gen import *
from ._cuda_tile_ops_gen import _Dialect
from .cuda_tile_attributes import (
    Bounded,
    DebugNode,
    DIFile,
    DivBy,
    SameElements,
    assume_predicate,
    debug_node,
    di_compile_unit,
    di_file,
    di_file_of,
    di_lexical_block,
    di_loc,
    di_loc_place,
    di_subprogram,
    enum_attribute,
    enum_value,
    hint,
    hints,
    hints_attribute,
    hints_dictionary,
    hints_from_dictionary,
)
from .cuda_tile_types import (
    DYNAMIC,
    CudaTileType,
    F8E5M3FNUType,
    GatherScatterViewType,
    PartitionViewType,
    PtrType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileViewType,
    TokenType,
)

if TYPE_CHECKING:
    from .elements import array_from_elements, element_dtype, elements_from_array

#: On a `print_tko` where a kernel calls `breakpoint()`, which only the interpreter heeds: names of
#: the operands, and constants (JSON).
BREAKPOINT_ATTRIBUTE = "breakpoint"

# These need ml_dtypes, which takes longer to import than the rest.
_LAZY = ("array_from_elements", "element_dtype", "elements_from_array")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import elements

    return getattr(elements, name)
