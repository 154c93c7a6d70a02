"""Memory operations on tiles of pointers, atomics, and matrix products."""

from __future__ import annotations

import math

from tileir.compiler.ir_util import element_bytes, keyword
from tileir.dialects.cuda_tile import (
    AtomicCASTkoOp,
    AtomicRMWTkoOp,
    LoadPtrTkoOp,
    StorePtrTkoOp,
)
from tileir.ir import Attribute, OpView, Value
from tileir.passes.convert_cuda_tile.arithmetic import is_tile
from tileir.passes.convert_cuda_tile.converter import Converter, lowers
from tileir.passes.convert_cuda_tile.views import SCOPES, memory_attributes


def _addresses(c: Converter, pointers: Value) -> Value:
    value = c[pointers]
    return value if is_tile(value) else c.address(value)


def _run(c: Converter, pointers: Value, mask: Value | None) -> tuple[int, int]:
    """Consecutive elements with consecutive addresses and one mask value, and the alignment of
    such a run in bytes."""
    last = c.facts.of(pointers).axes[-1]
    length = last.contiguity
    if mask is not None:
        length = math.gcd(length, c.facts.of(mask).axes[-1].constancy)
    alignment = last.multiple if length == last.contiguity else last.multiple_at(length)
    size = element_bytes(pointers.type)
    if length < last.contiguity:
        alignment = math.gcd(last.multiple, length * size)
    return length, max(size, min(alignment, 256))


def _access_attributes(
    c: Converter, op: OpView, pointers: Value, mask: Value | None
) -> dict[str, Attribute]:
    contiguity, alignment = _run(c, pointers, mask)
    return {
        "contiguity": c.builder.i64_attr(contiguity),
        "alignment": c.builder.i64_attr(alignment),
    } | memory_attributes(c, op)


@lowers("load_ptr_tko")
def _load_ptr(c: Converter, op: LoadPtrTkoOp) -> None:
    attributes = _access_attributes(c, op, op.source, op.mask)
    other = op.padding_value if op.mask is not None else None
    attributes["operandSegmentSizes"] = c.builder.segments(1, op.mask, other, None)
    operands = [_addresses(c, op.source)]
    operands += [c[value] for value in (op.mask, other) if value is not None]
    result = c.type(op.operation.results[0].type)
    c.set(op, c.builder.op("tile_gpu.gather", operands, result, attributes))


@lowers("store_ptr_tko")
def _store_ptr(c: Converter, op: StorePtrTkoOp) -> None:
    attributes = _access_attributes(c, op, op.destination, op.mask)
    operands = [c[op.value], _addresses(c, op.destination)]
    if op.mask is not None:
        operands.append(c[op.mask])
    c.builder.create("tile_gpu.scatter", operands, attributes=attributes)


@lowers("prefetch")
def _prefetch(c: Converter, op: OpView) -> None:
    pointers, mask = op.operation.operands
    c.builder.create("tile_gpu.prefetch_lines", [_addresses(c, pointers), c[mask]])


def _atomic_attributes(c: Converter, op: OpView) -> dict[str, Attribute]:
    ordering = keyword(op, "memory_ordering_semantics")
    scope = SCOPES[keyword(op, "memory_scope")]
    return {
        "ordering": c.builder.attribute(f"#tile_gpu.ordering<{ordering}>"),
        "scope": c.builder.attribute(f"#tile_gpu.scope<{scope}>"),
    }


@lowers("atomic_rmw_tko")
def _atomic_rmw(c: Converter, op: AtomicRMWTkoOp) -> None:
    attributes = _atomic_attributes(c, op)
    attributes["kind"] = c.builder.attribute(f"#tile_gpu.atomic<{keyword(op, 'mode')}>")
    attributes["operandSegmentSizes"] = c.builder.segments(1, 1, op.mask, None)
    operands = [_addresses(c, op.pointers), c[op.arg]]
    if op.mask is not None:
        operands.append(c[op.mask])
    result = c.type(op.operation.results[0].type)
    c.set(op, c.builder.op("tile_gpu.atomic_rmw", operands, result, attributes))


@lowers("atomic_cas_tko")
def _atomic_cas(c: Converter, op: AtomicCASTkoOp) -> None:
    attributes = _atomic_attributes(c, op)
    attributes["operandSegmentSizes"] = c.builder.segments(1, 1, 1, op.mask, None)
    operands = [_addresses(c, op.pointers), c[op.cmp], c[op.val]]
    if op.mask is not None:
        operands.append(c[op.mask])
    result = c.type(op.operation.results[0].type)
    c.set(op, c.builder.op("tile_gpu.atomic_cas", operands, result, attributes))


# ---- order between launches and between views of memory ------------------------------------------

_GRID_ACTIONS = {"gdc_wait_tko": "wait", "gdc_launch_dependents_tko": "launch_dependents"}


@lowers(*_GRID_ACTIONS)
def _grid_dependency(c: Converter, op: OpView) -> None:
    action = _GRID_ACTIONS[op.operation.name.removeprefix("cuda_tile.")]
    attributes = {"kind": c.builder.attribute(f"#nvvm<grid_dep_action {action}>")}
    c.builder.create("nvvm.griddepcontrol", attributes=attributes)


@lowers("memory_fence_alias_tko")
def _alias_fence(c: Converter, op: OpView) -> None:
    attributes = {"kind": c.builder.attribute("#nvvm.proxy_kind<alias>")}
    c.builder.create("nvvm.fence.proxy", attributes=attributes)
