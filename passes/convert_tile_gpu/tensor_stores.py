"""Storing accumulators by tensor memory accesses.

Each warpgroup on its own: a slice of 64 rows and as many columns as a swizzled row is wide goes to
shared memory (`stmatrix`, free of bank conflicts by the swizzle), and from there to the tensor,
copied by the warpgroup's first thread while the next slice is being written.
"""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag
from tileir.compiler.tile_types import buffer_info, tensor_map_box
from tileir.compiler.wgmma import ROWS, THREADS, WARPS, grid_of
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, OpView, Value
from tileir.passes.convert_tile_gpu.barriers import NamedBarrier, meet
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import address
from tileir.passes.convert_tile_gpu.slices import Slice
from tileir.passes.convert_tile_gpu.tensor_memory import coordinates
from tileir.passes.convert_tile_gpu.warpgroups import group_and_warp, place_in_grid

#: Slices whose loads are started ahead, and the words that they may keep in registers meanwhile;
#: threads of so many warps have too few registers for that.
_AHEAD, _WORDS_AHEAD = 2, 32
_TIGHT_WARPS = 12


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
        self.words = ctx.when_stored.words_loaded_for(op.value)
        self.map, self.box = ctx.scalar(op.map), tensor_map_box(op.map.type)
        self.ring = buffer_info(op.ring.type)
        grid = grid_of(self.tile.layout, ctx.num_warps)
        assert grid is not None, "assign-layouts gives stored tiles the layout of accumulators"
        self.transposed = grid.transposed
        self.rows = self.tile.info.shape[0] // grid.rows
        self.columns = self.tile.info.shape[1] // grid.columns
        #: Columns of a slice: of one panel, or of several.
        self.width = self.ring.shape[1] // grid.columns
        group, _ = group_and_warp(ctx)
        groups = b.mul(ctx.replica, b.c32(ctx.num_warps // WARPS))
        self.barrier = b.add(b.add(group, groups), b.c32(NamedBarrier.WARPGROUPS))
        #: Each replica has its share of the stages.
        self.stages = self.ring.stages // ctx.num_replicas
        self.leads = _leads(ctx)
        row, column = place_in_grid(ctx, grid)
        self.origin = self._origin(row, column, [ctx.scalar(start) for start in op.starts])
        self.base = self._base(row, column, address(ctx, ctx.buffers[op.ring]))

    def _origin(self, row: Value, column: Value, starts: list[Value]) -> list[Value]:
        """Where the warpgroup's part of the tile lies in the tensor (i64)."""
        b = self.ctx.builder
        offsets = b.mul(row, b.c32(self.rows)), b.mul(column, b.c32(self.columns))
        wide = [b.op("arith.extui", [offset], b.i64) for offset in offsets]
        return [b.add(start, offset) for start, offset in zip(starts, wide, strict=True)]

    def _base(self, row: Value, column: Value, ring: Value) -> Value:
        """Where the warpgroup's part of the first stage starts in shared memory (i32)."""
        b = self.ctx.builder
        down = b.mul(row, b.c32(ROWS * self.ring.pitch_bytes))
        right = b.mul(column, b.c32(self.width // self.ring.panel * self.ring.panel_bytes))
        first = b.mul(self.ctx.replica, b.c32(self.stages * self.ring.stage_bytes))
        return b.add(b.add(ring, first), b.add(down, right))

    def run(self) -> None:
        slices = [
            Slice.of(self.ctx, self.tile, (row, column), self.ring, self.transposed)
            for row in range(0, self.rows, ROWS)
            for column in range(0, self.columns, self.width)
        ]
        ahead = self._ahead(len(slices))
        for slice_ in slices[:ahead]:
            slice_.prepare()
        for index, slice_ in enumerate(slices):
            for following in slices[index + ahead : index + ahead + 1]:
                following.prepare()
            self._store_slice(slice_, index, len(slices))

    def _ahead(self, slices: int) -> int:
        """How many slices ahead loads are started."""
        if self.ctx.num_warps >= _TIGHT_WARPS:
            return 0
        return min(_AHEAD, _WORDS_AHEAD * slices // max(1, self.words))

    def _pending(self, index: int, count: int) -> int:
        """How many copies may be under way when slice `index` of `count` is written: those after
        the last one from the same stage, which for the first slices was in the tile before."""
        if index >= self.stages:
            return self.stages - 1
        last = max(range(index % self.stages, count, self.stages))
        return count - last + index - 1

    def _store_slice(self, slice_: Slice, index: int, count: int) -> None:
        ctx, b = self.ctx, self.ctx.builder
        offset = index % self.stages * self.ring.stage_bytes
        place = b.add(self.base, b.c32(offset)) if offset else self.base
        with ctx.only_if(self.leads):
            _wait_for_copies(ctx, self._pending(index, count))
        self._meet()
        slice_.write(place)
        ctx.fence_async()
        self._meet()
        with ctx.only_if(self.leads):
            self._copy(slice_.corner, place)

    def _meet(self) -> None:
        """A barrier of the warpgroup."""
        meet(self.ctx.builder, self.barrier, THREADS)

    def _copy(self, corner: tuple[int, int], place: Value) -> None:
        """Copies a slice, panel by panel, as one group."""
        b = self.ctx.builder
        row, column = corner
        for right in range(0, self.width, self.ring.panel):
            skipped = b.c32(right // self.ring.panel * self.ring.panel_bytes)
            self._copy_box((row, column + right), b.add(place, skipped) if right else place)
        b.create("nvvm.cp.async.bulk.commit.group")

    def _copy_box(self, corner: tuple[int, int], place: Value) -> None:
        b = self.ctx.builder
        source = b.op("llvm.inttoptr", [place], b.type("!llvm.ptr<3>"))
        where = coordinates(self.ctx, self.origin, corner, self.box.order)
        attributes = {
            "mode": b.attribute("#nvvm.tma_store_mode<tile>"),
            "operandSegmentSizes": b.segments(1, 1, len(where), 0, 0),
        }
        b.create(
            "nvvm.cp.async.bulk.tensor.global.shared.cta",
            [self.map, source, *where],
            attributes=attributes,
        )
