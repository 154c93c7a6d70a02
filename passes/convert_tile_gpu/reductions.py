"""Reductions and scans: registers first, then lanes.

Partial results move between lanes by shuffles. `split-reductions` has seen to it that no warp needs
another's.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileir.compiler.halving import lane_steps
from tileir.compiler.ir_util import has_flag, int_attr
from tileir.compiler.layout import Digit, Layout, Owner
from tileir.compiler.tile_types import tile_info
from tileir.ir import OpView, Value
from tileir.passes.convert_tile_gpu.combiner import Combiner, Values
from tileir.passes.convert_tile_gpu.lane_reductions import LaneReduction, Place
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shuffles import shuffle

#: Values of registers.
Places = dict[Place, Values]


@lowers("tile_gpu.reduce")
def _reduce(ctx: Lowering, op: OpView) -> None:
    combine = Combiner(ctx, op)
    dim = int_attr(op, "dim")
    fragments = [ctx.fragment(o) for o in op.operation.operands]
    layout = fragments[0].layout
    groups: dict[Place, list[Values]] = {}
    for register, offset in enumerate(layout.register_offsets):
        parts = groups.setdefault(offset[:dim] + offset[dim + 1 :], [])
        parts.append([f.registers[register] for f in fragments])
    steps = lane_steps(layout, dim, _other_dims(op, dim))
    _set_results(ctx, op, LaneReduction(ctx, combine, groups, steps).results(), dim)


def _other_dims(op: OpView, dim: int) -> Sequence[Sequence[Digit]]:
    """The digits of the result in dimensions other than that of the reduction."""
    info = tile_info(op.operation.results[0].type)
    dims = info.layout.dims if info else ()
    return dims[:dim] + dims[dim + 1 :] if has_flag(op, "within_warp") else dims


def _set_results(ctx: Lowering, op: OpView, reduced: Places, dim: int) -> None:
    keep = has_flag(op, "within_warp")
    for index, result in enumerate(op.operation.results):
        info = tile_info(result.type)
        if info is None:
            ctx.bind([result], [reduced[()][index]])
            continue
        registers = [
            reduced[offset[:dim] + offset[dim + 1 :] if keep else offset][index]
            for offset in info.layout.register_offsets
        ]
        ctx.bind([result], registers)


# ---- scans --------------------------------------------------------------------------------------


@lowers("tile_gpu.scan")
def _scan(ctx: Lowering, op: OpView) -> None:
    combine = Combiner(ctx, op)
    dim, reverse = int_attr(op, "dim"), has_flag(op, "reverse")
    fragments = [ctx.fragment(o) for o in op.operation.operands]
    layout = fragments[0].layout
    values: Places = {
        offset: [f.registers[i] for f in fragments]
        for i, offset in enumerate(layout.register_offsets)
    }
    for rest in {offset[:dim] + offset[dim + 1 :] for offset in values}:
        line = _Line(ctx, combine, layout, dim, reverse)
        line.scan(values, rest)
    for index, result in enumerate(op.operation.results):
        ctx.bind([result], [values[offset][index] for offset in layout.register_offsets])


class _Line:
    """Scans along one line of registers, digit by digit from the least significant: each step
    joins segments that are scanned already into longer ones."""

    def __init__(self, ctx: Lowering, combine: Combiner, layout: Layout, dim: int, reverse: bool):
        self.ctx, self.combine, self.reverse = ctx, combine, reverse
        self.digits = layout.dims[dim][::-1]
        self.dim = dim

    def scan(self, values: Places, rest: tuple[int, ...]) -> None:
        """Scans, in place, the registers that share the coordinates `rest`."""
        place = lambda x: rest[: self.dim] + (x,) + rest[self.dim :]  # noqa: E731
        line = sorted(o[self.dim] for o in values if o[: self.dim] + o[self.dim + 1 :] == rest)
        segments = [[place(x)] for x in line]
        totals = [values[place(x)] for x in line]
        for digit in self.digits:
            if digit.owner is Owner.REGISTER:
                segments, totals = self._join(values, segments, totals, digit.size)
            else:
                totals = self._across_lanes(values, segments, totals, digit)

    def _join(
        self, values: Places, segments: list[list[Place]], totals: list[Values], size: int
    ) -> tuple[list[list[Place]], list[Values]]:
        """Joins each `size` neighbouring segments of this thread."""
        joined, sums = [], []
        for start in range(0, len(segments), size):
            order = list(range(start, start + size))
            carry = None
            for i in reversed(order) if self.reverse else order:
                if carry is not None:
                    for place in segments[i]:
                        values[place] = self.combine(values[place], carry)
                    carry = self.combine(totals[i], carry)
                else:
                    carry = totals[i]
            joined.append([place for i in order for place in segments[i]])
            sums.append(carry)
        return joined, sums

    def _across_lanes(
        self, values: Places, segments: list[list[Place]], totals: list[Values], digit: Digit
    ) -> list[Values]:
        """Joins the segments of the lanes of a digit; returns the totals over all of them."""
        new_totals = []
        for segment, total in zip(segments, totals, strict=True):
            inclusive = self._lane_prefix(total, digit)
            before = self._neighbour(inclusive, digit, 1)
            first = self._is_first(digit, 1)
            for place in segment:
                extended = self.combine(values[place], before)
                values[place] = [
                    self.ctx.select(first, old, new)
                    for old, new in zip(values[place], extended, strict=True)
                ]
            new_totals.append(self._from_last(inclusive, digit))
        return new_totals

    def _lane_prefix(self, total: Values, digit: Digit) -> Values:
        """Inclusive prefix over a lane digit (Hillis and Steele)."""
        distance = 1
        while distance < digit.size:
            other = self._neighbour(total, digit, distance)
            joined = self.combine(total, other)
            first = self._is_first(digit, distance)
            total = [
                self.ctx.select(first, old, new) for old, new in zip(total, joined, strict=True)
            ]
            distance *= 2
        return total

    def _neighbour(self, values: Values, digit: Digit, distance: int) -> Values:
        kind = "down" if self.reverse else "up"
        offset = self.ctx.builder.c32(distance * digit.stride)
        return [shuffle(self.ctx, kind, v, offset) for v in values]

    def _is_first(self, digit: Digit, distance: int) -> Value:
        """Whether no lane of the digit stands `distance` before this one."""
        b = self.ctx.builder
        position = self.ctx.digit(digit)
        if self.reverse:
            return b.compare("uge", position, b.c32(digit.size - distance))
        return b.compare("ult", position, b.c32(distance))

    def _from_last(self, values: Values, digit: Digit) -> Values:
        """The values of the lane that comes last in the digit."""
        b, ctx = self.ctx.builder, self.ctx
        position = b.mul(ctx.digit(digit), b.c32(digit.stride))
        base = b.sub(ctx.lane, position)
        last = base if self.reverse else b.add(base, b.c32((digit.size - 1) * digit.stride))
        return [shuffle(ctx, "idx", v, last) for v in values]
