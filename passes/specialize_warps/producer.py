"""The producer: the loops around the loads, and a copy for each load."""

from __future__ import annotations

from tileir.compiler.builder import Builder
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.specialize_warps.plan import Fetch, Plan, Ring, rings_inside
from tileir.passes.specialize_warps.rings import (
    Position,
    Positions,
    flatten,
    stage_of,
    unflatten,
)

#: Cache policies for whole lines, as `createpolicy.fractional` encodes them.
_EVICT_NORMAL = 0x1000000000000000
_EVICT_FIRST = 0x12F0000000000000


class Producer:
    """Builds the producer's code from the kernel's."""

    def __init__(self, b: Builder, plan: Plan):
        self.b = b
        self.plan = plan
        self.known: dict[Value, Value] = {}
        self.policies: dict[Fetch, Value] = {}
        self.bytes: dict[Ring, Value] = {}

    def fill(self, block: Block, body: Block) -> None:
        with self.b.at(block):
            for ring in self.plan.rings:
                self.bytes[ring] = ring.fetched_bytes(self.b)
                for fetch in ring.fetches:
                    self.policies[fetch] = self._policy(ring.partner_of(fetch))
            start = {ring: Position.start(self.b) for ring in self.plan.rings}
            self._block(body, start)

    def _block(self, old: Block, positions: Positions) -> Positions:
        """The part of `old` that matters here; returns the positions at its end."""
        rings = {_last_fetch(ring): ring for ring in self.plan.rings if ring.block == old}
        for op in old:
            self.b.location = op.location
            inside = rings_inside(op, self.plan.rings) if op.operation.regions else []
            if op.operation in rings:
                ring = rings[op.operation]
                positions = positions | {ring: self._fetch(ring, positions[ring])}
            elif inside:
                build = self._for if op.operation.name == "scf.for" else self._if
                positions = positions | build(op.operation, inside, positions)
            elif op.operation in self.plan.shared:
                continue
            elif any(result in self.plan.needed for result in op.operation.results):
                self._clone(op)
        return positions

    def _value(self, old: Value) -> Value:
        return self.known.get(old, old)

    def _clone(self, op: OpView) -> None:
        clone = op.operation.clone(ip=self.b.point)
        for i, operand in enumerate(op.operation.operands):
            clone.operands[i] = self._value(operand)
        self.known.update(zip(op.operation.results, clone.results, strict=True))

    def _fetch(self, ring: Ring, at: Position) -> Position:
        b = self.b
        b.create("tile_gpu.mbarrier_wait", [stage_of(b, ring.empty, at.stage), at.flipped(b)])
        full = stage_of(b, ring.full, at.stage)
        b.create("tile_gpu.mbarrier_expect", [full, self.bytes[ring]])
        for fetch in ring.fetches:
            b.location = fetch.load.load.location
            buffer = stage_of(b, fetch.buffer, at.stage)
            if fetch.shared is None:
                self._load(fetch, buffer, full)
            else:
                self._load_shared(fetch, self._value(fetch.shared), buffer, full)
        return at.next(b, ring)

    def _load(self, fetch: Fetch, buffer: Value, full: Value, half: Value | None = None) -> None:
        b = self.b
        starts = [self._value(start) for start in fetch.load.load.starts]
        halves = [] if half is None else [half]
        segments = f"array<i32: 1, {len(starts)}, 1, 1, 1, {len(halves)}>"
        b.create(
            "tile_gpu.tma_load",
            [fetch.map, *starts, buffer, full, self.policies[fetch], *halves],
            attributes={"operandSegmentSizes": b.attribute(segments)},
        )

    def _load_shared(self, fetch: Fetch, shared: Value, buffer: Value, full: Value) -> None:
        """Half of the tile for both blocks of a pair, or all of it for this one."""
        b = self.b
        rank = b.op("nvvm.read.ptx.sreg.cluster.ctarank", [], b.i32)
        branch = b.create("scf.if", [shared], regions=2)
        for region, half in zip(branch.regions, (rank, None), strict=True):
            with b.at(b.block(region)):
                self._load(fetch, buffer, full, half)
                b.create("scf.yield")

    def _policy(self, partner: Fetch | None) -> Value:
        """The cache policy of a fetch. If the other operand of the product is a single tile high,
        there is one block for each tile of this one: what is fetched once is evicted first."""
        b = self.b
        if partner is None:
            return b.c64(_EVICT_NORMAL)
        dim = partner.outer_dim
        extent = partner.load.load.sizes[dim]
        once = b.compare("sle", extent, b.constant(partner.load.buffer.shape[dim], extent.type))
        first, normal = b.c64(_EVICT_FIRST), b.c64(_EVICT_NORMAL)
        return b.op("arith.select", [once, first, normal], b.i64)

    def _needed_results(self, op: Operation) -> list[int]:
        return [i for i, result in enumerate(op.results) if result in self.plan.needed]

    def _for(self, loop: Operation, rings: list[Ring], positions: Positions) -> Positions:
        b = self.b
        carried = self._needed_results(loop)
        bounds = [self._value(v) for v in list(loop.operands)[:3]]
        initial = [self._value(loop.operands[3 + i]) for i in carried]
        initial += flatten(positions, rings)
        types = [v.type for v in initial]
        new = b.create("scf.for", [*bounds, *initial], types, dict(loop.attributes.items()), 1)
        old_body = loop.regions[0].blocks[0]
        body = b.block(new.regions[0], [bounds[0].type, *types])
        self.known[old_body.arguments[0]] = body.arguments[0]
        for position, i in enumerate(carried):
            self.known[old_body.arguments[1 + i]] = body.arguments[1 + position]
        first = 1 + len(carried)
        with b.at(body):
            inner = positions | unflatten(rings, list(body.arguments)[first:])
            after = self._block(old_body, inner)
            self._yield(old_body, carried, rings, after)
        self._results(loop, new, carried)
        return unflatten(rings, list(new.results)[len(carried) :])

    def _if(self, branch: Operation, rings: list[Ring], positions: Positions) -> Positions:
        b = self.b
        carried = self._needed_results(branch)
        types = [branch.results[i].type for i in carried]
        types += [v.type for v in flatten(positions, rings)]
        new = b.create("scf.if", [self._value(branch.operands[0])], types, regions=2)
        for old_region, region in zip(branch.regions, new.regions, strict=True):
            with b.at(b.block(region)):
                if not len(old_region.blocks):
                    b.create("scf.yield", flatten(positions, rings))
                    continue
                after = self._block(old_region.blocks[0], positions)
                self._yield(old_region.blocks[0], carried, rings, after)
        self._results(branch, new, carried)
        return unflatten(rings, list(new.results)[len(carried) :])

    def _yield(self, old: Block, carried: list[int], rings: list[Ring], at: Positions) -> None:
        end = list(old)[-1].operation
        values = [self._value(end.operands[i]) for i in carried]
        self.b.create("scf.yield", [*values, *flatten(at, rings)])

    def _results(self, old: Operation, new: Operation, carried: list[int]) -> None:
        for position, i in enumerate(carried):
            self.known[old.results[i]] = new.results[position]


def _last_fetch(ring: Ring) -> Operation:
    """The load that stands last: all starts are known there."""
    loads = {fetch.load.to_shared.operation for fetch in ring.fetches}
    return [op.operation for op in ring.block if op.operation in loads][-1]
