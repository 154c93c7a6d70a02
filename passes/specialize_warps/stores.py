"""Results that leave by tensor memory accesses: a `tma_store` instead of a `store`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, int_attr, keyword
from tileir.compiler.tile_types import TENSOR_ALIGNMENT, BufferInfo, swizzle_for, tile_of
from tileir.compiler.wgmma import ROWS, WarpgroupGrid
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.batches import Tensor
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.analysis.products import keep_whole_rows, stored_grid
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.walk import computed_from, follows_from_parameters, ops_of, recompute

_PURE = ("arith.", "llvm.getelementptr", "nvvm.read.ptx.sreg.")


@dataclass(eq=False)
class TensorStore:
    """A store of a product's result: each warpgroup copies boxes of 64 rows, by way of `stages`
    buffers. `allocate` makes these, and the map of the tensor.

    `permuted`: columns of the tile are adjacent in memory, and it leaves as its transpose, whose
    rows are. `grid` is that of the tile that leaves."""

    store: tile_gpu.StoreOp
    permuted: bool
    grid: WarpgroupGrid
    box: BufferInfo
    ring: BufferInfo
    map: Value = field(init=False)
    buffers: Value = field(init=False)

    @property
    def tensor(self) -> Tensor:
        """The tensor as the tile that leaves lies in it."""
        tensor = Tensor.of(self.store)
        return tensor.transposed() if self.permuted else tensor

    def is_late(self, waited_for: bool) -> bool:
        """Whether the warps would have the tile in memory sooner: those of one warpgroup, if they
        hold rows of it, or if something waits for the copies. (A launch ends with its last store.)
        """
        small = self.grid.rows * self.grid.columns == 1
        return small and (waited_for or not self.grid.transposed)

    def with_stages(self, stages: int) -> TensorStore:
        """The same by way of so many buffers."""
        return replace(self, ring=replace(self.ring, stages=stages))

    def allocate(self, b: Builder, replicas: int) -> None:
        """Describes the tensor and makes the buffers, for each set of consumers its own."""
        known: dict[Value, Value] = {}
        tensor = self.tensor.described_by(lambda value: recompute(b, value, known))
        shape = list(self.ring.shape)
        # The kernel's warps were split among the replicas, each of which stores whole tiles.
        shape[1 if self.grid.transposed else 0] //= replicas
        ring = replace(self.ring, shape=tuple(shape), stages=replicas * self.ring.stages)
        self.map = tensor.map_of(b, self.box)
        self.buffers = b.alloc(ring)

    def replace(self) -> None:
        """Puts the tensor store where the store was."""
        store = self.store
        starts = [_early(start, store) for start in self.tensor.place]
        b = Builder(InsertionPoint(store), store.location)
        value = b.permute(store.value, (1, 0)) if self.permuted else store.value
        b.create("tile_gpu.tma_store", [value, self.map, *starts, self.buffers])
        store.operation.erase()


def _early(start: Value, store: tile_gpu.StoreOp) -> Value:
    """The same, computed where the store's block begins, if that is possible: while the first
    operands are on their way. Places of tiles take several divisions."""
    block = store.operation.block

    def in_block(op: OpView) -> bool:
        return op.operation.block == block

    ops = [defining_op(source) for source in computed_from(start, in_block)]
    here = [op for op in ops if op is not None and in_block(op)]
    if not here or not all(op.operation.name.startswith(_PURE) for op in here):
        return start
    b = Builder(InsertionPoint.at_block_begin(block), store.location)
    return b.op("tile_gpu.first_lane", [recompute(b, start, {}, in_block)], start.type)


def replace_stores(stores: Sequence[TensorStore], split: Operation) -> None:
    """Replaces the stores among the consumers of `split`. What is ordered after a store waits until
    its copies are complete, and shared memory must outlive them."""
    if not stores:
        return
    for store in stores:
        store.replace()
    b = Builder(InsertionPoint(split.regions[1].blocks[0]), split.location)
    b.create("tile_gpu.tma_store_wait")
    for barrier in ops_of(split, tile_gpu.BarrierOp):
        b = Builder(InsertionPoint(barrier), barrier.location)
        complete = {"complete": b.attribute("unit")}
        b.create("tile_gpu.tma_store_wait", attributes=complete)


def tensor_stores(kernel: Operation) -> list[TensorStore]:
    """The stores that suit: of tiles shaped as the accumulators, to tensors that are known when
    the kernel starts. Each has a ring of one stage."""
    num_warps = num_warps_of(kernel)
    products = ops_of(kernel, tile_gpu.DotOp)
    shapes = {tile_of(product.result).shape for product in products}
    whole_rows = keep_whole_rows(products)
    found = []
    for op in ops_of(kernel, tile_gpu.StoreOp):
        if tile_of(op.value).shape in shapes:
            grid = stored_grid(op.value, num_warps, whole_rows)
            store = None if grid is None else _tensor_store(op, grid)
            if store is not None:
                found.append(store)
    return found


def _tensor_store(store: tile_gpu.StoreOp, grid: WarpgroupGrid) -> TensorStore | None:
    tile = tile_of(store.value)
    known = all(follows_from_parameters(value, _PURE) for value in Tensor.of(store).description)
    ordered = keyword(store, "ordering", "weak") != "weak"
    if ordered or not known or int_attr(store, "alignment") < TENSOR_ALIGNMENT:
        return None
    contiguous = contiguous_dim(store)
    if contiguous is None or tile.element_bytes not in (2, 4):
        return None
    permuted = contiguous == 0
    if permuted:
        tile, grid = tile.permuted((1, 0)), grid.transpose()
    swizzle = swizzle_for(tile.shape[1] // grid.columns * tile.element_bytes)
    if not swizzle or tile.shape[0] // grid.rows % ROWS:
        return None
    columns = swizzle // tile.element_bytes
    box = BufferInfo((ROWS, columns), tile.element, (0, 1), swizzle)
    # Warps that share out the columns of a transposed accumulator all take part in a slice.
    width = max(columns, ROWS) if grid.transposed else columns
    shape = (ROWS * grid.rows, width * grid.columns)
    return TensorStore(store, permuted, grid, box, BufferInfo(shape, tile.element, (0, 1), swizzle))
