"""Warpgroup matrix instructions of Hopper: `wgmma.mma_async` m64nNkK, K of 32 bytes.

Four warps multiply 64 rows by up to 256 columns, asynchronously, with operands in shared memory
(the left one also in registers). Within the 64 rows, warp w owns rows 16w to 16w+15, each as
mma.sync of the same depth does, so that accumulators and left operands in registers lie as they do
there.

(PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; the matrix descriptor is described
in its section "Matrix Descriptor Format".)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.layout import Layout, lane, reg, warp
from tileir.compiler.target import Target
from tileir.compiler.tile_types import FP8, BufferInfo, bytes_of

ROWS = 64
#: Bytes along k of an operand's row that one instruction takes, and of a register of it.
_DEPTH_BYTES = 32
_REGISTER_BYTES = 4
#: Warps and threads of a warpgroup.
WARPS = 4
THREADS = 32 * WARPS
#: Rows of an instruction's 64 that each of the warps has.
ROWS_OF_WARP = ROWS // WARPS
_LARGEST_N = 256
#: Accumulators that a thread holds without spilling, by the number of warpgroups that share the
#: registers of a multiprocessor with a producer. Four would leave too few to either.
_ACCUMULATORS = {1: 128, 2: 128, 3: 96}
#: Numbers of warpgroups that compute.
GROUPS = tuple(_ACCUMULATORS)
#: With fewer, tensor cores wait for shared memory; with more, for the stores of the last tile.
COMFORTABLE_ACCUMULATORS = 64
#: The accumulator for each type of operands.
_ACCUMULATOR_TYPES = {
    "f16": "f32", "bf16": "f32", "tf32": "f32", "f8E4M3FN": "f32", "f8E5M2": "f32", "i8": "i32",
}  # fmt: skip
#: Products of 8-bit floats are summed with fewer bits than f32 has, about 14 (DeepSeek-V3 Technical
#: Report, section 3.3.2): along how many of k such a sum may run.
ROUGH_DEPTH = 128


def depth_of(element: str) -> int:
    """K of the instruction."""
    return _DEPTH_BYTES // bytes_of(element)


def pack_of(element: str) -> int:
    """Neighbours along k that one register of the left operand holds."""
    return _REGISTER_BYTES // bytes_of(element)


def sums_roughly(element: str) -> bool:
    """Whether the tensor core's accumulator has fewer bits than its type says."""
    return element in FP8


def reads_across_depth(element: str) -> bool:
    """Whether operands in shared memory may have rows along m or n, instead of along k."""
    return bytes_of(element) == 2


def most_accumulators(groups: int) -> int:
    """Elements of all accumulators that so many warpgroups hold without spilling; 0 for more
    warpgroups than a block has registers for."""
    return THREADS * groups * _ACCUMULATORS.get(groups, 0)


def takes_width(element: str, n: int) -> bool:
    """Whether there is an instruction of so many columns."""
    step = 16 if element == "i8" and n > 32 else 8
    return n % step == 0 and n <= _LARGEST_N


