"""Storing accumulators by tensor memory accesses.

Each warpgroup on its own: a slice of 64 rows and as many columns as a swizzled row is wide goes to
shared memory (`stmatrix`, free of bank conflicts by the swizzle), and from there to the tensor,
copied by the warpgroup's first thread while the next slice is being written.

Stores that follow each other go slice by slice together: of two tiles computed from the same
accumulators, neither is held while the other leaves. Narrow elements have wider slices, which go
with the first of those beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.ir_util import has_flag
from tileir.compiler.tile_types import tensor_map_box, tile_of
from tileir.compiler.wgmma import ROWS, THREADS, WARPS, grid_of
from tileir.dialects import tile_gpu
from tileir.ir import Attribute, OpView, Value
from tileir.passes.convert_tile_gpu.barriers import NamedBarrier, meet
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shared_memory import shared_address, shared_pointer
from tileir.passes.convert_tile_gpu.slices import Place, Slice
from tileir.passes.convert_tile_gpu.tensor_memory import coordinates
from tileir.passes.convert_tile_gpu.warpgroups import group_and_warp, place_in_grid

#: Steps whose loads are started ahead, and the words that each may keep in registers meanwhile;
#: threads of so many warps have too few registers for that.
_AHEAD, _WORDS_AHEAD = 2, 32
_TIGHT_WARPS = 12


@lowers("tile_gpu.tma_store")
def _tma_store(ctx: Lowering, op: tile_gpu.TmaStoreOp) -> None:
    together = _together(op)
    if op == together[-1]:
        _StoresTogether(ctx, [_TensorStore(ctx, each) for each in together]).run()


def _together(op: tile_gpu.TmaStoreOp) -> list[tile_gpu.TmaStoreOp]:
    """The stores, among them `op`, that follow each other with nothing between that waits or
    branches, of tiles that warps share out in the same way."""
    run: list[tile_gpu.TmaStoreOp] = []
    for other in op.operation.block:
        ends = bool(other.operation.regions) or isinstance(other, tile_gpu.BarrierOp)
        if isinstance(other, tile_gpu.TmaStoreOp):
            ends = bool(run) and not _shared_alike(run[0], other)
        if ends and op in run:
            break
        if ends:
            run = []
        if isinstance(other, tile_gpu.TmaStoreOp):
            run.append(other)
    return run


def _shared_alike(one: tile_gpu.TmaStoreOp, other: tile_gpu.TmaStoreOp) -> bool:
    tiles = [tile_of(op.value) for op in (one, other)]
    return tiles[0].shape == tiles[1].shape and tiles[0].layout == tiles[1].layout


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


@dataclass(frozen=True)
class _Leaving:
    """A slice of a store, and the stage of the ring by way of which it leaves."""

    store: _TensorStore
    slice: Slice
    stage: int

    @property
    def place(self) -> tuple[_TensorStore, int]:
        return self.store, self.stage

    def write(self) -> None:
        self.slice.write(self.store.base, self.store.offset_of(self.stage))

    def copy(self) -> None:
        self.store.copy(self.slice.corner, self.store.offset_of(self.stage))


class _StoresTogether:
    """Stores of tiles that warps share out in the same way, in steps: the slices that start at the
    same place. Those of the same columns follow each other: what is the same for all rows, a bias
    or a column's number, is needed for fewer steps."""

    def __init__(self, ctx: Lowering, stores: Sequence[_TensorStore]):
        self.ctx, self.stores = ctx, stores
        self.leads, self.barrier = _leads(ctx), _barrier_of_warpgroup(ctx)
        steps: dict[Place, list[_Leaving]] = {}
        for store in stores:
            for index, slice_ in enumerate(store.slices()):
                leaving = _Leaving(store, slice_, index % store.stages)
                steps.setdefault(slice_.corner, []).append(leaving)
        self.steps = [steps[corner] for corner in sorted(steps, key=_by_column)]

    def run(self) -> None:
        ahead = self._ahead()
        for step in self.steps[:ahead]:
            _prepare(step)
        for index, step in enumerate(self.steps):
            for following in self.steps[index + ahead : index + ahead + 1]:
                _prepare(following)
            self._store(step, self._pending(index))

    def _ahead(self) -> int:
        """How many steps ahead loads are started."""
        if self.ctx.num_warps >= _TIGHT_WARPS or len(self.stores) > 1:
            return 0
        return _AHEAD if _AHEAD * self.stores[0].words <= _WORDS_AHEAD * len(self.steps) else 0

    def _pending(self, index: int) -> int:
        """How many steps' copies may be under way when a step is written: those after the last from
        any of its stages, which for the first steps was in the tile before."""
        places = {leaving.place for leaving in self.steps[index]}
        latest_first = [*self.steps[:index][::-1], *self.steps[index:][::-1]]
        return next(
            since
            for since, step in enumerate(latest_first)
            if places & {leaving.place for leaving in step}
        )

    def _store(self, step: Sequence[_Leaving], pending: int) -> None:
        ctx = self.ctx
        with ctx.only_if(self.leads):
            _wait_for_copies(ctx, pending)
        self._meet()
        for leaving in step:
            leaving.write()
        ctx.fence_async()
        self._meet()
        with ctx.only_if(self.leads):
            for leaving in step:
                leaving.copy()
            ctx.builder.create("nvvm.cp.async.bulk.commit.group")

    def _meet(self) -> None:
        """A barrier of the warpgroup."""
        meet(self.ctx.builder, self.barrier, THREADS)


