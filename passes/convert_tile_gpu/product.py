"""Matrix products: tensor cores through `ldmatrix` and `mma.sync`, or scalar multiply-adds.

A warp walks the k dimension in steps of the instruction. For each step it collects the fragments
of its rows and columns, then multiplies every pair:

    for k:  a[i] = rows 16i.. ; b[j] = columns 8j.. ; acc[i, j] += a[i] * b[j]

Operands come from shared memory by `ldmatrix` (four 8x8 matrices at once, transposed where the
buffer is laid out the other way), or the left one from registers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tileir.compiler.ir_util import keyword
from tileir.compiler.layout import Layout, Owner
from tileir.compiler.mma import Instruction, instruction_for
from tileir.compiler.tile_types import is_buffer_type, operand_of, tile_of
from tileir.compiler.wgmma import grid_of
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.multiply_add import multiply_add
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress
from tileir.passes.convert_tile_gpu.warpgroup_product import WarpgroupProduct

Registers = list[Value]


@lowers("tile_gpu.dot")
def _dot(ctx: Lowering, op: tile_gpu.DotOp) -> None:
    info = tile_of(op.result)
    if keyword(op, "instruction", "") == "wgmma":
        grid = grid_of(info.layout, ctx.num_warps)
        assert grid is not None, f"{info.layout} is not a layout of wgmma"
        ctx.set(op, WarpgroupProduct(ctx, op, grid).run())
        return
    operand = operand_of(op, 0)
    shape = (*info.shape, operand.shape[1])
    instruction = instruction_for(operand.element, info.element, shape, ctx.target.capability)
    if instruction is None:
        registers = multiply_add(ctx, op, info)
    else:
        registers = _Product(ctx, op, instruction).run()
    ctx.set(op, registers)


class _Product:
    """One product on tensor cores."""

    def __init__(self, ctx: Lowering, op: OpView, instruction: Instruction):
        self.ctx, self.instruction = ctx, instruction
        lhs, rhs, acc = op.operation.operands
        self.acc = ctx.fragment(acc)
        layout = self.acc.layout
        self.depth = operand_of(op, 0).shape[1]
        #: first row and column of each instruction's block, from this warp's first
        self.rows = range(0, self._extent(0), instruction.m)
        self.columns = range(0, self._extent(1), instruction.n)
        row_of_warp = _warp_coordinate(ctx, layout, 0)
        column_of_warp = _warp_coordinate(ctx, layout, 1)
        self.lhs: _Operand = (
            _LhsBuffer(ctx, ctx.buffers[lhs], row_of_warp)
            if is_buffer_type(lhs.type)
            else _LhsRegisters(ctx, ctx.fragment(lhs))
        )
        self.rhs: _Operand = _RhsBuffer(ctx, ctx.buffers[rhs], column_of_warp, self._extent(1))

    def _extent(self, dim: int) -> int:
        """Rows or columns of one warp, which lie together."""
        return self.acc.info.shape[dim] // self.acc.layout.count(Owner.WARP, dim)

    def run(self) -> Registers:
        registers = list(self.acc.registers)
        for k in range(0, self.depth, self.instruction.k):
            left = {row: self.lhs.fragment(row, k) for row in self.rows}
            right = {column: self.rhs.fragment(column, k) for column in self.columns}
            for row in self.rows:
                for column in self.columns:
                    self._multiply(registers, row, column, left[row], right[column])
        return registers

    def _multiply(
        self, registers: Registers, row: int, column: int, left: Registers, right: Registers
    ) -> None:
        """One instruction; `registers` of the accumulator are replaced in place."""
        at = self.acc.layout.register_at
        places = [at[row + r, column + c] for r in (0, 8) for c in (0, 1)]
        results = mma_sync(self.ctx, self.instruction, left, right, [registers[p] for p in places])
        for place, value in zip(places, results, strict=True):
            registers[place] = value


def mma_sync(
    ctx: Lowering, instruction: Instruction, left: Registers, right: Registers, acc: Registers
) -> Registers:
    b = ctx.builder
    f32 = acc[0].type
    shape = f"#nvvm.shape<m = {instruction.m}, n = {instruction.n}, k = {instruction.k}>"
    attributes = {
        "layoutA": b.attribute("#nvvm.mma_layout<row>"),
        "layoutB": b.attribute("#nvvm.mma_layout<col>"),
        "shape": b.attribute(shape),
        "operandSegmentSizes": b.attribute(f"array<i32: {len(left)}, {len(right)}, {len(acc)}>"),
    }
    operand = "bf16" if str(left[0].type) == "i32" else "f16"  # bf16 travels as pairs of bits
    for side in ("A", "B"):
        attributes[f"multiplicand{side}PtxType"] = b.attribute(f"#nvvm.mma_type<{operand}>")
    struct = b.type("!llvm.struct<(f32, f32, f32, f32)>")
    result = b.op("nvvm.mma.sync", [*left, *right, *acc], struct, attributes)
    return [ctx.extract(result, i, f32) for i in range(4)]


def _warp_coordinate(ctx: Lowering, layout: Layout, dim: int) -> Value:
    """First row or column of this warp (i32)."""
    b, total = ctx.builder, ctx.builder.c32(0)
    for digit, weight in layout.weighted(dim, Owner.WARP):
        total = b.add(total, b.mul(ctx.digit(digit), b.c32(weight)))
    return total


# ---- operands -----------------------------------------------------------------------------------


class _Operand(ABC):
    @abstractmethod
    def fragment(self, block: int, k: int) -> Registers:
        """The registers for one instruction: `block` is its first row (left) or column (right)
        from this warp's first, `k` its first element along the depth."""


