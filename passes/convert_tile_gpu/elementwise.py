"""Tiles that need no other thread: constants, regrouping, arithmetic on each register."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.constants import splat_scalar
from tileir.compiler.ir_util import int_list, keyword, text_attr
from tileir.compiler.tile_types import tile_info, tile_of
from tileir.ir import DenseElementsAttr, FlatSymbolRefAttr, OpView, Type, Value
from tileir.passes.convert_tile_gpu.declarations import constant_table, declare_function
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, lowers


@lowers("arith.constant")
def _constant(ctx: Lowering, op: OpView) -> None:
    result = op.operation.results[0]
    info, attribute = tile_info(result.type), op.operation.attributes["value"]
    if info is None:
        type_ = ctx.scalar_type(result.type)
        if type_ != result.type:
            attribute = splat_scalar(DenseElementsAttr.get([attribute]), type_)
        ctx.set(op, [ctx.builder.op("arith.constant", [], type_, {"value": attribute})])
        return
    value = DenseElementsAttr(attribute)
    type_ = ctx.register_type(info.element)
    if value.is_splat:
        scalar = ctx.builder.op("arith.constant", [], type_, {"value": splat_scalar(value, type_)})
        ctx.set(op, [scalar] * info.layout.num_registers)
    else:
        ctx.set(op, constant_table(ctx, info, value))


@lowers("ub.poison")
def _poison(ctx: Lowering, op: OpView) -> None:
    types = ctx.flat_types(op.operation.results)
    ctx.bind(op.operation.results, [ctx.builder.op("llvm.mlir.poison", [], t) for t in types])


@lowers("tile_gpu.splat")
def _splat(ctx: Lowering, op: OpView) -> None:
    info = tile_of(op.operation.results[0])
    ctx.set(op, [ctx.scalar(op.operation.operands[0])] * info.layout.num_registers)


@lowers("tile_gpu.iota")
def _iota(ctx: Lowering, op: OpView) -> None:
    info = tile_of(op.operation.results[0])
    b, type_ = ctx.builder, ctx.register_type(info.element)
    first = ctx.builder.zext_or_trunc(ctx.coordinate(info.layout, 0), type_)
    registers = [
        first if offset == 0 else b.add(first, b.constant(offset, type_))
        for (offset,) in info.layout.register_offsets
    ]
    ctx.set(op, registers)


@lowers("tile_gpu.extract_scalar")
def _extract_scalar(ctx: Lowering, op: OpView) -> None:
    ctx.set(op, ctx.fragment(op.operation.operands[0]).registers)


# ---- regrouping: the same registers under other coordinates ---------------------------------


@lowers("tile_gpu.reshape")
def _reshape(ctx: Lowering, op: OpView) -> None:
    """Registers are numbered row-major over the digits, and those have kept their order."""
    source = ctx.fragment(op.operation.operands[0])
    result = op.operation.results[0]
    ctx.fragments[result] = Fragment(tile_of(result), source.registers)


@lowers("tile_gpu.broadcast")
def _broadcast(ctx: Lowering, op: OpView) -> None:
    source = ctx.fragment(op.operation.operands[0])
    info = tile_of(op.operation.results[0])
    unit = [size == 1 for size in source.info.shape]
    places = [
        tuple(0 if one else x for one, x in zip(unit, offset, strict=True))
        for offset in info.layout.register_offsets
    ]
    _take_from(ctx, op, source, places)


def _take_from(
    ctx: Lowering, op: OpView, source: Fragment, places: Sequence[tuple[int, ...]]
) -> None:
    """Sets the result to the registers at `places` of another tile."""
    if ctx.when_stored.computed(op.operation.results[0]):
        ctx.defer(op, lambda i: source.at(places[i]), lambda i: source.prepare(places[i]))
    else:
        ctx.set(op, [source.at(place) for place in places])


@lowers("tile_gpu.permute")
def _permute(ctx: Lowering, op: OpView) -> None:
    source = ctx.fragment(op.operation.operands[0])
    permutation = int_list(op, "permutation")
    info = tile_of(op.operation.results[0])

    def before(offset: Sequence[int]) -> tuple[int, ...]:
        coordinates = [0] * len(offset)
        for position, x in zip(permutation, offset, strict=True):
            coordinates[position] = x
        return tuple(coordinates)

    _take_from(ctx, op, source, [before(offset) for offset in info.layout.register_offsets])


@lowers("tile_gpu.convert_layout")
def _convert_layout(ctx: Lowering, op: OpView) -> None:
    """What is left after `place-buffers`: the same threads, other registers."""
    source = ctx.fragment(op.operation.operands[0])
    info = tile_of(op.operation.results[0])
    ctx.set(op, [source.at(offset) for offset in info.layout.register_offsets])


@lowers("tile_gpu.reinterpret")
def _reinterpret(ctx: Lowering, op: OpView) -> None:
    """Registers of neighbours are parts of one wider number, the first the lowest."""
    source = ctx.fragment(op.operation.operands[0])
    info = tile_of(op.operation.results[0])
    before, after = len(source.registers), info.layout.num_registers
    type_ = ctx.register_type(info.element)
    if before >= after:
        parts = before // after
        groups = [source.registers[i : i + parts] for i in range(0, before, parts)]
        ctx.set(op, [ctx.bitcast(_joined(ctx, group), type_) for group in groups])
    else:
        wide = [_parts(ctx, value, after // before, ctx.width(type_)) for value in source.registers]
        ctx.set(op, [ctx.bitcast(part, type_) for group in wide for part in group])


def _joined(ctx: Lowering, values: Sequence[Value]) -> Value:
    """An integer made of the bits of `values`."""
    b, width = ctx.builder, ctx.width(values[0].type)
    wide = b.type(f"i{width * len(values)}")
    result = None
    for place, value in enumerate(values):
        part = ctx.bitcast(value, b.type(f"i{width}"))
        if part.type != wide:
            part = b.op("arith.extui", [part], wide)
        if place:
            part = b.op("arith.shli", [part, b.constant(place * width, wide)], wide)
        result = part if result is None else b.op("arith.ori", [result, part], wide)
    assert result is not None
    return result


def _parts(ctx: Lowering, value: Value, count: int, width: int) -> list[Value]:
    """The bits of `value` as integers of `width` bits."""
    b, wide = ctx.builder, ctx.builder.type(f"i{ctx.width(value.type)}")
    bits, narrow = ctx.bitcast(value, wide), b.type(f"i{width}")
    parts = []
    for place in range(count):
        moved = bits
        if place:
            moved = b.op("arith.shrui", [bits, b.constant(place * width, wide)], wide)
        parts.append(moved if narrow == wide else b.op("arith.trunci", [moved], narrow))
    return parts


# ---- arithmetic -------------------------------------------------------------------------------


def _result_type(ctx: Lowering, op: OpView) -> Type:
    return ctx.flat_types(op.operation.results)[0]


@lowers("tile_gpu.call")
def _call(ctx: Lowering, op: OpView) -> None:
    callee = text_attr(op, "callee")
    result = _result_type(ctx, op)
    if callee.startswith("llvm."):
        ctx.each(op, lambda given: ctx.call_intrinsic(callee, given, result).results[0])
        return
    declare_function(ctx, callee, [ctx.flat_types([o])[0] for o in op.operation.operands], result)
    count = len(op.operation.operands)
    attributes = {
        "callee": FlatSymbolRefAttr.get(callee),
        "operandSegmentSizes": ctx.builder.segments(count, 0),
        "op_bundle_sizes": ctx.builder.attribute("array<i32>"),
    }
    ctx.each(op, lambda given: ctx.builder.op("llvm.call", given, result, attributes))


@lowers("tile_gpu.inline_ptx")
def _inline_ptx(ctx: Lowering, op: OpView) -> None:
    text = text_attr(op, "ptx")
    constraints = text_attr(op, "constraints")
    result = _result_type(ctx, op)
    ctx.each(op, lambda given: ctx.asm(text, constraints, given, result, False).results[0])


@lowers("tile_gpu.cast")
def _cast(ctx: Lowering, op: OpView) -> None:
    """The operation of arith of the same name; 8-bit floats already are the integers that a
    bitcast of them gives."""
    name, result = f"arith.{keyword(op, 'kind')}", _result_type(ctx, op)
    if name == "arith.extf" and _widens_pairs(ctx, op):
        ctx.each(op, lambda given: _widened(ctx, given[0]))
        return

    def apply(given: list[Value]) -> Value:
        if name == "arith.bitcast" and given[0].type == result:
            return given[0]
        return ctx.builder.op(name, given, result)

    ctx.each(op, apply)


def _widens_pairs(ctx: Lowering, op: OpView) -> bool:
    """Whether an epilogue makes f32 of bf16, two of which lie in one register."""
    elements = [tile_info(v.type) for v in (op.operation.operands[0], op.operation.results[0])]
    names = [info.element for info in elements if info is not None]
    return names == ["bf16", "f32"] and ctx.when_stored.computed(op.operation.results[0])


def _widened(ctx: Lowering, value: Value) -> Value:
    """A bf16 is the upper half of an f32. In integers, LLVM sees that to mask what lies in an upper
    half is enough; `cvt` takes two instructions for it."""
    b = ctx.builder
    bits = b.op("arith.extui", [b.op("arith.bitcast", [value], b.i16)], b.i32)
    moved = b.op("arith.shli", [bits, b.c32(16)], b.i32)
    return b.op("arith.bitcast", [moved], b.type("f32"))


@lowers("tile_gpu.select")
def _select(ctx: Lowering, op: OpView) -> None:
    result = _result_type(ctx, op)
    ctx.each(op, lambda given: ctx.builder.op("arith.select", given, result))