def _by_column(corner: Place) -> Place:
    row, column = corner
    return column, row


def _prepare(step: Sequence[_Leaving]) -> None:
    for leaving in step:
        leaving.slice.prepare()


def _barrier_of_warpgroup(ctx: Lowering) -> Value:
    b = ctx.builder
    group, _ = group_and_warp(ctx)
    groups = b.mul(ctx.replica, b.c32(ctx.num_warps // WARPS))
    return b.add(b.add(group, groups), b.c32(NamedBarrier.WARPGROUPS))


class _TensorStore:
    """One store."""

    def __init__(self, ctx: Lowering, op: tile_gpu.TmaStoreOp):
        self.ctx, self.tile = ctx, ctx.fragment(op.value)
        self.words = ctx.when_stored.words_loaded_for(op.value)
        self.map, self.box = ctx.scalar(op.map), tensor_map_box(op.map.type)
        self.buffer = ctx.buffers[op.ring]
        self.ring = self.buffer.info
        grid = grid_of(self.tile.layout, ctx.num_warps)
        assert grid is not None, "assign-layouts gives stored tiles the layout of accumulators"
        self.transposed = grid.transposed
        self.rows = self.tile.info.shape[0] // grid.rows
        self.columns = self.tile.info.shape[1] // grid.columns
        #: Columns of a slice: of one panel, or of several.
        self.width = self.ring.shape[1] // grid.columns
        #: Each replica has its share of the stages.
        self.stages = self.ring.stages // ctx.num_replicas
        row, column = place_in_grid(ctx, grid)
        *batch, down, right = (ctx.scalar(start) for start in op.starts)
        self.origin = [*batch, *self._origin(row, column, [down, right])]
        self.base = self._base(row, column)

    def _origin(self, row: Value, column: Value, starts: list[Value]) -> list[Value]:
        """Where the warpgroup's part of the tile lies in the tensor (i64)."""
        b = self.ctx.builder
        offsets = b.mul(row, b.c32(self.rows)), b.mul(column, b.c32(self.columns))
        wide = [b.op("arith.extui", [offset], b.i64) for offset in offsets]
        return [b.add(start, offset) for start, offset in zip(starts, wide, strict=True)]

    def _base(self, row: Value, column: Value) -> Value:
        """Where the warpgroup's part of the first stage would start if the ring were the first
        thing in shared memory (i32): the same for all rings of the kind."""
        b = self.ctx.builder
        down = b.mul(row, b.c32(ROWS * self.ring.pitch_bytes))
        right = b.mul(column, b.c32(self.width // self.ring.panel * self.ring.panel_bytes))
        first = b.mul(self.ctx.replica, b.c32(self.stages * self.ring.stage_bytes))
        return b.add(b.add(shared_address(self.ctx), first), b.add(down, right))

    def slices(self) -> list[Slice]:
        """The slices of the warpgroup's part."""
        return [
            Slice.of(self.ctx, self.tile, (row, column), self.ring, self.transposed)
            for row in range(0, self.rows, ROWS)
            for column in range(0, self.columns, self.width)
        ]

    def offset_of(self, stage: int) -> int:
        """Bytes from `base` to the same place of a stage."""
        return self.buffer.offset + stage * self.ring.stage_bytes

    def copy(self, corner: tuple[int, int], offset: int) -> None:
        """Copies a slice, panel by panel, from so many bytes after `base`."""
        b = self.ctx.builder
        row, column = corner
        for right in range(0, self.width, self.ring.panel):
            skipped = offset + right // self.ring.panel * self.ring.panel_bytes
            self._copy_box((row, column + right), b.add(self.base, b.c32(skipped)))

    def _copy_box(self, corner: tuple[int, int], place: Value) -> None:
        b = self.ctx.builder
        source = shared_pointer(self.ctx, place)
        batch = (0,) * (len(self.origin) - len(corner))
        where = coordinates(self.ctx, self.origin, (*batch, *corner), self.box.order)
        attributes = {
            "mode": b.attribute("#nvvm.tma_store_mode<tile>"),
            "operandSegmentSizes": b.segments(1, 1, len(where), 0, 0),
        }
        b.create(
            "nvvm.cp.async.bulk.tensor.global.shared.cta",
            [self.map, source, *where],
            attributes=attributes,
        )
