"""Tensor maps that a block makes for itself, and the places for them.

The format of a map is not documented; `tensormap.replace` sets its fields. (PTX ISA, "Data
Movement and Conversion Instructions: Tensor map modification".)
"""

from __future__ import annotations

import functools

from tileir.compiler.ir_util import int_attr
from tileir.compiler.tile_types import LINE_BYTES, BufferInfo, tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.build_tensor_maps import MAP_BYTES
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.map_table import MapTable, release_slot
from tileir.passes.convert_tile_gpu.shared_memory import address, load_elements

#: Numbers of element types and of swizzles, by their bytes, in `tensormap.replace`, and the version
#: of PTX that has it.
_ELEMENT_TYPES = {
    "i1": 0, "i8": 0, "f8E4M3FN": 0, "f8E5M2": 0, "i16": 1, "i32": 2, "i64": 4,
    "f16": 6, "f32": 7, "f64": 9, "bf16": 10, "tf32": 11,
}  # fmt: skip
_SWIZZLE_MODES = {0: 0, 32: 1, 64: 2, 128: 3}
_PTX_VERSION = 83
#: The L2 promotion has no field in `tensormap.replace`. In maps that the driver makes for sm_90,
#: bits 17 and 18 of the third word hold it: 1 is 64 bytes, 3 is 256.
_PROMOTION_WORD = 2
_TWO_LINES = 3 << 17


def _searches(ctx: Lowering) -> Value:
    """Whether this is the warp that looks maps up: the last, while others make barriers."""
    return ctx.builder.compare("eq", ctx.warp, ctx.builder.c32(ctx.block_warps - 1))


@lowers("tile_gpu.acquire_map_slot")
def _acquire_map_slot(ctx: Lowering, op: tile_gpu.AcquireMapSlotOp) -> None:
    b, buffer = ctx.builder, ctx.buffers[op.scratch]
    table = MapTable(ctx, int_attr(op, "count"), [ctx.scalar(value) for value in op.key])
    with ctx.only_if(_searches(ctx)):
        looked_up = table.look_up()
        with ctx.only_if(b.compare("eq", ctx.lane, b.c32(0))):
            first = b.constant(0, b.index)
            b.create("memref.store", [table.claim(looked_up), buffer.memref, first])
    ctx.barrier()
    _read_map_slot(ctx, op)


@lowers("tile_gpu.read_map_slot")
def _read_map_slot(ctx: Lowering, op: tile_gpu.AcquireMapSlotOp | tile_gpu.ReadMapSlotOp) -> None:
    """By all threads at once. Then ptxas knows that all hold the same, which lets it keep what is
    computed from it in the registers that a warp shares."""
    b = ctx.builder
    (both,) = load_elements(ctx, ctx.buffers[op.scratch], b.constant(0, b.index), 1)
    low = b.op("arith.andi", [both, b.c64(MAP_BYTES - 1)], b.i64)
    state = b.op("arith.trunci", [low], b.i32)
    ctx.bind(list(op.operation.results), [b.sub(both, low), state])


@lowers("tile_gpu.publish_map_slot")
def _publish_map_slot(ctx: Lowering, op: tile_gpu.PublishMapSlotOp) -> None:
    table = MapTable(ctx, int_attr(op, "count"), [ctx.scalar(value) for value in op.key])
    with ctx.only_if(_searches(ctx)):
        table.publish(ctx.scalar(op.slot))


@lowers("tile_gpu.release_map_slot")
def _release_map_slot(ctx: Lowering, op: tile_gpu.ReleaseMapSlotOp) -> None:
    b = ctx.builder
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(0))):
        release_slot(ctx, int_attr(op, "count"), ctx.scalar(op.slot))


@lowers("tile_gpu.prefetch_map")
def _prefetch_map(ctx: Lowering, op: tile_gpu.PrefetchMapOp) -> None:
    b = ctx.builder
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(32 * ctx.preparing_warp))):
        ctx.asm("prefetch.tensormap [$0];", "l,~{memory}", [ctx.scalar(op.map)], None, True)


