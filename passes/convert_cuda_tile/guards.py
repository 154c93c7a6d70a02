"""Guards that a load needs in cuda_tile and not in tile_gpu.

In cuda_tile no index may lie outside the index space of a view, so a program that may ask for such
a tile (`split-tile` makes them) says what it means by a branch:

    %inside = cmpi less_than %i, %count unsigned
    %x = if %inside -> (tile<...>) { load %view[%i, %j] } else { yield %padding }

`tile_gpu.load` is defined everywhere and gives padding outside the tensor: the branch goes, and the
load can be pipelined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tileir.compiler.constants import padding_element
from tileir.compiler.ir_util import defining_op, element_type, keyword
from tileir.dialects.cuda_tile import (
    DYNAMIC,
    GatherScatterViewType,
    LoadViewTkoOp,
    TileViewType,
)
from tileir.dialects.elements import array_from_elements
from tileir.ir import Block, DenseElementsAttr, IntegerType, OpView, Value
from tileir.passes.convert_cuda_tile.converter import is_token


@dataclass(frozen=True)
class GuardedLoad:
    """The load inside a guard, and the dimension in which its tile may lie outside the tensor."""

    load: LoadViewTkoOp
    dim: int


def guarded_load(branch: OpView) -> GuardedLoad | None:
    """The load that an `if` guards, if leaving the guard out changes nothing."""
    blocks = [list(region.blocks) for region in branch.operation.regions]
    if any(len(each) != 1 for each in blocks):
        return None
    inside, outside = (list(each[0]) for each in blocks)
    if len(inside) != 2 or not isinstance(inside[0], LoadViewTkoOp):
        return None
    load = inside[0]
    view: Value = _parts(load).view
    if keyword(load, "memory_ordering_semantics", "weak") != "weak":
        return None
    dim = _guarded_dim(branch.operation.operands[0], load)
    if dim is None or not _yields(inside[-1], load.operation.block):
        return None
    if outside[-1].operation.name != "cuda_tile.yield":
        return None
    if not _gives_padding(inside[-1], outside[-1], _type_of(view)):
        return None
    return GuardedLoad(load, dim)


def _parts(op: OpView) -> Any:
    """An operation whose operands are read by their generated names."""
    return op


def _type_of(view: Value) -> TileViewType:
    type_ = view.type
    assert isinstance(type_, TileViewType)
    return type_


def _yields(terminator: OpView, block: Block) -> bool:
    """Whether a branch ends with a `yield` of what its load gives."""
    if terminator.operation.name != "cuda_tile.yield":
        return False
    ops = [defining_op(value) for value in terminator.operation.operands]
    return all(op is not None and op.operation.block == block for op in ops)


def _guarded_dim(condition: Value, load: OpView) -> int | None:
    """The dimension whose index a condition compares with the size of the index space."""
    compare = defining_op(condition)
    if compare is None or compare.operation.name != "cuda_tile.cmpi":
        return None
    if keyword(compare, "comparison_predicate") != "less_than":
        return None
    if keyword(compare, "signedness") != "unsigned":
        return None
    index, count = compare.operation.operands
    sizes = defining_op(count)
    if sizes is None or sizes.operation.name != "cuda_tile.get_index_space_shape":
        return None
    dim = list(sizes.operation.results).index(count)
    view: Value = _parts(load).view
    same = sizes.operation.operands[0] == view and list(_parts(load).index)[dim] == index
    type_ = _type_of(view)
    # A dimension of size 1 becomes part of the address, which is not checked.
    if not same or isinstance(type_, GatherScatterViewType) or type_.tile_shape[dim] == 1:
        return None
    return dim if _counts_exactly(count, view, type_.dim_map[dim]) else None


def _counts_exactly(count: Value, view: Value, which: int) -> bool:
    """Whether the size of the index space, along a dimension of the tensor, fits the type that it
    was asked for in."""
    width = _width(count)
    tensor = defining_op(view)
    while tensor is not None and tensor.operation.name != "cuda_tile.make_tensor_view":
        tensor = defining_op(tensor.operation.operands[-1])
    if tensor is None:
        return False
    shape = _type_of(view).tensor_view.shape
    if shape[which] != DYNAMIC:
        return shape[which] < 2**width
    size = list(_parts(tensor).dynamic_shape)[sum(n == DYNAMIC for n in shape[:which])]
    return _width(size) <= width


def _width(scalar: Value) -> int:
    """Bits of an integer scalar."""
    return IntegerType(element_type(scalar.type)).width


def _gives_padding(inside: OpView, outside: OpView, view: TileViewType) -> bool:
    """Whether the branch without the load yields the view's padding in place of the tile."""
    pairs = zip(inside.operation.operands, outside.operation.operands, strict=True)
    return all(is_token(there) or _is_padding(value, view) for there, value in pairs)


def _is_padding(value: Value, view: TileViewType) -> bool:
    constant = defining_op(value)
    if constant is None or constant.operation.name != "cuda_tile.constant":
        return False
    attribute = DenseElementsAttr(constant.operation.attributes["value"])
    if not attribute.is_splat:
        return False
    if view.padding_value is None:
        return True
    expected = padding_element(view.padding_value, view.element_type)
    if expected is None:
        return False
    found = array_from_elements(attribute).reshape(-1)[0]
    return found.tobytes() == np.asarray(expected).astype(found.dtype).tobytes()
