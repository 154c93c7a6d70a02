"""Constants, shape manipulation, extract and insert, pointers, grid coordinates."""

from __future__ import annotations

import numpy as np
from mlir import ir

from ..numerics import integers
from ..numerics.formats import I64, IntFormat
from . import access
from .access import Op
from .emitter import Emitter, Slot
from .registry import translates


@translates("constant")
def _constant(e: Emitter, op: Op) -> None:
    result = op.results[0]
    fmt = e.format_of(result)
    shape = tuple(result.type.shape)
    values, splat = access.dense(op.operation.attributes["value"], fmt)
    held = (1,) * len(shape) if splat else shape
    tile = values.reshape(held)
    e.bind(result, Slot(e.constant(tile if shape else tile[()]), fmt, shape, held, None, True))


@translates("iota")
def _iota(e: Emitter, op: Op) -> None:
    result = op.results[0]
    fmt = e.format_of(result)
    assert isinstance(fmt, IntFormat)
    shape = tuple(result.type.shape)
    tile = integers.wrap(np.arange(shape[0]), fmt)
    e.bind(result, Slot(e.constant(tile), fmt, shape, shape, None, True))


@translates("broadcast")
def _broadcast(e: Emitter, op: Op) -> None:
    """The repetition is left out until something needs it."""
    e.alias(op.results[0], e.slot(op.operands[0]))


def _reshaped(e: Emitter, op: Op, expression: str, of_mask: str) -> Slot:
    """Binds the result of an operation on one tile's shape; `of_mask` does the same to a mask
    `m` of the source's full shape."""
    source = e.slot(op.operands[0])
    invariant = source.invariant and not e.in_combiner
    result = e.new_slot(op.results[0], invariant=invariant)
    with e.hoisted(invariant):
        e.line(f"{result.name} = {expression}")
        if result.poison:
            e.line(
                f"{result.poison} = poison.through({source.poison}, {source.shape}, "
                f"lambda m: {of_mask})"
            )
    return result


@translates("reshape")
def _reshape(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    shape = tuple(op.results[0].type.shape)
    if shape == source.shape:
        e.alias(op.results[0], source)
        return
    uniform = all(extent == 1 for extent in source.held)
    held = (1,) * len(shape) if uniform else shape
    value = source.name if uniform else e.full(source)
    scalar = "[()]" if not held else ""  # rank-0 tiles are NumPy scalars where possible
    result = _reshaped(e, op, f"{value}.reshape({held}){scalar}", f"m.reshape({shape})")
    result.held = held


@translates("permute")
def _permute(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    order = tuple(ir.DenseI32ArrayAttr(op.operation.attributes["permutation"]))
    result = _reshaped(e, op, f"{source.name}.transpose({order})", f"m.transpose({order})")
    result.held = tuple(source.held[k] for k in order)


@translates("cat")
def _concatenate(e: Emitter, op: Op) -> None:
    first, second = (e.slot(value) for value in op.operands)
    axis = access.integer(op, "dim")
    result = e.new_slot(op.results[0])
    e.line(f"{result.name} = np.concatenate(({e.full(first)}, {e.full(second)}), axis={axis})")
    if result.poison:
        e.line(
            f"{result.poison} = poison.concatenate({first.poison}, {first.shape}, "
            f"{second.poison}, {second.shape}, {axis})"
        )


def _slice_index(e: Emitter, values: list[ir.Value], counts: list[int]) -> str:
    """The slice numbers as a tuple, checked."""
    slots = [e.slot(value) for value in values]
    for slot in slots:
        e.demand(slot, "a slice index")
    index = "(" + "".join(f"int({slot.name}), " for slot in slots) + ")"
    if e.check:
        name = e.fresh("i")
        e.line(f"{name} = {index}")
        e.line(f"checks.slice_index({name}, {tuple(counts)})")
        return name
    return index


def _counts(whole: tuple[int, ...], part: tuple[int, ...]) -> list[int]:
    return [n // k for n, k in zip(whole, part, strict=True)]


@translates("extract")
def _extract(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    shape = tuple(op.results[0].type.shape)
    index = _slice_index(e, list(op.operands)[1:], _counts(source.shape, shape))
    result = e.new_slot(op.results[0])
    scalar = "" if shape else "[()]"
    e.line(f"{result.name} = shapes.extract({e.full(source)}, {index}, {shape}){scalar}")
    if result.poison:
        e.line(
            f"{result.poison} = poison.through({source.poison}, {source.shape}, "
            f"lambda m: shapes.extract(m, {index}, {shape}))"
        )


@translates("insert")
def _insert(e: Emitter, op: Op) -> None:
    piece, target = e.slot(op.operands[0]), e.slot(op.operands[1])
    index = _slice_index(e, list(op.operands)[2:], _counts(target.shape, piece.shape))
    result = e.new_slot(op.results[0])
    e.line(f"{result.name} = shapes.insert({e.full(piece)}, {e.full(target)}, {index})")
    if result.poison:
        e.line(
            f"{result.poison} = poison.insert({piece.poison}, {piece.shape}, {target.poison}, "
            f"{target.shape}, lambda p, m: shapes.insert(p, m, {index}))"
        )


@translates("select")
def _select(e: Emitter, op: Op) -> None:
    condition, first, second = (e.slot(value) for value in op.operands)
    result = e.elementwise(op, lambda c, a, b: f"np.where({c}, {a}, {b})")
    if result.poison:
        with e.hoisted(result.invariant):
            e.line(
                f"{result.poison} = poison.select({condition.name}, {condition.poison}, "
                f"{first.poison}, {second.poison})"
            )


@translates("offset")
def _offset(e: Emitter, op: Op) -> None:
    pointer, offset = e.slot(op.operands[0]), e.slot(op.operands[1])
    assert isinstance(offset.number, IntFormat)
    width = pointer.pointee.memory_bits if pointer.pointee.bits != 4 else 4
    signed = f"integers.as_signed({{}}, {e.format_name(offset.number)})"

    def expression(p: str, n: str) -> str:
        wide = n if offset.number is I64 else f"{signed.format(n)}.astype(np.int64)"
        step = f"{wide} * {width // 8}" if width >= 8 else f"({wide} * {width} >> 3)"
        return f"{p} + {step}"

    e.elementwise(op, expression)


@translates("pack")
def _pack(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    fmt = source.number
    width = fmt.bits if fmt.bits < 8 else fmt.memory_bits
    _reshaped(
        e,
        op,
        f"bits.pack({e.full(source)}, {e.format_name(fmt)})",
        f"poison.regroup(m, {width}, 8)",
    )


@translates("unpack")
def _unpack(e: Emitter, op: Op) -> None:
    source = e.slot(op.operands[0])
    fmt = e.format_of(op.results[0])
    width = fmt.value_bits if fmt.value_bits < 8 else fmt.memory_bits
    _reshaped(
        e,
        op,
        f"bits.unpack({e.full(source)}, {e.format_name(fmt)})",
        f"poison.regroup(m, 8, {width})",
    )


@translates("get_tile_block_id")
def _block_id(e: Emitter, op: Op) -> None:
    slots = [e.new_slot(result) for result in op.results]
    e.line(f"{', '.join(slot.name for slot in slots)} = t.x, t.y, t.z")


@translates("get_num_tile_blocks")
def _grid_size(e: Emitter, op: Op) -> None:
    slots = [e.new_slot(result, invariant=not e.in_combiner) for result in op.results]
    with e.hoisted(not e.in_combiner):
        e.line(f"{', '.join(slot.name for slot in slots)} = run.grid")
