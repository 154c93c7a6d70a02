"""Ping-pong: two sets of consumers, each with tiles of its own, in turns.

While one warpgroup stores its tile, the other multiplies the next, so that the tensor cores never
wait for an epilogue. Tile t goes to replica t % 2; the ring of fetched operands stays one, so each
replica skips the rounds that are the other's.

A replica looks at the ring only in its turn: the parity of a barrier says nothing to one who is
more than one round away.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.tile_types import tile_of
from tileir.compiler.wgmma import WARPS
from tileir.dialects import tile_gpu
from tileir.ir import InsertionPoint, Operation, Value
from tileir.passes.choose_num_warps import num_warps_of
from tileir.passes.specialize_warps.plan import Plan
from tileir.passes.specialize_warps.tile_loop import TileLoop
from tileir.passes.walk import ops_of

REPLICAS = 2
#: The accumulator that suits: smaller tiles wait for operands, larger ones do not fit a warpgroup.
_TILE = (128, 128)


@dataclass(frozen=True)
class PingPong:
    """The tiles of a block, shared out between two sets of consumers."""

    loop: TileLoop

    @property
    def tiles(self) -> Operation:
        return self.loop.tiles

    @staticmethod
    def of(kernel: Operation, plan: Plan) -> PingPong | None:
        """How to play ping-pong in `kernel`; None if it does not suit."""
        products = ops_of(kernel, tile_gpu.DotOp)
        if len(products) != 1 or not all(ring.in_flight for ring in plan.rings):
            return None
        if tile_of(products[0].result).shape != _TILE or num_warps_of(kernel) != REPLICAS * WARPS:
            return None
        loop = TileLoop.of(kernel, plan)
        return None if loop is None else PingPong(loop)

    def share_tiles(self, b: Builder) -> Value:
        """Lets this replica do every other tile. Returns which replica it is (i32); `b` stands at
        the start of the consumers."""
        replica = b.op("tile_gpu.replica", [], b.i32)
        lower, upper, step = list(self.tiles.operands)[:3]
        some = b.compare("slt", lower, upper)
        second = b.compare("ne", replica, b.c32(0))
        # The first tile is replica 0's turn.
        b.create("tile_gpu.pass_turn", [b.op("arith.andi", [second, some], b.i1)])
        mine = b.zext_or_trunc(replica, step.type)
        self.tiles.operands[0] = b.add(lower, b.mul(mine, step))
        self.tiles.operands[2] = b.mul(step, b.constant(REPLICAS, step.type))
        self._take_turns(upper, step)
        return replica

    def _take_turns(self, upper: Value, step: Value) -> None:
        """Around the loop over k of every tile. The turn passes as soon as all products are issued,
        if there is a next tile."""
        guard = self.loop.guard
        b = Builder(InsertionPoint(guard), guard.location)
        following = b.add(self.loop.body.arguments[0], step)
        more = b.compare("slt", following, upper)
        b.create("tile_gpu.take_turn")
        ends = [InsertionPoint.after(self.loop.rounds)]
        if guard.name == "scf.if":
            ends.append(InsertionPoint.at_block_begin(guard.regions[1].blocks[0]))
        for end in ends:
            Builder(end, guard.location).create("tile_gpu.pass_turn", [more])

    def count_rounds(self, b: Builder) -> Value:
        """Rounds of the ring that a tile takes (i32)."""
        lower, upper, step = list(self.loop.rounds.operands)[:3]
        distance = b.sub(upper, lower)
        up = b.sub(b.add(distance, step), b.constant(1, step.type))
        rounds = b.op("arith.divsi", [up, step], step.type)
        none = b.compare("sle", upper, lower)
        zero = b.constant(0, step.type)
        return b.zext_or_trunc(b.op("arith.select", [none, zero, rounds], step.type), b.i32)
