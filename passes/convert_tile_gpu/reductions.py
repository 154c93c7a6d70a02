"""Reductions and scans: registers first, then lanes.

The combiner is a region; it is built once for each application, on scalars. Partial results move
between lanes by shuffles. `split-reductions` has seen to it that no warp needs another's.
"""

from __future__ import annotations

from tileir.compiler.ir_util import has_flag, int_attr
from tileir.compiler.layout import Digit, Layout, Owner
from tileir.compiler.tile_types import tile_info
from tileir.ir import Block, OpView, Value
from tileir.passes.convert_tile_gpu.lowering import Lowering, lowers
from tileir.passes.convert_tile_gpu.shuffles import shuffle

#: Combiners whose operands may be exchanged: all lanes of a butterfly get the same bits.
_COMMUTATIVE = {
    "arith.addf", "arith.addi", "arith.mulf", "arith.muli", "arith.maxnumf", "arith.minnumf",
    "arith.maximumf", "arith.minimumf", "arith.maxsi", "arith.minsi", "arith.maxui",
    "arith.minui", "arith.andi", "arith.ori", "arith.xori",
}  # fmt: skip

Values = list[Value]
#: Coordinates of a register of a tile, from the thread's first element.
Place = tuple[int, ...]
Places = dict[Place, Values]


class Combiner:
    """The region of a reduction or scan."""

    def __init__(self, ctx: Lowering, op: OpView):
        self.ctx = ctx
        self.body: Block = op.operation.regions[0].blocks[0]
        ops = list(self.body)
        self.commutative = len(ops) == 2 and ops[0].operation.name in _COMMUTATIVE

    def __call__(self, element: Values, accumulator: Values) -> Values:
        """The new accumulators: region arguments alternate element and accumulator."""
        arguments = [v for pair in zip(element, accumulator, strict=True) for v in pair]
        self.ctx.bind(self.body.arguments, arguments)
        *ops, end = list(self.body)
        for op in ops:
            self.ctx.lower(op)
        return [self.ctx.scalar(o) for o in end.operation.operands]


@lowers("tile_gpu.reduce")
def _reduce(ctx: Lowering, op: OpView) -> None:
    combine = Combiner(ctx, op)
    dim = int_attr(op, "dim")
    fragments = [ctx.fragment(o) for o in op.operation.operands]
    layout = fragments[0].layout
    groups: dict[tuple[int, ...], list[Values]] = {}
    for register, offset in enumerate(layout.register_offsets):
        rest = offset[:dim] + offset[dim + 1 :]
        groups.setdefault(rest, []).append([f.registers[register] for f in fragments])
    reduced = {rest: _tree(combine, elements) for rest, elements in groups.items()}
    for digit, _ in layout.weighted(dim, Owner.LANE):
        reduced = {rest: _butterfly(ctx, combine, v, digit) for rest, v in reduced.items()}
    _set_results(ctx, op, reduced, dim)


def _tree(combine: Combiner, elements: list[Values]) -> Values:
    """Combines neighbours pairwise: short chains, and an order that does not depend on how the
    elements are spread."""
    while len(elements) > 1:
        pairs = [combine(elements[i + 1], elements[i]) for i in range(0, len(elements) - 1, 2)]
        elements = pairs + elements[len(elements) // 2 * 2 :]
    return elements[0]


def _butterfly(ctx: Lowering, combine: Combiner, values: Values, digit: Digit) -> Values:
    """Combines over a lane digit; every lane gets the result."""
    b, distance = ctx.builder, 1
    while distance < digit.size:
        offset = distance * digit.stride
        others = [shuffle(ctx, "bfly", v, b.c32(offset)) for v in values]
        if combine.commutative:
            values = combine(others, values)
        else:  # the lower lane's part first, so that all lanes compute the same
            low = b.compare("eq", b.op("arith.andi", [ctx.lane, b.c32(offset)], b.i32), b.c32(0))
            first = [ctx.select(low, v, o) for v, o in zip(values, others, strict=True)]
            second = [ctx.select(low, o, v) for v, o in zip(values, others, strict=True)]
            values = combine(second, first)
        distance *= 2
    return values


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
