"""Storing accumulators by tensor memory accesses.

Each warpgroup on its own: a slice of 64 rows and as many columns as a swizzled row is wide goes to
shared memory (`stmatrix`, free of bank conflicts by the swizzle), and from there to the tensor,
copied by the warpgroup's first thread while the next slice is being written.
"""

from __future__ import annotations

from collections.abc import Callable

from tileir.compiler.ir_util import has_flag
from tileir.compiler.tile_types import CHUNK_BYTES, BufferInfo, buffer_info, tensor_map_box
from tileir.compiler.wgmma import ROWS, THREADS, WarpgroupGrid, grid_of
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Fragment, Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address
from tileir.passes.convert_tile_gpu.tensor_memory import coordinates
from tileir.passes.convert_tile_gpu.vectors import pack

#: Named barriers of the warpgroups start here; those below belong to more threads.
_FIRST_BARRIER = 3
#: Slices whose loads are started ahead; threads of so many warps have too few registers for that.
_AHEAD = 2
_TIGHT_WARPS = 12
#: Rows and columns of a matrix of stmatrix.
_MATRIX = 8


@lowers("tile_gpu.tma_store")
def _tma_store(ctx: Lowering, op: tile_gpu.TmaStoreOp) -> None:
    _TensorStore(ctx, op).run()


@lowers("tile_gpu.tma_store_wait")
def _tma_store_wait(ctx: Lowering, op: OpView) -> None:
    with ctx.only_if(_leads(ctx)):
        _wait_for_copies(ctx, 0, complete=has_flag(op, "complete"))


def _leads(ctx: Lowering) -> Value:
    """Whether this is the first thread of a warpgroup."""
    b = ctx.builder
    within = b.op("arith.remui", [ctx.thread, b.c32(THREADS)], b.i32)
    return b.compare("eq", within, b.c32(0))


def _wait_for_copies(ctx: Lowering, pending: int, complete: bool = False) -> None:
    """Until at most so many of this thread's copies may still read shared memory, or are not
    `complete`."""
    b = ctx.builder
    attributes: dict[str, Attribute] = {"group": b.i32_attr(pending)}
    if not complete:
        attributes["read"] = b.attribute("unit")
    b.create("nvvm.cp.async.bulk.wait_group", attributes=attributes)


