"""Whether slices may run one after another: no access may meet one of another slice.

The program runs access X for all slices before Y, or Y before X, or in no order; sliced, it runs
X and Y for slice 0, then for slice 1, and so on. That is the same if X of one slice and Y of
another never touch the same memory, or both only read.

Where no token orders X and Y, they may not touch the same memory at all (it would be a race), and
nothing is to be shown. Otherwise it follows if both are sliced, and one of these holds:

* X and Y access the same tile of the same view (equal geometry, equal indices that do not change
  while the scope runs). A store never writes an element twice (it would race with itself), so
  different elements of its tile lie at different addresses, and different slices hold different
  elements. The same for equal tiles of pointers; where a mask leaves elements out, the other access
  must leave them out, too.
* X and Y access tiles of equal extent in partition views of one tensor, cut along the same
  dimension of the tensor, whose elements lie at different addresses (static strides show it). Slice
  s then holds the coordinates c with floor(c / (t / factor)) mod factor = s, whatever the index.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tileir.dialects.cuda_tile import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileViewType,
)
from tileir.ir import OpView
from tileir.passes.analysis.token_order import TokenOrder
from tileir.passes.split_tile.accesses import (
    Access,
    PointerAccess,
    ViewAccess,
    access_of,
    tile_of,
)
from tileir.passes.split_tile.forms import Form
from tileir.passes.split_tile.needs import Needs
from tileir.passes.split_tile.operations import LOADS
from tileir.passes.split_tile.scope import Scope
from tileir.passes.split_tile.views import tensor_of


@dataclass(frozen=True)
class Conflict:
    """Two accesses, token-ordered, of which one slice may touch what another slice writes."""

    first: OpView
    second: OpView


def find_conflict(scope: Scope, needs: Needs) -> Conflict | None:
    """A pair of accesses that forbids running slices one after another, or None."""
    accesses = _accesses(scope, needs)
    order = TokenOrder(scope.block)
    behind = {op: order.of_operands(op) for op, _ in accesses}
    for (x, x_form), (y, y_form) in itertools.combinations_with_replacement(accesses, 2):
        if x.operation.name in LOADS and y.operation.name in LOADS:
            continue
        if x not in behind[y] and y not in behind[x]:
            continue
        if not _apart(scope, access_of(x), x_form, access_of(y), y_form):
            return Conflict(x, y)
    return None


def _accesses(scope: Scope, needs: Needs) -> list[tuple[OpView, Form]]:
    """Loads and stores inside the scope in the forms in which they run."""
    found: list[tuple[OpView, Form]] = []
    for op in scope.operations():
        if op in needs.stores:
            found.append((op, needs.stores[op]))
        elif op.operation.name in LOADS:
            tile = tile_of(op)
            taken = [f for f in needs.needed(tile) if (tile, f) not in needs.extracted]
            found += [(op, form) for form in taken]
    return found


def _apart(scope: Scope, x: Access, x_form: Form, y: Access, y_form: Form) -> bool:
    """Whether x and y never touch the same memory in different slices."""
    if x_form is None or y_form is None:
        # A whole store runs in one slice only.
        return x.op == y.op and x_form is None and x.is_store
    if isinstance(x, ViewAccess) and isinstance(y, ViewAccess):
        return _same_tile(scope, x, x_form, y, y_form) or _same_grid(scope, x, x_form, y, y_form)
    if isinstance(x, PointerAccess) and isinstance(y, PointerAccess):
        return x_form == y_form and _same_pointers(scope, x, y)
    return False


def _same_pointers(scope: Scope, x: PointerAccess, y: PointerAccess) -> bool:
    if x.pointers != y.pointers or not scope.is_invariant(x.pointers):
        return False
    # The pointers that a store uses are all different: those that its mask selects.
    if any(access.is_store and access.mask is None for access in (x, y)):
        return True
    return x.mask is not None and x.mask == y.mask and scope.is_invariant(x.mask)


def _same_tile(scope: Scope, x: ViewAccess, x_dim: int, y: ViewAccess, y_dim: int) -> bool:
    indices = list(zip(x.indices, y.indices, strict=False))
    return (
        x_dim == y_dim
        and _same_tensor(scope, x, y)
        and _geometry(x.view_type) == _geometry(y.view_type)
        and all(a == b and scope.is_invariant(a) for a, b in indices)
    )


def _same_tensor(scope: Scope, x: ViewAccess, y: ViewAccess) -> bool:
    tensor = tensor_of(x.view)
    return tensor == tensor_of(y.view) and scope.is_invariant(tensor.operation.results[0])


def _geometry(type_: TileViewType) -> tuple:
    """All of a view's type but the padding."""
    tile = tuple(type_.tile_shape)
    if isinstance(type_, GatherScatterViewType):
        return tile, type_.sparse_dim
    strides = tuple(type_.traversal_strides) if isinstance(type_, StridedViewType) else tile
    return tile, tuple(type_.dim_map), strides


def _same_grid(scope: Scope, x: ViewAccess, x_dim: int, y: ViewAccess, y_dim: int) -> bool:
    a, b = x.view_type, y.view_type
    return (
        isinstance(a, PartitionViewType)
        and isinstance(b, PartitionViewType)
        and _same_tensor(scope, x, y)
        and a.dim_map[x_dim] == b.dim_map[y_dim]
        and a.tile_shape[x_dim] == b.tile_shape[y_dim]
        and has_distinct_elements(a.tensor_view)
    )


def has_distinct_elements(tensor: TensorViewType) -> bool:
    """Whether static strides show that no two elements of a tensor share an address: each stride
    is at least the reach of all smaller ones."""
    if DYNAMIC in tensor.strides:
        return False
    reach = 1
    for stride, size in sorted(zip(tensor.strides, tensor.shape, strict=True)):
        if reach is None or stride < reach:
            return False
        reach = None if size == DYNAMIC else stride * size
    return True
