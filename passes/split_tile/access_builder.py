"""Building the loads and stores of slices, with guards where a slice may lie outside the tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir.compiler.constants import padding_element
from tileir.compiler.ir_util import defining_op
from tileir.dialects.cuda_tile import TileType
from tileir.ir import OpView, Type, Value
from tileir.passes.split_tile.accesses import Access, ViewAccess, access_of, operand_forms
from tileir.passes.split_tile.forms import WHOLE, Form, shape_of, sliced_type, tile_type
from tileir.passes.split_tile.views import (
    Extent,
    ViewSlice,
    always_inside,
    extent_of,
    index_width,
    pace_of,
    view_type,
)

if TYPE_CHECKING:
    from tileir.passes.split_tile.slicer import Slicer


@dataclass(frozen=True)
class SlicedView:
    """A view of the parts of another view's tiles."""

    view: Value
    piece: ViewSlice
    extent: Extent
    is_in_front: bool


@dataclass(frozen=True)
class Place:
    """The operands of an access that say where, and what must hold for it to be inside."""

    operands: list[Value]
    guard: Value | None


@dataclass(frozen=True)
class _Position:
    """Where slices start along the sliced dimension, at index * pace + s * tile / factor, and the
    size of the tensor there (a number or the value that holds it). Accesses with equal positions
    are inside their tensors at the same time."""

    size: int | Value
    pace: int
    tile: int
    index: Value


