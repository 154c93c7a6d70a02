"""Tensor views, tile views, and accesses through them."""

from __future__ import annotations

from typing import Any

from ...dialects import cuda_tile
from .. import tiles, views
from ..atomics import OPERATIONS
from ..numerics import integers
from ..numerics.formats import IntFormat
from . import access
from .access import Op
from .emitter import Emitter, Slot
from .memory_ops import ordering, token_of
from .registry import translates


def unsigned(value: Any, bits: int) -> int:
    """A rank-0 integer tile as a Python number, read as unsigned."""
    number = int(value)
    return number if number >= 0 else number + (1 << bits)


def _unsigned_text(e: Emitter, slot: Slot) -> str:
    assert isinstance(slot.fmt, IntFormat)
    e.constant(unsigned, "unsigned")
    return f"unsigned({slot.name}, {slot.fmt.bits})"


@translates("make_tensor_view")
def _make_tensor_view(e: Emitter, op: Op) -> None:
    type_ = op.results[0].type
    operands = [e.slot(value) for value in op.operands]
    dynamic = iter(operands[1:])
    shape, strides = (
        "".join(
            f"{_unsigned_text(e, next(dynamic)) if extent == cuda_tile.DYNAMIC else extent}, "
            for extent in extents
        )
        for extents in (type_.shape, type_.strides)
    )
    invariant = all(slot.invariant for slot in operands)
    e.constant(views.TensorView, "TensorView")
    result = e.new_slot(op.results[0], invariant=invariant)
    with e.hoisted(invariant):
        for slot in operands:
            e.demand(slot, "a tensor view")
        e.line(f"{result.name} = TensorView(int({operands[0].name}), ({shape}), ({strides}))")


def _tiling(type_: Any) -> views.Tiling:
    fmt = access.number_format(type_.element_type)
    tile = tuple(type_.tile_shape)
    padding = None
    if type_.padding_value is not None:
        padding = tiles.padding_value(type_.padding_value, fmt)
    if isinstance(type_, cuda_tile.GatherScatterViewType):
        # Every index is the position of an element, so the steps are one.
        rank = len(tile)
        return views.Tiling(fmt, tile, (1,) * rank, tuple(range(rank)), padding, type_.sparse_dim)
    steps = tile
    if isinstance(type_, cuda_tile.StridedViewType):
        steps = tuple(type_.traversal_strides)
    return views.Tiling(fmt, tile, steps, tuple(type_.dim_map), padding)


@translates("make_partition_view", "make_strided_view", "make_gather_scatter_view")
def _make_view(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    e.constant(views.TileView, "TileView")
    tiling = e.constant(_tiling(op.results[0].type))
    result = e.new_slot(op.results[0], invariant=source.invariant)
    with e.hoisted(source.invariant):
        e.line(f"{result.name} = TileView({source.name}, {tiling})")


@translates("get_index_space_shape", "get_tensor_shape")
def _shape(e: Emitter, op: Op) -> None:
    view = e.slot(op.operands[0])
    field = "extents" if op.operation.name.endswith("index_space_shape") else "shape"
    for dimension, value in enumerate(op.results):
        result = e.new_slot(value, invariant=view.invariant)
        fmt = e.format_name(result.number)
        with e.hoisted(view.invariant):
            e.line(
                f"{result.name} = integers.wrap(np.int64({view.name}.{field}[{dimension}]), {fmt})"
            )


def _place(e: Emitter, op: Op, view_type: Any) -> str:
    """The TileIndex of an access."""
    e.constant(tiles.TileIndex, "TileIndex")
    sparse = view_type.sparse_dim if isinstance(view_type, cuda_tile.GatherScatterViewType) else -1
    index, rows = "", ""
    for dimension, value in enumerate(op.index):
        slot = e.slot(value)
        e.demand(slot, "an index")
        if dimension == sparse:
            index += "0, "
            rows = f", rows_of({e.full(slot)}, {e.format_name(slot.number)})"
            e.constant(rows_of, "rows_of")
        else:
            index += f"{_unsigned_text(e, slot)}, "
    return f"TileIndex(({index}){rows})"


def rows_of(positions: Any, fmt: IntFormat) -> Any:
    """Element positions along a sparse dimension, read as unsigned; int64."""
    return integers.as_unsigned(positions, fmt).astype("int64")


@translates("load_view_tko", "multimem_load_reduce_view_tko")
def _load(e: Emitter, op: Op) -> None:
    """On a single device a multicast object has one copy, so a reduced load is a load."""
    view = e.slot(op.view)
    place = _place(e, op, op.view.type)
    result, token = e.new_slot(op.results[0]), e.new_slot(op.results[1])
    if not e.check:
        e.line(f"{result.name} = t.load_view({view.name}, {place})")
        return
    scope, acquires, _ = ordering(op)
    arguments = f"{view.name}, {place}, {access.bools(op, 'inbounds')}, {e.site}"
    tail = f"{token_of(e, op)}, {scope!r}, {acquires}"
    fresh = result.poison or "_"
    e.line(f"{result.name}, {fresh}, {token.name} = t.load_view_checked({arguments}, {tail})")


@translates("store_view_tko", "multimem_store_view_tko")
def _store(e: Emitter, op: Op) -> None:
    view, tile = e.slot(op.view), e.slot(op.tile)
    place = _place(e, op, op.view.type)
    token = e.new_slot(op.results[0])
    if not e.check:
        e.line(f"t.store_view({view.name}, {place}, {e.full(tile)})")
        return
    scope, _, releases = ordering(op)
    arguments = f"{view.name}, {place}, {e.full(tile)}, {tile.poison}"
    tail = f"{access.bools(op, 'inbounds')}, {e.site}, {token_of(e, op)}, {scope!r}, {releases}"
    e.line(f"{token.name} = t.store_view_checked({arguments}, {tail})")


@translates("atomic_red_view_tko", "multimem_reduce_view_tko")
def _update(e: Emitter, op: Op) -> None:
    view, tile = e.slot(op.view), e.slot(op.tile)
    mode = access.keyword(op, "mode") or access.keyword(op, "reduction")
    place = _place(e, op, op.view.type)
    token = e.new_slot(op.results[0])
    e.constant(OPERATIONS[mode], f"atomic_{mode}")
    arguments = f"{view.name}, {place}, {e.full(tile)}, atomic_{mode}"
    if not e.check:
        e.line(f"t.update_view({arguments})")
        return
    scope, _, releases = ordering(op)
    tail = (
        f"{tile.poison}, {access.bools(op, 'inbounds')}, {e.site}, {token_of(e, op)}, "
        f"{scope!r}, {releases}"
    )
    e.line(f"{token.name} = t.update_view_checked({arguments}, {tail})")
