"""What a way of slicing costs, to compare it with others: bytes moved, and work done again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileir.compiler.ir_util import defining_op
from tileir.dialects.cuda_tile import DYNAMIC
from tileir.ir import OpView, Value
from tileir.passes.analysis.axis_facts import AxisAnalysis
from tileir.passes.split_tile.accesses import PointerAccess, ViewAccess, access_of, tile_of
from tileir.passes.split_tile.forms import Form, element_bits, shape_of, sliced_shape, tile_type
from tileir.passes.split_tile.needs import Needs
from tileir.passes.split_tile.operations import LOADS, LOOPS, PRODUCTS, parent_op
from tileir.passes.split_tile.views import tensor_dim

#: Memory is moved in lines of this size; a shorter contiguous run wastes the rest.
_LINE_BYTES = 128
#: Rounds that a loop is taken to run.
_ROUNDS = 16
#: Taking a slice out of a whole tile moves it through shared memory.
_EXTRACT = 4


def cost_of(needs: Needs) -> float:
    """Bytes moved plus operations, over all slices."""
    total = 0.0
    for store, form in needs.stores.items():
        times = 1 if form is None else needs.factor
        total += times * _depth_factor(store) * _moved_bytes(store, form, needs)
    for value, form, _ in needs.tiles():
        if needs.scope is not None and not (form is None and needs.scope.is_given(value)):
            total += needs.factor * _work(value, form, needs)
    return total


def _work(value: Value, form: Form, needs: Needs) -> float:
    """The cost of computing a value once in one form."""
    op = defining_op(value)
    elements = math.prod(sliced_shape(shape_of(value), form, needs.factor))
    if op is None:
        return 0
    if (value, form) in needs.extracted:
        return _depth_factor(op) * _EXTRACT * math.prod(shape_of(value))
    if op.operation.name in LOADS:
        return _depth_factor(op) * _moved_bytes(op, form, needs)
    if op.operation.name in PRODUCTS:
        return _depth_factor(op) * elements * shape_of(op.operation.operands[0])[-1] / _ROUNDS
    return _depth_factor(op) * elements / _ROUNDS


def _depth_factor(op: OpView) -> int:
    factor, parent = 1, parent_op(op)
    while parent is not None:
        factor *= _ROUNDS if parent.operation.name in LOOPS else 1
        parent = parent_op(parent)
    return factor


def _moved_bytes(op: OpView, form: Form, needs: Needs) -> float:
    """Bytes of the lines that an access touches."""
    tile = tile_of(op)
    shape = sliced_shape(shape_of(tile), form, needs.factor)
    size = element_bits(tile_type(tile)) // 8 or 1
    contiguous = contiguous_dim(op, needs.facts)
    run = size * (1 if contiguous is None else shape[contiguous])
    return math.prod(shape) * size * max(1, _LINE_BYTES / run)


def contiguous_dim(op: OpView, facts: AxisAnalysis) -> int | None:
    """The dimension of the tile along which neighbours are neighbours in memory, if known."""
    access = access_of(op)
    if isinstance(access, ViewAccess):
        type_ = access.view_type
        strides = type_.tensor_view.strides
        dims = [d for d in range(type_.rank) if strides[tensor_dim(type_, d)] == 1]
        return dims[-1] if dims else None
    if not shape_of(access.pointers):
        return None
    axes = facts.of(access.pointers).axes
    longest = max(axis.contiguity for axis in axes)
    return None if longest == 1 else [axis.contiguity for axis in axes].index(longest)


def slowness(op: OpView, dim: int) -> int:
    """The rank of a dimension in memory: 0 for the slowest. Without strides that tell, dimensions
    are taken to lie in row-major order."""
    access = access_of(op)
    if isinstance(access, PointerAccess):
        return dim
    type_ = access.view_type
    strides = type_.tensor_view.strides
    dims = [tensor_dim(type_, d) for d in range(type_.rank)]
    return sorted(dims, key=lambda k: _memory_order(strides, k)).index(dims[dim])


def _memory_order(strides: Sequence[int], dim: int) -> tuple[int, int]:
    known = strides[dim] != DYNAMIC
    return (-strides[dim] if known else -(2**63), dim)
