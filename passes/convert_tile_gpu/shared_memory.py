"""Buffers in shared memory: their stages, addresses in them, tiles to and from them."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.builder import Attributes, Builder
from tileir.compiler.ir_util import int_attr
from tileir.compiler.layout import Layout
from tileir.compiler.shared_memory import vector_elements
from tileir.compiler.tile_types import (
    CHUNK_BYTES,
    SWIZZLE_PERIOD,
    BufferInfo,
    TileInfo,
    buffer_info,
    tile_of,
)
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.vectors import memory_type, pack, unpack


@lowers("tile_gpu.alloc")
def _alloc(ctx: Lowering, op: OpView) -> None:
    info = buffer_info(op.operation.results[0].type)
    offset = int_attr(op, "offset")
    start = ctx.in_prologue(lambda: _start(ctx, info, offset))
    memref = ctx.in_prologue(lambda: view(ctx, info, start))
    ctx.buffers[op.operation.results[0]] = SharedBuffer(info, memref, offset, start)


def _start(ctx: Lowering, info: BufferInfo, offset: int) -> Value:
    """Where a buffer starts (index): of a buffer among replicated warps, each set has its own."""
    b = ctx.builder
    if ctx.num_replicas == 1:
        return b.constant(offset, b.index)
    place = b.add(b.mul(ctx.replica, b.c32(info.bytes)), b.c32(offset))
    return b.op("arith.index_cast", [place], b.index)


def view(ctx: Lowering, info: BufferInfo, byte_shift: Value) -> Value:
    """One stage of a buffer as a memref of its elements, `byte_shift` bytes into the block's
    shared memory."""
    element = memory_type(ctx, info.element)
    type_ = ctx.builder.type(f"memref<{info.stage_bytes // info.element_bytes}x{element}, 3>")
    return ctx.builder.op("memref.view", [ctx.shared, byte_shift], type_)


@lowers("tile_gpu.stage")
def _stage(ctx: Lowering, op: OpView) -> None:
    ring = ctx.buffers[op.operation.operands[0]]
    info = buffer_info(op.operation.results[0].type)
    b = ctx.builder
    distance = b.mul(ctx.scalar(op.operation.operands[1]), b.c32(info.stage_bytes))
    shift = b.op("arith.index_cast", [b.add(distance, b.c32(ring.offset))], b.index)
    buffer = SharedBuffer(info, view(ctx, info, shift), ring.offset, shift)
    ctx.buffers[op.operation.results[0]] = buffer


@lowers("tile_gpu.as_panels")
def _as_panels(ctx: Lowering, op: tile_gpu.AsPanelsOp) -> None:
    old, info = ctx.buffers[op.buffer], buffer_info(op.result.type)
    memref = view(ctx, info, old.start)
    ctx.buffers[op.result] = SharedBuffer(info, memref, old.offset, old.start)


@lowers("tile_gpu.barrier")
def _barrier(ctx: Lowering, op: OpView) -> None:
    ctx.barrier()


@lowers("tile_gpu.warp_barrier")
def _warp_barrier(ctx: Lowering, op: OpView) -> None:
    ctx.builder.create("nvvm.bar.warp.sync", [ctx.builder.c32(-1)])


def address(ctx: Lowering, buffer: SharedBuffer) -> Value:
    """Where a buffer starts in the shared window (i32), for instructions without memrefs."""
    return _address_of(ctx, buffer.memref)


def shared_address(ctx: Lowering) -> Value:
    """Where the kernel's shared memory starts in the shared window (i32)."""
    assert ctx.shared is not None, "a kernel with buffers has shared memory"
    return _address_of(ctx, ctx.shared)


def _address_of(ctx: Lowering, memref: Value) -> Value:
    b = ctx.builder
    index = b.op("memref.extract_aligned_pointer_as_index", [memref], b.index)
    return b.op("arith.index_cast", [index], b.i32)


