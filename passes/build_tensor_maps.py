"""build-tensor-maps: a block makes the tensor maps that no launcher made for it.

A map has to lie in global memory before a copy may use it, and no two running blocks may share
one. So each block takes a slot from a pool, makes its maps in shared memory, copies them to the
slot, and gives the slot back when all copies are complete.

    %map = tensor_map %p ...         %slot = acquire_map_slot
    specialize ...              =>   %map = tensor_map %p ... slot %slot scratch %s
                                     barrier
                                     specialize ...
                                     barrier
                                     release_map_slot %slot
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.tile_types import BufferInfo
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, Value
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_named, ops_of

#: A map, as a buffer of one line of shared memory.
_MAP = BufferInfo((16,), "i64", (0,))
MAP_BYTES = 128


@dataclass(frozen=True)
class BuildTensorMaps(ModulePass):
    """Let blocks make the tensor maps that no launcher made for them."""

    name = "build-tensor-maps"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            maps = [op for op in ops_of(kernel, tile_gpu.TensorMapOp) if op.slot is None]
            if maps:
                slot = _make_slot(maps)
                split = ops_of(kernel, tile_gpu.SpecializeOp)[0]
                Builder(InsertionPoint(split), split.location).create("tile_gpu.barrier")
                _release_slot(split, slot, len(maps))


def _make_slot(maps: list[tile_gpu.TensorMapOp]) -> Value:
    """Gives each map its place in a slot and its scratch."""
    b = Builder(InsertionPoint(maps[0]), maps[0].location)
    scratch = _alloc(b, replace(_MAP, stages=len(maps)))
    address = _alloc(b, BufferInfo((1,), "i64", (0,)))
    count = {"count": b.i64_attr(len(maps))}
    slot = b.op("tile_gpu.acquire_map_slot", [address], b.i64, count)
    for index, old in enumerate(maps):
        b = Builder(InsertionPoint(old), old.location)
        line = b.op("tile_gpu.stage", [scratch, b.c32(index)], b.type(str(_MAP)))
        place = b.add(slot, b.c64(index * MAP_BYTES)) if index else slot
        operands = [*old.operation.operands, place, line]
        rank = len(old.sizes)
        has_rows = int(old.rows is not None)
        segments = b.attribute(f"array<i32: 1, {rank}, {rank}, {has_rows}, 1, 1>")
        new = b.op(
            "tile_gpu.tensor_map", operands, old.result.type, {"operandSegmentSizes": segments}
        )
        old.result.replace_all_uses_with(new)
        old.operation.erase()
    return slot


def _alloc(b: Builder, info: BufferInfo) -> Value:
    return b.create("tile_gpu.alloc", results=[b.type(str(info))]).results[0]


def _release_slot(split: tile_gpu.SpecializeOp, slot: Value, count: int) -> None:
    """When all consumers are done: then all loads have arrived, since they waited for them."""
    b = Builder(InsertionPoint(split.consumers.blocks[0]), split.location)
    if ops_named(split, "tile_gpu.tma_store"):
        complete = {"complete": b.attribute("unit")}
        b.create("tile_gpu.tma_store_wait", attributes=complete)
    b.point = InsertionPoint.after(split)
    b.create("tile_gpu.barrier")
    b.create("tile_gpu.release_map_slot", [slot], attributes={"count": b.i64_attr(count)})
