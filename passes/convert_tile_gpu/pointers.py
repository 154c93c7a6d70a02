"""Loads and stores through addresses: gather and scatter."""

from __future__ import annotations

import math

from tileir.compiler.tile_types import TileInfo, tile_info
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.analysis.memory_accesses import access_vector
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.scratch import shared_by_all
from tileir.passes.convert_tile_gpu.vectors import (
    both,
    load_vector,
    memory_qualifier,
    ordered_load,
    ordered_store,
    store_vector,
)


def pointer_to(ctx: Lowering, address: Value) -> Value:
    """An i64 as a pointer to global memory."""
    return ctx.builder.op("llvm.inttoptr", [address], ctx.builder.type("!llvm.ptr<1>"))


def _runs(op: tile_gpu.GatherOp | tile_gpu.ScatterOp, info: TileInfo | None) -> list[list[int]]:
    """Registers whose addresses follow each other, as far as one instruction reaches."""
    if info is None:
        return [[0]]
    last = len(info.shape) - 1
    vector = math.gcd(access_vector(op, info), info.layout.run(last))
    return info.layout.groups(last, vector)


@lowers("tile_gpu.gather")
def _gather(ctx: Lowering, op: tile_gpu.GatherOp) -> None:
    info = tile_info(op.result.type)
    element = info.element if info else str(op.result.type)
    count = info.layout.num_registers if info else 1
    addresses, masks = ctx.registers(op.addresses, count), ctx.masks(op.mask, count)
    qualifier = memory_qualifier(op)
    owner = None if op.scratch is None else ctx.owner_of(info)
    values: list[Value] = [addresses[0]] * count
    for group in _runs(op, info):
        guard = both(ctx, masks[group[0]], owner)
        address = pointer_to(ctx, addresses[group[0]])
        if qualifier:
            loaded = [ordered_load(ctx, address, element, guard, 0, qualifier)]
        else:
            loaded = load_vector(ctx, address, len(group), element, guard, 0)
        for register, value in zip(group, loaded, strict=True):
            values[register] = value
    if op.other is not None:
        others = ctx.registers(op.other, count)
        values = [
            value if mask is None else ctx.select(mask, value, other)
            for mask, value, other in zip(masks, values, others, strict=True)
        ]
    if op.scratch is not None:
        values = shared_by_all(ctx, op.result, op.scratch, values)
    ctx.set(op, values)


@lowers("tile_gpu.prefetch_lines")
def _prefetch_lines(ctx: Lowering, op: tile_gpu.PrefetchLinesOp) -> None:
    info = tile_info(op.addresses.type)
    count = info.layout.num_registers if info else 1
    owner = ctx.owner_of(info)
    addresses, masks = ctx.registers(op.addresses, count), ctx.masks(op.mask, count)
    for address, mask in zip(addresses, masks, strict=True):
        guard = both(ctx, mask, owner)
        assert guard is not None
        operands = [pointer_to(ctx, address), guard]
        ctx.asm("@$1 prefetch.global.L2 [$0];", "l,b", operands, None, True)


@lowers("tile_gpu.scatter")
def _scatter(ctx: Lowering, op: tile_gpu.ScatterOp) -> None:
    info = tile_info(op.value.type)
    element = info.element if info else str(op.value.type)
    count = info.layout.num_registers if info else 1
    values, addresses = ctx.registers(op.value, count), ctx.registers(op.addresses, count)
    masks, owner = ctx.masks(op.mask, count), ctx.owner_of(info)
    qualifier = memory_qualifier(op)
    for group in _runs(op, info):
        guard = both(ctx, masks[group[0]], owner)
        address = pointer_to(ctx, addresses[group[0]])
        stored = [values[r] for r in group]
        if qualifier:
            ordered_store(ctx, address, stored[0], element, guard, qualifier)
        else:
            store_vector(ctx, address, stored, element, guard)
