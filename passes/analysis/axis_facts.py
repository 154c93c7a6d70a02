"""What is known about the integers and addresses in a tile, along each of its axes.

For every axis of a value, three powers of two:

    contiguity   elements in groups of this size, starting at multiples of it, grow by one
                 (addresses: by the size of the pointee)
    multiple     divides the first element of each such group (addresses: in bytes)
    constancy    elements in groups of this size, starting at multiples of it, are equal

A load through a tile of pointers may be vectorised by contiguity, multiple and the constancy of
its mask. The facts come from `assume`, `iota`, constants and arithmetic; they hold under wrap
around, because a group whose first element is a multiple of its size never straddles a power of
two. (The same idea serves Triton as AxisInfo.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tileir.compiler.ir_util import (
    defining_op,
    element_bytes,
    element_type,
    int_list,
    keyword,
    splat_integer,
)
from tileir.dialects.cuda_tile import DivBy, TileType, assume_predicate
from tileir.ir import Block, IntegerType, OpView, Value

#: The multiple of zero: a power of two larger than any that matters.
MAXIMUM = 1 << 40


def power_of_two_factor(n: int) -> int:
    """The largest power of two that divides `n`."""
    return MAXIMUM if n == 0 else min(n & -n, MAXIMUM)


@dataclass(frozen=True)
class Axis:
    """Facts along one axis; the default is to know nothing."""

    contiguity: int = 1
    multiple: int = 1
    constancy: int = 1

    def multiple_at(self, group: int) -> int:
        """What divides the elements at multiples of `group`."""
        if group % self.contiguity == 0:
            return self.multiple
        return math.gcd(self.multiple, group)


@dataclass(frozen=True)
class AxisFacts:
    """One `Axis` for each dimension; a scalar counts as having one dimension of size 1."""

    axes: tuple[Axis, ...]

    @property
    def multiple(self) -> int:
        """A power of two that divides every element."""
        return max(axis.multiple_at(1) for axis in self.axes)


Rule = Callable[["AxisAnalysis", OpView], AxisFacts]
_RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for name in names:
            _RULES["cuda_tile." + name] = rule
        return rule

    return register


class AxisAnalysis:
    """Facts of values, computed on demand and remembered."""

    def __init__(self) -> None:
        self._known: dict[Value, AxisFacts] = {}

    def of(self, value: Value) -> AxisFacts:
        facts = self._known.get(value)
        if facts is None:
            facts = self._known[value] = _within_width(value, self._compute(value))
        return facts

    def multiple(self, value: Value) -> int:
        """A power of two that divides every element of `value`."""
        return self.of(value).multiple

    def _compute(self, value: Value) -> AxisFacts:
        op = defining_op(value)
        if op is None:
            return self._block_argument(value)
        rule = _RULES.get(op.operation.name, _elementwise)
        return rule(self, op)

    def _block_argument(self, value: Value) -> AxisFacts:
        """Only the counter of a `for` is known: it starts at a multiple and keeps it."""
        block = value.owner
        assert isinstance(block, Block)
        parent = block.owner.operation
        if parent.name == "cuda_tile.for" and value == block.arguments[0]:
            lower, _, step = list(parent.operands)[:3]
            return _scalar(math.gcd(self.multiple(lower), self.multiple(step)))
        return unknown(value)


def _within_width(value: Value, facts: AxisFacts) -> AxisFacts:
    """Groups no longer than half the range of the integer type, so that none wraps around, be it
    read as signed or not."""
    element = element_type(value.type)
    if not isinstance(element, IntegerType):
        return facts
    limit = 1 << max(0, IntegerType(element).width - 1)
    return AxisFacts(
        tuple(
            axis
            if axis.contiguity <= limit
            else Axis(limit, math.gcd(axis.multiple, limit), axis.constancy)
            for axis in facts.axes
        )
    )


def shape_of(value: Value) -> tuple[int, ...]:
    return tuple(TileType(value.type).shape)


def unknown(value: Value) -> AxisFacts:
    rank = value.type.rank if isinstance(value.type, TileType) else 0
    return AxisFacts((Axis(),) * max(1, rank))


def _scalar(multiple: int) -> AxisFacts:
    return AxisFacts((Axis(multiple=multiple),))


def _zip(analysis: AxisAnalysis, op: OpView, combine: Callable[..., Axis]) -> AxisFacts:
    facts = [analysis.of(operand).axes for operand in op.operation.operands]
    return AxisFacts(tuple(combine(*axes) for axes in zip(*facts, strict=True)))


def _elementwise(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    """Equal operands give equal results: only constancy survives an unknown operation."""
    result = op.operation.results[0]
    operands = op.operation.operands
    same_shape = operands and all(
        isinstance(o.type, TileType) and shape_of(o) == shape_of(result) for o in operands
    )
    if op.operation.regions or len(op.operation.results) != 1 or not same_shape:
        return unknown(result)
    return _zip(analysis, op, lambda *axes: Axis(constancy=math.gcd(*(a.constancy for a in axes))))


@_rule("load_ptr_tko", "load_view_tko", "atomic_rmw_tko", "atomic_cas_tko")
def _from_memory(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    return unknown(op.operation.results[0])


@_rule("constant")
def _constant(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    result = op.operation.results[0]
    number = splat_integer(op)
    if number is None:
        return unknown(result)
    multiple = power_of_two_factor(number)
    axes = tuple(Axis(1, multiple, power_of_two_factor(size)) for size in shape_of(result))
    return AxisFacts(axes or (Axis(multiple=multiple),))


@_rule("iota")
def _iota(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    (size,) = shape_of(op.operation.results[0])
    group = power_of_two_factor(size)
    return AxisFacts((Axis(group, MAXIMUM if group == size else group, 1),))


@_rule("addi")
def _addi(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    def combine(a: Axis, b: Axis) -> Axis:
        group = max(math.gcd(a.contiguity, b.constancy), math.gcd(a.constancy, b.contiguity))
        multiple = math.gcd(a.multiple_at(group), b.multiple_at(group))
        return Axis(group, multiple, math.gcd(a.constancy, b.constancy))

    return _zip(analysis, op, combine)


@_rule("subi")
def _subi(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    def combine(a: Axis, b: Axis) -> Axis:
        group = math.gcd(a.contiguity, b.constancy)
        multiple = math.gcd(a.multiple_at(group), b.multiple_at(group))
        return Axis(group, multiple, math.gcd(a.constancy, b.constancy))

    return _zip(analysis, op, combine)


@_rule("muli")
def _muli(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    lhs, rhs = op.operation.operands
    for factor, other in ((lhs, rhs), (rhs, lhs)):
        if splat_integer(defining_op(factor)) == 1:
            return analysis.of(other)

    def combine(a: Axis, b: Axis) -> Axis:
        multiple = min(a.multiple_at(1) * b.multiple_at(1), MAXIMUM)
        return Axis(1, multiple, math.gcd(a.constancy, b.constancy))

    return _zip(analysis, op, combine)


@_rule("shli")
def _shli(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    amount = splat_integer(defining_op(op.operation.operands[1]))
    if amount is None or amount < 0:
        return _elementwise(analysis, op)
    value = analysis.of(op.operation.operands[0])
    return AxisFacts(
        tuple(
            Axis(1, min(a.multiple_at(1) << min(amount, 40), MAXIMUM), a.constancy)
            for a in value.axes
        )
    )


@_rule("andi", "remi")
def _masked(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    """x & y keeps the trailing zeros of either; x % y those that both have."""
    both = op.operation.name.endswith("remi")

    def combine(a: Axis, b: Axis) -> Axis:
        pick = math.gcd if both else max
        multiple = pick(a.multiple_at(1), b.multiple_at(1))
        return Axis(1, multiple, math.gcd(a.constancy, b.constancy))

    return _zip(analysis, op, combine)


@_rule("exti", "trunci", "ptr_to_int", "int_to_ptr", "ptr_to_ptr")
def _same_values(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    facts = analysis.of(op.operation.operands[0])
    if op.operation.name in ("cuda_tile.exti", "cuda_tile.trunci"):
        # A group may straddle a power of two only if it does not start at a multiple of its size.
        return AxisFacts(
            tuple(
                Axis(math.gcd(a.contiguity, a.multiple), a.multiple, a.constancy)
                for a in facts.axes
            )
        )
    return AxisFacts(tuple(Axis(1, a.multiple_at(1), a.constancy) for a in facts.axes))


@_rule("cmpi")
def _cmpi(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    """`x < n` is the same for a whole group of x if the group and n are multiples of its size."""
    predicate = keyword(op, "comparison_predicate")

    def combine(a: Axis, b: Axis) -> Axis:
        constancy = math.gcd(a.constancy, b.constancy)
        if predicate in ("less_than", "greater_than_or_equal"):
            constancy = max(constancy, _uniform_comparison(a, b))
        if predicate in ("greater_than", "less_than_or_equal"):
            constancy = max(constancy, _uniform_comparison(b, a))
        return Axis(constancy=constancy)

    return _zip(analysis, op, combine)


def _uniform_comparison(counting: Axis, bound: Axis) -> int:
    return math.gcd(counting.contiguity, counting.multiple, bound.constancy, bound.multiple_at(1))


@_rule("select")
def _select(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    def combine(condition: Axis, a: Axis, b: Axis) -> Axis:
        group = math.gcd(a.contiguity, b.contiguity, condition.constancy)
        return Axis(
            group,
            math.gcd(a.multiple_at(group), b.multiple_at(group)),
            math.gcd(condition.constancy, a.constancy, b.constancy),
        )

    return _zip(analysis, op, combine)


@_rule("offset")
def _offset(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    size = element_bytes(op.operation.results[0].type)

    def combine(pointer: Axis, offset: Axis) -> Axis:
        group = math.gcd(pointer.constancy, offset.contiguity, offset.multiple)
        multiple = math.gcd(pointer.multiple_at(1), offset.multiple_at(group) * size)
        return Axis(group, multiple, math.gcd(pointer.constancy, offset.constancy))

    return _zip(analysis, op, combine)


@_rule("broadcast")
def _broadcast(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    source, result = op.operation.operands[0], op.operation.results[0]
    facts = analysis.of(source)
    if source.type == result.type:
        return facts
    return AxisFacts(
        tuple(
            axis if before == after else Axis(1, axis.multiple, power_of_two_factor(after))
            for axis, before, after in zip(
                facts.axes, shape_of(source), shape_of(result), strict=True
            )
        )
    )


@_rule("reshape")
def _reshape(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    """Only dimensions of size 1 may come and go."""
    source, result = op.operation.operands[0], op.operation.results[0]
    before, after = shape_of(source), shape_of(result)
    if [n for n in before if n != 1] != [n for n in after if n != 1]:
        return unknown(result)
    facts = analysis.of(source)
    kept = iter([axis for axis, n in zip(facts.axes, before, strict=False) if n != 1])
    unit = Axis(multiple=facts.multiple)
    return AxisFacts(tuple(unit if n == 1 else next(kept) for n in after) or (unit,))


@_rule("permute")
def _permute(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    facts = analysis.of(op.operation.operands[0])
    permutation = int_list(op, "permutation")
    return AxisFacts(tuple(facts.axes[p] for p in permutation))


@_rule("assume")
def _assume(analysis: AxisAnalysis, op: OpView) -> AxisFacts:
    value = op.operation.operands[0]
    facts = analysis.of(value)
    predicate = assume_predicate(op.operation.attributes["predicate"])
    if not isinstance(predicate, DivBy):
        return facts
    divisor = power_of_two_factor(predicate.divisor)
    if predicate.every is None:
        return AxisFacts(tuple(_promised(axis, divisor, 1) for axis in facts.axes))
    return AxisFacts(
        tuple(
            _promised(axis, divisor, predicate.every) if dim == predicate.along else axis
            for dim, axis in enumerate(facts.axes)
        )
    )


def _promised(axis: Axis, divisor: int, every: int) -> Axis:
    """`axis`, knowing that groups of `every` elements count up from a multiple of `divisor`."""
    group = max(axis.contiguity, power_of_two_factor(every))
    multiple = divisor if group % every == 0 else math.gcd(divisor, group)
    return Axis(group, max(axis.multiple_at(group), multiple), axis.constancy)
