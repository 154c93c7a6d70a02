"""Loads and stores in parts, and which slices of what a sliced one takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.compiler.constants import padding_element
from tileir.dialects.cuda_tile import GatherScatterViewType, TileViewType
from tileir.ir import OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.analysis.token_order import is_token
from tileir.passes.split_tile.forms import WHOLE, Form
from tileir.passes.split_tile.operations import STORES
from tileir.passes.split_tile.views import ViewSlice, always_inside, extent_of, view_type

_THROUGH_VIEWS = {"cuda_tile.load_view_tko", "cuda_tile.store_view_tko"}


@dataclass(frozen=True)
class ViewAccess:
    """A load or store of `tile` through a view."""

    op: OpView
    is_store: bool
    tile: Value
    token: Value | None
    view: Value
    indices: list[Value]
    inbounds: list[bool]

    @property
    def view_type(self) -> TileViewType:
        return view_type(self.view)


@dataclass(frozen=True)
class PointerAccess:
    """A load or store of `tile` through pointers."""

    op: OpView
    is_store: bool
    tile: Value
    token: Value | None
    pointers: Value
    mask: Value | None


Access = ViewAccess | PointerAccess


def access_of(op: OpView) -> Access:
    """The parts of a load or store."""
    parts: Any = op  # operands have generated names
    is_store = op.operation.name in STORES
    if op.operation.name in _THROUGH_VIEWS:
        tile = parts.tile if is_store else op.operation.results[0]
        inbounds = [] if parts.inbounds is None else list(parts.inbounds)
        return ViewAccess(op, is_store, tile, parts.token, parts.view, list(parts.index), inbounds)
    tile = parts.value if is_store else op.operation.results[0]
    pointers = parts.destination if is_store else parts.source
    return PointerAccess(op, is_store, tile, parts.token, pointers, parts.mask)


def tile_of(op: OpView) -> Value:
    """The tile that an operation loads or stores."""
    return access_of(op).tile


def operand_forms(op: OpView, form: Form) -> list[Form]:
    """The form of each operand of a load or store whose tile has `form`."""
    operands = list(op.operation.operands)
    access = access_of(op)
    if form is None:
        return [WHOLE] * len(operands)
    if isinstance(access, PointerAccess):
        return [WHOLE if is_token(v) else form for v in operands]
    type_ = access.view_type
    sparse = type_.sparse_dim if isinstance(type_, GatherScatterViewType) else None
    forms: list[Form] = [form, form] if access.is_store else [form]
    # A sparse dimension is indexed by a tile of positions, which is sliced with it.
    forms += [0 if d == sparse == form else WHOLE for d in range(len(access.indices))]
    return forms + [WHOLE] * (len(operands) - len(forms))


def can_slice(op: OpView, dim: int, factor: int, facts: AxisAnalysis) -> bool:
    """Whether slices of a load or store along `dim` can be accessed."""
    access = access_of(op)
    if isinstance(access, PointerAccess):
        return True
    type_ = access.view_type
    if str(type_.element_type) == "f4E2M1FN" and type_.tile_shape[dim] // factor % 2:
        return False  # two elements share a byte
    piece = ViewSlice.of(type_, dim, factor)
    if access.is_store or piece.is_sparse:
        return True
    extent = extent_of(access.view, dim, facts)
    if always_inside(type_, access.inbounds, piece, extent):
        return True
    return padding_element(type_.padding_value, type_.element_type) is not None
