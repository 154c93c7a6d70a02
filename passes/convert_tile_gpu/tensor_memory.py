"""Tensor memory accesses: `cp.async.bulk.tensor`, whole boxes of a tensor by one instruction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tileir.compiler.tile_types import BufferInfo, tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address


def boxes(buffer: BufferInfo, box: BufferInfo) -> Iterator[tuple[tuple[int, ...], int]]:
    """The boxes of a stage: their first element in the tile, and their byte offset."""
    counts = [range(0, n, step) for n, step in zip(buffer.shape, box.shape, strict=True)]
    for corner in itertools.product(*counts):
        yield corner, buffer.byte_of(corner)


def coordinates(
    ctx: Lowering, starts: Sequence[Value], corner: Sequence[int], order: Sequence[int]
) -> list[Value]:
    """Where a box lies in its tensor (i32), the fastest dimension first."""
    b, result = ctx.builder, []
    for dim in reversed(order):
        start = b.op("arith.trunci", [starts[dim]], b.i32)
        result.append(b.add(start, b.c32(corner[dim])) if corner[dim] else start)
    return result


@lowers("tile_gpu.tma_load")
def _tma_load(ctx: Lowering, op: tile_gpu.TmaLoadOp) -> None:
    b, buffer = ctx.builder, ctx.buffers[op.buffer]
    box = tensor_map_box(op.map.type)
    starts = [ctx.scalar(start) for start in op.starts]
    policy = [] if op.policy is None else [ctx.scalar(op.policy)]
    shared, cluster = b.type("!llvm.ptr<3>"), b.type("!llvm.ptr<7>")
    barrier = b.op("llvm.inttoptr", [address(ctx, ctx.buffers[op.barrier])], shared)
    base, rank = address(ctx, buffer), len(box.shape)
    attributes = {
        "mode": b.attribute("#nvvm.tma_load_mode<tile>"),
        "isCTAOnly": b.attribute("false"),
        "operandSegmentSizes": b.attribute(f"array<i32: 1, 1, {rank}, 1, 0, 0, {len(policy)}, 0>"),
    }
    for corner, offset in boxes(buffer.info, box):
        place = b.op("llvm.inttoptr", [b.add(base, b.c32(offset)) if offset else base], shared)
        target = b.op("llvm.addrspacecast", [place], cluster)
        where = coordinates(ctx, starts, corner, box.order)
        b.create(
            "nvvm.cp.async.bulk.tensor.shared.cluster.global",
            [target, ctx.scalar(op.map), *where, barrier, *policy],
            attributes=attributes,
        )
