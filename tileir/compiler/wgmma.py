"""Warpgroup matrix instructions of Hopper: `wgmma.mma_async` m64nNk16.

Four warps multiply 64 rows by up to 256 columns, asynchronously, with operands in shared memory
(the left one also in registers). Within the 64 rows, warp w owns rows 16w to 16w+15, each as
mma.m16n8k16 does, so that accumulators and left operands in registers lie as they do there.

(PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; the matrix descriptor is described
in its section "Matrix Descriptor Format".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.layout import Layout, lane, reg, warp
from tileir.compiler.target import Target
from tileir.compiler.tile_types import BufferInfo

ROWS = 64
DEPTH = 16
_WARPS = 4
_LARGEST_N = 256
_OPERANDS = ("f16", "bf16")


@dataclass(frozen=True)
class WarpgroupGrid:
    """How the warpgroups of a block share the accumulator: `rows` x `columns` blocks."""

    rows: int
    columns: int

    @staticmethod
    def choose(shape: Sequence[int], num_warps: int, whole_rows: bool) -> WarpgroupGrid | None:
        """Warpgroups stacked in rows as far as there are rows, then side by side; None if the
        accumulator cannot be cut like that. `whole_rows` forbids the latter."""
        m, n = shape
        if num_warps % _WARPS or m % ROWS or n % 8:
            return None
        groups = num_warps // _WARPS
        rows = min(groups, m // ROWS)
        if groups % rows or m % (rows * ROWS):
            return None
        columns = groups // rows
        if n % (columns * 8) or n // columns > _LARGEST_N or (whole_rows and columns > 1):
            return None
        return WarpgroupGrid(rows, columns)


def takes(target: Target, operand: str, accumulator: str, depth: int) -> bool:
    """Whether the target multiplies such operands with wgmma."""
    has_it = target.capability == 90 and target.suffix == "a"
    return has_it and operand in _OPERANDS and accumulator == "f32" and depth % DEPTH == 0


def accumulator_layout(shape: Sequence[int], grid: WarpgroupGrid) -> Layout:
    """Each warpgroup owns a contiguous block of rows and columns."""
    m, n = shape
    return Layout.of(
        (warp(grid.rows, _WARPS), reg(m // grid.rows // ROWS), warp(_WARPS, 1), reg(2), lane(8, 4)),
        (warp(grid.columns, _WARPS * grid.rows), reg(n // grid.columns // 8), lane(4, 1), reg(2)),
    )


def lhs_layout(shape: Sequence[int], grid: WarpgroupGrid) -> Layout:
    """The left operand in registers: rows as in the accumulator."""
    m, k = shape
    return Layout.of(
        (warp(grid.rows, _WARPS), reg(m // grid.rows // ROWS), warp(_WARPS, 1), reg(2), lane(8, 4)),
        (reg(k // DEPTH), reg(2), lane(4, 1), reg(2)),
    )


def grid_of(layout: Layout, num_warps: int) -> WarpgroupGrid | None:
    """The grid that an accumulator layout was made for; None if it is not one of wgmma."""
    groups = num_warps // _WARPS
    for rows in range(1, groups + 1):
        if groups % rows == 0:
            grid = WarpgroupGrid(rows, groups // rows)
            m, n = layout.shape
            fits = m % (rows * ROWS) == 0 and n % (grid.columns * 8) == 0
            if fits and accumulator_layout(layout.shape, grid) == layout:
                return grid
    return None


@dataclass(frozen=True)
class OperandDescriptor:
    """How wgmma reads an operand from a swizzled buffer.

    `along_depth`: the buffer's rows run along k ("K-major"); otherwise along m or n ("MN-major",
    the transposed form that 16-bit operands allow). Offsets are in bytes from the stage's start.
    """

    buffer: BufferInfo
    along_depth: bool

    @staticmethod
    def of(buffer: BufferInfo, depth_dim: int) -> OperandDescriptor:
        return OperandDescriptor(buffer, buffer.order[-1] == depth_dim)

    @property
    def constant_bits(self) -> int:
        """The descriptor without its start address: strides in units of 16 bytes, swizzle mode.

        K-major: groups of 8 rows lie 8 x swizzle bytes apart; the other stride is not used.
        MN-major: panels along m or n lie a panel apart, groups of 8 rows along k 8 x swizzle.
        """
        swizzle = self.buffer.swizzle
        leading = 1 if self.along_depth else self.panel_bytes >> 4
        mode = {128: 1, 64: 2, 32: 3}[swizzle]
        return leading << 16 | (8 * swizzle >> 4) << 32 | mode << 62

    @property
    def panel_bytes(self) -> int:
        return self.buffer.num_rows * self.buffer.pitch_bytes

    def offset(self, outer: int, depth: int) -> int:
        """Byte offset of the block that starts at `outer` along m or n and `depth` along k."""
        row, column = (outer, depth) if self.along_depth else (depth, outer)
        within = column % self.buffer.panel * self.buffer.element_bytes
        return column // self.buffer.panel * self.panel_bytes + row * self.buffer.swizzle + within

    def group_bytes(self, outer: int) -> int:
        """Bytes between blocks that are `outer` apart along m or n, a whole number of panels or
        of groups of 8 rows."""
        return self.offset(outer, 0)


def readable(buffer: BufferInfo, depth_dim: int, block: int) -> bool:
    """Whether wgmma can read blocks of `block` rows or columns from a buffer."""
    if not buffer.swizzle or buffer.element_bytes != 2 or len(buffer.shape) != 2:
        return False
    along_depth = buffer.order[-1] == depth_dim
    return block % 8 == 0 if along_depth else block % buffer.panel == 0
