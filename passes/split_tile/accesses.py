"""Loads and stores of slices: which operands they take, and whether two of them may meet."""

from __future__ import annotations

from tileir.compiler.constants import padding_element
from tileir.ir import OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.analysis.token_order import is_token
from tileir.passes.split_tile.forms import WHOLE, Form
from tileir.passes.split_tile.operations import STORES
from tileir.passes.split_tile.views import ViewSlice, always_inside, extent_of

_VIEW_ACCESSES = {"cuda_tile.load_view_tko", "cuda_tile.store_view_tko"}


def is_view_access(op: OpView) -> bool:
    return op.operation.name in _VIEW_ACCESSES


def tile_of(op: OpView) -> Value:
    """The tile that an operation loads or stores."""
    if op.operation.name not in STORES:
        return op.operation.results[0]
    return op.tile if is_view_access(op) else op.value


def operand_forms(op: OpView, form: Form) -> list[Form]:
    """The form of each operand of a load or store whose tile has `form`."""
    if form is WHOLE:
        return [WHOLE] * len(op.operation.operands)
    if not is_view_access(op):
        return [WHOLE if is_token(v) else form for v in op.operation.operands]
    sparse = getattr(op.view.type, "sparse_dim", None)
    forms: list[Form] = []
    if op.operation.name in STORES:
        forms.append(form)
    forms.append(form)
    # A sparse dimension is indexed by a tile of positions, which is sliced with it.
    forms += [0 if d == sparse == form else WHOLE for d in range(len(list(op.index)))]
    return forms + [WHOLE] * (len(op.operation.operands) - len(forms))


def can_slice(op: OpView, dim: int, factor: int, facts: AxisAnalysis) -> bool:
    """Whether slices of a load or store along `dim` can be accessed."""
    if not is_view_access(op):
        return True
    type_ = op.view.type
    if str(type_.element_type) == "f4E2M1FN" and type_.tile_shape[dim] // factor % 2:
        return False  # two elements share a byte
    piece = ViewSlice.of(type_, dim, factor)
    if op.operation.name in STORES or piece.is_sparse:
        return True
    inside = always_inside(op, piece, extent_of(op.view, dim, facts))
    return inside or padding_element(type_.padding_value, type_.element_type) is not None

