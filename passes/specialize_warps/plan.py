"""How a kernel is split: what is fetched through which rings, and what there is room for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tileir.compiler import wgmma
from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import keyword
from tileir.compiler.target import Target
from tileir.compiler.tile_types import BufferInfo
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, Value
from tileir.passes.analysis.operand_loads import operand_loads
from tileir.passes.choose_num_warps import combines, num_warps_of
from tileir.passes.order_memory import FREE_LOADS_ATTRIBUTE
from tileir.passes.specialize_warps.consumer_memory import bytes_of_consumers
from tileir.passes.specialize_warps.occupancy import blocks_per_multiprocessor
from tileir.passes.specialize_warps.producer_slice import (
    ProducerSlice,
    describable,
    shared_operations,
)
from tileir.passes.specialize_warps.rings import (
    Ring,
    bring_all,
    find_rings,
    rows_of,
)
from tileir.passes.specialize_warps.sources import Source, epilogue_sources
from tileir.passes.specialize_warps.stores import TensorStore, tensor_stores
from tileir.passes.walk import follows_from_parameters, ops_of

#: With fewer stages, results leave through one buffer instead of two.
_ENOUGH_STAGES = 4
#: Shared memory for what is not known yet: barriers, conversions of rows, maps.
_RESERVED_BYTES = 1024
#: And where warps combine their results, at most.
_COMBINING_BYTES = 4 * 1024


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
        rings = find_rings(loads, shared_by_pairs or {}, in_flight)
        if not any(ring.in_loop for ring in rings) or not bring_all(rings, loads):
            return None
        if _is_batched(rings) and not _gains_by_producer(kernel, rings):
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
        needed = ProducerSlice(kernel, rings, sources).values()
        if needed is None:
            return None
        shared = shared_operations(kernel, needed)
        if not describable(rings, sources, shared):
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
        return self._divided(replicas)[0]

    def _divided(self, replicas: int) -> tuple[int, int]:
        """Stages of rounds, and of what rounds share, of which one is used while the next fills."""
        shared = sum(ring.bytes for ring in self._shared_by_rounds)
        rounds = sum(ring.bytes for ring in self.rings if ring.in_loop) - shared
        room = self._room(replicas)
        if not shared or (room - 2 * shared) // rounds >= 2:
            return (room - 2 * shared) // rounds, 2
        return (room - shared) // rounds, 1

    @property
    def _shared_by_rounds(self) -> list[Ring]:
        """The rings of loops around the loops of others, such as that of attention's queries."""
        looping = [ring for ring in self.rings if ring.in_loop]
        return [ring for ring in looping if any(ring.is_around(other) for other in looping)]

    def _room(self, replicas: int) -> int:
        """Bytes of shared memory for the rings of loops."""
        fixed = sum(ring.bytes for ring in self.rings if not ring.in_loop)
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
        stages, of_shared = self._divided(replicas)
        stages = min(stages, self.most_stages)
        shared = self._shared_by_rounds
        for ring in self.rings:
            if ring.in_loop:
                ring.stages = of_shared if ring in shared else stages
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
                fetch.rows = rows_of(b, fetch)
                fetch.map = fetch.tensor.map_of(b, fetch.box, fetch.rows)
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


def _is_batched(rings: Sequence[Ring]) -> bool:
    return any(fetch.tensor.batch for ring in rings for fetch in ring.fetches)


def _gains_by_producer(kernel: Operation, rings: Sequence[Ring]) -> bool:
    """Whether one block of a multiprocessor does better than several, each without a producer.
    Between products that depend on each other, as in attention, others' would have to fill the
    gaps: two warpgroups can. Blocks of a multiprocessor also even out what some have to do more
    than others, in causal attention for one."""
    if len(ops_of(kernel, tile_gpu.DotOp)) == 1:
        return True
    several = num_warps_of(kernel) > wgmma.WARPS
    rounds = [r for r in rings if r.in_loop and not any(r.is_around(other) for other in rings)]
    return several and all(_is_even(ring.block.owner.operation) for ring in rounds)


def _is_even(loop: Operation) -> bool:
    """Whether all blocks, and all tiles of a block, go round a loop equally often."""
    return all(follows_from_parameters(bound, ("arith.",)) for bound in list(loop.operands)[:3])


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
