"""Head start: the consumers fetch a block's first rounds themselves.

Tensor memory accesses begin late: their maps must be made, or at least be fetched. Until then the
consumers have nothing to multiply, so they bring the operands of the first rounds by ordinary
asynchronous copies, as many rounds as the ring has stages.

    all:        make the barriers; barrier
    consumers:  copy rounds 0 .. n-1 to stages 0 .. n-1, arrive at full[0 .. n-1] with the copies
    all:        make the maps; barrier
    producer:   arrive at full[0 .. n-1]; fetch from round n on
    consumers:  wait until full[s]; in the first n rounds, a fence for what ordinary copies wrote

An arrival with copies counts for itself alone, so a phase still waits for the producer's arrival,
and that comes after the barrier: when all copies have been started.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, int_attr
from tileir.ir import OpView, Value
from tileir.passes.specialize_warps.plan import Plan, Ring
from tileir.passes.specialize_warps.rings import Position, stage_of
from tileir.passes.specialize_warps.tile_loop import TileLoop
from tileir.passes.walk import computed_from

#: Ordinary copies are as fast as others only in whole chunks.
_CHUNK_BYTES = 16
_PURE = ("arith.", "nvvm.read.ptx.sreg.")


@dataclass(eq=False)
class HeadStart:
    """The first rounds of the first tile. `copy` makes `rounds`, how many they are (i32), and
    `limit`, the counter of the first round that the producer fetches."""

    ring: Ring
    loop: TileLoop
    #: The counter of the block's first tile.
    first: Value
    rounds: Value = field(init=False)
    limit: Value = field(init=False)

    @staticmethod
    def of(plan: Plan) -> HeadStart | None:
        """None if a single block's threads cannot fetch the rounds: of pairs, each block fetches
        for both, and ordinary copies do not round to tf32."""
        loop = None if plan.pairs else TileLoop.of(plan.kernel, plan)
        if loop is None:
            return None
        ring = plan.rings[0]
        if not all(
            fetch.load.rounding is None
            and int_attr(fetch.load.load, "alignment") >= _CHUNK_BYTES
            and all(_follows_from_counters(start, loop) for start in fetch.load.load.starts)
            for fetch in ring.fetches
        ):
            return None
        return HeadStart(ring, loop, loop.tiles.operands[0])

    def copy(self, b: Builder) -> None:
        """Starts the copies; the barriers exist, and `b` stands before the specialised part."""
        _, upper, _ = list(self.loop.tiles.operands)[:3]
        lower, _, step = list(self.loop.rounds.operands)[:3]
        some = b.compare("slt", self.first, upper)
        most = b.op("arith.select", [some, b.c32(self.ring.stages), b.c32(0)], b.i32)
        self.rounds = b.op("arith.minsi", [self.loop.count_rounds(b), most], b.i32)
        self.limit = b.add(lower, b.mul(b.resized(self.rounds, step.type), step))
        copies = b.create("scf.for", [b.c32(0), self.rounds, b.c32(1)], regions=1)
        body = b.block(copies.regions[0], [b.i32])
        stage = body.arguments[0]
        with b.at(body):
            counter = b.add(lower, b.mul(b.resized(stage, step.type), step))
            known = {
                self.loop.body.arguments[0]: self.first,
                self.loop.rounds.regions[0].blocks[0].arguments[0]: counter,
            }
            for fetch in self.ring.fetches:
                buffer = stage_of(b, fetch.buffer, stage)
                fetch.load.start_copy(b, buffer, known, self._per_tile)
            b.create("tile_gpu.async_arrive", [stage_of(b, self.ring.full, stage)])
            b.create("scf.yield")

    def _per_tile(self, op: OpView) -> bool:
        return self.loop.defines(op.operation.results[0])

    def finish(self, b: Builder) -> Position:
        """The producer's arrivals; returns where it goes on."""
        arrivals = b.create("scf.for", [b.c32(0), self.rounds, b.c32(1)], regions=1)
        body = b.block(arrivals.regions[0], [b.i32])
        with b.at(body):
            b.create("tile_gpu.mbarrier_arrive", [stage_of(b, self.ring.full, body.arguments[0])])
            b.create("scf.yield")
        return Position.start(b).advance(b, self.ring, self.rounds)

    def first_fetched(self, b: Builder, tile: Value, lower: Value) -> Value:
        """The counter of the producer's first round of `tile`, which starts at `lower`."""
        return b.op("arith.select", [self._is_first(b, tile), self.limit, lower], lower.type)

    def fence(self, b: Builder, tile: Value, counter: Value) -> None:
        """Lets products read what ordinary copies wrote."""
        early = b.compare("slt", counter, self.limit)
        both = b.op("arith.andi", [self._is_first(b, tile), early], b.i1)
        b.create("tile_gpu.fence_async", [both])

    def _is_first(self, b: Builder, tile: Value) -> Value:
        return b.compare("eq", tile, self.first)


def _follows_from_counters(value: Value, loop: TileLoop) -> bool:
    """Whether the counters of tiles and rounds give `value`, by scalar operations."""
    counters = (loop.body.arguments[0], loop.rounds.regions[0].blocks[0].arguments[0])
    for source in computed_from(value, lambda op: loop.defines(op.operation.results[0])):
        op = defining_op(source)
        if not loop.defines(source) or source in counters:
            continue
        if op is None or op.operation.regions or not op.operation.name.startswith(_PURE):
            return False
    return True
