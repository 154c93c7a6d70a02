"""The producer: the loops around the loads, and a copy for each load."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.builder import Builder
from tileir.ir import Block, Operation, OpView, Value
from tileir.passes.specialize_warps.divisions import Divisions
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.positions import (
    Position,
    Positions,
    flatten,
    stage_of,
    unflatten,
)
from tileir.passes.specialize_warps.rings import Fetch, Ring, rings_inside
from tileir.passes.specialize_warps.sources import Source

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
        self.divisions = Divisions(b)

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
        sources = {source.load.operation: source for source in self.plan.sources}
        for op in old:
            self.b.location = op.location
            inside = rings_inside(op, self.plan.rings) if op.operation.regions else []
            if op.operation in rings:
                ring = rings[op.operation]
                positions = positions | {ring: self._fetch(ring, positions[ring])}
            elif op.operation in sources:
                source = sources[op.operation]
                at = self._fetch_source(source, positions[source.ring])
                positions = positions | {source.ring: at}
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
        operands = [self._value(operand) for operand in op.operation.operands]
        # What is not computed here is the same for all tiles.
        if len(operands) == 2 and op.operation.operands[1] not in self.known:
            quotient = self.divisions.build(op.operation, *operands)
            if quotient is not None:
                self.known[op.operation.results[0]] = quotient
                return
        clone = op.operation.clone(ip=self.b.point)
        for i, operand in enumerate(operands):
            clone.operands[i] = operand
        self.known.update(zip(op.operation.results, clone.results, strict=True))

    def _fetch(self, ring: Ring, at: Position) -> Position:
        b, full = self.b, self._expect(ring, at, self.bytes[ring])
        for fetch in ring.fetches:
            b.location = fetch.load.load.location
            buffer = stage_of(b, fetch.buffer, at.stage)
            if fetch.shared is None:
                self._load(fetch, buffer, full)
            else:
                self._load_shared(fetch, self._value(fetch.shared), buffer, full)
        return at.next(b, ring)

    def _expect(self, ring: Ring, at: Position, count: Value) -> Value:
        """Waits until a stage is free; returns the barrier at which so many bytes (i32) arrive."""
        b = self.b
        b.create("tile_gpu.mbarrier_wait", [stage_of(b, ring.empty, at.stage), at.flipped(b)])
        full = stage_of(b, ring.full, at.stage)
        b.create("tile_gpu.mbarrier_expect", [full, count])
        return full

    def _fetch_source(self, source: Source, at: Position) -> Position:
        b, ring = self.b, source.ring
        *before, column = (self._value(start) for start in source.tensor.place)
        for parts in source.rounds:
            full = self._expect(ring, at, b.c32(sum(part.info.bytes for part in parts)))
            for part in parts:
                stage = stage_of(b, part.fetch.buffer, at.stage)
                panels = b.op("tile_gpu.as_panels", [stage], b.type(str(part.info)))
                start = b.add(column, b.c64(part.column)) if part.column else column
                self._copy(source.map, [*before, start], panels, full, [])
            at = at.next(b, ring)
        return at

    def _load(self, fetch: Fetch, buffer: Value, full: Value, half: Value | None = None) -> None:
        starts = [self._value(start) for start in fetch.tensor.place]
        halves = [] if half is None else [half]
        self._copy(fetch.map, starts, buffer, full, [self.policies[fetch]], halves)

    def _copy(
        self, tensor_map: Value, starts: list[Value], buffer: Value, full: Value,
        policies: list[Value], halves: Sequence[Value] = (),
    ) -> None:  # fmt: skip
        b = self.b
        segments = b.segments(1, len(starts), 1, 1, len(policies), len(halves))
        b.create(
            "tile_gpu.tma_load",
            [tensor_map, *starts, buffer, full, *policies, *halves],
            attributes={"operandSegmentSizes": segments},
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