class AccessBuilder:
    """Loads and stores of slices, for a slicer."""

    def __init__(self, slicer: Slicer):
        self.slicer = slicer
        self.builder = slicer.builder
        self.factor = slicer.factor
        self.facts = slicer.plan.facts
        self._views: dict[tuple[Value, int], SlicedView] = {}
        self._counts: dict[tuple[Value, int, int], Value] = {}
        self._first_indices: dict[tuple[Value, int, int], Value] = {}
        #: Accesses like this are inside the tensor for every slice that runs.
        self._ensured: _Position | None = None

    # ---- views -------------------------------------------------------------------------------

    def view(self, old: Value, dim: int) -> SlicedView:
        """The view of slices of the tiles of `old`; in front of the loop if its tensor is."""
        known = self._views.get((old, dim))
        if known is not None:
            return known
        piece = ViewSlice.of(view_type(old), dim, self.factor)
        op = defining_op(old)
        assert op is not None, "views are no block arguments"
        old_tensor = op.operation.operands[0]
        in_front = self.slicer.plan.scope.is_given(old_tensor)
        tensor = self.slicer.get(old_tensor, WHOLE)
        with self.slicer.in_front(in_front):
            new = self.builder.op(op.operation.name, [tensor], piece.type)
        known = SlicedView(new, piece, extent_of(old, dim, self.facts), in_front)
        self._views[old, dim] = known
        return known

    def _count(self, old: Value, dim: int, width: int) -> Value:
        """How many indices the view of slices has along `dim`."""
        known = self._counts.get((old, dim, width))
        if known is not None:
            return known
        view = self.view(old, dim)
        types = [self.builder.scalar(width)] * view_type(old).rank
        with self.slicer.in_front(view.is_in_front):
            new = self.builder.create("cuda_tile.get_index_space_shape", [view.view], types)
        if view.is_in_front:
            self._counts[old, dim, width] = new.results[dim]
        return new.results[dim]

    # ---- how many slices ---------------------------------------------------------------------

    def slice_count(self) -> Value:
        """The number of slices that have something to store, as far as it is known in front of the
        loop; `factor` otherwise."""
        bounds = self._bounds()
        if not bounds:
            return self.builder.integer(self.factor)
        if len(bounds) == 1:
            (self._ensured,) = bounds
        counts = [self._slices_inside(store, dim) for store, dim in bounds.values()]
        most = counts[0]
        for count in counts[1:]:
            most = self.builder.larger(most, count)
        return most

    def _bounds(self) -> dict[_Position, tuple[ViewAccess, int]]:
        """The stores that bound the number of slices, one of each kind; none if one does not."""
        scope = self.slicer.plan.scope
        bounds: dict[_Position, tuple[ViewAccess, int]] = {}
        for op, dim in self.slicer.needs.stores.items():
            if dim is None:
                continue
            access = access_of(op)
            # A store in a branch or loop may not run, and then its index need not be legal.
            if not isinstance(access, ViewAccess) or op.operation.block != scope.block:
                return {}
            view = self.view(access.view, dim)
            is_known = view.is_in_front and not view.piece.is_sparse and view.piece.step == 1
            if not is_known or not scope.is_given(access.indices[dim]):
                return {}
            if self._is_always_inside(access, view):
                return {}
            bounds.setdefault(_position(access, view), (access, dim))
        return bounds

    def _is_always_inside(self, access: ViewAccess, view: SlicedView) -> bool:
        return always_inside(access.view_type, access.inbounds, view.piece, view.extent)

    def _slices_inside(self, store: ViewAccess, dim: int) -> Value:
        """min(factor, count - index * scale): slices of a tile that start inside the tensor, at
        least one."""
        b, view = self.builder, self.view(store.view, dim)
        width = index_width(store.view, view.piece, store.indices[dim], view.extent)
        first = self._first_index(store.indices[dim], view.piece, width)
        left = b.sub(self._count(store.view, dim, width), first)
        return b.resized(b.smaller(left, b.integer(self.factor, width)), 32)

    # ---- loads and stores --------------------------------------------------------------------

    def load(self, op: OpView, form: Form) -> tuple[Value, Value]:
        """The tile and the token of a load in one form."""
        access = access_of(op)
        place = self._place(access, form)
        tile = sliced_type(tile_type(access.tile), form, self.factor)
        types = [tile, op.operation.results[1].type]

        def run() -> list[Value]:
            return list(self.builder.clone(op, place.operands, types).results)

        if place.guard is None:
            loaded, after = run()
        else:
            loaded, after = self._guarded(
                place.guard, types, run, lambda: [self._padding(access, tile), self._before(access)]
            )
        return loaded, after

    def store(self, op: OpView, form: Form) -> Value:
        """The token of a store. One that is kept whole runs in slice 0 only."""
        access = access_of(op)
        place = self._place(access, form)
        guard = place.guard
        if form is None:
            guard = self.builder.compare("eq", self.slicer.number, self.builder.integer(0))
        types = [op.operation.results[0].type]

        def run() -> list[Value]:
            return list(self.builder.clone(op, place.operands, types).results)

        if guard is None:
            return run()[0]
        return self._guarded(guard, types, run, lambda: [self._before(access)])[0]

    def _guarded(
        self,
        guard: Value,
        types: Sequence[Type],
        run: Callable[[], list[Value]],
        otherwise: Callable[[], list[Value]],
    ) -> list[Value]:
        new = self.builder.branch(guard, types)
        for region, build in zip(new.regions, (run, otherwise), strict=True):
            with self.builder.at(region.blocks[0]):
                self.builder.create("cuda_tile.yield", build())
        return list(new.results)

    def _padding(self, load: Access, type_: TileType) -> Value:
        assert isinstance(load, ViewAccess), "only views have an outside"
        element = padding_element(load.view_type.padding_value, type_.element_type)
        assert element is not None, "such loads are not sliced"
        return self.builder.constant(element, type_)

    def _before(self, access: Access) -> Value:
        """The token that an access is ordered after."""
        if access.token is None:
            return self.builder.token()
        return self.slicer.get(access.token, WHOLE)

    def _place(self, access: Access, form: Form) -> Place:
        old = list(access.op.operation.operands)
        forms = operand_forms(access.op, form)
        if form is None or not isinstance(access, ViewAccess):
            return Place([self.slicer.get(v, f) for v, f in zip(old, forms, strict=True)], None)
        view = self.view(access.view, form)
        # Operands: the tile of a store, the view, the indices, the token.
        first = 2 if access.is_store else 1
        indices = [self.slicer.get(v, forms[first + d]) for d, v in enumerate(access.indices)]
        guard = None
        if not view.piece.is_sparse:
            width = index_width(access.view, view.piece, access.indices[form], view.extent)
            indices = self._indices_of_slice(indices, view.piece, width)
            is_ensured = _position(access, view) == self._ensured
            if not is_ensured and not self._is_always_inside(access, view):
                count = self._count(access.view, form, width)
                guard = self.builder.compare("ult", indices[form], count)
        operands = [view.view, *indices]
        if access.is_store:
            operands.insert(0, self.slicer.get(access.tile, form))
        if access.token is not None:
            operands.append(self.slicer.get(access.token, WHOLE))
        return Place(operands, guard)

    def _indices_of_slice(self, indices: list[Value], piece: ViewSlice, width: int) -> list[Value]:
        """The index along the sliced dimension is I * scale + s * step; all have one width."""
        b = self.builder
        first = self._first_index(indices[piece.dim], piece, width)
        number = b.scaled(b.resized(self.slicer.number, width), piece.step)
        new = [v if shape_of(v) else b.resized(v, width) for v in indices]
        new[piece.dim] = b.add(first, number)
        return new

    def _first_index(self, index: Value, piece: ViewSlice, width: int) -> Value:
        """The index of slice 0; in front of the loop if `index` is."""
        b, key = self.builder, (index, piece.scale, width)
        if key in self._first_indices:
            return self._first_indices[key]
        in_front = self.slicer.plan.scope.is_given(index)
        with self.slicer.in_front(in_front):
            first = b.scaled(b.resized(index, width), piece.scale)
        if in_front:
            self._first_indices[key] = first
        return first


def _position(access: ViewAccess, view: SlicedView) -> _Position:
    extent, dim, type_ = view.extent, view.piece.dim, access.view_type
    size = extent.value if extent.static is None else extent.static
    assert size is not None, "a size is known now or then"
    return _Position(size, pace_of(type_, dim), type_.tile_shape[dim], access.indices[dim])
