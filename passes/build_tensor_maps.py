"""build-tensor-maps: a block makes the tensor maps that no launcher made for it, or finds them.

A map has to lie in global memory before a copy may use it, and no two running blocks may write
one. What is in the maps of a kernel follows from a few values, mostly its parameters. So maps are
kept from launch to launch in a table, by these values. A block that does not find its maps there
makes them in shared memory and copies them to an entry of the table that it claims; if it gets
none, to a slot of a pool, which it gives back when all copies are complete.

    %map = tensor_map %p ...         %slot, %state = acquire_map_slot key(%p ...) scratch %s
    specialize ...              =>   %map = tensor_map %p ... slot %slot scratch %t unless %found
                                     barrier
                                     if %state is 1: publish_map_slot key(%p ...) slot %slot
                                     specialize ...
                                     %slot, %state = read_map_slot %s
                                     if %state is 2: wait, barrier, release_map_slot %slot
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tileir.compiler.builder import Attributes, Builder
from tileir.compiler.ir_util import EXTENSIONS, defining_op
from tileir.compiler.tile_types import BufferInfo, tensor_map_box
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, Value
from tileir.passes.base import ModulePass
from tileir.passes.walk import kernels, ops_named, ops_of

#: A map, as a buffer of one line of shared memory.
_MAP = BufferInfo((16,), "i64", (0,))
MAP_BYTES = 128
#: What `acquire_map_slot` found.
FOUND, CLAIMED, POOLED = 0, 1, 2


@dataclass(frozen=True)
class BuildTensorMaps(ModulePass):
    """Let blocks find or make the tensor maps that no launcher made for them."""

    name = "build-tensor-maps"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            maps = [op for op in ops_of(kernel, tile_gpu.TensorMapOp) if op.slot is None]
            if maps:
                split = ops_of(kernel, tile_gpu.SpecializeOp)[0]
                _find_or_make(maps, split)


def _find_or_make(maps: list[tile_gpu.TensorMapOp], split: tile_gpu.SpecializeOp) -> None:
    b = Builder(InsertionPoint(maps[-1]), maps[-1].location)
    scratch = b.alloc(replace(_MAP, stages=len(maps)))
    address = b.alloc(BufferInfo((1,), "i64", (0,)))
    count: Attributes = {"count": b.i64_attr(len(maps))}
    key = _key(maps)
    acquire = b.create("tile_gpu.acquire_map_slot", [*key, address], [b.i64, b.i32], count)
    slot, state = acquire.results
    found = b.compare("eq", state, b.c32(FOUND))
    for index, old in enumerate(maps):
        _place(b, old, index, slot, scratch, found)
    b = Builder(InsertionPoint(split), split.location)
    b.create("tile_gpu.barrier")
    with _if_state(b, state, CLAIMED):
        b.create("tile_gpu.publish_map_slot", [*key, slot], attributes=count)
    b.point = InsertionPoint.after(split)
    _release(b, split, address, count)


def _key(maps: Iterable[tile_gpu.TensorMapOp]) -> list[Value]:
    """What the maps of this kernel follow from, each once. The rest of a map is constant."""
    values: dict[Value, None] = {}
    for map_ in maps:
        order = tensor_map_box(map_.result.type).order
        strides = [map_.strides[dim] for dim in order[:-1]]
        rows = [] if map_.rows is None else [map_.rows]
        for value in [map_.base, *map_.sizes, *strides, *rows]:
            source = _unextended(value)
            if source is not None:
                values[source] = None
    return list(values)


def _unextended(value: Value) -> Value | None:
    """What `value` was extended from, in fewer words; None for constants."""
    op = defining_op(value)
    name = "" if op is None else op.operation.name
    if name == "arith.constant":
        return None
    if op is not None and name in EXTENSIONS and str(op.operation.operands[0].type) == "i32":
        return _unextended(op.operation.operands[0])
    return value


def _place(
    b: Builder, old: tile_gpu.TensorMapOp, index: int, slot: Value, scratch: Value, found: Value
) -> None:
    """Gives a map its place in the slot and its scratch."""
    line = b.op("tile_gpu.stage", [scratch, b.c32(index)], b.type(str(_MAP)))
    place = b.add(slot, b.c64(index * MAP_BYTES)) if index else slot
    segments = b.segments(1, len(old.sizes), len(old.sizes), old.rows, 1, 1, 1)
    new = b.op(
        "tile_gpu.tensor_map", [*old.operation.operands, place, line, found], old.result.type,
        {"operandSegmentSizes": segments},
    )  # fmt: skip
    old.result.replace_all_uses_with(new)
    old.operation.erase()


@contextlib.contextmanager
def _if_state(b: Builder, state: Value, wanted: int) -> Iterator[None]:
    branch = b.create("scf.if", [b.compare("eq", state, b.c32(wanted))], regions=2)
    with b.at(b.block(branch.regions[0])):
        yield
        b.create("scf.yield")


def _release(b: Builder, split: tile_gpu.SpecializeOp, address: Value, count: Attributes) -> None:
    """When copies that use the maps are complete: loads are, since consumers waited for them."""
    slot, state = b.create("tile_gpu.read_map_slot", [address], [b.i64, b.i32]).results
    with _if_state(b, state, POOLED):
        if ops_named(split, "tile_gpu.tma_store"):
            b.create("tile_gpu.tma_store_wait", attributes={"complete": b.attribute("unit")})
        b.create("tile_gpu.barrier")
        b.create("tile_gpu.release_map_slot", [slot], attributes=count)
