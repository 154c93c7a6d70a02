"""What is fetched, through which rings, and what the producer must compute for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tileir.compiler import wgmma
from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import (
    ancestors,
    defining_block,
    defining_op,
    has_flag,
    keyword,
    parent_of,
)
from tileir.compiler.target import Target
from tileir.compiler.tile_types import LARGEST_BOX, BufferInfo
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, Operation, OpView, Value
from tileir.passes.analysis.operand_loads import OperandLoad, operand_loads
from tileir.passes.choose_num_warps import combines, num_warps_of
from tileir.passes.order_memory import FREE_LOADS_ATTRIBUTE
from tileir.passes.specialize_warps.consumer_memory import bytes_of_consumers
from tileir.passes.specialize_warps.occupancy import blocks_per_multiprocessor
from tileir.passes.specialize_warps.sources import Source, epilogue_sources
from tileir.passes.specialize_warps.stores import (
    TensorStore,
    describe_tensor,
    tensor_stores,
)
from tileir.passes.walk import ops_of, walk

#: After so many rows a swizzle repeats.
_ROWS_OF_SWIZZLE = 8
#: With fewer stages, results leave through one buffer instead of two.
_ENOUGH_STAGES = 4
#: Shared memory for what is not known yet: barriers, conversions of rows, maps.
_RESERVED_BYTES = 1024
#: And where warps combine their results, at most.
_COMBINING_BYTES = 4 * 1024
_PURE = ("arith.", "math.", "nvvm.read.ptx.sreg.")
_CONTROL = ("scf.for", "scf.if")


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


@dataclass
class Plan:
    """How to split a kernel: what is fetched for it, and what both sides need."""

    kernel: Operation
    rings: list[Ring]
    #: Values that the producer needs.
    needed: set[Value]
    #: Operations at the top of the kernel that both sides use.
    shared: set[Operation]
    stores: list[TensorStore]
    #: Tiles of the epilogue that come through the ring.
    sources: list[Source]
    #: Whether blocks may come in pairs.
    pairs: bool
    target: Target
    most_stages: int
    blocks_per_multiprocessor: int = 1

    @staticmethod
    def of(
        kernel: Operation,
        target: Target,
        most_stages: int,
        shared_by_pairs: Mapping[Operation, Value] | None = None,
        in_flight: bool = True,
    ) -> Plan | None:
        """How to split `kernel`; None if it is better left as it is. `shared_by_pairs`: for the
        loads of a kernel whose blocks come in pairs, whether both need the same tile. `in_flight`:
        whether products that are marked so may stay in flight."""
        if not suits(kernel, target):
            return None
        loads = list(operand_loads(kernel))
        rings = _rings(loads, shared_by_pairs or {}, in_flight)
        if not any(_in_loop(ring) for ring in rings) or not _bring_all(rings, loads):
            return None
        pairs = shared_by_pairs is not None
        stores = tensor_stores(kernel)
        sources = epilogue_sources(kernel, rings, stores)
        if not sources:
            waits = bool(ops_of(kernel, tile_gpu.BarrierOp))
            stores = [store for store in stores if not store.is_late(waits)]
        plan = Plan._with(kernel, rings, stores, sources, pairs, target, most_stages)
        if plan is None and sources:
            plan = Plan._with(kernel, rings, stores, [], pairs, target, most_stages)
        return plan

    @staticmethod
    def _with(
        kernel: Operation, rings: list[Ring], stores: list[TensorStore], sources: list[Source],
        pairs: bool, target: Target, most_stages: int,
    ) -> Plan | None:  # fmt: skip
        """The plan in which the producer fetches these `sources`, too."""
        needed = _Slice(kernel, rings, sources).values()
        if needed is None:
            return None
        shared = _shared(kernel, needed)
        if not _describable(rings, sources, shared):
            return None
        plan = None
        most_blocks = 1 if pairs else blocks_per_multiprocessor(kernel, target)
        # Those that are liked best first.
        for blocks, slices in itertools.product(range(most_blocks, 0, -1), (2, 1)):
            sliced = [store.with_stages(slices) for store in stores]
            plan = Plan(
                kernel, rings, needed, shared, sliced, sources, pairs, target, most_stages, blocks
            )
            if plan._stages(1) >= _ENOUGH_STAGES:
                break
        return plan if plan is not None and plan.make_room(1) else None

    def has_room_for(self, stages: int, round_bytes: int) -> bool:
        """Whether so many rounds would fit if each fetched `round_bytes`."""
        return self._room(1) >= stages * round_bytes

    def _stages(self, replicas: int) -> int:
        """How many rounds' tiles fit beside what else needs shared memory."""
        return self._room(replicas) // sum(ring.bytes for ring in self.rings if _in_loop(ring))

    def _room(self, replicas: int) -> int:
        """Bytes of shared memory for the rings of loops."""
        fixed = sum(ring.bytes for ring in self.rings if not _in_loop(ring))
        fixed += sum(store.ring.bytes for store in self.stores)
        elsewhere = {store.store.operation for store in self.stores}
        loads = [fetch.load for ring in self.rings for fetch in ring.fetches]
        elsewhere |= {op.operation for load in loads for op in (load.load, load.to_shared)}
        elsewhere |= {source.load.operation for source in self.sources}
        fixed += replicas * bytes_of_consumers(self.kernel, elsewhere)
        fixed += _RESERVED_BYTES + _COMBINING_BYTES * combines(self.kernel)
        return self.target.shared_bytes_of(self.blocks_per_multiprocessor) - fixed

    def make_room(self, replicas: int) -> bool:
        """Gives the rings of loops as many stages as fit with so many sets of consumers; False if
        those are too few."""
        stages = min(self._stages(replicas), self.most_stages)
        for ring in self.rings:
            if _in_loop(ring):
                ring.stages = stages
        least = 3 if any(ring.in_flight for ring in self.rings) else 1
        # All of an epilogue's tiles are under way at once, and an operand's stage beside them.
        return stages >= max(least, self.rounds_of_sources + 1)

    @property
    def rounds_of_sources(self) -> int:
        """Rounds of the ring that bring what the epilogue of a tile reads."""
        return sum(len(source.rounds) for source in self.sources)

    def allocate(self, b: Builder, replicas: int) -> None:
        """Makes the rings and the maps, before the specialised part, for so many sets of consumers,
        and before all else the barriers of the rings."""
        with b.at(self._start()):
            for ring in self.rings:
                ring.full = self._barriers(b, ring, b.c32(1))
                ring.empty = self._barriers(b, ring, self._consumers(b))
            b.create("tile_gpu.mbarrier_ready")
        for ring in self.rings:
            for fetch in ring.fetches:
                fetch.rows = _rows(b, fetch)
                fetch.map = describe_tensor(b, fetch.box, _tensor_of(fetch), fetch.rows)
                info = replace(fetch.load.buffer, stages=ring.stages)
                fetch.buffer = b.alloc(info)
        for store in self.stores:
            store.allocate(b, replicas)
        for source in self.sources:
            source.allocate(b)
        self.meet(b)

    def _start(self) -> InsertionPoint:
        """Where the kernel starts, but for blocks that end at once, of which there may be many.
        (Some more end after a division or two.)"""
        exits = ops_of(self.kernel, tile_gpu.ExitIfOp)
        if exits:
            return InsertionPoint.after(exits[0])
        return InsertionPoint.at_block_begin(self.kernel.regions[0].blocks[0])

    def _consumers(self, b: Builder) -> Value:
        """Warps that give back a stage (i32): those of both blocks of a pair."""
        warps = b.c32(num_warps_of(self.kernel))
        if not self.pairs:
            return warps
        return b.mul(warps, b.op("nvvm.read.ptx.sreg.cluster.nctarank", [], b.i32))

    def _barriers(self, b: Builder, ring: Ring, arrivals: Value) -> Value:
        barriers = b.alloc(BufferInfo((1,), "i64", (0,), stages=ring.stages))
        b.create("tile_gpu.mbarrier_init", [barriers, arrivals])
        return barriers

    def meet(self, b: Builder) -> None:
        """Lets the blocks of a pair wait for each other, which use each other's barriers."""
        if self.pairs:
            b.create("tile_gpu.cluster_barrier")


