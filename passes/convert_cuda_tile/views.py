"""Views: what they describe, and the loads and stores through them.

A view is no value of the result: the tensor's address, extents and strides go straight into the
load or store. Dimensions of the tile that have size 1 are folded into the address; an index is
inside the index space, so they need no check.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.ir_util import defining_op, element_bytes, keyword
from tileir.dialects.cuda_tile import (
    DYNAMIC,
    AtomicRedViewTkoOp,
    DivBy,
    GatherScatterViewType,
    LoadViewTkoOp,
    MakeTensorViewOp,
    PaddingValue,
    StoreViewTkoOp,
    StridedViewType,
    TensorViewType,
    TileViewType,
    assume_predicate,
)
from tileir.ir import Attribute, IntegerType, OpView, Value
from tileir.passes.analysis.axis_facts import MAXIMUM, power_of_two_factor
from tileir.passes.analysis.batches import BATCH_ALIGNMENT_ATTRIBUTE
from tileir.passes.convert_cuda_tile.arithmetic import is_tile
from tileir.passes.convert_cuda_tile.converter import Converter, lowers
from tileir.passes.convert_cuda_tile.sparse_views import Places, padding_value, places
from tileir.passes.convert_cuda_tile.view_records import Extent, Tensor, View, ViewAccess
from tileir.passes.order_memory import ORDERED_ATTRIBUTE

_PADDING = {
    PaddingValue.Zero: "zero",
    PaddingValue.NegZero: "neg_zero",
    PaddingValue.NaN: "nan",
    PaddingValue.PosInf: "pos_inf",
    PaddingValue.NegInf: "neg_inf",
}
SCOPES = {"tl_blk": "block", "device": "device", "sys": "system"}


@dataclass(frozen=True)
class Access:
    """One tile of a tensor, as `tile_gpu.load` and its kin describe it, unit dimensions folded
    into the base."""

    base: Value
    shape: tuple[int, ...]
    starts: list[Value]
    sizes: list[Value]
    strides: list[Value]
    in_bounds: list[bool]
    alignment: int
    extent_multiple: int
    #: Bytes that divide the strides of the dimensions in `base`; None if there are none.
    batch_alignment: int | None


# ---- making views -----------------------------------------------------------------------------


@lowers("make_tensor_view")
def _make_tensor_view(c: Converter, op: MakeTensorViewOp) -> None:
    result = op.operation.results[0]
    type_ = TensorViewType(result.type)
    dynamic = iter([*op.dynamic_shape, *op.dynamic_strides])

    def extent(static: int) -> Extent:
        if static != DYNAMIC:
            return Extent(c.builder.c64(static), power_of_two_factor(static), static)
        value = next(dynamic)
        return Extent(unsigned_i64(c, c[value]), c.facts.multiple(value))

    sizes, strides = tuple(map(extent, type_.shape)), tuple(map(extent, type_.strides))
    base = op.base
    c.views.tensors[result] = Tensor(
        c[base], c.facts.multiple(base), type_.element_type, sizes, strides
    )


def unsigned_i64(c: Converter, value: Value) -> Value:
    if IntegerType(value.type).width == 64:
        return value
    return c.builder.op("arith.extui", [value], c.builder.i64)


@lowers("assume")
def _assume(c: Converter, op: OpView) -> None:
    """A promise about numbers has been read where it matters (`AxisAnalysis`); one about a
    tensor's address is noted here."""
    tensor = c.views.tensors.get(op.operation.operands[0])
    if tensor is None:
        c.set(op, *c.operands(op))
        return
    predicate = assume_predicate(op.operation.attributes["predicate"])
    multiple = power_of_two_factor(predicate.divisor) if isinstance(predicate, DivBy) else 1
    promised = replace(tensor, base_multiple=max(tensor.base_multiple, multiple))
    c.views.tensors[op.operation.results[0]] = promised


@lowers("make_partition_view", "make_strided_view", "make_gather_scatter_view")
def _make_view(c: Converter, op: OpView) -> None:
    result = op.operation.results[0]
    type_ = result.type
    assert isinstance(type_, TileViewType)
    tile = tuple(type_.tile_shape)
    strided = isinstance(type_, StridedViewType)
    sparse = isinstance(type_, GatherScatterViewType)
    steps = tuple(type_.traversal_strides) if strided else tile
    if sparse:  # every index is the position of an element
        steps = (1,) * len(tile)
    padding = type_.padding_value
    c.views.views[result] = View(
        tensor=c.views.tensors[op.operation.operands[0]],
        tile=tile,
        steps=steps,
        dim_map=tuple(range(len(tile))) if sparse else tuple(type_.dim_map),
        padding=None if padding is None else _PADDING[padding],
        sparse_dim=type_.sparse_dim if sparse else None,
    )


@lowers("get_tensor_shape")
def _get_tensor_shape(c: Converter, op: OpView) -> None:
    tensor = c.views.tensors[op.operation.operands[0]]
    results = op.operation.results
    c.set(op, *(_to_width(c, size.value, r) for size, r in zip(tensor.sizes, results, strict=True)))


