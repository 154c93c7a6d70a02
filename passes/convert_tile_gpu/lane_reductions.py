"""Partial results of the lanes of a warp, combined step by step: all lanes get all results (a
butterfly), or share them out by halves (`tileir.compiler.halving`). Both combine in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileir.compiler.halving import LaneStep
from tileir.ir import Value
from tileir.passes.convert_tile_gpu.combiner import Combiner, Values
from tileir.passes.convert_tile_gpu.lowering import Lowering
from tileir.passes.convert_tile_gpu.shuffles import shuffle

#: Coordinates of a result, from the thread's first.
Place = tuple[int, ...]


class LaneReduction:
    """The results of a warp whose threads have some `elements` for each."""

    def __init__(
        self, ctx: Lowering, combine: Combiner, elements: Mapping[Place, list[Values]],
        steps: Sequence[LaneStep],
    ):  # fmt: skip
        self.ctx, self.combine, self.elements, self.steps = ctx, combine, elements, steps

    def results(self) -> dict[Place, Values]:
        """The results that this lane gets."""
        kept = [place for place in self.elements if self._keeps(place)]
        if len(kept) == len(self.elements):
            own = {place: self.combine.tree(parts) for place, parts in self.elements.items()}
            self.elements = {place: [values] for place, values in own.items()}
        return {place: self._after(place, len(self.steps)) for place in kept}

    def _keeps(self, place: Place) -> bool:
        """Whether it is the lower one wherever the first lane keeps a half."""
        return not any(place[step.dim] // step.weight % 2 for step in self.steps if step.halves)

    def _after(self, place: Place, count: int) -> Values:
        """The partial result after the first steps. What lanes exchange is computed just before:
        a thread that holds a large tile has no registers for a part of each result."""
        if count == 0:
            return self.combine.tree(self.elements[place])
        step = self.steps[count - 1]
        values = self._after(place, count - 1)
        if not step.halves:
            return self._join(step, values, values)
        there = place[step.dim] + step.weight
        other = self._after((*place[: step.dim], there, *place[step.dim + 1 :]), count - 1)
        lower = self._is_lower(step)
        kept = self._choose(lower, values, other)
        return self._join(step, kept, self._choose(lower, other, values))

    def _join(self, step: LaneStep, kept: Values, given: Values) -> Values:
        """Combines with what the other lane gives."""
        offset = self.ctx.builder.c32(step.lane)
        taken = [shuffle(self.ctx, "bfly", value, offset) for value in given]
        if self.combine.commutative:
            return self.combine(taken, kept)
        # The lower lane's part first, so that all lanes compute the same.
        lower = self._is_lower(step)
        first, second = self._choose(lower, kept, taken), self._choose(lower, taken, kept)
        return self.combine(second, first)

    def _is_lower(self, step: LaneStep) -> Value:
        """Whether this lane's number has a zero in the bit in which the other's differs."""
        b = self.ctx.builder
        return b.compare(
            "eq", b.op("arith.andi", [self.ctx.lane, b.c32(step.lane)], b.i32), b.c32(0)
        )

    def _choose(self, condition: Value, yes: Values, no: Values) -> Values:
        return [self.ctx.select(condition, a, b) for a, b in zip(yes, no, strict=True)]