def _rows(b: Builder, fetch: Fetch) -> Value | None:
    """Where a tile is one box high, and its rows are the rows of the result: no more rows than the
    tensor has, in whole groups of a swizzle. The others would be zeros that take their time."""
    dim, buffer = fetch.box.order[0], fetch.load.buffer
    if dim != fetch.outer_dim or buffer.shape[dim] != fetch.box_rows or fetch.shared is not None:
        return None
    size, group = fetch.load.load.sizes[dim], b.c64(_ROWS_OF_SWIZZLE)
    up = b.add(size, b.c64(_ROWS_OF_SWIZZLE - 1))
    groups = b.mul(b.op("arith.divui", [up, group], b.i64), group)
    some = b.op("arith.maxsi", [groups, group], b.i64)
    return b.op("arith.minsi", [some, b.c64(fetch.box_rows)], b.i64)


# ---- which kernels ----------------------------------------------------------------------------


def suits(kernel: Operation, target: Target) -> bool:
    """Whether consumers could run the kernel: all its products are on warpgroups, and if it has
    barriers, its loads say whether they wait for them."""
    groups, rest = divmod(num_warps_of(kernel), wgmma.WARPS)
    if target.capability != 90 or rest or groups not in wgmma.GROUPS:
        return False
    if FREE_LOADS_ATTRIBUTE not in kernel.attributes and ops_of(kernel, tile_gpu.BarrierOp):
        return False
    products = ops_of(kernel, tile_gpu.DotOp)
    return bool(products) and all(keyword(op, "instruction", "") == "wgmma" for op in products)


