"""Tiles of epilogues, from the stages of a ring in which another warp has left them.

Each lane gets what it has of an accumulator: `ldmatrix` deals out 16-bit elements as those lie,
wider ones are read in pairs. Panels have the swizzle of 128 bytes, so that rows of a matrix lie in
different banks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import tile_of
from tileir.compiler.wgmma import ROWS_OF_WARP, grid_of
from tileir.dialects import tile_gpu
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, SharedBuffer, lowers
from tileir.passes.convert_tile_gpu.mma_operands import Matrices
from tileir.passes.convert_tile_gpu.shared_memory import SharedAddress, load_elements
from tileir.passes.convert_tile_gpu.slices import Place
from tileir.passes.convert_tile_gpu.specialization import arrive, wait_for
from tileir.passes.convert_tile_gpu.vectors import unpack
from tileir.passes.convert_tile_gpu.warpgroups import group_and_warp, place_in_grid

#: Rows and columns of a matrix of ldmatrix.
_MATRIX = 8


@lowers("tile_gpu.take_tile")
def _take_tile(ctx: Lowering, op: tile_gpu.TakeTileOp) -> None:
    taken = _TakenTile(ctx, op)
    if ctx.when_stored.computed(op.result):
        ctx.defer(op, taken.register)
    else:
        ctx.set(op, [taken.register(i) for i in range(taken.layout.num_registers)])


class _TakenTile:
    """The registers of a tile, each read when it is first asked for, with its neighbours."""

    def __init__(self, ctx: Lowering, op: tile_gpu.TakeTileOp):
        self.ctx, self.op = ctx, op
        self.info = tile_of(op.result)
        self.layout = self.info.layout
        self.parts: list[_Part] = []
        first = 0
        for buffer in op.parts:
            self.parts.append(_part(ctx, self.layout, ctx.buffers[buffer], first))
            first += self.parts[-1].width
        self._registers: dict[int, Value] = {}
        #: Barriers whose stages are there, and registers still to be read until one goes back.
        self._arrived: set[Value] = set()
        self._unread = dict.fromkeys(op.empty, 0)
        for _, column in self.layout.register_offsets:
            self._unread[op.empty[self._part_at(column)]] += 1

    def _part_at(self, column: int) -> int:
        return next(i for i, p in enumerate(self.parts) if column < p.first + p.width)

    def register(self, index: int) -> Value:
        if index not in self._registers:
            row, column = self.layout.register_offsets[index]
            number = self._part_at(column)
            self._wait(number)
            found = self.parts[number].read(row, column)
            for place, value in found.items():
                self._registers[self.layout.register_at[place]] = value
            self._give_back(number, len(found))
        return self._registers[index]

    def _wait(self, number: int) -> None:
        barrier = self.op.full[number]
        if barrier not in self._arrived:
            self._arrived.add(barrier)
            wait_for(self.ctx, barrier, self.op.parity[number])

    def _give_back(self, number: int, count: int) -> None:
        """The stage, if these registers were the last: all lanes have read theirs, and what they
        read is in registers before an asynchronous copy writes there."""
        barrier = self.op.empty[number]
        self._unread[barrier] -= count
        if not self._unread[barrier]:
            b = self.ctx.builder
            self.ctx.fence_async()
            b.create("nvvm.bar.warp.sync", [b.c32(-1)])
            arrive(self.ctx, barrier, bool(self.op.cluster))


# ---- parts ------------------------------------------------------------------------------------


class _Part(ABC):
    """Columns of a tile from `first` on, in a buffer."""

    def __init__(self, buffer: SharedBuffer, first: int):
        self.first, self.width = first, buffer.info.shape[1]

    @abstractmethod
    def read(self, row: int, column: int) -> dict[Place, Value]:
        """The register at a place of the tile, and its neighbours."""


def _part(ctx: Lowering, layout: Layout, buffer: SharedBuffer, first: int) -> _Part:
    if buffer.info.element_bytes == 2:
        return _MatrixPart(ctx, layout, buffer, first)
    return _PairPart(ctx, layout, buffer, first)


class _MatrixPart(_Part):
    """16-bit elements: four matrices at once, two above each other and two side by side. For a
    transposed accumulator, each is transposed."""

    def __init__(self, ctx: Lowering, layout: Layout, buffer: SharedBuffer, first: int):
        super().__init__(buffer, first)
        self.ctx, self.element = ctx, buffer.info.element
        grid = grid_of(layout, ctx.num_warps)
        assert grid is not None and grid.columns == 1, "specialize-warps chooses such tiles"
        self.transposed = grid.transposed
        b = ctx.builder
        share = b.mul(group_and_warp(ctx)[1], b.c32(ROWS_OF_WARP))
        row = b.mul(place_in_grid(ctx, grid)[0], b.c32(layout.shape[0] // grid.rows))
        if self.transposed:
            self.matrices = Matrices(ctx, buffer, 1, row, share)
        else:
            self.matrices = Matrices(ctx, buffer, 0, b.add(row, share), None)

    def read(self, row: int, column: int) -> dict[Place, Value]:
        top, left = row - row % (2 * _MATRIX), column - column % (2 * _MATRIX)
        pairs = self.matrices.load(top, left - self.first, self.transposed)
        steps = [(i, j) for j in (0, _MATRIX) for i in (0, _MATRIX)]
        if self.transposed:
            steps = [step[::-1] for step in steps]
        found = {}
        for (down, right), pair in zip(steps, pairs, strict=True):
            vector = self.ctx.bitcast(pair, self.ctx.builder.type(f"vector<2x{self.element}>"))
            i, j = top + down, left + right
            neighbour = (i + 1, j) if self.transposed else (i, j + 1)
            found[i, j], found[neighbour] = unpack(self.ctx, vector, 2, self.element)
        return found


class _PairPart(_Part):
    """32-bit elements: the two neighbours that a thread holds."""

    def __init__(self, ctx: Lowering, layout: Layout, buffer: SharedBuffer, first: int):
        super().__init__(buffer, first)
        self.ctx, self.buffer = ctx, buffer
        self.address = SharedAddress.of_layout(ctx, buffer.info, layout)

    def read(self, row: int, column: int) -> dict[Place, Value]:
        left = column - column % 2
        place = self.address.index(row, left - self.first)
        values = load_elements(self.ctx, self.buffer, place, 2)
        return {(row, left): values[0], (row, left + 1): values[1]}