def shared_pointer(ctx: Lowering, place: Value) -> Value:
    """A pointer to a place in the shared window (i32)."""
    return ctx.builder.op("llvm.inttoptr", [place], ctx.builder.type("!llvm.ptr<3>"))


# ---- addresses ----------------------------------------------------------------------------------


class SharedAddress:
    """Element indices into a buffer, for a thread at (row, column) plus constants.

    Rows are counted over all dimensions but the fastest. With a swizzle, the column part of the
    index depends on the row only through its low bits, and is the same in all panels, so that it is
    computed once for rows that are a multiple of eight apart. Constants are added last: they become
    part of an instruction.
    """

    def __init__(self, ctx: Lowering, info: BufferInfo, row: Value, column: Value):
        self.ctx, self.info, self.row, self.column = ctx, info, row, column
        self._pitch = info.pitch_bytes // info.element_bytes
        self._panel_elements = info.panel_bytes // info.element_bytes
        self._columns: dict[tuple[int, int], Value] = {}
        self._row_base: Value | None = None

    @staticmethod
    def of_place(ctx: Lowering, info: BufferInfo, place: Sequence[Value]) -> SharedAddress:
        """The element at coordinates of the buffer (i32)."""
        b, row = ctx.builder, ctx.builder.c32(0)
        for dim in info.order[:-1]:
            row = b.add(b.mul(row, b.c32(info.shape[dim])), place[dim])
        return SharedAddress(ctx, info, row, place[info.order[-1]])

    @staticmethod
    def of_layout(
        ctx: Lowering, info: BufferInfo, layout: Layout, offsets: Sequence[Value] = ()
    ) -> SharedAddress:
        """The place of a thread's first element of a tile that starts at `offsets`."""
        place = [ctx.coordinate(layout, dim) for dim in range(layout.rank)]
        if offsets:
            pairs = zip(place, offsets, strict=True)
            place = [ctx.builder.add(first, offset) for first, offset in pairs]
        return SharedAddress.of_place(ctx, info, place)

    def row_and_column(self, offset: Sequence[int]) -> tuple[int, int]:
        """Constant offsets in a tile as offsets of row and column."""
        row = 0
        for dim in self.info.order[:-1]:
            row = row * self.info.shape[dim] + offset[dim]
        return row, offset[self.info.order[-1]]

    def index(self, row: int, column: int) -> Value:
        """The index (of type index) of the element `row`, `column` from the thread's place."""
        b = self.ctx.builder
        if not self.info.swizzle:
            base, constant = self._base(), row * self._pitch + column
        else:
            panels, column = divmod(column, self.info.panel)
            base = b.add(self._base(), self._column(row % SWIZZLE_PERIOD, column))
            constant = row * self._pitch + panels * self._panel_elements
        index = b.op("arith.index_cast", [base], b.index)
        return b.add(index, b.constant(constant, b.index)) if constant else index

    def _base(self) -> Value:
        """The thread's row, and for plain buffers its column, in elements."""
        if self._row_base is None:
            b = self.ctx.builder
            rows = b.mul(self.row, b.c32(self._pitch))
            self._row_base = rows if self.info.swizzle else b.add(rows, self.column)
        return self._row_base

    def _column(self, row: int, column: int) -> Value:
        """The swizzled column, with the panel it lies in, in elements."""
        if (row, column) not in self._columns:
            self._columns[row, column] = self._swizzled(row, column)
        return self._columns[row, column]

    def _swizzled(self, row: int, column: int) -> Value:
        b, info = self.ctx.builder, self.info
        chunk_elements = CHUNK_BYTES // info.element_bytes
        place = b.add(self.column, b.c32(column))
        panel = b.op("arith.divui", [place, b.c32(info.panel)], b.i32)
        within = b.op("arith.remui", [place, b.c32(info.panel)], b.i32)
        chunk = b.op("arith.divui", [within, b.c32(chunk_elements)], b.i32)
        rest = b.op("arith.remui", [within, b.c32(chunk_elements)], b.i32)
        swizzled = swizzled_chunk(b, info, b.add(self.row, b.c32(row)), chunk)
        index = b.add(b.mul(swizzled, b.c32(chunk_elements)), rest)
        if info.row > info.panel:
            index = b.add(index, b.mul(panel, b.c32(self._panel_elements)))
        return index


