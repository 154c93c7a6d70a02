"""Buffers in shared memory, and the asynchronous copies that fill them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tileir.compiler.ir_util import int_attr
from tileir.compiler.layout import Layout, blocked
from tileir.compiler.shared_memory import vector_elements
from tileir.compiler.tile_types import (
    CHUNK_BYTES,
    BufferInfo,
    TileInfo,
    buffer_info,
    tile_info,
)
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.global_memory import (
    TensorAccess,
    memory_type,
    pack,
    unpack,
)
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer, lowers

#: The swizzle reads the low three bits of the row.
_SWIZZLE_PERIOD = 8


@lowers("tile_gpu.alloc")
def _alloc(l: Lowering, op: OpView) -> None:
    info = buffer_info(op.operation.results[0].type)
    offset = int_attr(op, "offset")
    memref = l.in_prologue(lambda: view(l, info, l.builder.constant(offset, l.builder.index)))
    l.buffers[op.operation.results[0]] = SharedBuffer(info, memref, offset)


def view(l: Lowering, info: BufferInfo, byte_shift: Value) -> Value:
    """One stage of a buffer as a memref of its elements, `byte_shift` bytes into the block's
    shared memory."""
    element = memory_type(l, info.element)
    type_ = l.builder.type(f"memref<{info.stage_bytes // info.element_bytes}x{element}, 3>")
    return l.builder.op("memref.view", [l.shared, byte_shift], type_)


@lowers("tile_gpu.stage")
def _stage(l: Lowering, op: OpView) -> None:
    ring = l.buffers[op.operation.operands[0]]
    info = buffer_info(op.operation.results[0].type)
    b = l.builder
    distance = b.mul(l.scalar(op.operation.operands[1]), b.c32(info.stage_bytes))
    shift = b.op("arith.index_cast", [b.add(distance, b.c32(ring.offset))], b.index)
    l.buffers[op.operation.results[0]] = SharedBuffer(info, view(l, info, shift), ring.offset)


@lowers("tile_gpu.barrier")
def _barrier(l: Lowering, op: OpView) -> None:
    l.builder.create("gpu.barrier")


# ---- addresses ----------------------------------------------------------------------------------


class SharedAddress:
    """Element indices into a buffer, for a thread at (row, column) plus constants.

    Rows are counted over all dimensions but the fastest. With a swizzle, the column part of the
    index depends on the row only through its low bits, so that it is computed once for rows that
    are a multiple of eight apart.
    """

    def __init__(self, l: Lowering, info: BufferInfo, row: Value, column: Value):
        self.l, self.info, self.row, self.column = l, info, row, column
        self._pitch = info.pitch_bytes // info.element_bytes
        self._columns: dict[tuple[int, int], Value] = {}
        self._row_base: Value | None = None

    @staticmethod
    def of_layout(l: Lowering, info: BufferInfo, layout: Layout) -> SharedAddress:
        b = l.builder
        row = b.c32(0)
        for dim in info.order[:-1]:
            row = b.add(b.mul(row, b.c32(info.shape[dim])), l.coordinate(layout, dim))
        return SharedAddress(l, info, row, l.coordinate(layout, info.order[-1]))

    def row_and_column(self, offset: Sequence[int]) -> tuple[int, int]:
        """Constant offsets in a tile as offsets of row and column."""
        row = 0
        for dim in self.info.order[:-1]:
            row = row * self.info.shape[dim] + offset[dim]
        return row, offset[self.info.order[-1]]

    def index(self, row: int, column: int) -> Value:
        """The index (of type index) of the element `row`, `column` from the thread's place."""
        b = self.l.builder
        if not self.info.swizzle:
            base, constant = self._base(), row * self._pitch + column
        else:
            base = b.add(self._base(), self._column(row % _SWIZZLE_PERIOD, column))
            constant = row * self._pitch
        total = b.add(base, b.c32(constant)) if constant else base
        return b.op("arith.index_cast", [total], b.index)

    def _base(self) -> Value:
        """The thread's row, and for plain buffers its column, in elements."""
        if self._row_base is None:
            b = self.l.builder
            rows = b.mul(self.row, b.c32(self._pitch))
            self._row_base = rows if self.info.swizzle else b.add(rows, self.column)
        return self._row_base

    def _column(self, row: int, column: int) -> Value:
        """The swizzled column, with the panel it lies in, in elements."""
        if (row, column) not in self._columns:
            self._columns[row, column] = self._swizzled(row, column)
        return self._columns[row, column]

    def _swizzled(self, row: int, column: int) -> Value:
        b, info = self.l.builder, self.info
        chunk_elements = CHUNK_BYTES // info.element_bytes
        shift, mask = {128: (0, 7), 64: (1, 3), 32: (2, 1)}[info.swizzle]
        place = b.add(self.column, b.c32(column))
        panel = b.op("arith.divui", [place, b.c32(info.panel)], b.i32)
        within = b.op("arith.remui", [place, b.c32(info.panel)], b.i32)
        chunk = b.op("arith.divui", [within, b.c32(chunk_elements)], b.i32)
        rest = b.op("arith.remui", [within, b.c32(chunk_elements)], b.i32)
        low = b.add(self.row, b.c32(row))
        key = b.op("arith.shrui", [low, b.c32(shift)], b.i32)
        key = b.op("arith.andi", [key, b.c32(mask)], b.i32)
        swizzled = b.op("arith.xori", [chunk, key], b.i32)
        index = b.add(b.mul(swizzled, b.c32(chunk_elements)), rest)
        if info.row > info.panel:
            panel_elements = info.num_rows * self._pitch
            index = b.add(index, b.mul(panel, b.c32(panel_elements)))
        return index