class _LhsRegisters(_Operand):
    """The left operand from an accumulator-like layout: pairs of neighbouring registers."""

    def __init__(self, ctx: Lowering, fragment: Fragment):
        self.ctx, self.source = ctx, fragment

    def fragment(self, block: int, k: int) -> Registers:
        """a0..a3: rows 0 and 8, then the same 8 columns further."""
        pairs = [(block + r, k + c) for c in (0, 8) for r in (0, 8)]
        return [self._pair(row, column) for row, column in pairs]

    def _pair(self, row: int, column: int) -> Value:
        b = self.ctx.builder
        values = [self.source.at((row, column + i)) for i in (0, 1)]
        vector = b.op("vector.from_elements", values, b.type(f"vector<2x{values[0].type}>"))
        return _as_operand(self.ctx, vector)


def _as_operand(ctx: Lowering, pair: Value) -> Value:
    """The instruction takes f16 as vectors and bf16 as bits."""
    if "bf16" in str(pair.type):
        return ctx.builder.op("llvm.bitcast", [pair], ctx.builder.i32)
    return pair


class _Matrices:
    """`ldmatrix` of four 8x8 matrices of 16-bit elements. Lane l gives the address of row l % 8
    of matrix l / 8; `outer` and `inner` say how matrix numbers map to steps of 8 along the rows
    and along the columns of the buffer."""

    def __init__(
        self, ctx: Lowering, buffer: SharedBuffer, start: Value, outer_bit: int, start_is_row: bool
    ):
        b = ctx.builder
        self.ctx, self.buffer = ctx, buffer
        matrix = b.op("arith.shrui", [ctx.lane, b.c32(3)], b.i32)
        low = b.op("arith.andi", [matrix, b.c32(1)], b.i32)
        high = b.op("arith.shrui", [matrix, b.c32(1)], b.i32)
        outer, inner = (low, high) if outer_bit == 0 else (high, low)
        within = b.op("arith.andi", [ctx.lane, b.c32(7)], b.i32)
        row = b.add(b.mul(outer, b.c32(8)), within)
        column = b.mul(inner, b.c32(8))
        if start_is_row:
            row = b.add(row, start)
        else:
            column = b.add(column, start)
        self.address = SharedAddress(ctx, buffer.info, row, column)

    def load(self, row: int, column: int, transpose: bool, count: int = 4) -> Registers:
        """`count` registers of pairs, from the 16x16 block at (row, column) of the buffer."""
        b, ctx = self.ctx.builder, self.ctx
        place = self.address.index(row, column)
        element = self.buffer.info.element
        attributes = {
            "numTiles": b.i32_attr(count),
            "transpose": b.attribute("true" if transpose else "false"),
        }
        vector = b.type(f"vector<{count}x2x{element}>")
        loaded = b.op("nvgpu.ldmatrix", [self.buffer.memref, place], vector, attributes)
        pair = b.type(f"vector<2x{element}>")
        pairs = [
            b.op("vector.extract", [loaded], pair,
                 {"static_position": b.attribute(f"array<i64: {i}>")})
            for i in range(count)
        ]  # fmt: skip
        return [_as_operand(ctx, p) for p in pairs]


class _LhsBuffer(_Operand):
    """The left operand, m x k. In a buffer with rows along k, matrices 0 and 1 are rows 0 and 8;
    in one with rows along m they are columns 0 and 8, and the matrices come transposed."""

    def __init__(self, ctx: Lowering, buffer: SharedBuffer, row: Value):
        self.transposed = buffer.info.order == (1, 0)
        outer_bit = 1 if self.transposed else 0
        self.matrices = _Matrices(ctx, buffer, row, outer_bit, start_is_row=not self.transposed)

    def fragment(self, block: int, k: int) -> Registers:
        row, column = (k, block) if self.transposed else (block, k)
        return self.matrices.load(row, column, self.transposed)


class _RhsBuffer(_Operand):
    """The right operand, k x n: one load serves two neighbouring blocks of eight columns, where a
    warp has two. The instruction wants columns along k, so that a buffer with rows along n is
    transposed."""

    def __init__(self, ctx: Lowering, buffer: SharedBuffer, column: Value, extent: int):
        self.transposed = buffer.info.order == (0, 1)
        outer_bit = 0 if self.transposed else 1
        self.matrices = _Matrices(ctx, buffer, column, outer_bit, start_is_row=not self.transposed)
        self.extent = extent
        self._loaded: dict[tuple[int, int], Registers] = {}

    def fragment(self, block: int, k: int) -> Registers:
        pair = block // 16 * 16
        if (pair, k) not in self._loaded:
            row, column = (k, pair) if self.transposed else (pair, k)
            count = 4 if pair + 16 <= self.extent else 2
            self._loaded[pair, k] = self.matrices.load(row, column, self.transposed, count)
        registers = self._loaded[pair, k]
        return registers[2:] if block % 16 else registers[:2]
