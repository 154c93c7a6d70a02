"""Tiles that epilogues read come through the ring of operands.

A tile that is added to a product's result, as large as that is, would be read in the layout of
accumulators, four bytes a lane, with addresses and bounds for each. The producer fetches it, into
stages of the ring after the last operands: it is there when the accumulators are, and stages go
back as soon as the consumers have read them, for the next tile's operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import int_attr, keyword, parent_of, with_branches
from tileir.compiler.tile_types import (
    LARGEST_BOX,
    LINE_BYTES,
    TENSOR_ALIGNMENT,
    BufferInfo,
    TileInfo,
    tile_of,
)
from tileir.compiler.wgmma import ROWS, WarpgroupGrid
from tileir.dialects import tile_gpu
from tileir.ir import Block, Operation, Value
from tileir.passes.analysis.batches import Tensor
from tileir.passes.analysis.memory_accesses import contiguous_dim
from tileir.passes.analysis.regrouping import ELEMENTWISE
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.specialize_warps.rings import Fetch, Ring
from tileir.passes.specialize_warps.stores import TensorStore
from tileir.passes.walk import ops_of

#: Elements that a tensor map knows and `take_tile` reads.
_ELEMENTS = ("f16", "bf16", "f32", "i32")


@dataclass(frozen=True)
class Part:
    """Columns of the tile, from `column` on, that a round brings into the stage of a fetch."""

    fetch: Fetch
    info: BufferInfo
    column: int


@dataclass(eq=False)
class Source:
    """A load that the producer does after the rounds of `ring`; `rounds` are its own.
    `allocate` makes the map of the tensor."""

    load: tile_gpu.LoadOp
    ring: Ring
    box: BufferInfo
    rounds: list[list[Part]]
    map: Value = field(init=False)

    @property
    def tensor(self) -> Tensor:
        return Tensor.of(self.load)

    def allocate(self, b: Builder) -> None:
        self.map = self.tensor.map_of(b, self.box)


def epilogue_sources(
    kernel: Operation, rings: Sequence[Ring], stores: Sequence[TensorStore]
) -> list[Source]:
    """The loads after the loop of a kernel's only ring that suit: of tiles as large as the
    product's result, which only leave by `stores`, like that result itself. (Rows of operands that
    no box reaches keep what a source has left there; those of the result are not stored.)"""
    if len(rings) != 1 or not stores:
        return []
    ring, leaving = rings[0], {store.store.operation for store in stores}
    products = ops_of(kernel, tile_gpu.DotOp)
    if not all(_only_leaves(op.result, leaving) for op in products):
        return []
    found = []
    for load in _loads_after(ring):
        box = _box(load, num_warps_of(kernel))
        if box is not None and _only_leaves(load.result, leaving, load.operation.block):
            found.append(Source(load, ring, box, list(_rounds(tile_of(load.result), box, ring))))
    return [source for source in found if source.rounds]


def _loads_after(ring: Ring) -> Iterator[tile_gpu.LoadOp]:
    """The loads after the ring's loop, in the block of the loop over tiles, or of the kernel."""
    loop = ring.block.owner.operation
    if loop.name != "scf.for":
        return
    last = with_branches(loop)
    ops = [op.operation for op in last.block]
    for op in ops[ops.index(last) + 1 :]:
        if op.name == "tile_gpu.barrier":
            return
        if isinstance(op.opview, tile_gpu.LoadOp) and not op.opview.ordered:
            yield op.opview


def _box(load: tile_gpu.LoadOp, num_warps: int) -> BufferInfo | None:
    """The box of an access, whose rows are whole lines; None if the load does not suit."""
    tile = tile_of(load.result)
    if len(tile.shape) != 2 or tile.element not in _ELEMENTS:
        return None
    rows, columns = tile.shape
    panel = LINE_BYTES // tile.element_bytes
    grid = WarpgroupGrid.choose(tile.shape, num_warps, False)
    if grid is None or not _all_read(grid, panel) or columns % panel:
        return None
    if rows % min(rows, LARGEST_BOX):
        return None
    weak = keyword(load, "ordering", "weak") == "weak"
    zeros = keyword(load, "padding", "zero") == "zero"
    aligned = contiguous_dim(load) == 1 and int_attr(load, "alignment") >= TENSOR_ALIGNMENT
    if not (weak and zeros and aligned):
        return None
    return BufferInfo((min(rows, LARGEST_BOX), panel), tile.element, (0, 1), LINE_BYTES)


def _all_read(grid: WarpgroupGrid, panel: int) -> bool:
    """Whether every warp reads of every panel, and so can give it back."""
    return grid.columns == 1 and (not grid.transposed or panel % ROWS == 0)


def _rounds(tile: TileInfo, box: BufferInfo, ring: Ring) -> Iterator[list[Part]]:
    """What each round brings: as many panels as fit into the buffers of a stage."""
    rows, columns = tile.shape
    panel_bytes = rows * LINE_BYTES
    room = [(f, f.load.buffer.stage_bytes // panel_bytes) for f in ring.fetches]
    room = [(f, panels) for f, panels in room if panels and f.load.buffer.swizzle == LINE_BYTES]
    column = 0
    while room and column < columns:
        parts = []
        for fetch, panels in room:
            width = min(panels * box.panel, columns - column)
            if width:
                parts.append(Part(fetch, replace(box, shape=(rows, width)), column))
            column += width
        yield parts


def _only_leaves(value: Value, stores: Set[Operation], block: Block | None = None) -> bool:
    """Whether only `stores` see a tile, perhaps through loops and branches and after operations on
    each element; if given, all in one `block`."""
    seen, left = set(), [value]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.owner.operation
            if block is not None and user.block != block:
                return False
            if user in stores:
                continue
            passed = _passed_on(user, use.operand_number)
            if passed is None:
                return False
            left += passed
    return True


def _passed_on(user: Operation, index: int) -> list[Value] | None:
    """The values that an operand becomes; None if it is seen otherwise."""
    if user.name == "scf.yield":
        parent = parent_of(user)
        carried = list(parent.regions[0].blocks[0].arguments)[1:]
        arguments = [carried[index]] if parent.name == "scf.for" else []
        return [parent.results[index], *arguments]
    if user.name == "scf.for":
        return [user.regions[0].blocks[0].arguments[index - 2], user.results[index - 3]]
    if user.name == "tile_gpu.dot_wait":
        return [user.results[index]]
    if user.name == "tile_gpu.dot":
        return [user.results[0]] if index == 2 else None
    return [user.results[0]] if user.name.startswith(ELEMENTWISE) else None