# ---- tiles to and from buffers --------------------------------------------------------------


def _vector_attributes(l: Lowering, info: BufferInfo, vector: int) -> dict:
    return {"alignment": l.builder.i64_attr(vector * info.element_bytes)}


@lowers("tile_gpu.local_store")
def _local_store(l: Lowering, op: OpView) -> None:
    store_fragment(l, op.operation.operands[0], l.buffers[op.operation.operands[1]])


def store_fragment(l: Lowering, tile: Value, buffer: SharedBuffer) -> None:
    """Every thread writes its registers; of copies, one."""
    fragment, info = l.fragment(tile), buffer.info
    vector = vector_elements(fragment.layout, info)
    with l.owners_only(fragment.layout):
        _write(l, fragment, buffer, vector)


def _write(l: Lowering, fragment: Fragment, buffer: SharedBuffer, vector: int) -> None:
    info = buffer.info
    address = SharedAddress.of_layout(l, info, fragment.layout)
    for group in fragment.layout.groups(info.order[-1], vector):
        place = address.index(*address.row_and_column(fragment.layout.register_offsets[group[0]]))
        value = pack(l, [fragment.registers[r] for r in group], info.element)
        name = "memref.store" if vector == 1 else "vector.store"
        attributes = {} if vector == 1 else _vector_attributes(l, info, vector)
        l.builder.create(name, [value, buffer.memref, place], attributes=attributes)


@lowers("tile_gpu.local_load")
def _local_load(l: Lowering, op: OpView) -> None:
    info = tile_info(op.operation.results[0].type)
    l.set(op, load_fragment(l, info, l.buffers[op.operation.operands[0]]))


def load_fragment(l: Lowering, tile: TileInfo, buffer: SharedBuffer) -> list[Value]:
    info, layout = buffer.info, tile.layout
    assert layout is not None
    vector = vector_elements(layout, info)
    address = SharedAddress.of_layout(l, info, layout)
    registers: list[Value | None] = [None] * layout.num_registers
    for group in layout.groups(info.order[-1], vector):
        place = address.index(*address.row_and_column(layout.register_offsets[group[0]]))
        for register, value in zip(group, load_elements(l, buffer, place, vector), strict=True):
            registers[register] = value
    return [r for r in registers if r is not None]


def load_elements(l: Lowering, buffer: SharedBuffer, place: Value, count: int) -> list[Value]:
    """`count` neighbouring elements of a buffer."""
    b, info = l.builder, buffer.info
    scalar = memory_type(l, info.element)
    if count == 1:
        return unpack(l, b.op("memref.load", [buffer.memref, place], scalar), 1, info.element)
    vector = b.type(f"vector<{count}x{scalar}>")
    attributes = _vector_attributes(l, info, count)
    loaded = b.op("vector.load", [buffer.memref, place], vector, attributes)
    return unpack(l, loaded, count, info.element)


# ---- asynchronous copies ----------------------------------------------------------------------


@lowers("tile_gpu.async_commit")
def _async_commit(l: Lowering, op: OpView) -> None:
    l.builder.create("nvvm.cp.async.commit.group")


@lowers("tile_gpu.async_wait")
def _async_wait(l: Lowering, op: OpView) -> None:
    attributes = {"n": l.builder.i32_attr(int_attr(op, "pending"))}
    l.builder.create("nvvm.cp.async.wait.group", attributes=attributes)


