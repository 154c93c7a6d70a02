"""Tensor maps that a block makes for itself, and the pool of places for them.

The format of a map is not documented; `tensormap.replace` sets its fields. (PTX ISA, "Data
Movement and Conversion Instructions: Tensor map modification".)
"""

from __future__ import annotations

from tileir.compiler.ir_util import int_attr
from tileir.compiler.tile_types import BufferInfo, tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.build_tensor_maps import MAP_BYTES
from tileir.passes.convert_tile_gpu.declarations import global_memory
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address, load_elements

#: Numbers of element types and swizzle modes in `tensormap.replace`.
_ELEMENT_TYPES = {
    "i1": 0, "i8": 0, "f8E4M3FN": 0, "f8E5M2": 0, "i16": 1, "i32": 2, "i64": 4,
    "f16": 6, "f32": 7, "f64": 9, "bf16": 10, "tf32": 11,
}  # fmt: skip
_PTX_VERSION = 83
_SWIZZLE_MODES = {0: 0, 32: 1, 64: 2, 128: 3}

#: Slots come in rows, one for each multiprocessor (modulo), so that blocks rarely meet.
_ROWS = 256
_SLOTS_IN_ROW = 4
_ACQUIRE = f"""{{
.reg .pred p; .reg .b32 row, bit, old, n; .reg .b64 a;
mov.u32 row, %smid; and.b32 row, row, {_ROWS - 1}; mov.b32 bit, 1;
AGAIN: mad.wide.u32 a, row, 4, $1;
atom.global.acquire.gpu.or.b32 old, [a], bit;
and.b32 n, old, bit; setp.eq.u32 p, n, 0; @p bra DONE;
shl.b32 bit, bit, 1; setp.lt.u32 p, bit, {1 << _SLOTS_IN_ROW}; @p bra AGAIN;
add.u32 row, row, 1; and.b32 row, row, {_ROWS - 1}; mov.b32 bit, 1; bra AGAIN;
DONE: bfind.u32 n, bit; mad.lo.u32 $0, row, {_SLOTS_IN_ROW}, n;
}}"""
_RELEASE = f"""{{
.reg .b32 row, n, bit; .reg .b64 a;
div.u32 row, $0, {_SLOTS_IN_ROW}; rem.u32 n, $0, {_SLOTS_IN_ROW};
mov.b32 bit, 1; shl.b32 bit, bit, n; not.b32 bit, bit; mad.wide.u32 a, row, 4, $1;
red.global.release.gpu.and.b32 [a], bit;
}}"""


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def _pool(ctx: Lowering, count: int) -> tuple[Value, Value]:
    """Addresses (i64) of the slots for `count` maps each, and of the bits of those taken."""
    slots = _ROWS * _SLOTS_IN_ROW
    places = global_memory(ctx, f"tensor_maps_{count}", slots * count * MAP_BYTES, MAP_BYTES)
    taken = global_memory(ctx, f"tensor_maps_{count}_taken", _ROWS * 4, 4)
    return places, taken


@lowers("tile_gpu.acquire_map_slot")
def _acquire_map_slot(ctx: Lowering, op: tile_gpu.AcquireMapSlotOp) -> None:
    b, count = ctx.builder, int_attr(op, "count")
    places, taken = _pool(ctx, count)
    buffer, first = ctx.buffers[op.scratch], b.constant(0, b.index)
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(32 * ctx.first_producer))):
        index = ctx.asm(_one_line(_ACQUIRE), "=r,l,~{memory}", [taken], b.i32, True).results[0]
        offset = b.mul(b.op("arith.extui", [index], b.i64), b.c64(count * MAP_BYTES))
        b.create("memref.store", [b.add(places, offset), buffer.memref, first])
    ctx.barrier()
    ctx.set(op, load_elements(ctx, buffer, first, 1))


@lowers("tile_gpu.release_map_slot")
def _release_map_slot(ctx: Lowering, op: tile_gpu.ReleaseMapSlotOp) -> None:
    b, count = ctx.builder, int_attr(op, "count")
    places, taken = _pool(ctx, count)
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(0))):
        offset = b.sub(ctx.scalar(op.slot), places)
        index = b.op("arith.divui", [offset, b.c64(count * MAP_BYTES)], b.i64)
        operands = [b.op("arith.trunci", [index], b.i32), taken]
        ctx.asm(_one_line(_RELEASE), "r,l,~{memory}", operands, None, True)


@lowers("tile_gpu.prefetch_map")
def _prefetch_map(ctx: Lowering, op: tile_gpu.PrefetchMapOp) -> None:
    b = ctx.builder
    with ctx.only_if(b.compare("eq", ctx.thread, b.c32(32 * ctx.first_producer))):
        ctx.asm("prefetch.tensormap [$0];", "l,~{memory}", [ctx.scalar(op.map)], None, True)


@lowers("tile_gpu.tensor_map")
def _tensor_map(ctx: Lowering, op: tile_gpu.TensorMapOp) -> None:
    """One warp makes it, each map another, so that they are made at the same time."""
    assert op.slot and op.scratch, "build-tensor-maps gives every map a slot and scratch"
    b, slot = ctx.builder, ctx.scalar(op.slot)
    place = address(ctx, ctx.buffers[op.scratch])
    ctx.need_ptx(_PTX_VERSION)
    warp = ctx.next_map % ctx.num_warps
    ctx.next_map += 1
    with ctx.only_if(b.compare("eq", ctx.warp, b.c32(warp))):
        mine = b.add(place, b.mul(ctx.lane, b.c32(4)))
        ctx.asm("st.shared.b32 [$0], 0; bar.warp.sync -1;", "r,~{memory}", [mine], None, True)
        with ctx.only_if(b.compare("eq", ctx.lane, b.c32(0))):
            _set_fields(ctx, op, tensor_map_box(op.result.type), place)
        ctx.asm(
            "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
            f".release.gpu.sync.aligned [$0], [$1], {MAP_BYTES}; "
            f"fence.proxy.tensormap::generic.acquire.gpu [$0], {MAP_BYTES}; "
            # Copies by tensor maps may land where the map was made.
            "fence.proxy.async.shared::cta;",
            "l,r,~{memory}", [slot, place], None, True,
        )  # fmt: skip
    ctx.set(op, [b.op("llvm.inttoptr", [slot], b.type("!llvm.ptr"))])


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
    slowest = fastest_first[-1]
    rows = None if op.rows is None else b.op("arith.trunci", [ctx.scalar(op.rows)], b.i32)
    for index, dim in enumerate(fastest_first):
        is_short = rows is not None and dim == slowest
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