def swizzled_chunk(b: Builder, info: BufferInfo, row: Value, chunk: Value) -> Value:
    """Where the swizzle puts a 16-byte chunk of a row of a panel (numbers of chunks, i32)."""
    shift, mask = info.swizzle_bits
    key = b.op("arith.shrui", [row, b.c32(shift)], b.i32) if shift else row
    key = b.op("arith.andi", [key, b.c32(mask)], b.i32)
    return b.op("arith.xori", [chunk, key], b.i32)


# ---- tiles to and from buffers --------------------------------------------------------------


def _vector_attributes(ctx: Lowering, info: BufferInfo, vector: int) -> Attributes:
    return {"alignment": ctx.builder.i64_attr(vector * info.element_bytes)}


@lowers("tile_gpu.local_store")
def _local_store(ctx: Lowering, op: tile_gpu.LocalStoreOp) -> None:
    offsets = [ctx.scalar(offset) for offset in op.offsets]
    write_fragment(ctx, ctx.fragment(op.value), ctx.buffers[op.buffer], offsets)


def write_fragment(
    ctx: Lowering, fragment: Fragment, buffer: SharedBuffer, offsets: Sequence[Value] = ()
) -> None:
    """Every thread writes its registers; of copies, one. `offsets`: where in the buffer."""
    info, layout = buffer.info, fragment.layout
    vector = vector_elements(layout, info)
    with ctx.only_if(ctx.owns(layout)):
        address = SharedAddress.of_layout(ctx, info, layout, offsets)
        for group in layout.groups(info.order[-1], vector):
            place = address.index(*address.row_and_column(layout.register_offsets[group[0]]))
            value = pack(ctx, [fragment.registers[r] for r in group], info.element)
            name = "memref.store" if vector == 1 else "vector.store"
            attributes = None if vector == 1 else _vector_attributes(ctx, info, vector)
            ctx.builder.create(name, [value, buffer.memref, place], attributes=attributes)


@lowers("tile_gpu.local_load")
def _local_load(ctx: Lowering, op: tile_gpu.LocalLoadOp) -> None:
    offsets = [ctx.scalar(offset) for offset in op.offsets]
    ctx.set(op, load_fragment(ctx, tile_of(op.result), ctx.buffers[op.buffer], offsets))


def load_fragment(
    ctx: Lowering, tile: TileInfo, buffer: SharedBuffer, offsets: Sequence[Value] = ()
) -> list[Value]:
    """The registers that this thread holds of a tile in a buffer, or in a part of it."""
    info, layout = buffer.info, tile.layout
    vector = vector_elements(layout, info)
    address = SharedAddress.of_layout(ctx, info, layout, offsets)
    registers: list[Value | None] = [None] * layout.num_registers
    for group in layout.groups(info.order[-1], vector):
        place = address.index(*address.row_and_column(layout.register_offsets[group[0]]))
        for register, value in zip(group, load_elements(ctx, buffer, place, vector), strict=True):
            registers[register] = value
    return [r for r in registers if r is not None]


def load_elements(ctx: Lowering, buffer: SharedBuffer, place: Value, count: int) -> list[Value]:
    """`count` neighbouring elements of a buffer."""
    b, info = ctx.builder, buffer.info
    scalar = memory_type(ctx, info.element)
    if count == 1:
        return unpack(ctx, b.op("memref.load", [buffer.memref, place], scalar), 1, info.element)
    vector = b.type(f"vector<{count}x{scalar}>")
    attributes = _vector_attributes(ctx, info, count)
    loaded = b.op("vector.load", [buffer.memref, place], vector, attributes)
    return unpack(ctx, loaded, count, info.element)
