"""Slices of tiles that are loaded and stored through views.

A tile of a partition view with extent t along the sliced dimension becomes a tile of extent
t / factor of another partition view of the same tensor; slice s of the tile at index I lies at
index I * factor + s. A strided view whose tiles lie w apart becomes one whose tiles lie
g = gcd(w, t / factor) apart, with index (I * w + s * t / factor) / g. Tiles of a gather/scatter
view start at any element, as those of a strided view with w = 1; its sparse dimension is sliced by
slicing the tile of positions.

A tile may straddle the edge of the tensor, and then its last slices may lie outside, which no index
may name: such accesses need a guard.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileir.compiler.ir_util import defining_op
from tileir.dialects.cuda_tile import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TileViewType,
)
from tileir.ir import OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.split_tile.builder import width_of
from tileir.passes.split_tile.forms import sliced_shape

_NARROWEST_INDEX = 32


@dataclass(frozen=True)
class ViewSlice:
    """How the slices of a view's tiles are reached: slice s of the tile at index I is the tile of
    `type` at I * scale + s * step along `dim`; a sparse dimension has neither."""

    type: TileViewType
    dim: int
    factor: int
    scale: int
    step: int

    @property
    def is_sparse(self) -> bool:
        return self.scale == 0

    @staticmethod
    def of(type_: TileViewType, dim: int, factor: int) -> ViewSlice:
        tile = sliced_shape(type_.tile_shape, dim, factor)
        tensor, padding = type_.tensor_view, type_.padding_value
        if isinstance(type_, PartitionViewType):
            new = PartitionViewType.get(tile, tensor, type_.dim_map, padding)
            return ViewSlice(new, dim, factor, factor, 1)
        if isinstance(type_, StridedViewType):
            strides = type_.traversal_strides
            pace = math.gcd(strides[dim], tile[dim])
            scale, step = strides[dim] // pace, tile[dim] // pace
            strides[dim] = pace
            new = StridedViewType.get(tile, strides, tensor, type_.dim_map, padding)
            return ViewSlice(new, dim, factor, scale, step)
        new = GatherScatterViewType.get(tile, tensor, type_.sparse_dim, padding)
        if dim == type_.sparse_dim:
            return ViewSlice(new, dim, factor, 0, 0)
        return ViewSlice(new, dim, factor, 1, tile[dim])


@dataclass(frozen=True)
class Extent:
    """A tensor's size along the dimension that a view's tile is sliced in.

    `static` is the size if it is known, `value` the scalar that holds it otherwise; `largest`
    bounds it and `multiple` divides it.
    """

    static: int | None
    value: Value | None
    largest: int
    multiple: int


def tensor_of(view: Value) -> OpView:
    """The `make_tensor_view` behind a view, or behind a tensor view with promises."""
    op = defining_op(view)
    assert op is not None, "views are no block arguments"
    while op.operation.name != "cuda_tile.make_tensor_view":
        operand = op.operation.operands[-1]
        op = defining_op(operand)
        assert op is not None, "tensor views are no block arguments"
    return op


def tensor_dim(type_: TileViewType, dim: int) -> int:
    """The dimension of the tensor that dimension `dim` of a tile walks."""
    return dim if isinstance(type_, GatherScatterViewType) else type_.dim_map[dim]


def view_type(view: Value) -> TileViewType:
    """The type of a value that is a view of tiles."""
    type_ = view.type
    assert isinstance(type_, TileViewType), f"{view} is no view"
    return type_


def extent_of(view: Value, dim: int, facts: AxisAnalysis) -> Extent:
    """The size of the tensor along dimension `dim` of the tiles of `view`."""
    tensor: Any = tensor_of(view)  # operands have generated names
    shape = view_type(view).tensor_view.shape
    which = tensor_dim(view_type(view), dim)
    if shape[which] != DYNAMIC:
        return Extent(shape[which], None, shape[which], shape[which])
    position = sum(size == DYNAMIC for size in shape[:which])
    value = list(tensor.dynamic_shape)[position]
    largest = 2 ** min(width_of(value), 63) - 1
    return Extent(None, value, largest, facts.multiple(value))


def pace_of(type_: TileViewType, dim: int) -> int:
    """Elements from one tile index to the next."""
    if isinstance(type_, StridedViewType):
        return type_.traversal_strides[dim]
    return 1 if isinstance(type_, GatherScatterViewType) else type_.tile_shape[dim]


def index_width(view: Value, piece: ViewSlice, index: Value, extent: Extent) -> int:
    """Bits in which neither the index of a slice nor the number of indices wraps.

    A legal index I has I * pace < size.
    """
    last = max(extent.largest - 1, 0) // pace_of(view_type(view), piece.dim)
    top = last * piece.scale + (piece.factor - 1) * piece.step
    count = -(-extent.largest // pace_of(piece.type, piece.dim))
    width = max(width_of(index), _NARROWEST_INDEX)
    return width if max(top, count) < 2**width else 64


def always_inside(
    type_: TileViewType, inbounds: Sequence[bool], piece: ViewSlice, extent: Extent
) -> bool:
    """Whether every slice of a tile at a legal index has elements inside the tensor; `inbounds`
    are an access's promises about its dimensions, if it makes them."""
    dim = piece.dim
    if inbounds and inbounds[dim]:
        return True
    pace, tile = pace_of(type_, dim), type_.tile_shape[dim]
    if pace == tile and extent.multiple % tile == 0:
        return True
    if extent.static is None:
        return False
    last_start = max(extent.static - 1, 0) // pace * pace
    return last_start + (piece.factor - 1) * (tile // piece.factor) < extent.static