class _TensorStore:
    """One store."""

    def __init__(self, ctx: Lowering, op: tile_gpu.TmaStoreOp):
        b = ctx.builder
        self.ctx, self.tile = ctx, ctx.fragment(op.value)
        self.map, self.box = ctx.scalar(op.map), tensor_map_box(op.map.type)
        self.ring = buffer_info(op.ring.type)
        grid = grid_of(self.tile.layout, ctx.num_warps)
        assert grid is not None, "assign-layouts gives stored tiles the layout of accumulators"
        self.rows = self.tile.info.shape[0] // grid.rows
        self.columns = self.tile.info.shape[1] // grid.columns
        group = b.op("arith.divui", [ctx.warp, b.c32(4)], b.i32)
        groups = b.mul(ctx.replica, b.c32(ctx.num_warps // 4))
        self.barrier = b.add(b.add(group, groups), b.c32(_FIRST_BARRIER))
        #: Each replica has its share of the stages.
        self.stages = self.ring.stages // ctx.num_replicas
        self.leads = _leads(ctx)
        self.origin = self._origin(group, grid, [ctx.scalar(start) for start in op.starts])
        self.base = self._base(group, grid, address(ctx, ctx.buffers[op.ring]))

    def _origin(self, group: Value, grid: WarpgroupGrid, starts: list[Value]) -> list[Value]:
        """Where the warpgroup's part of the tile lies in the tensor (i64)."""
        b = self.ctx.builder
        row = b.mul(b.op("arith.remui", [group, b.c32(grid.rows)], b.i32), b.c32(self.rows))
        column = b.mul(b.op("arith.divui", [group, b.c32(grid.rows)], b.i32), b.c32(self.columns))
        wide = [b.op("arith.extui", [offset], b.i64) for offset in (row, column)]
        return [b.add(start, offset) for start, offset in zip(starts, wide, strict=True)]

    def _base(self, group: Value, grid: WarpgroupGrid, ring: Value) -> Value:
        """Where the warpgroup's box of the first stage starts in shared memory (i32)."""
        b = self.ctx.builder
        row = b.op("arith.remui", [group, b.c32(grid.rows)], b.i32)
        column = b.op("arith.divui", [group, b.c32(grid.rows)], b.i32)
        down = b.mul(row, b.c32(ROWS * self.ring.pitch_bytes))
        right = b.mul(column, b.c32(self.ring.num_rows * self.ring.pitch_bytes))
        first = b.mul(self.ctx.replica, b.c32(self.stages * self.ring.stage_bytes))
        return b.add(b.add(ring, first), b.add(down, right))

    def run(self) -> None:
        write = _write_matrices if self.box.element_bytes == 2 else _write_pairs
        corners = [
            (row, column)
            for row in range(0, self.rows, ROWS)
            for column in range(0, self.columns, self.box.shape[1])
        ]
        ahead = _AHEAD if self.ctx.num_warps < _TIGHT_WARPS else 0
        for corner in corners[:ahead]:
            self._prepare(corner)
        for index, corner in enumerate(corners):
            for following in corners[index + ahead : index + ahead + 1]:
                self._prepare(following)
            self._store_slice(write, corner, index, len(corners))

    def _prepare(self, corner: tuple[int, int]) -> None:
        """Loads what the elements of a slice are still to be computed from."""
        for half in (0, _MATRIX):
            for column in range(0, self.box.shape[1], _MATRIX):
                for i in (0, 1):
                    self.tile.prepare((corner[0] + half, corner[1] + column + i))

    def _pending(self, index: int, count: int) -> int:
        """How many copies may be under way when slice `index` of `count` is written: those after
        the last one from the same stage, which for the first slices was in the tile before."""
        if index >= self.stages:
            return self.stages - 1
        last = max(range(index % self.stages, count, self.stages))
        return count - last + index - 1

    def _store_slice(
        self, write: Callable, corner: tuple[int, int], index: int, count: int
    ) -> None:
        ctx, b = self.ctx, self.ctx.builder
        offset = index % self.stages * self.ring.stage_bytes
        place = b.add(self.base, b.c32(offset)) if offset else self.base
        with ctx.only_if(self.leads):
            _wait_for_copies(ctx, self._pending(index, count))
        self._meet()
        write(ctx, self.tile, corner, self.box, place)
        ctx.fence_async()
        self._meet()
        with ctx.only_if(self.leads):
            self._copy(corner, place)

    def _meet(self) -> None:
        """A barrier of the warpgroup."""
        b = self.ctx.builder
        attributes = {"operandSegmentSizes": b.attribute("array<i32: 1, 1, 0>")}
        b.create("nvvm.barrier", [self.barrier, b.c32(THREADS)], attributes=attributes)

    def _copy(self, corner: tuple[int, int], place: Value) -> None:
        b = self.ctx.builder
        source = b.op("llvm.inttoptr", [place], b.type("!llvm.ptr<3>"))
        where = coordinates(self.ctx, self.origin, corner, self.box.order)
        attributes = {
            "mode": b.attribute("#nvvm.tma_store_mode<tile>"),
            "operandSegmentSizes": b.attribute(f"array<i32: 1, 1, {len(where)}, 0, 0>"),
        }
        b.create(
            "nvvm.cp.async.bulk.tensor.global.shared.cta",
            [self.map, source, *where],
            attributes=attributes,
        )
        b.create("nvvm.cp.async.bulk.commit.group")


def _swizzled(ctx: Lowering, box: BufferInfo, row: Value, chunk: Value) -> Value:
    """Byte offset in a box of a row's 16-byte chunk, for run-time rows and chunks."""
    b = ctx.builder
    shift, mask = {128: (0, 7), 64: (1, 3), 32: (2, 1)}[box.swizzle]
    key = b.op("arith.shrui", [row, b.c32(shift)], b.i32) if shift else row
    key = b.op("arith.andi", [key, b.c32(mask)], b.i32)
    chunk = b.op("arith.xori", [chunk, key], b.i32)
    return b.add(b.mul(row, b.c32(box.pitch_bytes)), b.mul(chunk, b.c32(CHUNK_BYTES)))


def _write_matrices(
    ctx: Lowering, tile: Fragment, corner: tuple[int, int], box: BufferInfo, place: Value
) -> None:
    """16-bit elements: four 8x8 matrices at once, two above each other and two side by side. Lane
    8 i + r says where row r of matrix i goes."""
    b = ctx.builder
    matrix = b.op("arith.divui", [ctx.lane, b.c32(_MATRIX)], b.i32)
    low = b.op("arith.remui", [ctx.lane, b.c32(_MATRIX)], b.i32)
    warp = b.op("arith.remui", [ctx.warp, b.c32(4)], b.i32)
    down = b.op("arith.andi", [matrix, b.c32(1)], b.i32)
    row = b.add(b.add(low, b.mul(down, b.c32(_MATRIX))), b.mul(warp, b.c32(2 * _MATRIX)))
    right = b.op("arith.shrui", [matrix, b.c32(1)], b.i32)
    attributes = {
        "layout": b.attribute("#nvvm.mma_layout<row>"),
        "shape": b.attribute("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
        "eltType": b.attribute("#nvvm.ld_st_matrix_elt_type<b16>"),
    }
    for first in range(0, box.shape[1], 2 * _MATRIX):
        registers = []
        for column in (first, first + _MATRIX):
            for half in (0, _MATRIX):
                at = (corner[0] + half, corner[1] + column)
                pair = [tile.at((at[0], at[1] + i)) for i in (0, 1)]
                registers.append(b.op("llvm.bitcast", [pack(ctx, pair, tile.info.element)], b.i32))
        chunk = b.add(right, b.c32(first // _MATRIX)) if first else right
        target = b.add(place, _swizzled(ctx, box, row, chunk))
        pointer = b.op("llvm.inttoptr", [target], b.type("!llvm.ptr<3>"))
        b.create("nvvm.stmatrix", [pointer, *registers], attributes=attributes)


def _write_pairs(
    ctx: Lowering, tile: Fragment, corner: tuple[int, int], box: BufferInfo, place: Value
) -> None:
    """32-bit elements: the two neighbours that a thread holds, at once."""
    b = ctx.builder
    quad = b.op("arith.remui", [ctx.lane, b.c32(4)], b.i32)
    group = b.op("arith.divui", [ctx.lane, b.c32(4)], b.i32)
    warp = b.op("arith.remui", [ctx.warp, b.c32(4)], b.i32)
    chunk = b.op("arith.divui", [quad, b.c32(2)], b.i32)
    within = b.mul(b.op("arith.remui", [quad, b.c32(2)], b.i32), b.c32(8))
    for column in range(0, box.shape[1], _MATRIX):
        for half in (0, _MATRIX):
            row = b.add(b.add(group, b.c32(half)), b.mul(warp, b.c32(2 * _MATRIX)))
            at = (corner[0] + half, corner[1] + column)
            pair = pack(ctx, [tile.at((at[0], at[1] + i)) for i in (0, 1)], tile.info.element)
            offset = _swizzled(ctx, box, row, b.add(chunk, b.c32(column // 4)))
            target = b.add(place, b.add(offset, within))
            pointer = b.op("llvm.inttoptr", [target], b.type("!llvm.ptr<3>"))
            b.create("llvm.store", [pair, pointer], attributes={"alignment": b.i64_attr(8)})
