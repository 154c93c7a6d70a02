"""Where `mma.sync` gets its operands from.

`ldmatrix` moves 8x8 matrices of 16 bits, one register for each lane, from shared memory; with 8-bit
and 32-bit elements it does the same where neighbours along k lie next to each other, since then
16 bytes of a row are again what four lanes need. It transposes 16-bit elements only. What it cannot
do is read element by element. The left operand may also lie in registers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tileir.compiler.layout import Layout
from tileir.compiler.mma import Instruction
from tileir.compiler.tile_types import CHUNK_BYTES, BufferInfo
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress, load_elements

Registers = list[Value]
Batch = tuple[int, ...]

_REGISTER_BYTES = 4


class Operand(ABC):
    """The left or right operand of a product, from wherever it is at hand."""

    @abstractmethod
    def fragment(self, batch: Batch, block: int, k: int) -> Registers:
        """The registers for one instruction. `batch` is empty, or the number of a product from this
        warp's first; `block` the first row (left) or column (right) from this warp's first; `k` the
        first element along the depth."""


def lhs_from_registers(ctx: Lowering, fragment: Fragment, instruction: Instruction) -> Operand:
    return _LhsRegisters(ctx, fragment, instruction)


def lhs_from_buffer(
    ctx: Lowering, buffer: SharedBuffer, instruction: Instruction, batch: Value | None, row: Value
) -> Operand:
    """`batch` and `row`: this warp's first product and row."""
    along_depth = buffer.info.order[-1] == len(buffer.info.shape) - 1
    if _has_matrices(buffer.info, along_depth):
        return _LhsMatrices(ctx, buffer, along_depth, batch, row)
    places = instruction.lhs_registers
    lanes = Layout.of(*instruction.lhs)
    first = [ctx.builder.add(row, ctx.coordinate(lanes, 0)), ctx.coordinate(lanes, 1)]
    return _Elements(ctx, buffer, instruction, places, batch, first, depth_dim=1)


def rhs_from_buffer(
    ctx: Lowering, buffer: SharedBuffer, instruction: Instruction, batch: Value | None,
    column: Value, extent: int,
) -> Operand:  # fmt: skip
    """`batch` and `column`: this warp's first; `extent`: how many columns it has."""
    along_depth = buffer.info.order[-1] == len(buffer.info.shape) - 2
    if _has_matrices(buffer.info, along_depth):
        return _RhsMatrices(ctx, buffer, along_depth, batch, column, extent)
    places = instruction.rhs_registers
    lanes = Layout.of(*instruction.rhs)
    first = [ctx.coordinate(lanes, 0), ctx.builder.add(column, ctx.coordinate(lanes, 1))]
    return _Elements(ctx, buffer, instruction, places, batch, first, depth_dim=0)


def _has_matrices(info: BufferInfo, along_depth: bool) -> bool:
    """Whether `ldmatrix` gives what the instructions need."""
    return info.element_bytes == 2 or (along_depth and info.element_bytes in (1, 4))


def _batch_row(ctx: Lowering, info: BufferInfo, batch: Value | None) -> Value:
    """The first row of a product in a buffer: its slower dimension counts rows."""
    if batch is None:
        return ctx.builder.c32(0)
    return ctx.builder.mul(batch, ctx.builder.c32(_rows_of_product(info)))


def _rows_of_product(info: BufferInfo) -> int:
    return info.shape[info.order[-2]]


def _rows_before(info: BufferInfo, batch: Batch) -> int:
    """Rows in front of a product of the batch."""
    return sum(batch) * _rows_of_product(info)


def _joined(ctx: Lowering, values: Registers) -> Value:
    """Neighbours along k as one register: f16 in a vector, as the instruction takes it, other
    narrow types as bits."""
    b, type_ = ctx.builder, values[0].type
    if len(values) == 1:
        return ctx.bitcast(values[0], b.i32) if ctx.width(type_) == 32 else values[0]
    pair = b.op("vector.from_elements", values, b.type(f"vector<{len(values)}x{type_}>"))
    return pair if str(type_) == "f16" else b.op("llvm.bitcast", [pair], b.i32)


class _LhsRegisters(Operand):
    """The left operand in the layout that the instruction wants."""

    def __init__(self, ctx: Lowering, fragment: Fragment, instruction: Instruction):
        self.ctx, self.source, self.instruction = ctx, fragment, instruction
        self.places = instruction.lhs_registers

    def fragment(self, batch: Batch, block: int, k: int) -> Registers:
        return [self._register(batch, block + row, k + column) for row, column in self.places]

    def _register(self, batch: Batch, row: int, k: int) -> Value:
        neighbours = range(self.instruction.pack)
        return _joined(self.ctx, [self.source.at((*batch, row, k + i)) for i in neighbours])


# ---- matrices ------------------------------------------------------------------------------------