@lowers("get_index_space_shape")
def _get_index_space_shape(c: Converter, op: OpView) -> None:
    view = c.views.views[op.operation.operands[0]]
    counts = []
    for dim, result in enumerate(op.operation.results):
        size = view.tensor.sizes[view.dim_map[dim]].value
        step = view.steps[dim]
        rounded = c.builder.add(size, c.builder.c64(step - 1))
        count = c.builder.op("arith.divui", [rounded, c.builder.c64(step)], c.builder.i64)
        counts.append(_to_width(c, count, result))
    c.set(op, *counts)


def _to_width(c: Converter, value: Value, result: Value) -> Value:
    type_ = c.type(result.type)
    if type_ == c.builder.i64:
        return value
    return c.builder.op("arith.trunci", [value], type_)


# ---- access through views ---------------------------------------------------------------------


def access(c: Converter, op: ViewAccess, view: View, may_be_outside: int | None = None) -> Access:
    """The tile that `op` accesses at its index, which may lie outside the index space in one
    dimension if that is given."""
    promised = list(op.inbounds) if op.inbounds is not None else [False] * len(view.tile)
    kept = [d for d, size in enumerate(view.tile) if size != 1] or [len(view.tile) - 1]
    starts = [_start(c, view, d, index) for d, index in enumerate(op.index)]
    multiples = [
        min(c.facts.multiple(index) * power_of_two_factor(view.steps[d]), MAXIMUM)
        for d, index in enumerate(op.index)
    ]
    folded = [d for d in range(len(view.tile)) if d not in kept]
    contiguous = _contiguous_dim(view, kept)
    return Access(
        base=_folded_base(c, view, folded, starts),
        shape=tuple(view.tile[d] for d in kept),
        starts=[starts[d] for d in kept],
        sizes=[view.tensor.sizes[view.dim_map[d]].value for d in kept],
        strides=[view.tensor.strides[view.dim_map[d]].value for d in kept],
        in_bounds=[d != may_be_outside and (bool(promised[d]) or _divides(view, d)) for d in kept],
        alignment=_alignment(view, folded, contiguous, multiples),
        extent_multiple=1
        if contiguous is None
        else math.gcd(view.tensor.sizes[view.dim_map[contiguous]].multiple, multiples[contiguous]),
        batch_alignment=_batch_alignment(view, folded),
    )


def _start(c: Converter, view: View, dim: int, index: Value) -> Value:
    position = unsigned_i64(c, c[index])
    if view.steps[dim] == 1:
        return position
    return c.builder.mul(position, c.builder.c64(view.steps[dim]))


def _divides(view: View, dim: int) -> bool:
    """Whether tiles fit the extent exactly, so that an index in range means a tile inside."""
    size, tile = view.tensor.sizes[view.dim_map[dim]], view.tile[dim]
    if view.steps[dim] != tile:
        return False
    return size.multiple % tile == 0 or (size.constant is not None and size.constant % tile == 0)


def _contiguous_dim(view: View, kept: Sequence[int]) -> int | None:
    """The tile dimension along which neighbours are adjacent in memory."""
    adjacent = [d for d in kept if view.tensor.strides[view.dim_map[d]].constant == 1]
    return adjacent[-1] if adjacent else None


def _folded_base(c: Converter, view: View, folded: Sequence[int], starts: list[Value]) -> Value:
    """The address moved to the position of the dimensions of size 1."""
    base = view.tensor.base
    for dim in folded:
        offset = c.builder.mul(starts[dim], view.tensor.strides[view.dim_map[dim]].value)
        base = c.builder.advance(base, offset, element_bytes(view.tensor.element))
    return base


def _alignment(
    view: View, folded: Sequence[int], contiguous: int | None, multiples: list[int]
) -> int:
    """Bytes that divide every address at which a run along the contiguous dimension starts."""
    size = element_bytes(view.tensor.element)
    if contiguous is None:
        return size
    divisors = [view.tensor.base_multiple, multiples[contiguous] * size]
    for dim in range(len(view.tile)):
        stride = view.tensor.strides[view.dim_map[dim]].multiple * size
        if dim in folded:
            divisors.append(min(stride * multiples[dim], MAXIMUM))
        elif dim != contiguous:
            divisors.append(stride)
    return max(size, min(math.gcd(*divisors), 256))


def _batch_alignment(view: View, folded: Sequence[int]) -> int | None:
    if not folded:
        return None
    strides = [view.tensor.strides[view.dim_map[dim]].multiple for dim in folded]
    return min(math.gcd(*strides) * element_bytes(view.tensor.element), 256)


def memory_attributes(c: Converter, op: OpView) -> dict[str, Attribute]:
    """`ordering` and `scope` of a memory operation; weak ones have neither."""
    ordering = keyword(op, "memory_ordering_semantics", "weak")
    if ordering == "weak":
        return {}
    scope = SCOPES[keyword(op, "memory_scope")]
    return {
        "ordering": c.builder.attribute(f"#tile_gpu.ordering<{ordering}>"),
        "scope": c.builder.attribute(f"#tile_gpu.scope<{scope}>"),
    }


