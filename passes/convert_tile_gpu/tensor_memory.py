"""Tensor memory accesses: `cp.async.bulk.tensor`, whole boxes of a tensor by one instruction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tileir.compiler.tile_types import BufferInfo, tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address

#: Bytes of the longest store.
_VECTOR = 16
#: A bit for each block of a pair.
_BOTH_BLOCKS = 0b11


def boxes(buffer: BufferInfo, box: BufferInfo) -> Iterator[tuple[tuple[int, ...], int]]:
    """The boxes of a stage: their first element in the tile, and their byte offset. In dimensions
    that only the tensor has, all start at the tile's."""
    batch = (0,) * (len(box.shape) - len(buffer.shape))
    sizes = zip(buffer.shape, box.shape[len(batch) :], strict=True)
    for corner in itertools.product(*(range(0, n, step) for n, step in sizes)):
        yield (*batch, *corner), buffer.byte_of(corner)


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
    places = list(boxes(buffer.info, box))
    base, targets = address(ctx, buffer), []
    if op.half is not None:
        starts, base = _skip_half(ctx, places, starts, base, ctx.scalar(op.half))
        places = places[: len(places) // 2]
        targets = [b.constant(_BOTH_BLOCKS, b.i16)]
    shared, cluster = b.type("!llvm.ptr<3>"), b.type("!llvm.ptr<7>")
    barrier = b.op("llvm.inttoptr", [address(ctx, ctx.buffers[op.barrier])], shared)
    counts = [1, 1, len(box.shape), 1, 0, len(targets), len(policy), 0]
    attributes = {
        "mode": b.attribute("#nvvm.tma_load_mode<tile>"),
        "isCTAOnly": b.attribute("false"),
        "operandSegmentSizes": b.segments(*counts),
    }
    for corner, offset in places:
        # (A cast from the block's to the cluster's space would go by way of a generic address.)
        target = b.op("llvm.inttoptr", [b.add(base, b.c32(offset)) if offset else base], cluster)
        where = coordinates(ctx, starts, corner, box.order)
        b.create(
            "nvvm.cp.async.bulk.tensor.shared.cluster.global",
            [target, ctx.scalar(op.map), *where, barrier, *targets, *policy],
            attributes=attributes,
        )


def _skip_half(
    ctx: Lowering,
    places: Sequence[tuple[tuple[int, ...], int]],
    starts: Sequence[Value],
    base: Value,
    half: Value,
) -> tuple[list[Value], Value]:
    """Where the boxes of the first or second half (i32 0 or 1) start, in the tensor and in shared
    memory."""
    b = ctx.builder
    (first, offset), (middle, middle_offset) = places[0], places[len(places) // 2]
    wide = b.op("arith.extui", [half], b.i64)
    moved = []
    for start, low, high in zip(starts, first, middle, strict=True):
        moved.append(b.add(start, b.mul(wide, b.c64(high - low))) if high > low else start)
    return moved, b.add(base, b.mul(half, b.c32(middle_offset - offset)))


@lowers("tile_gpu.zero_rows")
def _zero_rows(ctx: Lowering, op: tile_gpu.ZeroRowsOp) -> None:
    """Sixteen bytes a thread; swizzles stay inside rows."""
    b, buffer = ctx.builder, ctx.buffers[op.buffer]
    info = buffer.info
    rows, width = info.shape[info.order[0]], info.panel * info.element_bytes
    first = b.op("arith.trunci", [ctx.scalar(op.first)], b.i32)
    base, size = address(ctx, buffer), info.stages * info.stage_bytes
    lower = b.mul(ctx.thread, b.c32(_VECTOR))
    loop = b.create("scf.for", [lower, b.c32(size), b.c32(_VECTOR * 32 * ctx.num_warps)], regions=1)
    body = b.block(loop.regions[0], [b.i32])
    with b.at(body):
        at = body.arguments[0]
        line = b.op("arith.divui", [at, b.c32(width)], b.i32)
        row = b.op("arith.remui", [line, b.c32(rows)], b.i32)
        with ctx.only_if(b.compare("sge", row, first)):
            text = "st.shared.v4.b32 [$0], {0, 0, 0, 0};"
            ctx.asm(text, "r,~{memory}", [b.add(base, at)], None, True)
        b.create("scf.yield")
