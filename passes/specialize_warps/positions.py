"""Where a side stands in each ring: the stage it is at, and the phase of that stage's barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.tile_types import buffer_info
from tileir.ir import Value
from tileir.passes.specialize_warps.rings import Ring


@dataclass(frozen=True)
class Position:
    """A stage (i32) and the parity of its round (i32, 0 or 1)."""

    stage: Value
    parity: Value

    @staticmethod
    def start(b: Builder) -> Position:
        return Position(b.c32(0), b.c32(0))

    def next(self, b: Builder, ring: Ring) -> Position:
        """After one more round."""
        following = b.add(self.stage, b.c32(1))
        wraps = b.compare("eq", following, b.c32(ring.stages))
        flipped = b.op("arith.xori", [self.parity, b.c32(1)], b.i32)
        return Position(
            b.op("arith.select", [wraps, b.c32(0), following], b.i32),
            b.op("arith.select", [wraps, flipped, self.parity], b.i32),
        )

    def advance(self, b: Builder, ring: Ring, rounds: Value) -> Position:
        """After so many rounds (i32)."""
        stages = b.c32(ring.stages)
        total = b.add(self.stage, rounds)
        laps = b.op("arith.divui", [total, stages], b.i32)
        odd = b.op("arith.andi", [laps, b.c32(1)], b.i32)
        return Position(
            b.op("arith.remui", [total, stages], b.i32),
            b.op("arith.xori", [self.parity, odd], b.i32),
        )

    def previous_stage(self, b: Builder, ring: Ring) -> Value:
        first = b.compare("eq", self.stage, b.c32(0))
        before = b.sub(self.stage, b.c32(1))
        return b.op("arith.select", [first, b.c32(ring.stages - 1), before], b.i32)

    def flipped(self, b: Builder) -> Value:
        return b.op("arith.xori", [self.parity, b.c32(1)], b.i32)


#: Where a side stands in all rings.
Positions = dict[Ring, Position]


def flatten(positions: Positions, rings: list[Ring]) -> list[Value]:
    """Positions as values that a loop carries, two for each ring."""
    return [v for ring in rings for v in (positions[ring].stage, positions[ring].parity)]


def unflatten(rings: list[Ring], values: Sequence[Value]) -> Positions:
    """The inverse of `flatten`."""
    return {ring: Position(*values[2 * i : 2 * i + 2]) for i, ring in enumerate(rings)}


def stage_of(b: Builder, ring_buffer: Value, index: Value) -> Value:
    """One stage of a ring."""
    one = replace(buffer_info(ring_buffer.type), stages=1)
    return b.op("tile_gpu.stage", [ring_buffer, index], b.type(str(one)))