class Matrices:
    """`ldmatrix` of four matrices of 8 rows of 16 bytes. Lane l gives the address of row l % 8 of
    matrix l / 8; bit `outer_bit` of the matrix number steps along the rows of the buffer, the other
    one along its columns."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, outer_bit: int, row: Value, column: Value | None
    ):
        b = ctx.builder
        self.ctx, self.buffer = ctx, buffer
        matrix = b.op("arith.shrui", [ctx.lane, b.c32(3)], b.i32)
        low = b.op("arith.andi", [matrix, b.c32(1)], b.i32)
        high = b.op("arith.shrui", [matrix, b.c32(1)], b.i32)
        outer, inner = (low, high) if outer_bit == 0 else (high, low)
        within = b.op("arith.andi", [ctx.lane, b.c32(7)], b.i32)
        own_row = b.add(b.mul(outer, b.c32(8)), within)
        own_column = b.mul(inner, b.c32(CHUNK_BYTES // buffer.info.element_bytes))
        column = own_column if column is None else b.add(own_column, column)
        self.address = SharedAddress(ctx, buffer.info, b.add(own_row, row), column)

    def load(self, row: int, column: int, transpose: bool, count: int = 4) -> Registers:
        """`count` registers, from the block at (row, column) of the buffer."""
        b, ctx, info = self.ctx.builder, self.ctx, self.buffer.info
        place = self.address.index(row, column)
        attributes = {
            "numTiles": b.i32_attr(count),
            "transpose": b.attribute("true" if transpose else "false"),
        }
        neighbours = _REGISTER_BYTES // info.element_bytes
        element = ctx.register_type(info.element)
        vector = b.type(f"vector<{count}x{neighbours}x{element}>")
        loaded = b.op("nvgpu.ldmatrix", [self.buffer.memref, place], vector, attributes)
        part = b.type(f"vector<{neighbours}x{element}>")
        parts = [
            b.op("vector.extract", [loaded], part,
                 {"static_position": b.attribute(f"array<i64: {i}>")})
            for i in range(count)
        ]  # fmt: skip
        is_f16 = str(element) == "f16"
        return [p if is_f16 else b.op("llvm.bitcast", [p], b.i32) for p in parts]


class _LhsMatrices(Operand):
    """The left operand, m x k. In a buffer with rows along k, matrices 0 and 1 are rows 0 and 8;
    in one with rows along m they are columns 0 and 8, and the matrices come transposed."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, along_depth: bool, batch: Value | None,
        row: Value,
    ):  # fmt: skip
        b, self.info, self.transposed = ctx.builder, buffer.info, not along_depth
        before = _batch_row(ctx, buffer.info, batch)
        if along_depth:
            self.matrices = Matrices(ctx, buffer, 0, b.add(before, row), None)
        else:
            self.matrices = Matrices(ctx, buffer, 1, before, row)

    def fragment(self, batch: Batch, block: int, k: int) -> Registers:
        row, column = (k, block) if self.transposed else (block, k)
        return self.matrices.load(_rows_before(self.info, batch) + row, column, self.transposed)


class _RhsMatrices(Operand):
    """The right operand, k x n: one load serves two neighbouring blocks of eight columns, where a
    warp has two. The instruction wants columns along k, so that a buffer with rows along n is
    transposed."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, along_depth: bool, batch: Value | None,
        column: Value, extent: int,
    ):  # fmt: skip
        b, self.info, self.transposed = ctx.builder, buffer.info, not along_depth
        before = _batch_row(ctx, buffer.info, batch)
        if along_depth:
            self.matrices = Matrices(ctx, buffer, 1, b.add(before, column), None)
        else:
            self.matrices = Matrices(ctx, buffer, 0, before, column)
        self.extent = extent
        self._loaded: dict[tuple[Batch, int, int], Registers] = {}

    def fragment(self, batch: Batch, block: int, k: int) -> Registers:
        pair = block // 16 * 16
        key = (batch, pair, k)
        if key not in self._loaded:
            row, column = (k, pair) if self.transposed else (pair, k)
            row += _rows_before(self.info, batch)
            count = 4 if pair + 16 <= self.extent else 2
            self._loaded[key] = self.matrices.load(row, column, self.transposed, count)
        registers = self._loaded[key]
        return registers[2:] if block % 16 else registers[:2]


# ---- element by element --------------------------------------------------------------------------


class _Elements(Operand):
    """An operand whose registers are collected from single elements."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, instruction: Instruction,
        places: list[tuple[int, int]], batch: Value | None, first: list[Value], depth_dim: int,
    ):  # fmt: skip
        self.ctx, self.buffer, self.places = ctx, buffer, places
        self.pack, self.depth_dim = instruction.pack, depth_dim
        info = buffer.info
        #: which of the two coordinates of a matrix runs along the rows of the buffer
        self.fastest = info.order[-1] - (len(info.shape) - 2)
        row = ctx.builder.add(_batch_row(ctx, info, batch), first[1 - self.fastest])
        self.address = SharedAddress(ctx, info, row, first[self.fastest])

    def fragment(self, batch: Batch, block: int, k: int) -> Registers:
        start = (block, k) if self.depth_dim == 1 else (k, block)
        return [self._register(batch, start[0] + i, start[1] + j) for i, j in self.places]

    def _register(self, batch: Batch, i: int, j: int) -> Value:
        values = []
        for step in range(self.pack):
            place = [i, j]
            place[self.depth_dim] += step
            row = _rows_before(self.buffer.info, batch) + place[1 - self.fastest]
            index = self.address.index(row, place[self.fastest])
            values += load_elements(self.ctx, self.buffer, index, 1)
        return _joined(self.ctx, values)
