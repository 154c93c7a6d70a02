"""place-buffers: spell out what passes through shared memory.

    %y = tile_gpu.convert_layout %x        %b = tile_gpu.alloc
                                     =>    tile_gpu.local_store %x, %b
                                           %y = tile_gpu.local_load %b

and likewise for `to_shared` (a store, and the buffer stands for the value), for slices and
concatenations (stores and loads of parts), for tiles that are printed, and for atomics, ordered
loads and allocations whose result more than one thread needs (scratch from which all read).
Barriers come later (`insert-barriers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import ancestors, int_attr, keyword
from tileir.compiler.tile_types import BufferInfo, buffer_info, is_tile_type, tile_of
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.passing_buffers import PASSING, passing_buffers, same_warps
from tileir.passes.base import ModulePass
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import LOOPS, kernels, replace_op, walk


@dataclass(frozen=True)
class PlaceBuffers(ModulePass):
    """Spell out layout conversions and staging through shared memory."""

    name = "place-buffers"

    def apply(self, module: Operation) -> None:
        for kernel in kernels(module):
            num_warps = num_warps_of(kernel)
            for op in walk(kernel):
                name = op.operation.name
                if name == "tile_gpu.convert_layout":
                    _place_conversion(op, num_warps)
                elif name == "tile_gpu.to_shared":
                    _place_operand(op)
                elif name in PASSING:
                    _PLACING[name](op, passing_buffers(op, num_warps))


def _place_conversion(op: OpView, num_warps: int) -> None:
    buffers = passing_buffers(op, num_warps)
    if not buffers:  # threads keep what they have
        return
    source = tile_of(op.operation.operands[0])
    result = tile_of(op.operation.results[0])
    b = Builder(InsertionPoint(op), op.location)
    within_warps = same_warps(source.layout, result.layout, num_warps)
    buffer = b.alloc(buffers[0], per_warp=within_warps)
    if within_warps and any(around.name in LOOPS for around in ancestors(op)):
        # Lanes may still be reading what the last round left there.
        b.create("tile_gpu.warp_barrier")
    b.create("tile_gpu.local_store", [op.operation.operands[0], buffer])
    if within_warps:
        b.create("tile_gpu.warp_barrier")
    replace_op(op, b.op("tile_gpu.local_load", [buffer], op.operation.results[0].type))


def _place_operand(op: OpView) -> None:
    b = Builder(InsertionPoint(op), op.location)
    buffer = b.alloc(buffer_info(op.operation.results[0].type))
    b.create("tile_gpu.local_store", [op.operation.operands[0], buffer])
    users = [use.owner for use in op.operation.results[0].uses]
    if any(keyword(user, "instruction", "") == "wgmma" for user in users):
        b.create("tile_gpu.fence_async")
    replace_op(op, buffer)


# ---- parts of tiles ---------------------------------------------------------------------------


def _offsets(b: Builder, indices: Sequence[Value], part: Value) -> list[Value]:
    """Positions of the slice with these numbers."""
    extents = tile_of(part).shape
    return [b.mul(i, b.c32(n)) if n > 1 else i for i, n in zip(indices, extents, strict=True)]


def _place_extract(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    b = Builder(InsertionPoint(op), op.location)
    source, *indices = op.operation.operands
    result = op.operation.results[0]
    buffer = b.alloc(buffers[0])
    b.create("tile_gpu.local_store", [source, buffer])
    operands = [buffer, *_offsets(b, indices, result)]
    replace_op(op, b.op("tile_gpu.local_load", operands, result.type))


def _place_insert(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    b = Builder(InsertionPoint(op), op.location)
    source, destination, *indices = op.operation.operands
    buffer = b.alloc(buffers[0])
    b.create("tile_gpu.local_store", [destination, buffer])
    b.create("tile_gpu.local_store", [source, buffer, *_offsets(b, indices, source)])
    replace_op(op, b.op("tile_gpu.local_load", [buffer], destination.type))


def _place_cat(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    b = Builder(InsertionPoint(op), op.location)
    result, dim = op.operation.results[0], int_attr(op, "dim")
    buffer = b.alloc(buffers[0])
    for number, part in enumerate(op.operation.operands):
        indices = [b.c32(number if d == dim else 0) for d in range(len(tile_of(part).shape))]
        b.create("tile_gpu.local_store", [part, buffer, *_offsets(b, indices, part)])
    replace_op(op, b.op("tile_gpu.local_load", [buffer], result.type))


# ---- values that several threads need -----------------------------------------------------------


def _place_printed(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    """One thread prints: tiles go where it can read them."""
    b = Builder(InsertionPoint(op), op.location)
    tiles = [i for i, operand in enumerate(op.operation.operands) if is_tile_type(operand.type)]
    for index, info in zip(tiles, buffers, strict=True):
        buffer = b.alloc(info)
        b.create("tile_gpu.local_store", [op.operation.operands[index], buffer])
        op.operation.operands[index] = buffer


def _place_allocation(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    """A buffer for the address that one thread gets from the heap for all."""
    b = Builder(InsertionPoint(op), op.location)
    attributes = dict(op.operation.attributes.items())
    types = [op.operation.results[0].type]
    scratch = [b.alloc(info) for info in buffers]
    replace_op(op, b.create(op.operation.name, scratch, types, attributes).results[0])


def _place_scratch(op: OpView, buffers: Sequence[BufferInfo]) -> None:
    """A buffer for a value that one thread reads from memory and several need."""
    for info in buffers:
        b = Builder(InsertionPoint(op), op.location)
        _append_scratch(op, b, b.alloc(info))


def _append_scratch(op: OpView, b: Builder, buffer: Value) -> None:
    """The same operation with `buffer` as its last operand."""
    attributes = dict(op.operation.attributes.items())
    sizes = list(attributes["operandSegmentSizes"])
    sizes[-1] = 1
    attributes["operandSegmentSizes"] = b.segments(*sizes)
    new = b.create(
        op.operation.name,
        [*op.operation.operands, buffer],
        [r.type for r in op.operation.results],
        attributes,
    )
    replace_op(op, *new.results)


_PLACING = {
    "tile_gpu.extract": _place_extract,
    "tile_gpu.insert": _place_insert,
    "tile_gpu.cat": _place_cat,
    "tile_gpu.print": _place_printed,
    "tile_gpu.malloc": _place_allocation,
    "tile_gpu.gather": _place_scratch,
    "tile_gpu.atomic_rmw": _place_scratch,
    "tile_gpu.atomic_cas": _place_scratch,
}
