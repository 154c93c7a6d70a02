"""The consumers: everything but the loads, which become stages to wait for and to give back."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import ancestor_in, int_attr
from tileir.dialects import tile_gpu
from tileir.ir import Block, InsertionPoint, Operation, OpView, Region, Value
from tileir.passes.specialize_warps.ping_pong import PingPong
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.positions import (
    Position,
    Positions,
    flatten,
    stage_of,
    unflatten,
)
from tileir.passes.specialize_warps.rings import Ring, rings_inside
from tileir.passes.specialize_warps.sources import Source


class Consumers:
    """Rewrites the kernel's code in place."""

    def __init__(self, plan: Plan, ping_pong: PingPong | None):
        #: The rings whose loads still stand in the code.
        self.left: list[Ring] = list(plan.rings)
        self.pairs = plan.pairs
        self.sources = {source.load.operation: source for source in plan.sources}
        self.rounds_of_sources = plan.rounds_of_sources
        self.ping_pong = ping_pong
        #: With ping-pong: the rounds of a tile, which the other replica's tiles take too.
        self.skipped: Value | None = None

    def rewrite(self, block: Block) -> None:
        location = block.owner.operation.location
        b = Builder(InsertionPoint.at_block_begin(block), location)
        start = {ring: Position.start(b) for ring in self.left}
        if self.ping_pong is not None:
            b.point = InsertionPoint(self.ping_pong.tiles)
            self.skipped = self.ping_pong.count_rounds(b)
            if self.rounds_of_sources:
                self.skipped = b.add(self.skipped, b.c32(self.rounds_of_sources))
            before = b.mul(self.ping_pong.share_tiles(b), self.skipped)
            start = {ring: at.advance(b, ring, before) for ring, at in start.items()}
        self._block(block, start)

    def _block(self, block: Block, positions: Positions) -> Positions:
        """Rewrites `block`, which starts at `positions`; returns those at its end."""
        here = [ring for ring in self.left if ring.block == block]
        for ring in here:
            self._take_stage(ring, positions[ring])
        leaving: list[Ring] = []
        for op in list(block):
            source = self.sources.get(op.operation)
            if source is not None:
                at = self._take_tile(source, positions[source.ring])
                positions = positions | {source.ring: at}
                continue
            if isinstance(op, tile_gpu.DotWaitOp):
                self._give_back_previous(op, [*here, *leaving], positions, block)
                leaving = []
            inside = rings_inside(op, self.left) if op.operation.regions else []
            if inside:
                leaving += [ring for ring in inside if ring.block.owner.operation == op.operation]
                positions = positions | self._control(op.operation, inside, positions)
        if not here:
            return positions
        b = _before_terminator(block)
        return positions | {ring: positions[ring].next(b, ring) for ring in here}

    # ---- stages --------------------------------------------------------------------------------

    def _take_stage(self, ring: Ring, at: Position) -> None:
        """Waits for the fetches before their first use; where no product stays in flight, gives
        the stage back after the last."""
        block = ring.block
        users = _users_in_order(ring)
        b = Builder(InsertionPoint(users[0]), users[0].location)
        b.create("tile_gpu.mbarrier_wait", [stage_of(b, ring.full, at.stage), at.parity])
        for fetch in ring.fetches:
            fetch.load.result.replace_all_uses_with(stage_of(b, fetch.buffer, at.stage))
        self.left.remove(ring)
        for fetch in ring.fetches:
            fetch.load.erase()
        if not ring.in_flight:
            b.point = _after(users[-1], block)
            self._give_back(b, [stage_of(b, ring.empty, at.stage)])

    def _give_back_previous(
        self, wait: tile_gpu.DotWaitOp, rings: Sequence[Ring], positions: Positions, block: Block
    ) -> None:
        """After a wait in the loop, the products of the round before are done; after the one
        that follows the loop, those of the last round."""
        for ring in rings:
            if not ring.in_flight:
                continue
            b = Builder(_after(wait.operation, block), wait.location)
            previous = positions[ring].previous_stage(b, ring)
            operands = [stage_of(b, ring.empty, previous)]
            if int_attr(wait, "pending"):
                loop = block.owner.operation
                operands.append(b.compare("ne", block.arguments[0], loop.operands[0]))
            self._give_back(b, operands)

    def _give_back(self, b: Builder, operands: list[Value]) -> None:
        """To the producers of both blocks of a pair, since each may fetch for both."""
        attributes = {"cluster": b.attribute("unit")} if self.pairs else {}
        b.create("tile_gpu.mbarrier_arrive", operands, attributes=attributes)

    def _take_tile(self, source: Source, at: Position) -> Position:
        """Takes a tile of the epilogue from the rounds that bring it, instead of loading it."""
        load, ring = source.load, source.ring
        b = Builder(InsertionPoint(load), load.location)
        parts: list[Value] = []
        barriers: list[tuple[Value, Value, Value]] = []
        for columns in source.rounds:
            full, empty = (stage_of(b, each, at.stage) for each in (ring.full, ring.empty))
            for part in columns:
                stage = stage_of(b, part.fetch.buffer, at.stage)
                parts.append(b.op("tile_gpu.as_panels", [stage], b.type(str(part.info))))
                barriers.append((full, at.parity, empty))
            at = at.next(b, ring)
        operands = [*parts, *(value for kind in zip(*barriers, strict=True) for value in kind)]
        attributes = {"cluster": b.attribute("unit")} if self.pairs else {}
        taken = b.create("tile_gpu.take_tile", operands, [load.result.type], attributes).results[0]
        load.result.replace_all_uses_with(taken)
        load.operation.erase()
        return at

    # ---- control flow --------------------------------------------------------------------------

    def _control(self, op: Operation, rings: list[Ring], positions: Positions) -> Positions:
        """The same loop or branch, with the positions as further values."""
        b = Builder(InsertionPoint(op), op.location)
        old = list(op.results)
        here = flatten(positions, rings)
        operands = list(op.operands) + (here if op.name == "scf.for" else [])
        types = [r.type for r in old] + [v.type for v in here]
        attributes = dict(op.attributes.items())
        new = b.create(op.name, operands, types, attributes, len(op.regions))
        skips = self.ping_pong is not None and op == self.ping_pong.tiles
        for before, after in zip(op.regions, new.regions, strict=True):
            self._region(b, before, after, rings, positions, skips)
        for result, replacement in zip(old, new.results, strict=False):
            result.replace_all_uses_with(replacement)
        op.erase()
        return unflatten(rings, list(new.results)[len(old) :])

    def _region(
        self, b: Builder, before: Region, after: Region, rings: list[Ring],
        positions: Positions, skips: bool,
    ) -> None:  # fmt: skip
        if not len(before.blocks):
            with b.at(b.block(after)):
                b.create("scf.yield", flatten(positions, rings))
            return
        old = before.blocks[0]
        types = [a.type for a in old.arguments]
        is_loop = bool(types)
        count = 2 * len(rings) if is_loop else 0
        block = b.block(after, [*types, *[b.i32] * count])
        for argument, new in zip(old.arguments, block.arguments, strict=False):
            argument.replace_all_uses_with(new)
        for op in list(old):
            block.append(op)
        inner = positions
        if is_loop:
            inner = positions | unflatten(rings, list(block.arguments)[len(types) :])
        end = self._block(block, inner)
        if skips:
            b = _before_terminator(block)
            end = {ring: at.advance(b, ring, self.skipped) for ring, at in end.items()}
        _extend_terminator(block, flatten(end, rings))