def _rings(
    loads: Sequence[OperandLoad], shared_by_pairs: Mapping[Operation, Value], may_fly: bool
) -> list[Ring]:
    rings: dict[tuple[Block, Operation], Ring] = {}
    for load in loads:
        users = load.users
        if not users or not all(isinstance(user, tile_gpu.DotOp) for user in users):
            continue
        shared = shared_by_pairs.get(load.load.operation)
        box = _box(load, 1 if shared is None else 2)
        if not load.suits_tensor_access or box is None or has_flag(load.load, "ordered"):
            continue
        first = _ancestor_in(users[0].operation, load.to_shared.operation.block)
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


def _bring_all(rings: Sequence[Ring], loads: Sequence[OperandLoad]) -> bool:
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


def _ancestor_in(op: Operation, block: Block) -> Operation:
    """The operation of `block` that is `op` or holds it."""
    while op.block != block:
        op = parent_of(op)
    return op


def rings_inside(op: OpView, rings: Iterable[Ring]) -> list[Ring]:
    """Those of `rings` whose fetches lie inside `op`."""
    return [ring for ring in rings if _encloses(op.operation, ring.block)]


def _encloses(op: Operation, block: Block) -> bool:
    owner = block.owner.operation
    return op in (owner, *ancestors(owner))


def _in_loop(ring: Ring) -> bool:
    return ring.block.owner.operation.name == "scf.for"


# ---- what the producer computes ---------------------------------------------------------------


