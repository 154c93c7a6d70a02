"""The rings of buffers through which the producer passes tiles to the consumers, and the loads that
become fetches of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import ancestor_in, ancestors, has_flag
from tileir.compiler.tile_types import LARGEST_BOX, SWIZZLE_PERIOD, BufferInfo
from tileir.dialects import tile_gpu
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.analysis.batches import Tensor
from tileir.passes.analysis.operand_loads import OperandLoad


@dataclass(eq=False)
class Fetch:
    """A load that the producer does. `Plan.allocate` makes the map, which describes its tensor, and
    the buffer."""

    load: OperandLoad
    box: BufferInfo
    #: Whether the other block of a pair fetches the same tile (i1); None if there are no pairs.
    shared: Value | None
    #: Rows of a box (i64) where the tensor may have fewer than the tile; None if boxes are whole.
    rows: Value | None = field(init=False, default=None)
    map: Value = field(init=False)
    buffer: Value = field(init=False)

    @property
    def tensor(self) -> Tensor:
        return Tensor.of(self.load.load)

    @property
    def box_rows(self) -> int:
        """Rows of a whole box."""
        return self.box.shape[self.box.order[0]]

    @property
    def outer_dim(self) -> int:
        """The dimension of the operand that the product's result has, too."""
        user = self.load.users[0].operation
        return 0 if user.operands[0] == self.load.result else 1


@dataclass(eq=False)
class Ring:
    """Fetches that arrive together: those that one product reads.

    `in_flight`: products still read a stage when the next round starts. `Plan.allocate` makes the
    barriers `full` and `empty`, one of each per stage.
    """

    fetches: list[Fetch]
    in_flight: bool
    stages: int = 1
    full: Value = field(init=False)
    empty: Value = field(init=False)

    @property
    def block(self) -> Block:
        return self.fetches[0].load.to_shared.operation.block

    def partner_of(self, fetch: Fetch) -> Fetch | None:
        """The other operand of the product, if the ring consists of these two."""
        if len(self.fetches) != 2 or self.fetches[0].outer_dim == self.fetches[1].outer_dim:
            return None
        return self.fetches[1 - self.fetches.index(fetch)]

    @property
    def in_loop(self) -> bool:
        return self.block.owner.operation.name == "scf.for"

    def is_around(self, other: Ring) -> bool:
        """Whether the other's tiles come in a loop inside of the block in which this one's do."""
        return other.block != self.block and encloses(self.block.owner.operation, other.block)

    @property
    def bytes(self) -> int:
        """Bytes of a stage."""
        return sum(fetch.load.buffer.stage_bytes for fetch in self.fetches)

    def fetched_bytes(self, b: Builder) -> Value:
        """Bytes that a round fetches, elements outside of tensors included (i32)."""
        whole = sum(f.load.buffer.stage_bytes for f in self.fetches if f.rows is None)
        total = b.c32(whole)
        for fetch in self.fetches:
            if fetch.rows is not None:
                row = fetch.load.buffer.stage_bytes // fetch.box_rows
                total = b.add(total, b.mul(b.op("arith.trunci", [fetch.rows], b.i32), b.c32(row)))
        return total


def rows_of(b: Builder, fetch: Fetch) -> Value | None:
    """Where a tile is one box high, and its rows are the rows of the result: no more rows than the
    tensor has, in whole groups of a swizzle. The others would be zeros that take their time."""
    dim, buffer = fetch.box.order[0], fetch.load.buffer
    if dim != fetch.outer_dim or buffer.shape[dim] != fetch.box_rows or fetch.shared is not None:
        return None
    size, group = fetch.load.load.sizes[dim], b.c64(SWIZZLE_PERIOD)
    up = b.add(size, b.c64(SWIZZLE_PERIOD - 1))
    groups = b.mul(b.op("arith.divui", [up, group], b.i64), group)
    some = b.op("arith.maxsi", [groups, group], b.i64)
    return b.op("arith.minsi", [some, b.c64(fetch.box_rows)], b.i64)


def find_rings(
    loads: Sequence[OperandLoad], shared_by_pairs: Mapping[Operation, Value], may_fly: bool
) -> list[Ring]:
    """The rings of loads that tensor memory accesses can do: one for each block of code and what
    uses the tiles there first. `may_fly`: whether products may stay in flight."""
    rings: dict[tuple[Block, Operation], Ring] = {}
    for load in loads:
        users = load.users
        if not users or not all(isinstance(user, tile_gpu.DotOp) for user in users):
            continue
        shared = shared_by_pairs.get(load.load.operation)
        box = _box(load, 1 if shared is None else 2)
        if not load.suits_tensor_access or box is None or has_flag(load.load, "ordered"):
            continue
        first = ancestor_in(users[0], load.to_shared.operation.block)
        key = (load.to_shared.operation.block, first)
        in_flight = may_fly and any(has_flag(user, "in_flight") for user in users)
        same_block = all(user.operation.block == key[0] for user in users)
        if in_flight and not same_block:
            continue
        ring = rings.setdefault(key, Ring([], False))
        ring.fetches.append(Fetch(load, box, shared))
        ring.in_flight |= in_flight
    return list(rings.values())


def fetched_loads(rings: Sequence[Ring]) -> set[Operation]:
    """The loads that become fetches of some rings."""
    return {fetch.load.load.operation for ring in rings for fetch in ring.fetches}


def bring_all(rings: Sequence[Ring], loads: Sequence[OperandLoad]) -> bool:
    """Whether all operands come through the rings that are loaded where some do. If the consumers
    had to copy the others, they would wait for both, and keep the places of copies in registers
    beside their accumulators: they do better copying all."""
    blocks, fetched = {ring.block for ring in rings}, fetched_loads(rings)
    beside = (load for load in loads if load.to_shared.operation.block in blocks)
    return all(load.load.operation in fetched for load in beside)


def _box(load: OperandLoad, parts: int) -> BufferInfo | None:
    """The box of one access: as wide as a panel, and as many rows as allowed, so that `parts` get
    the same number of boxes."""
    buffer = load.buffer
    rows = buffer.shape[buffer.order[0]]
    panels = buffer.shape[buffer.order[-1]] // buffer.panel
    if panels % parts:
        rows //= parts
    if len(buffer.shape) != 2 or (rows > LARGEST_BOX and rows % LARGEST_BOX):
        return None
    shape = list(buffer.shape)
    shape[buffer.order[-1]] = buffer.panel
    shape[buffer.order[0]] = min(rows, LARGEST_BOX)
    return replace(buffer, shape=tuple(shape))


def rings_inside(op: OpView, rings: Iterable[Ring]) -> list[Ring]:
    """Those of `rings` whose fetches lie inside `op`."""
    return [ring for ring in rings if encloses(op.operation, ring.block)]


def encloses(op: Operation, block: Block) -> bool:
    """Whether a block is one of an operation's, or lies inside one."""
    owner = block.owner.operation
    return op in (owner, *ancestors(owner))
