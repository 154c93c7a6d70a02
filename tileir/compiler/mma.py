"""Matrix instructions: what they multiply, and which thread holds which element.

One entry for each `mma.sync` shape in use. The digits of a fragment are those of one warp
(PTX ISA, "Matrix Fragments for mma"); a layout for a whole tile puts register and warp digits in
front of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.layout import Digit, Layout, Owner, lane, reg, warp

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


#: 16-bit operands, f32 accumulator.
M16N8K16 = Instruction(
    16, 8, 16,
    lhs=((reg(2), lane(8, 4)), (reg(2), lane(4, 1), reg(2))),
    rhs=((reg(2), lane(4, 1), reg(2)), (lane(8, 4),)),
    acc=((reg(2), lane(8, 4)), (lane(4, 1), reg(2))),
    minimum_capability=80,
)  # fmt: skip

_INSTRUCTIONS: dict[tuple[str, str], Instruction] = {
    ("f16", "f32"): M16N8K16,
    ("bf16", "f32"): M16N8K16,
}


def instruction_for(
    operand: str, accumulator: str, shape: Sequence[int], capability: int
) -> Instruction | None:
    """The instruction for a product of m x n x k `operand`s, None if no shape of it fits."""
    instruction = _INSTRUCTIONS.get((operand, accumulator))
    if instruction is None or capability < instruction.minimum_capability:
        return None
    m, n, k = shape
    fits = m % instruction.m == 0 and n % instruction.n == 0 and k % instruction.k == 0
    return instruction if fits else None


@dataclass(frozen=True)
class WarpGrid:
    """How the warps of a block share the accumulator: `rows` x `columns` blocks."""

    rows: int
    columns: int

    @staticmethod
    def choose(
        instruction: Instruction, shape: Sequence[int], num_warps: int, whole_rows: bool
    ) -> WarpGrid:
        """The grid that reads the fewest operand elements; `whole_rows` keeps each row of the
        accumulator in one warp. Warps that find no block compute copies."""
        m, n = shape
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


def accumulator_layout(instruction: Instruction, shape: Sequence[int], grid: WarpGrid) -> Layout:
    """Each warp owns a contiguous block of rows and columns; warps count along columns last."""
    m, n = shape
    rows, columns = instruction.acc
    return Layout.of(
        (warp(grid.rows, 1), reg(m // grid.rows // instruction.m), *rows),
        (warp(grid.columns, grid.rows), reg(n // grid.columns // instruction.n), *columns),
    )


def lhs_layout(instruction: Instruction, shape: Sequence[int], grid: WarpGrid) -> Layout:
    """The left operand: rows as in the accumulator; warps of one row of the grid hold copies."""
    m, k = shape
    rows, columns = instruction.lhs
    return Layout.of(
        (warp(grid.rows, 1), reg(m // grid.rows // instruction.m), *rows),
        (reg(k // instruction.k), *columns),
    )


def warp_grid_of(accumulator: Layout) -> WarpGrid:
    """The grid that an accumulator layout was made for."""
    return WarpGrid(accumulator.count(Owner.WARP, 0), accumulator.count(Owner.WARP, 1))