def zero_unfetched(plan: Plan, consumers: Block) -> None:
    """What no box reaches reads as zero, like all that is outside of a tensor."""
    b = Builder(InsertionPoint.at_block_begin(consumers), consumers.owner.operation.location)
    for fetch in [fetch for ring in plan.rings for fetch in ring.fetches]:
        if fetch.rows is None:
            continue
        short = b.compare("slt", fetch.rows, b.c64(fetch.box_rows))
        branch = b.create("scf.if", [short], regions=2)
        with b.at(b.block(branch.regions[0])):
            b.create("tile_gpu.zero_rows", [fetch.buffer, fetch.rows])
            b.create("tile_gpu.fence_async")
            b.create("tile_gpu.barrier")
            b.create("scf.yield")


def _users_in_order(ring: Ring) -> list[Operation]:
    """The operations of the ring's block that hold a use, in order."""
    users = [user for fetch in ring.fetches for user in fetch.load.users]
    holders = {ancestor_in(user, ring.block) for user in users}
    return [op.operation for op in ring.block if op.operation in holders]


def _after(op: Operation, block: Block) -> InsertionPoint:
    following = list(block)
    index = [o.operation for o in following].index(op) + 1
    return InsertionPoint(following[index]) if index < len(following) else InsertionPoint(block)


def _before_terminator(block: Block) -> Builder:
    end = list(block)[-1]
    return Builder(InsertionPoint(end), end.location)


def _extend_terminator(block: Block, values: Sequence[Value]) -> None:
    end: OpView = list(block)[-1]
    b = Builder(InsertionPoint(end), end.location)
    b.create("scf.yield", [*end.operation.operands, *values])
    end.operation.erase()
