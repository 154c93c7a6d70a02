"""The buffers in shared memory through which an operation passes tiles or values, before
`place-buffers` spells them out: what it makes, and what is counted before."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.ir_util import int_list, keyword
from tileir.compiler.layout import Layout, Owner
from tileir.compiler.shared_memory import conversion_buffer
from tileir.compiler.tile_types import BufferInfo, is_tile_type, tile_info, tile_of
from tileir.ir import OpView, Type, Value

_SCRATCH = ("tile_gpu.gather", "tile_gpu.atomic_rmw", "tile_gpu.atomic_cas")
#: Operations that may pass something.
PASSING = (
    "tile_gpu.convert_layout", "tile_gpu.extract", "tile_gpu.insert", "tile_gpu.cat",
    "tile_gpu.print", "tile_gpu.malloc", *_SCRATCH,
)  # fmt: skip


def passing_buffers(op: OpView, num_warps: int) -> list[BufferInfo]:
    """The buffers that an operation needs while it runs; none if it has them already."""
    name, operands = op.operation.name, list(op.operation.operands)
    if name == "tile_gpu.convert_layout":
        return _of_conversion(op)
    if name == "tile_gpu.extract":
        return [_rows_of(operands[0])]
    if name == "tile_gpu.insert":
        return [_rows_of(operands[1])]
    if name == "tile_gpu.cat":
        return [_rows_of(op.operation.results[0])]
    if name == "tile_gpu.print":  # one thread prints: tiles go where it can read them
        return [_rows_of(operand) for operand in operands if is_tile_type(operand.type)]
    if name == "tile_gpu.malloc":  # for the address that one thread gets from the heap for all
        return [] if operands else [BufferInfo((1,), "i64", (0,))]
    return _of_access(op, num_warps) if name in _SCRATCH else []


def _rows_of(tile: Value) -> BufferInfo:
    """A buffer for a tile, rows as they come."""
    info = tile_of(tile)
    return BufferInfo(info.shape, info.element, tuple(range(len(info.shape))))


def _of_conversion(op: OpView) -> list[BufferInfo]:
    source, result = tile_of(op.operation.operands[0]), tile_of(op.operation.results[0])
    if same_threads(source.layout, result.layout):
        return []
    return [conversion_buffer(source, result.layout)]


def same_threads(a: Layout, b: Layout) -> bool:
    """Whether each thread holds the same elements in both layouts, whatever the registers."""
    owners = (Owner.LANE, Owner.WARP)
    return a.shape == b.shape and _digits(a, owners) == _digits(b, owners)


def same_warps(a: Layout, b: Layout, num_warps: int) -> bool:
    """Whether each warp holds the same elements in both layouts, and no two of them the same."""
    copies = a.free_strides(Owner.WARP, num_warps)
    return (
        a.shape == b.shape and not copies and _digits(a, [Owner.WARP]) == _digits(b, [Owner.WARP])
    )


def _digits(layout: Layout, owners: Sequence[Owner]) -> set[tuple[int, Owner, int, int, int]]:
    """The digits of `owners`, cut into prime factors: (dimension, owner, stride, size, weight)."""
    parts = set()
    for dim in range(layout.rank):
        for owner in owners:
            for digit, weight in layout.weighted(dim, owner):
                size, stride = digit.size, digit.stride
                while size > 1:
                    factor = next(p for p in range(2, size + 1) if size % p == 0)
                    parts.add((dim, owner, stride, factor, weight))
                    size, stride, weight = size // factor, stride * factor, weight * factor
    return parts


def _of_access(op: OpView, num_warps: int) -> list[BufferInfo]:
    """For a value that one thread reads from memory and several need."""
    if int_list(op, "operandSegmentSizes")[-1]:
        return []
    result = op.operation.results[0]
    ordered = keyword(op, "ordering", "weak") != "weak"
    if not ordered or not list(result.uses) or not _has_copies(result.type, num_warps):
        return []
    info = tile_info(result.type)
    shape = info.shape if info else (1,)
    element = info.element if info else str(result.type)
    return [BufferInfo(shape, element, tuple(range(len(shape))))]


def _has_copies(type_: Type, num_warps: int) -> bool:
    info = tile_info(type_)
    if info is None:
        return True
    layout = info.layout
    return bool(layout.free_strides(Owner.LANE, 32) or layout.free_strides(Owner.WARP, num_warps))