@lowers("tile_gpu.async_load")
def _async_load(l: Lowering, op: OpView) -> None:
    predicate = op.predicate
    with l.only_if(None if predicate is None else l.scalar(predicate)):
        _copy_tile(l, op)


def _copy_tile(l: Lowering, op: OpView) -> None:
    """Each thread copies chunks of up to 16 bytes along the contiguous dimension. What lies
    outside the tensor becomes zero, by a chunk that copies fewer elements than it has."""
    b, buffer = l.builder, l.buffers[op.buffer]
    info = buffer.info
    vector = min(CHUNK_BYTES, int_attr(op, "alignment")) // info.element_bytes
    vector = math.gcd(vector, info.row)
    layout = blocked(info.shape, info.order, vector, l.num_warps)
    access = TensorAccess(l, op, layout, info.element_bytes)
    target = SharedAddress.of_layout(l, info, layout)
    source = _global_memref(l, access.origin, info)
    with l.owners_only(layout):
        _copy_chunks(l, buffer, access, target, source, vector)


def _copy_chunks(
    l: Lowering, buffer: SharedBuffer, access: TensorAccess, target: SharedAddress, source: Value,
    vector: int,
) -> None:  # fmt: skip
    b, info, layout = l.builder, buffer.info, access.layout
    fastest = info.order[-1]
    attributes = {"dstElements": b.attribute(f"{vector} : index")}
    if vector * info.element_bytes == CHUNK_BYTES:
        attributes["bypassL1"] = b.attribute("unit")
    token = b.type("!nvgpu.device.async.token")
    for group in layout.groups(fastest, vector):
        offset = layout.register_offsets[group[0]]
        place = target.index(*target.row_and_column(offset))
        index = _element_index(l, access, offset)
        valid = _valid_elements(l, access, offset, fastest, vector)
        count = [] if valid is None else [valid]
        segments = f"array<i32: 1, 1, 1, 1, {len(count)}>"
        b.create(
            "nvgpu.device_async_copy",
            [buffer.memref, place, source, index, *count],
            [token],
            attributes | {"operandSegmentSizes": b.attribute(segments)},
        )


def _global_memref(l: Lowering, pointer: Value, info: BufferInfo) -> Value:
    """A memref over global memory from `pointer` on: the copy operation wants one."""
    b = l.builder
    scalar = memory_type(l, info.element)
    struct = b.type("!llvm.struct<(ptr<1>, ptr<1>, i64, array<1 x i64>, array<1 x i64>)>")
    fields: list[tuple[str, Value]] = [
        ("0", pointer),
        ("1", pointer),
        ("2", b.c64(0)),
        ("3, 0", b.c64(_UNBOUNDED)),
        ("4, 0", b.c64(1)),
    ]
    value = b.op("llvm.mlir.poison", [], struct)
    for position, field in fields:
        attributes = {"position": b.attribute(f"array<i64: {position}>")}
        value = b.op("llvm.insertvalue", [value, field], struct, attributes)
    memref = b.type(f"memref<?x{scalar}, 1>")
    return b.op("builtin.unrealized_conversion_cast", [value], memref)


_UNBOUNDED = (1 << 62) - 1


def _element_index(l: Lowering, access: TensorAccess, offset: Sequence[int]) -> Value:
    b = l.builder
    along = 0 if access.contiguous is None else offset[access.contiguous]
    elements = access.row_elements(offset)
    if elements is None:
        return b.constant(along, b.index)
    index = b.op("arith.index_cast", [elements], b.index)
    return b.add(index, b.constant(along, b.index)) if along else index


def _valid_elements(
    l: Lowering, access: TensorAccess, offset: Sequence[int], fastest: int, vector: int
) -> Value | None:
    """How many elements of a chunk lie inside the tensor; None if all do."""
    b, count = l.builder, None
    remaining = access.remaining[fastest]
    if remaining is not None:
        left = b.sub(remaining, b.c32(offset[fastest]))
        left = b.op("arith.minsi", [left, b.c32(vector)], b.i32)
        count = b.op("arith.maxsi", [left, b.c32(0)], b.i32)
    for dim in range(access.layout.rank):
        inside = access.inside_along(dim, offset[dim]) if dim != fastest else None
        if inside is not None:
            some = b.c32(vector) if count is None else count
            count = b.op("arith.select", [inside, some, b.c32(0)], b.i32)
    return None if count is None else b.op("arith.index_cast", [count], b.index)