@lowers("tile_gpu.tensor_map")
def _tensor_map(ctx: Lowering, op: tile_gpu.TensorMapOp) -> None:
    """One warp makes it, each map another, so that they are made at the same time. A map that was
    found is only made known to the copy engine, whose cache may hold what was there before."""
    assert op.slot and op.scratch and op.found, "build-tensor-maps gives every map its place"
    b, slot = ctx.builder, ctx.scalar(op.slot)
    ctx.need_ptx(_PTX_VERSION)
    warp = ctx.next_map % ctx.num_warps
    ctx.next_map += 1
    with ctx.only_if(b.compare("eq", ctx.warp, b.c32(warp))):
        missing = b.op("arith.xori", [ctx.scalar(op.found), b.constant(True, b.i1)], b.i1)
        with ctx.only_if(missing):
            _make(ctx, op, slot)
        fence = f"fence.proxy.tensormap::generic.acquire.gpu [$0], {MAP_BYTES};"
        ctx.asm(fence, "l,~{memory}", [slot], None, True)
    ctx.set(op, [b.op("llvm.inttoptr", [slot], b.type("!llvm.ptr"))])


def _make(ctx: Lowering, op: tile_gpu.TensorMapOp, slot: Value) -> None:
    b = ctx.builder
    assert op.scratch is not None, "build-tensor-maps gives every map scratch"
    place = address(ctx, ctx.buffers[op.scratch])
    mine = b.add(place, b.mul(ctx.lane, b.c32(4)))
    text = "st.shared.b32 [$0], $1; bar.warp.sync -1;"
    ctx.asm(text, "r,r,~{memory}", [mine, _first_word(ctx, op)], None, True)
    with ctx.only_if(b.compare("eq", ctx.lane, b.c32(0))):
        _set_fields(ctx, op, tensor_map_box(op.result.type), place)
    ctx.asm(
        "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
        f".release.gpu.sync.aligned [$0], [$1], {MAP_BYTES}; "
        # Copies by tensor maps may land where the map was made.
        "fence.proxy.async.shared::cta;",
        "l,r,~{memory}", [slot, place], None, True,
    )  # fmt: skip


def _first_word(ctx: Lowering, op: tile_gpu.TensorMapOp) -> Value:
    """What a lane writes before the fields are set: zero, and in one word how much the second-level
    cache fetches for an access. Rows that start on its lines have it fetch two; for others that
    would be neighbours' ends."""
    b = ctx.builder
    box = tensor_map_box(op.result.type)
    places = [b.op("llvm.ptrtoint", [ctx.scalar(op.base)], b.i64)]
    for dim in box.order[:-1]:
        places.append(b.mul(ctx.scalar(list(op.strides)[dim]), b.c64(box.element_bytes)))
    together = functools.reduce(lambda x, y: b.op("arith.ori", [x, y], b.i64), places)
    off_lines = b.op("arith.andi", [together, b.c64(LINE_BYTES - 1)], b.i64)
    on_lines = b.compare("eq", off_lines, b.c64(0))
    here = b.compare("eq", ctx.lane, b.c32(_PROMOTION_WORD))
    both = b.op("arith.andi", [on_lines, here], b.i1)
    return ctx.select(both, b.c32(_TWO_LINES), b.c32(0))


def _set_fields(ctx: Lowering, op: tile_gpu.TensorMapOp, box: BufferInfo, place: Value) -> None:
    b = ctx.builder

    def put(field: str, bits: int, value: int | Value, index: int | None = None) -> None:
        position = "" if index is None else f" {index},"
        text = f"tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [$0],{position} "
        if isinstance(value, int):
            ctx.asm(f"{text}{value};", "r,~{memory}", [place], None, True)
        else:
            kind = "l" if bits == 64 else "r"
            ctx.asm(f"{text}$1;", f"r,{kind},~{{memory}}", [place, value], None, True)

    fastest_first = list(reversed(box.order))
    put("global_address", 64, b.op("llvm.ptrtoint", [ctx.scalar(op.base)], b.i64))
    put("rank", 32, len(box.shape) - 1)
    rows = None if op.rows is None else b.op("arith.trunci", [ctx.scalar(op.rows)], b.i32)
    for index, dim in enumerate(fastest_first):
        is_short = rows is not None and index == 1
        put("box_dim", 32, rows if is_short else box.shape[dim], index)
        extent = b.op("arith.trunci", [ctx.scalar(list(op.sizes)[dim])], b.i32)
        put("global_dim", 32, extent, index)
        put("element_stride", 32, 1, index)
        if index:
            stride = b.mul(ctx.scalar(list(op.strides)[dim]), b.c64(box.element_bytes))
            put("global_stride", 64, stride, index - 1)
    put("elemtype", 32, _ELEMENT_TYPES[box.element])
    put("interleave_layout", 32, 0)
    put("swizzle_mode", 32, _SWIZZLE_MODES[box.swizzle])
    put("fill_mode", 32, 0)
