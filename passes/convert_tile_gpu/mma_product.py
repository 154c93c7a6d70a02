"""Matrix products of warps: `mma.sync`.

A warp walks the k dimension in steps of the instruction. For each step it collects the fragments
of its rows and columns, then multiplies every pair:

    for k:  a[i] = rows 16i.. ; b[j] = columns 8j.. ; acc[i, j] += a[i] * b[j]

and does so for each product of a batch that is its own.
"""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag
from tileir.compiler.layout import Layout, Owner
from tileir.compiler.mma import Instruction, ptx_type
from tileir.compiler.tile_types import FP8, is_buffer_type, operand_of
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering
from tileir.passes.convert_tile_gpu.mma_operands import (
    Operand,
    Registers,
    lhs_from_buffer,
    lhs_from_registers,
    rhs_from_buffer,
)

#: PTX version with 8-bit floats in mma.
_MMA_PTX_VERSION = 84


class MmaProduct:
    """One product, by the instruction that suits its types and shape."""

    def __init__(self, ctx: Lowering, op: OpView, instruction: Instruction):
        self.ctx, self.op, self.instruction = ctx, op, instruction
        lhs, rhs, acc = op.operation.operands
        self.acc = ctx.fragment(acc)
        self.element, self.depth = operand_of(op, 0).element, operand_of(op, 0).shape[-1]
        row_dim, column_dim = self.acc.layout.rank - 2, self.acc.layout.rank - 1
        #: first row and column of each instruction's block, from this warp's first
        self.rows = range(0, self._extent(row_dim), instruction.m)
        self.columns = range(0, self._extent(column_dim), instruction.n)
        #: coordinates, along the batch, of this warp's products, from its first
        self.batches = [(i,) for i in range(self._extent(0))] if row_dim else [()]
        batch = self._first(0) if row_dim else None
        self.lhs: Operand = (
            lhs_from_buffer(ctx, ctx.buffers[lhs], instruction, batch, self._first(row_dim))
            if is_buffer_type(lhs.type)
            else lhs_from_registers(ctx, ctx.fragment(lhs), instruction)
        )
        self.rhs = rhs_from_buffer(
            ctx, ctx.buffers[rhs], instruction, batch, self._first(column_dim), self.columns.stop
        )

    def _extent(self, dim: int) -> int:
        """Elements of one warp along `dim`, which lie together."""
        return self.acc.info.shape[dim] // self.acc.layout.count(Owner.WARP, dim)

    def _first(self, dim: int) -> Value:
        """This warp's first element along `dim` (i32)."""
        return _warp_coordinate(self.ctx, self.acc.layout, dim)

    def run(self) -> Registers:
        registers = list(self.acc.registers)
        for batch in self.batches:
            for k in range(0, self.depth, self.instruction.k):
                left = {row: self.lhs.fragment(batch, row, k) for row in self.rows}
                right = {column: self.rhs.fragment(batch, column, k) for column in self.columns}
                for row in self.rows:
                    for column in self.columns:
                        place = (*batch, row, column)
                        self._multiply(registers, place, left[row], right[column])
        return registers

    def _multiply(
        self, registers: Registers, place: tuple[int, ...], left: Registers, right: Registers
    ) -> None:
        """One instruction; `registers` of the accumulator are replaced in place."""
        at, (*batch, row, column) = self.acc.layout.register_at, place
        places = [at[*batch, row + r, column + c] for r, c in self.instruction.acc_registers]
        acc = [registers[p] for p in places]
        multiply = self._by_asm if self.element in FP8 else self._by_nvvm
        for p, value in zip(places, multiply(left, right, acc), strict=True):
            registers[p] = value

    # ---- one instruction -------------------------------------------------------------------------

    @property
    def _shape(self) -> str:
        return f"m{self.instruction.m}n{self.instruction.n}k{self.instruction.k}"

    def _by_nvvm(self, left: Registers, right: Registers, acc: Registers) -> Registers:
        ctx, b, step = self.ctx, self.ctx.builder, self.instruction
        type_ = acc[0].type
        attributes = {
            "layoutA": b.attribute("#nvvm.mma_layout<row>"),
            "layoutB": b.attribute("#nvvm.mma_layout<col>"),
            "shape": b.attribute(f"#nvvm.shape<m = {step.m}, n = {step.n}, k = {step.k}>"),
            "operandSegmentSizes": b.segments(len(left), len(right), len(acc)),
        }
        for side, flag in (("A", "lhs_unsigned"), ("B", "rhs_unsigned")):
            name = ptx_type(self.element, has_flag(self.op, flag))
            attributes[f"multiplicand{side}PtxType"] = b.attribute(f"#nvvm.mma_type<{name}>")
        if self.element == "i8":
            attributes["intOverflowBehavior"] = b.attribute("#nvvm.mma_int_overflow<wrapped>")
        struct = b.struct([type_] * len(acc))
        result = b.op("nvvm.mma.sync", [*left, *right, *acc], struct, attributes)
        return [ctx.extract(result, i, type_) for i in range(len(acc))]

    def _by_asm(self, left: Registers, right: Registers, acc: Registers) -> Registers:
        """8-bit floats, which nvvm.mma.sync does not have."""
        ctx = self.ctx
        ctx.need_ptx(_MMA_PTX_VERSION)
        counts = [len(acc), len(left), len(right), len(acc)]
        names, first = [], 0
        for count in counts:
            names.append("{" + ", ".join(f"${first + i}" for i in range(count)) + "}")
            first += count
        element = ptx_type(self.element)
        text = f"mma.sync.aligned.{self._shape}.row.col.f32.{element}.{element}.f32 "
        constraints = ["=f"] * len(acc) + ["r"] * (len(left) + len(right)) + ["f"] * len(acc)
        struct = ctx.builder.type("!llvm.struct<(f32, f32, f32, f32)>")
        operands = [*left, *right, *acc]
        asm = ctx.asm(f"{text}{', '.join(names)};", ",".join(constraints), operands, struct, False)
        return [ctx.extract(asm.results[0], i, acc[0].type) for i in range(len(acc))]


def _warp_coordinate(ctx: Lowering, layout: Layout, dim: int) -> Value:
    b, total = ctx.builder, ctx.builder.c32(0)
    for digit, weight in layout.weighted(dim, Owner.WARP):
        total = b.add(total, b.mul(ctx.digit(digit), b.c32(weight)))
    return total