@dataclass(frozen=True)
class WarpgroupGrid:
    """How the warpgroups of a block share the accumulator: `rows` x `columns` blocks. `transposed`:
    instructions compute its transpose, from the transposed operands in the other order, so that
    their 64 rows are columns of the accumulator."""

    rows: int
    columns: int
    transposed: bool = False

    @staticmethod
    def choose(shape: Sequence[int], num_warps: int, whole_rows: bool) -> WarpgroupGrid | None:
        """Warpgroups stacked along the instruction's rows as far as there are any, then side by
        side; None if the accumulator cannot be cut like that. `whole_rows`: each must own whole
        rows of the accumulator.

        A tall accumulator of 64 columns is transposed, since wide instructions read less: for 16
        of k, 128x64 by two of m64n64 takes 8 KiB from shared memory, one of m64n128 6 KiB.
        """
        m, n = shape
        if not whole_rows and m > n == ROWS:
            grid = WarpgroupGrid._stack(n, m, num_warps)
            return None if grid is None else grid.transpose()
        grid = WarpgroupGrid._stack(m, n, num_warps)
        return None if grid is not None and whole_rows and grid.columns > 1 else grid

    @staticmethod
    def _stack(m: int, n: int, num_warps: int) -> WarpgroupGrid | None:
        if num_warps % WARPS or m % ROWS or n % 8:
            return None
        groups = num_warps // WARPS
        rows = min(groups, m // ROWS)
        if groups % rows or m % (rows * ROWS):
            return None
        columns = groups // rows
        if n % (columns * 8) or n // columns > _LARGEST_N:
            return None
        return WarpgroupGrid(rows, columns)

    def transpose(self) -> WarpgroupGrid:
        """The grid of the transposed accumulator."""
        return WarpgroupGrid(self.columns, self.rows, not self.transposed)

    def block_of(self, shape: Sequence[int]) -> tuple[int, int]:
        """Rows and columns of the accumulator that one instruction computes."""
        m, n = shape
        return (m // self.rows, ROWS) if self.transposed else (ROWS, n // self.columns)

    @property
    def stacked(self) -> int:
        """Warpgroups along the instruction's rows: neighbours by number."""
        return self.columns if self.transposed else self.rows


def takes(target: Target, lhs: str, rhs: str, accumulator: str, depth: int) -> bool:
    """Whether the target multiplies such operands with wgmma: of one type, or 8-bit floats."""
    has_it = target.capability == 90 and target.suffix == "a"
    if not has_it or _ACCUMULATOR_TYPES.get(lhs) != accumulator:
        return False
    return (lhs == rhs or (lhs in FP8 and rhs in FP8)) and depth % depth_of(lhs) == 0


def accumulator_layout(shape: Sequence[int], grid: WarpgroupGrid) -> Layout:
    """Each warpgroup owns a contiguous block of rows and columns."""
    m, n = shape
    if grid.transposed:
        return accumulator_layout((n, m), grid.transpose()).permute((1, 0))
    return Layout.of(
        (warp(grid.rows, WARPS), reg(m // grid.rows // ROWS), warp(WARPS, 1), reg(2), lane(8, 4)),
        (warp(grid.columns, WARPS * grid.rows), reg(n // grid.columns // 8), lane(4, 1), reg(2)),
    )


def lhs_layout(shape: Sequence[int], element: str, grid: WarpgroupGrid) -> Layout:
    """The left operand in registers: rows as in the accumulator."""
    m, k = shape
    steps, pack = k // depth_of(element), pack_of(element)
    return Layout.of(
        (warp(grid.rows, WARPS), reg(m // grid.rows // ROWS), warp(WARPS, 1), reg(2), lane(8, 4)),
        (reg(steps), reg(2), lane(4, 1), reg(pack)),
    )


def grid_of(layout: Layout, num_warps: int) -> WarpgroupGrid | None:
    """The grid that an accumulator layout was made for; None if it is not one of wgmma."""
    grid = _untransposed_grid_of(layout, num_warps)
    if grid is not None:
        return grid
    grid = _untransposed_grid_of(layout.permute((1, 0)), num_warps)
    return None if grid is None else grid.transpose()


def _untransposed_grid_of(layout: Layout, num_warps: int) -> WarpgroupGrid | None:
    groups = num_warps // WARPS
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
        leading = 1 if self.along_depth else self.buffer.panel_bytes >> 4
        mode = {128: 1, 64: 2, 32: 3}[swizzle]
        return leading << 16 | (8 * swizzle >> 4) << 32 | mode << 62

    def offset(self, outer: int, depth: int) -> int:
        """Byte offset of the block that starts at `outer` along m or n and `depth` along k."""
        row, column = (outer, depth) if self.along_depth else (depth, outer)
        panel, within = divmod(column, self.buffer.panel)
        start = panel * self.buffer.panel_bytes + row * self.buffer.swizzle
        return start + within * self.buffer.element_bytes

    def group_bytes(self, outer: int) -> int:
        """Bytes between blocks that are `outer` apart along m or n, a whole number of panels or
        of groups of 8 rows."""
        return self.offset(outer, 0)


def readable(buffer: BufferInfo, depth_dim: int, block: int) -> bool:
    """Whether wgmma can read blocks of `block` rows or columns from a buffer."""
    if not buffer.swizzle or len(buffer.shape) != 2:
        return False
    if buffer.order[-1] == depth_dim:
        return block % 8 == 0
    return reads_across_depth(buffer.element) and block % buffer.panel == 0
