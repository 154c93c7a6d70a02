"""Values of other lanes of the warp."""

from __future__ import annotations

from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering


def shuffle(ctx: Lowering, kind: str, value: Value, lane: Value) -> Value:
    """The value of another lane: `bfly` (lane xor), `up` (lane minus), `down`, `idx`."""
    b = ctx.builder
    width = ctx.width(value.type)
    if width == 64:
        return _shuffle_halves(ctx, kind, value, lane)
    if str(value.type) in ("i32", "f32"):
        return _shuffle_word(ctx, kind, value, lane)
    bits = ctx.bitcast(value, b.type(f"i{width}"))
    word = b.op("arith.extui", [bits], b.i32)
    moved = _shuffle_word(ctx, kind, word, lane)
    narrow = b.op("arith.trunci", [moved], b.type(f"i{width}"))
    return ctx.bitcast(narrow, value.type)


def _shuffle_word(ctx: Lowering, kind: str, value: Value, lane: Value) -> Value:
    b = ctx.builder
    clamp = 0 if kind == "up" else 31
    attributes = {"kind": b.attribute(f"#nvvm<shfl_kind {kind}>")}
    operands = [b.c32(-1), value, lane, b.c32(clamp)]
    return b.op("nvvm.shfl.sync", operands, value.type, attributes)


def _shuffle_halves(ctx: Lowering, kind: str, value: Value, lane: Value) -> Value:
    b = ctx.builder
    halves = b.op("llvm.bitcast", [value], b.type("vector<2xi32>"))
    parts = b.create("vector.to_elements", [halves], [b.i32, b.i32]).results
    moved = [_shuffle_word(ctx, kind, part, lane) for part in parts]
    joined = b.op("vector.from_elements", moved, b.type("vector<2xi32>"))
    return b.op("llvm.bitcast", [joined], value.type)
