"""Building the loads and stores of slices, with guards where a slice may lie outside the tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir.compiler.constants import padding_element
from tileir.compiler.ir_util import defining_op
from tileir.dialects.cuda_tile import TileType
from tileir.ir import OpView, Type, Value
from tileir.passes.split_tile.accesses import is_view_access, operand_forms, tile_of
from tileir.passes.split_tile.forms import WHOLE, Form, sliced_type
from tileir.passes.split_tile.operations import STORES
from tileir.passes.split_tile.views import (
    Extent,
    ViewSlice,
    always_inside,
    extent_of,
    index_width,
    pace_of,
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
        self._ensured: tuple | None = None

    # ---- views -----------------------------------------------------------------------------------

    def view(self, old: Value, dim: int) -> SlicedView:
        """The view of slices of the tiles of `old`; in front of the loop if its tensor is."""
        known = self._views.get((old, dim))
        if known is not None:
            return known
        piece = ViewSlice.of(old.type, dim, self.factor)
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
        types = [self.builder.scalar(width)] * old.type.rank
        with self.slicer.in_front(view.is_in_front):
            new = self.builder.create("cuda_tile.get_index_space_shape", [view.view], types)
        if view.is_in_front:
            self._counts[old, dim, width] = new.results[dim]
        return new.results[dim]

    # ---- how many slices ---------------------------------------------------------------------------

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

    def _bounds(self) -> dict[tuple, tuple[OpView, int]]:
        """The stores that bound the number of slices, one of each kind; none if one does not."""
        scope = self.slicer.plan.scope
        stores = self.slicer.needs.stores.items()
        sliced = [(op, form) for op, form in stores if form is not WHOLE]
        if any(op.operation.block != scope.block for op, _ in sliced):
            return {}  # it may not run, and then its index need not be legal
        bounds: dict[tuple, tuple[OpView, int]] = {}
        for op, dim in sliced:
            if not is_view_access(op):
                return {}
            view = self.view(op.view, dim)
            known = view.is_in_front and not view.piece.is_sparse and view.piece.step == 1
            if not known or not scope.is_given(op.index[dim]):
                return {}
            if always_inside(op, view.piece, view.extent):
                return {}
            bounds.setdefault(self._kind(op, view), (op, dim))
        return bounds

    def _kind(self, op: OpView, view: SlicedView) -> tuple:
        """Equal for accesses whose slices are inside their tensors at the same time: the first
        coordinate is index * pace + s * tile / factor, the size of the tensor the same."""
        dim, size = view.piece.dim, view.extent
        tile = op.view.type.tile_shape[dim]
        return (size.static, size.value, pace_of(op.view.type, dim), tile, op.index[dim])

    def _slices_inside(self, store: OpView, dim: int) -> Value:
        """min(factor, count - index * scale): slices of a tile that start inside the tensor, at
        least one."""
        b, view = self.builder, self.view(store.view, dim)
        width = index_width(store.view, view.piece, store.index[dim], view.extent)
        first = self._first_index(store.index[dim], view.piece, width)
        left = b.sub(self._count(store.view, dim, width), first)
        return b.resized(b.smaller(left, b.integer(self.factor, width)), 32)

    # ---- loads and stores --------------------------------------------------------------------------

    def load(self, op: OpView, form: Form) -> tuple[Value, Value]:
        """The tile and the token of a load in one form."""
        place = self._place(op, form)
        tile, token = (r.type for r in op.operation.results)
        types = [sliced_type(tile, form, self.factor), token]

        def run() -> list[Value]:
            return list(self.builder.clone(op, place.operands, types).results)

        if place.guard is None:
            loaded, after = run()
        else:
            loaded, after = self._guarded(
                place.guard, types, run, lambda: [self._padding(op, types[0]), self._before(op)]
            )
        return loaded, after

    def store(self, op: OpView, form: Form) -> Value:
        """The token of a store. One that is kept whole runs in slice 0 only."""
        place = self._place(op, form)
        guard = place.guard
        if form is WHOLE:
            guard = self.builder.compare("eq", self.slicer.number, self.builder.integer(0))
        types = [op.operation.results[0].type]

        def run() -> list[Value]:
            return list(self.builder.clone(op, place.operands, types).results)

        if guard is None:
            return run()[0]
        return self._guarded(guard, types, run, lambda: [self._before(op)])[0]

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

    def _padding(self, load: OpView, type_: TileType) -> Value:
        element = padding_element(load.view.type.padding_value, type_.element_type)
        assert element is not None, "such loads are not sliced"
        return self.builder.constant(element, type_)

    def _before(self, op: OpView) -> Value:
        """The token that an access is ordered after."""
        return self.builder.token() if op.token is None else self.slicer.get(op.token, WHOLE)

    def _place(self, op: OpView, form: Form) -> Place:
        forms = operand_forms(op, form)
        if form is WHOLE or not is_view_access(op):
            operands = zip(op.operation.operands, forms, strict=True)
            return Place([self.slicer.get(v, f) for v, f in operands], None)
        view = self.view(op.view, form)
        first = 2 if op.operation.name in STORES else 1
        count = len(list(op.index))
        indices = [
            self.slicer.get(v, f) for v, f in zip(op.index, forms[first : first + count], strict=True)
        ]
        guard = None
        if not view.piece.is_sparse:
            width = index_width(op.view, view.piece, op.index[form], view.extent)
            indices = self._indices_of_slice(indices, view.piece, width)
            kind = self._kind(op, view)
            if kind != self._ensured and not always_inside(op, view.piece, view.extent):
                count_there = self._count(op.view, form, width)
                guard = self.builder.compare("ult", indices[form], count_there)
        operands = [view.view, *indices]
        if op.operation.name in STORES:
            operands.insert(0, self.slicer.get(tile_of(op), form))
        if op.token is not None:
            operands.append(self.slicer.get(op.token, WHOLE))
        return Place(operands, guard)

    def _indices_of_slice(self, indices: list[Value], piece: ViewSlice, width: int) -> list[Value]:
        """The index along the sliced dimension is I * scale + s * step; all have one width."""
        b = self.builder
        new = [b.resized(v, width) if v.type.rank == 0 else v for v in indices]
        first = self._first_index(indices[piece.dim], piece, width)
        number = b.scaled(b.resized(self.slicer.number, width), piece.step)
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