class _Slice:
    """The values that the producer needs: where its loads start, and the control flow around
    them."""

    def __init__(self, kernel: Operation, rings: list[Ring], sources: list[Source]):
        self.kernel = kernel
        self.rings = rings
        self.sources = sources
        self.seen: set[Value] = set()
        self.possible = True

    def values(self) -> set[Value] | None:
        """All values needed; None if one of them cannot be computed by a single thread."""
        for ring in self.rings:
            for fetch in ring.fetches:
                load = fetch.load.load
                for value in load.starts:
                    self._need(value)
                for value in _tensor_of(fetch):
                    self._need(value)
                if fetch.shared is not None:
                    self._need(fetch.shared)
            self._need_control(ring.block)
        for source in self.sources:
            for value in [*source.load.starts, *source.tensor()]:
                self._need(value)
        for op in self.kernel.regions[0].blocks[0]:
            if isinstance(op, tile_gpu.ExitIfOp):
                self._need(op.condition)
        return self.seen if self.possible else None

    def _need_control(self, block: Block) -> None:
        op = block.owner.operation
        while op.name != "gpu.func":
            if op.name not in _CONTROL:
                self.possible = False
                return
            controls = list(op.operands)[: 3 if op.name == "scf.for" else 1]
            for value in controls:
                self._need(value)
            op = parent_of(op)

    def _need(self, value: Value) -> None:
        if value in self.seen or not self.possible:
            return
        self.seen.add(value)
        op = defining_op(value)
        if op is None:
            self._need_argument(value)
        elif _is_pure(op.operation) or _is_choice(op.operation):
            for operand in _inputs(op.operation):
                self._need(operand)
        elif op.operation.name in _CONTROL:
            self._need_result(op.operation, list(op.operation.results).index(value))
        else:
            self.possible = False

    def _need_argument(self, value: Value) -> None:
        block = defining_block(value)
        loop = block.owner.operation
        index = list(block.arguments).index(value) - 1
        if loop.name == "scf.for" and index >= 0:
            self._need_result(loop, index)

    def _need_result(self, op: Operation, index: int) -> None:
        """A carried value takes its start and what each round yields."""
        self._need(op.results[index])
        if op.name == "scf.for":
            self._need(op.operands[3 + index])
            self._need(op.regions[0].blocks[0].arguments[1 + index])
        if not any(_encloses(op, ring.block) for ring in self.rings):
            self.possible = False
            return
        for region in op.regions:
            end = list(region.blocks[0])[-1]
            self._need(end.operation.operands[index])


def _tensor_of(fetch: Fetch) -> list[Value]:
    """What describes the tensor of a load."""
    load = fetch.load.load
    return [load.base, *load.sizes, *load.strides]


def _shared(kernel: Operation, needed: set[Value]) -> set[Operation]:
    """The operations at the top of the kernel that give needed values and depend on no loop, and
    those that end blocks without work."""
    body = kernel.regions[0].blocks[0]
    known: set[Value] = set(body.arguments)
    shared = set()
    for op in body:
        results = list(op.operation.results)
        is_needed = isinstance(op, tile_gpu.ExitIfOp) or any(r in needed for r in results)
        if not is_needed or (op.operation.name in _CONTROL and not _is_choice(op.operation)):
            continue
        if all(operand in known for operand in _inputs(op.operation)):
            known.update(results)
            shared.add(op.operation)
    return shared


def _is_pure(op: Operation) -> bool:
    return op.name.startswith(_PURE) and not op.regions


def _is_choice(op: Operation) -> bool:
    """Whether this is a branch at the top of the kernel that only computes scalars."""
    if op.name != "scf.if" or parent_of(op).name != "gpu.func":
        return False
    inner = [inside.operation for inside in walk(op)]
    return all(_is_pure(inside) or inside.name == "scf.yield" for inside in inner)


def _inputs(op: Operation) -> list[Value]:
    """The operands of an operation and of those inside it, as far as they come from outside."""
    inner = [inside.operation for inside in walk(op)]
    own = {result for inside in inner for result in inside.results}
    return [v for user in (op, *inner) for v in user.operands if v not in own]


def _describable(rings: list[Ring], sources: list[Source], shared: set[Operation]) -> bool:
    """Whether the tensors are known before the kernel's loops: each is described once."""
    tensors = [value for ring in rings for fetch in ring.fetches for value in _tensor_of(fetch)]
    tensors += [value for source in sources for value in source.tensor()]
    return all(_known_to_both(value, shared) for value in tensors)


def _known_to_both(value: Value, shared: set[Operation]) -> bool:
    op = defining_op(value)
    if op is None:
        return defining_block(value).owner.operation.name == "gpu.func"
    return op.operation in shared