def access_attributes(c: Converter, tile: Access) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {
        "alignment": c.builder.i64_attr(tile.alignment),
        "extent_multiple": c.builder.i64_attr(tile.extent_multiple),
        "in_bounds": c.builder.flags_attr(tile.in_bounds),
    }
    if tile.batch_alignment is not None:
        attributes[BATCH_ALIGNMENT_ATTRIBUTE] = c.builder.i64_attr(tile.batch_alignment)
    return attributes


@lowers("load_view_tko")
def _load_view(c: Converter, op: LoadViewTkoOp) -> None:
    c.set(op, load_view(c, op))


def load_view(c: Converter, op: LoadViewTkoOp, may_be_outside: int | None = None) -> Value:
    """The tile that a load gives; see `access`."""
    view = c.views.views[op.view]
    if view.sparse_dim is not None:
        return _load_rows(c, op, view)
    tile = access(c, op, view, may_be_outside)
    rank = len(tile.shape)
    attributes = access_attributes(c, tile) | memory_attributes(c, op)
    attributes["operandSegmentSizes"] = c.builder.segments(1, rank, rank, rank)
    if view.padding is not None:
        attributes["padding"] = c.builder.attribute(f"#tile_gpu.padding<{view.padding}>")
    if ORDERED_ATTRIBUTE in op.operation.attributes:
        attributes["ordered"] = c.builder.attribute("unit")
    loaded = c.builder.op(
        "tile_gpu.load",
        [tile.base, *tile.starts, *tile.sizes, *tile.strides],
        c.tile_type(tile.shape, view.tensor.element),
        attributes,
    )
    result = c.type(op.operation.results[0].type)
    if result != loaded.type:
        loaded = c.builder.op("tile_gpu.reshape", [loaded], result)
    return loaded


def _load_rows(c: Converter, op: LoadViewTkoOp, view: View) -> Value:
    """A load through a gather/scatter view."""
    at = places(c, op, view)
    other = padding_value(c, view) if at.inside is not None else None
    attributes = _run_attributes(c, at) | memory_attributes(c, op)
    attributes["operandSegmentSizes"] = c.builder.segments(1, at.inside, other, None)
    operands = [value for value in (at.addresses, at.inside, other) if value is not None]
    result = c.type(op.operation.results[0].type)
    return c.builder.op("tile_gpu.gather", operands, result, attributes)


def _run_attributes(c: Converter, at: Places) -> dict[str, Attribute]:
    return {
        "contiguity": c.builder.i64_attr(at.contiguity),
        "alignment": c.builder.i64_attr(at.alignment),
    }


def _stored_value(
    c: Converter, op: StoreViewTkoOp | AtomicRedViewTkoOp, tile: Access, view: View
) -> Value:
    """The tile to store, in the shape of the access."""
    value = c[op.tile]
    type_ = c.tile_type(tile.shape, view.tensor.element)
    if value.type == type_:
        return value
    source = defining_op(value)
    if source is not None and source.operation.name == "tile_gpu.splat":
        return c.splat(source.operation.operands[0], type_)
    if not is_tile(value):
        return c.splat(value, type_)
    return c.builder.op("tile_gpu.reshape", [value], type_)


@lowers("store_view_tko")
def _store_view(c: Converter, op: StoreViewTkoOp) -> None:
    view = c.views.views[op.view]
    if view.sparse_dim is not None:
        at = places(c, op, view)
        operands = [value for value in (c[op.tile], at.addresses, at.inside) if value is not None]
        attributes = _run_attributes(c, at) | memory_attributes(c, op)
        c.builder.create("tile_gpu.scatter", operands, attributes=attributes)
        return
    tile = access(c, op, view)
    rank = len(tile.shape)
    attributes = access_attributes(c, tile) | memory_attributes(c, op)
    attributes["operandSegmentSizes"] = c.builder.segments(1, 1, rank, rank, rank)
    value = _stored_value(c, op, tile, view)
    operands = [value, tile.base, *tile.starts, *tile.sizes, *tile.strides]
    c.builder.create("tile_gpu.store", operands, attributes=attributes)


@lowers("atomic_red_view_tko")
def _atomic_red_view(c: Converter, op: AtomicRedViewTkoOp) -> None:
    view = c.views.views[op.view]
    tile = access(c, op, view)
    rank = len(tile.shape)
    attributes = access_attributes(c, tile)
    attributes["operandSegmentSizes"] = c.builder.segments(1, 1, rank, rank, rank)
    attributes["kind"] = c.builder.attribute(f"#tile_gpu.atomic<{keyword(op, 'mode')}>")
    scope = SCOPES[keyword(op, "memory_scope")]
    attributes["scope"] = c.builder.attribute(f"#tile_gpu.scope<{scope}>")
    value = _stored_value(c, op, tile, view)
    operands = [value, tile.base, *tile.starts, *tile.sizes, *tile.strides]
    c.builder.create("tile_gpu.atomic_red", operands, attributes=attributes)
