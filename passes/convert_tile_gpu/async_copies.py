"""Asynchronous copies from global to shared memory: `cp.async`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileir.compiler.ir_util import int_attr
from tileir.compiler.layout import blocked
from tileir.compiler.tile_types import CHUNK_BYTES, BufferInfo
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress
from tileir.passes.convert_tile_gpu.tensors import TensorAccess
from tileir.passes.convert_tile_gpu.vectors import memory_type

#: The extent of a memref over memory whose end is not known.
_UNBOUNDED = (1 << 62) - 1


@lowers("tile_gpu.async_commit")
def _async_commit(ctx: Lowering, op: OpView) -> None:
    ctx.builder.create("nvvm.cp.async.commit.group")


@lowers("tile_gpu.async_wait")
def _async_wait(ctx: Lowering, op: OpView) -> None:
    attributes = {"n": ctx.builder.i32_attr(int_attr(op, "pending"))}
    ctx.builder.create("nvvm.cp.async.wait.group", attributes=attributes)


@lowers("tile_gpu.async_load")
def _async_load(ctx: Lowering, op: tile_gpu.AsyncLoadOp) -> None:
    with ctx.only_if(None if op.predicate is None else ctx.scalar(op.predicate)):
        _copy_tile(ctx, op)


def _copy_tile(ctx: Lowering, op: tile_gpu.AsyncLoadOp) -> None:
    """Each thread copies chunks of up to 16 bytes along the contiguous dimension. What lies
    outside the tensor becomes zero, by a chunk that copies fewer elements than it has."""
    buffer = ctx.buffers[op.buffer]
    info = buffer.info
    vector = min(CHUNK_BYTES, int_attr(op, "alignment")) // info.element_bytes
    vector = math.gcd(vector, info.row)
    layout = blocked(info.shape, info.order, vector, ctx.num_warps)
    access = TensorAccess(ctx, op, layout, info.element_bytes)
    target = SharedAddress.of_layout(ctx, info, layout)
    source = _global_memref(ctx, access.origin, info)
    with ctx.only_if(ctx.owns(layout)):
        _copy_chunks(ctx, buffer, access, target, source, vector)


def _copy_chunks(
    ctx: Lowering, buffer: SharedBuffer, access: TensorAccess, target: SharedAddress, source: Value,
    vector: int,
) -> None:  # fmt: skip
    b, info, layout = ctx.builder, buffer.info, access.layout
    fastest = info.order[-1]
    attributes = {"dstElements": b.attribute(f"{vector} : index")}
    if vector * info.element_bytes == CHUNK_BYTES:
        attributes["bypassL1"] = b.attribute("unit")
    token = b.type("!nvgpu.device.async.token")
    for group in layout.groups(fastest, vector):
        offset = layout.register_offsets[group[0]]
        place = target.index(*target.row_and_column(offset))
        index = _element_index(ctx, access, offset)
        valid = _valid_elements(ctx, access, offset, fastest, vector)
        count = [] if valid is None else [valid]
        b.create(
            "nvgpu.device_async_copy",
            [buffer.memref, place, source, index, *count],
            [token],
            attributes | {"operandSegmentSizes": b.segments(1, 1, 1, 1, valid)},
        )


def _global_memref(ctx: Lowering, pointer: Value, info: BufferInfo) -> Value:
    """A memref over global memory from `pointer` on: the copy operation wants one."""
    b = ctx.builder
    scalar = memory_type(ctx, info.element)
    struct = b.type("!llvm.struct<(ptr<1>, ptr<1>, i64, array<1 x i64>, array<1 x i64>)>")
    fields: list[tuple[str, Value]] = [
        ("0", pointer),
        ("1", pointer),
        ("2", b.c64(0)),
        ("3, 0", b.c64(_UNBOUNDED)),
        ("4, 0", b.c64(1)),
    ]
    value = b.op("llvm.mlir.poison", [], struct)
    for position, field in fields:
        attributes = {"position": b.attribute(f"array<i64: {position}>")}
        value = b.op("llvm.insertvalue", [value, field], struct, attributes)
    memref = b.type(f"memref<?x{scalar}, 1>")
    return b.op("builtin.unrealized_conversion_cast", [value], memref)


def _element_index(ctx: Lowering, access: TensorAccess, offset: Sequence[int]) -> Value:
    b = ctx.builder
    along = 0 if access.contiguous is None else offset[access.contiguous]
    elements = access.row_elements(offset)
    if elements is None:
        return b.constant(along, b.index)
    index = b.op("arith.index_cast", [elements], b.index)
    return b.add(index, b.constant(along, b.index)) if along else index


def _valid_elements(
    ctx: Lowering, access: TensorAccess, offset: Sequence[int], fastest: int, vector: int
) -> Value | None:
    """How many elements of a chunk lie inside the tensor; None if all do."""
    b, count = ctx.builder, None
    remaining = access.remaining[fastest]
    if remaining is not None:
        left = b.sub(remaining, b.c32(offset[fastest]))
        left = b.op("arith.minsi", [left, b.c32(vector)], b.i32)
        count = b.op("arith.maxsi", [left, b.c32(0)], b.i32)
    for dim in range(access.layout.rank):
        inside = access.inside_along(dim, offset[dim]) if dim != fastest else None
        if inside is not None:
            some = b.c32(vector) if count is None else count
            count = b.op("arith.select", [inside, some, b.c32(0)], b.i32)
    return None if count is None else b.op("arith.index_cast", [count], b.index)
