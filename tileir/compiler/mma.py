"""Matrix instructions: what they multiply, and which thread holds which element.

One entry for each `mma.sync` shape in use. The digits of a fragment are those of one warp
(PTX ISA, "Matrix Fragments for mma"); a layout for a whole tile puts register and warp digits in
front of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.layout import Digit, Layout, Owner, lane, reg, warp
from tileir.compiler.tile_types import FP8

Fragment = tuple[tuple[Digit, ...], tuple[Digit, ...]]


@dataclass(frozen=True)
class Instruction:
    """`mma.sync` of m x n x k; fragments give the digits of rows and columns within a warp."""

    m: int
    n: int
    k: int
    lhs: Fragment
    rhs: Fragment
    acc: Fragment
    minimum_capability: int

    @property
    def pack(self) -> int:
        """Neighbours along k that one register of an operand holds."""
        return Layout.of(*self.lhs).run(1)

    @property
    def lhs_registers(self) -> list[tuple[int, int]]:
        """(row, k) of the first element of each register, from the thread's first, in the order
        of PTX: rows first."""
        offsets = Layout.of(*self.lhs).register_offsets
        firsts = [offset for offset in offsets if offset[1] % self.pack == 0]
        return sorted(((row, k) for row, k in firsts), key=lambda offset: offset[::-1])

    @property
    def rhs_registers(self) -> list[tuple[int, int]]:
        """(k, column) of the first element of each register."""
        offsets = Layout.of(*self.rhs).register_offsets
        return [(k, column) for k, column in offsets if k % self.pack == 0]

    @property
    def acc_registers(self) -> list[tuple[int, int]]:
        """(row, column) of each register."""
        return [(row, column) for row, column in Layout.of(*self.acc).register_offsets]


_ACCUMULATOR: Fragment = ((reg(2), lane(8, 4)), (lane(4, 1), reg(2)))


def _m16n8(k: int, pack: int, minimum_capability: int) -> Instruction:
    """The common pattern: operands of 32-bit registers, each with `pack` neighbours along k."""
    along_k = (reg(2), lane(4, 1), reg(pack))
    return Instruction(
        16, 8, k,
        lhs=((reg(2), lane(8, 4)), along_k),
        rhs=(along_k, (lane(8, 4),)),
        acc=_ACCUMULATOR,
        minimum_capability=minimum_capability,
    )  # fmt: skip


M16N8K16 = _m16n8(16, 2, 80)
M16N8K8_TF32 = _m16n8(8, 1, 80)
M16N8K32_INTEGER = _m16n8(32, 4, 80)
M16N8K32_FLOAT = _m16n8(32, 4, 89)
M8N8K4_DOUBLE = Instruction(
    8, 8, 4,
    lhs=((lane(8, 4),), (lane(4, 1),)),
    rhs=((lane(4, 1),), (lane(8, 4),)),
    acc=((lane(8, 4),), (lane(4, 1), reg(2))),
    minimum_capability=80,
)  # fmt: skip


def ptx_type(element: str, unsigned: bool = False) -> str:
    """The name of an operand's type in matrix instructions."""
    if element == "i8":
        return "u8" if unsigned else "s8"
    return FP8.get(element, element)


_INSTRUCTIONS: dict[tuple[str, str], Instruction] = {
    ("f16", "f32"): M16N8K16,
    ("bf16", "f32"): M16N8K16,
    ("tf32", "f32"): M16N8K8_TF32,
    ("i8", "i32"): M16N8K32_INTEGER,
    ("f8E4M3FN", "f32"): M16N8K32_FLOAT,
    ("f8E5M2", "f32"): M16N8K32_FLOAT,
    ("f64", "f64"): M8N8K4_DOUBLE,
}


def instruction_for(
    operand: str, accumulator: str, shape: Sequence[int], capability: int
) -> Instruction | None:
    """The instruction for a product of m x n x k `operand`s (a batch may stand in front), None if
    its shape does not fit."""
    instruction = _INSTRUCTIONS.get((operand, accumulator))
    if instruction is None or capability < instruction.minimum_capability:
        return None
    *_, m, n, k = shape
    fits = m % instruction.m == 0 and n % instruction.n == 0 and k % instruction.k == 0
    return instruction if fits else None


@dataclass(frozen=True)
class WarpGrid:
    """How the warps of a block share the accumulator: `rows` x `columns` blocks of each of
    `batches` parts of the batch."""

    rows: int
    columns: int
    batches: int = 1

    @staticmethod
    def choose(
        instruction: Instruction, shape: Sequence[int], num_warps: int, whole_rows: bool
    ) -> WarpGrid:
        """The grid that reads the fewest operand elements; `whole_rows` keeps each row of the
        accumulator in one warp. Warps that find no block compute copies."""
        *batch, m, n = shape
        if batch:
            batches = math.gcd(batch[0], num_warps)
            rest = WarpGrid.choose(instruction, (m, n), num_warps // batches, whole_rows)
            return replace(rest, batches=batches)
        most_rows, most_columns = m // instruction.m, n // instruction.n
        candidates = [
            WarpGrid(rows, num_warps // rows)
            for rows in range(1, num_warps + 1)
            if num_warps % rows == 0 and most_rows % rows == 0
        ]
        if whole_rows:
            return WarpGrid(max(grid.rows for grid in candidates), 1)
        fitting = [grid for grid in candidates if most_columns % grid.columns == 0]
        if not fitting:
            rows = max(grid.rows for grid in candidates)
            columns = next(c for c in range(num_warps // rows, 0, -1) if most_columns % c == 0)
            return WarpGrid(rows, columns)
        return min(fitting, key=lambda grid: (m // grid.rows + n // grid.columns, -grid.rows))

    def of_batch(self, batch: Sequence[int]) -> list[tuple[Digit, ...]]:
        """The digits of the batch dimension, if there is one."""
        stride = self.rows * self.columns
        return [(warp(self.batches, stride), reg(n // self.batches)) for n in batch]


def accumulator_layout(instruction: Instruction, shape: Sequence[int], grid: WarpGrid) -> Layout:
    """Each warp owns a contiguous block of rows and columns; warps count along columns last, and
    along the batch after that."""
    *batch, m, n = shape
    rows, columns = instruction.acc
    return Layout.of(
        *grid.of_batch(batch),
        (warp(grid.rows, 1), reg(m // grid.rows // instruction.m), *rows),
        (warp(grid.columns, grid.rows), reg(n // grid.columns // instruction.n), *columns),
    )


def lhs_layout(instruction: Instruction, shape: Sequence[int], grid: WarpGrid) -> Layout:
    """The left operand: rows as in the accumulator; warps of one row of the grid hold copies."""
    *batch, m, k = shape
    rows, columns = instruction.lhs
    return Layout.of(
        *grid.of_batch(batch),
        (warp(grid.rows, 1), reg(m // grid.rows // instruction.m), *rows),
        (reg(k // instruction.k), *columns),
    )


def warp_grid_of(accumulator: Layout) -> WarpGrid:
    """The grid that an accumulator layout was made for."""
    counts = [accumulator.count(Owner.WARP, dim) for dim in range(accumulator.rank)]
    *batches, rows, columns = counts
    return WarpGrid(rows, columns, *batches)
