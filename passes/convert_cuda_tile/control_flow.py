"""Control flow: everything becomes structured (`scf`).

`break`, `continue` and `return` inside branches are the difficulty: `scf` has no early exits.
What follows a branch that may leave moves into the branch that stays:

    if %c { break %x }          scf.if %c { yield false, %x }
    ...                   =>    else      { ...; yield true, ... }

A `Frame` says what leaving means where a block stands: the list of values that its structured
replacement yields. Where more than one branch may fall through, what follows is not duplicated:
a flag says whether the branch stayed. A loop that holds a `return` has one more result, which says
whether the kernel has returned; what follows it stands in a branch on that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, has_flag, splat_integer
from tileir.compiler.locations import plain_location
from tileir.compiler.unsupported import Unsupported
from tileir.ir import (
    Block,
    DenseI64ArrayAttr,
    FunctionType,
    InsertionPoint,
    OpView,
    Region,
    Type,
    TypeAttr,
    Value,
)
from tileir.passes.analysis.promises import nonnegative_parameters
from tileir.passes.annotate_parameters import NONNEGATIVE_ATTRIBUTE
from tileir.passes.convert_cuda_tile.converter import Converter, is_token, lowers
from tileir.passes.convert_cuda_tile.guards import guarded_load
from tileir.passes.convert_cuda_tile.products import carried_type, reshaped
from tileir.passes.convert_cuda_tile.scratch import free_scratch
from tileir.passes.convert_cuda_tile.views import load_view
from tileir.passes.order_memory import FREE_LOADS_ATTRIBUTE

HINTS_ATTRIBUTE = "tile_gpu.optimization_hints"

_EXITS = ("break", "continue", "return")
_LOOPS = ("for", "loop")


def _short(op: OpView) -> str:
    return op.operation.name.removeprefix("cuda_tile.")


class Frame(ABC):
    """What the terminators of a block mean where it stands."""

    #: types of the values that the block must end with
    types: list[Type]

    @abstractmethod
    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        """The values to end with, built at the insertion point."""


class _EntryFrame(Frame):
    types: list[Type] = []

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        return []


@dataclass
class _ForFrame(Frame):
    """The body of a `for` ends with the values for the next round."""

    types: list[Type]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        values = zip(c.operands(terminator), self.types, strict=True)
        return [reshaped(c, value, type_) for value, type_ in values]


@dataclass
class _ReturningForFrame(Frame):
    """As `_ForFrame`, and last: has the kernel returned?"""

    i1: Type
    carried: list[Type]

    def __post_init__(self) -> None:
        self.types = [*self.carried, self.i1]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        returned = _short(terminator) == "return"
        values = _poison(c, self.carried) if returned else c.operands(terminator)
        return [*values, c.builder.constant(returned, self.i1)]


@dataclass
class _LoopFrame(Frame):
    """A loop body ends with: go on?, values for the next round, results, and, if the loop holds a
    `return`: has the kernel returned?"""

    i1: Type
    carried: list[Type]
    results: list[Type]
    returns: bool

    def __post_init__(self) -> None:
        self.types = [self.i1, *self.carried, *self.results, *([self.i1] * self.returns)]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        name = _short(terminator)
        carried = c.operands(terminator) if name == "continue" else _poison(c, self.carried)
        results = c.operands(terminator) if name == "break" else _poison(c, self.results)
        values = [c.builder.constant(name == "continue", self.i1), *carried, *results]
        return [*values, c.builder.constant(name == "return", self.i1)] if self.returns else values


@dataclass
class _InlineFrame(Frame):
    """A branch that is the only one to fall through: what follows the branch goes on in it."""

    branch: OpView
    rest: list[OpView]
    outer: Frame

    def __post_init__(self) -> None:
        self.types = self.outer.types

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        if _short(terminator) != "yield":
            return self.outer.finish(c, terminator)
        c.set(self.branch, *c.operands(terminator))
        return _convert_to_end(c, self.rest, self.outer)


@dataclass
class _FlagFrame(Frame):
    """A branch ends with: did it stay?, what it yields, what leaving would give."""

    i1: Type
    yields: list[Type]
    outer: Frame

    def __post_init__(self) -> None:
        self.types = [self.i1, *self.yields, *self.outer.types]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        stays = _short(terminator) == "yield"
        flag = c.builder.constant(stays, self.i1)
        if stays:
            return [flag, *c.operands(terminator), *_poison(c, self.outer.types)]
        return [flag, *_poison(c, self.yields), *self.outer.finish(c, terminator)]


def _poison(c: Converter, types: Sequence[Type]) -> list[Value]:
    return [c.builder.op("ub.poison", [], type_) for type_ in types]


# ---- early exits ------------------------------------------------------------------------------


def _leaves(op: OpView) -> bool:
    """Whether a branch or loop may leave the block that it stands in."""
    name = _short(op)
    if name in _LOOPS:
        return _return_in(op) is not None
    return name == "if" and any(_short(inner) in _EXITS or _leaves(inner) for inner in _inside(op))


def _inside(op: OpView) -> Iterator[OpView]:
    for region in op.operation.regions:
        for block in region.blocks:
            yield from block


def _return_in(op: OpView) -> OpView | None:
    """A `return` inside an operation."""
    for inner in _inside(op):
        found = inner if _short(inner) == "return" else _return_in(inner)
        if found is not None:
            return found
    return None


def _ways_through(ops: Sequence[OpView]) -> int:
    """How many paths reach the `yield` that ends these operations."""
    for i, op in enumerate(ops):
        if _leaves(op):
            ways = 1 if _short(op) in _LOOPS else _branch_ways(op)
            return ways * _ways_through(ops[i + 1 :])
    return 1 if not ops or _short(ops[-1]) == "yield" else 0


def _branch_ways(op: OpView) -> int:
    return sum(
        _ways_through(list(region.blocks[0]) if len(region.blocks) else [])
        for region in op.operation.regions
    )


def _convert_to_end(c: Converter, ops: Sequence[OpView], frame: Frame) -> list[Value]:
    """Converts operations up to and with their terminator; returns what the frame ends with."""
    for i, op in enumerate(ops):
        if _short(op) in (*_EXITS, "yield"):
            c.builder.location = plain_location(op.location)
            free_scratch(c, op)
            return frame.finish(c, op)
        if _leaves(op):
            convert = _convert_leaving_loop if _short(op) in _LOOPS else _convert_leaving_branch
            return convert(c, op, list(ops[i + 1 :]), frame)
        c.convert_op(op)
    raise AssertionError("a block ends with a terminator")


def _convert_leaving_branch(
    c: Converter, op: OpView, rest: list[OpView], frame: Frame
) -> list[Value]:
    if _branch_ways(op) <= 1:
        return _build_if(c, op, _InlineFrame(op, rest, frame))
    yields = [c.type(r.type) for r in op.operation.results if not is_token(r.type)]
    values = _build_if(c, op, _FlagFrame(c.builder.i1, yields, frame))
    stayed, yielded, left = values[0], values[1 : 1 + len(yields)], values[1 + len(yields) :]
    c.set(op, *yielded)
    new = c.builder.create("scf.if", [stayed], frame.types, regions=2)
    with c.builder.at(c.builder.block(new.regions[0])):
        c.builder.create("scf.yield", _convert_to_end(c, rest, frame))
    with c.builder.at(c.builder.block(new.regions[1])):
        c.builder.create("scf.yield", left)
    return list(new.results)


def _convert_leaving_loop(
    c: Converter, op: OpView, rest: list[OpView], frame: Frame
) -> list[Value]:
    """A loop that may return: what follows stands in a branch."""
    c.builder.location = plain_location(op.location)
    build = _build_returning_for if _short(op) == "for" else _build_loop
    *results, returned = build(c, op)
    c.set(op, *results)
    new = c.builder.create("scf.if", [returned], frame.types, regions=2)
    with c.builder.at(c.builder.block(new.regions[0])):
        exit_ = _return_in(op)
        assert exit_ is not None
        c.builder.create("scf.yield", frame.finish(c, exit_))
    with c.builder.at(c.builder.block(new.regions[1])):
        c.builder.create("scf.yield", _convert_to_end(c, rest, frame))
    return list(new.results)


def _build_if(c: Converter, op: OpView, frame: Frame) -> list[Value]:
    """An scf.if whose branches end with the values of `frame`."""
    c.builder.location = plain_location(op.location)
    condition = c[op.operation.operands[0]]
    new = c.builder.create("scf.if", [condition], frame.types, regions=2)
    for region, old in zip(new.regions, op.operation.regions, strict=True):
        with c.builder.at(c.builder.block(region)):
            values = _convert_to_end(c, _with_yield(op, old), frame)
            c.builder.create("scf.yield", values)
    return list(new.results)


def _with_yield(op: OpView, region: Region) -> list[OpView]:
    """The operations of a branch; a missing one is an empty `yield`."""
    if len(region.blocks) == 0:
        region.blocks.append()
    block = region.blocks[0]
    ops = list(block)
    if not ops or _short(ops[-1]) not in (*_EXITS, "yield"):
        point = InsertionPoint(block)
        builder = Builder(point, plain_location(op.location))
        ops.append(builder.create("cuda_tile.yield").opview)
    return ops


# ---- rules ------------------------------------------------------------------------------------


class _BranchFrame(Frame):
    """A branch that never leaves: it ends with what it yields."""

    def __init__(self, types: list[Type]):
        self.types = types

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        return c.operands(terminator)


@lowers("if")
def _if(c: Converter, op: OpView) -> None:
    guarded = guarded_load(op)
    if guarded is not None:
        tile = load_view(c, guarded.load, guarded.dim)
        c.set(op, *(tile for r in op.operation.results if not is_token(r.type)))
        return
    types = [c.type(r.type) for r in op.operation.results if not is_token(r.type)]
    c.set(op, *_build_if(c, op, _BranchFrame(types)))


@lowers("for")
def _for(c: Converter, op: OpView) -> None:
    rounds = _Rounds(c, op)
    old_body = op.operation.regions[0].blocks[0]
    arguments = [a for a in list(old_body.arguments)[1:] if not is_token(a.type)]
    types = [carried_type(c, argument) for argument in arguments]
    given = [c[o] for o in list(op.operation.operands)[3:] if not is_token(o.type)]
    initial = [reshaped(c, value, type_) for value, type_ in zip(given, types, strict=True)]
    attributes = {"unsignedCmp": c.builder.attribute("unit")} if rounds.unsigned else {}
    new = c.builder.create("scf.for", [*rounds.bounds, *initial], types, attributes, regions=1)
    body = c.builder.block(new.regions[0], [rounds.type, *types])
    outside = [value.type for value in given]
    with c.builder.at(body):
        counter, *carried = body.arguments
        values = [reshaped(c, *each) for each in zip(carried, outside, strict=True)]
        _bind_arguments(c, old_body, [rounds.induction(counter), *values])
        c.builder.create("scf.yield", _convert_to_end(c, list(old_body), _ForFrame(types)))
    c.set(op, *(reshaped(c, *each) for each in zip(new.results, outside, strict=True)))


class _Rounds:
    """How a `for` counts. With a step of 1, as it says. Otherwise its induction variable could
    pass the end of its type, which ends the loop in cuda_tile and wraps in scf: then the rounds
    are counted instead, and `induction` computes the variable."""

    def __init__(self, c: Converter, op: OpView):
        self.c = c
        lower, upper, step = list(op.operation.operands)[:3]
        self.lower, self.step = c[lower], c[step]
        self.type = self.lower.type
        self.counts = splat_integer(defining_op(step)) != 1
        self.unsigned = self.counts or has_flag(op, "unsignedCmp")
        self.bounds = [self.lower, c[upper], self.step]
        if self.counts:
            count = self._count(c[upper], has_flag(op, "unsignedCmp"))
            self.bounds = [c.builder.constant(n, self.type) for n in (0, 1)]
            self.bounds.insert(1, count)

    def _count(self, upper: Value, unsigned: bool) -> Value:
        """(upper - lower - 1) / step + 1 where lower < upper, which is right in unsigned numbers
        of the same width."""
        b, one = self.c.builder, self.c.builder.constant(1, self.type)
        distance = b.sub(b.sub(upper, self.lower), one)
        count = b.add(b.op("arith.divui", [distance, self.step], self.type), one)
        some = b.compare("ult" if unsigned else "slt", self.lower, upper)
        return b.op("arith.select", [some, count, b.constant(0, self.type)], self.type)

    def induction(self, counter: Value) -> Value:
        b = self.c.builder
        return b.add(self.lower, b.mul(counter, self.step)) if self.counts else counter


def _build_returning_for(c: Converter, op: OpView) -> Sequence[Value]:
    """A `for` that may return: a while loop; its results, and whether the kernel has returned."""
    b, rounds = c.builder, _Rounds(c, op)
    first, end, step = rounds.bounds
    initial = [c[o] for o in list(op.operation.operands)[3:] if not is_token(o.type)]
    carried = [value.type for value in initial]
    types = [rounds.type, *carried, b.i1]
    start = [first, *initial, b.constant(False, b.i1)]
    new = b.create("scf.while", start, types, regions=2)
    before = b.block(new.regions[0], types)
    with b.at(before):
        counter, *_, returned = before.arguments
        more = b.compare("ult" if rounds.unsigned else "slt", counter, end)
        stays = b.op("arith.xori", [returned, b.constant(True, b.i1)], b.i1)
        goes_on = b.op("arith.andi", [more, stays], b.i1)
        b.create("scf.condition", [goes_on, *before.arguments])
    after = b.block(new.regions[1], types)
    old_body = op.operation.regions[0].blocks[0]
    with b.at(after):
        counter, *values, _ = after.arguments
        following = b.add(counter, step)
        _bind_arguments(c, old_body, [rounds.induction(counter), *values])
        ends = _convert_to_end(c, list(old_body), _ReturningForFrame(b.i1, carried))
        b.create("scf.yield", [following, *ends])
    return list(new.results)[1:]


@lowers("loop")
def _loop(c: Converter, op: OpView) -> None:
    c.set(op, *_build_loop(c, op))


def _build_loop(c: Converter, op: OpView) -> Sequence[Value]:
    """A while loop whose condition region is the whole body. Its results and, if the loop holds a
    `return`, whether the kernel has returned."""
    b, initial = c.builder, c.operands(op)
    carried = [value.type for value in initial]
    results = [c.type(r.type) for r in op.operation.results if not is_token(r.type)]
    frame = _LoopFrame(b.i1, carried, results, _return_in(op) is not None)
    new = b.create("scf.while", initial, frame.types[1:], regions=2)
    old_body = op.operation.regions[0].blocks[0]
    before = b.block(new.regions[0], carried)
    _bind_arguments(c, old_body, list(before.arguments))
    with b.at(before):
        b.create("scf.condition", _convert_to_end(c, list(old_body), frame))
    after = b.block(new.regions[1], frame.types[1:])
    with b.at(after):
        b.create("scf.yield", list(after.arguments)[: len(carried)])
    return list(new.results)[len(carried) :]


def _bind_arguments(c: Converter, old: Block, new: Sequence[Value]) -> None:
    kept = [a for a in old.arguments if not is_token(a.type)]
    for before, after in zip(kept, new, strict=True):
        c.bind(before, after)


# ---- kernels ----------------------------------------------------------------------------------


def convert_entry(builder: Builder, op: OpView) -> None:
    """An entry becomes a `gpu.func` with the same parameters; hints stay as an attribute."""
    c = Converter(builder)
    builder.location = plain_location(op.location)
    old_body = op.operation.regions[0].blocks[0]
    inputs = [_parameter_type(c, a.type) for a in old_body.arguments]
    attributes = {
        "sym_name": op.operation.attributes["sym_name"],
        "function_type": TypeAttr.get(FunctionType.get(inputs, [], builder.context)),
        "gpu.kernel": builder.attribute("unit"),
    }
    if FREE_LOADS_ATTRIBUTE in op.operation.attributes:
        attributes[FREE_LOADS_ATTRIBUTE] = op.operation.attributes[FREE_LOADS_ATTRIBUTE]
    if "optimization_hints" in op.operation.attributes:
        attributes[HINTS_ATTRIBUTE] = op.operation.attributes["optimization_hints"]
    nonnegative = nonnegative_parameters(old_body)
    if nonnegative:
        attributes[NONNEGATIVE_ATTRIBUTE] = DenseI64ArrayAttr.get(nonnegative, builder.context)
    function = builder.create("gpu.func", attributes=attributes, regions=1)
    body = builder.block(function.regions[0], inputs)
    _bind_arguments(c, old_body, list(body.arguments))
    with builder.at(body):
        _convert_to_end(c, list(old_body), _EntryFrame())
        builder.create("gpu.return")


def _parameter_type(c: Converter, type_: Type) -> Type:
    result = c.type(type_)
    if str(result) == "i4":
        raise Unsupported("no code generation for a parameter of i4", remedy="pass an i8")
    return result
