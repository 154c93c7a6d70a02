"""Control flow: everything becomes structured (`scf`).

`break`, `continue` and `return` inside branches are the difficulty: `scf` has no early exits.
What follows a branch that may leave moves into the branch that stays:

    if %c { break %x }          scf.if %c { yield false, %x }
    ...                   =>    else      { ...; yield true, ... }

A `Frame` says what leaving means where a block stands: the list of values that its structured
replacement yields. Where more than one branch may fall through, what follows is not duplicated:
a flag says whether the branch stayed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import has_flag
from tileir.compiler.locations import plain_location
from tileir.compiler.unsupported import Unsupported, refusal
from tileir.ir import Block, FunctionType, InsertionPoint, OpView, Type, TypeAttr, Value
from tileir.passes.convert_cuda_tile.converter import Converter, is_token, lowers
from tileir.passes.convert_cuda_tile.guards import guarded_load
from tileir.passes.convert_cuda_tile.views import load_view

HINTS_ATTRIBUTE = "tile_gpu.optimization_hints"

_EXITS = ("break", "continue", "return")


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
    types: list[Type]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        if _short(terminator) != "continue":
            raise refusal(
                terminator, "no code generation inside a 'for'", "leave the kernel after the loop"
            )
        return c.operands(terminator)


@dataclass
class _LoopFrame(Frame):
    """A loop body ends with: go on?, values for the next round, results."""

    carried: list[Type]
    results: list[Type]

    def __post_init__(self) -> None:
        self.types = self.carried + self.results

    def attach(self, builder: Builder) -> None:
        self.types = [builder.i1, *self.carried, *self.results]

    def finish(self, c: Converter, terminator: OpView) -> list[Value]:
        name, values = _short(terminator), c.operands(terminator)
        if name == "continue":
            return [c.builder.constant(True, c.builder.i1), *values, *_poison(c, self.results)]
        if name == "break":
            return [c.builder.constant(False, c.builder.i1), *_poison(c, self.carried), *values]
        raise refusal(
            terminator, "no code generation inside a 'loop'", "leave the loop with 'break' first"
        )


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
    """Whether a branch may leave the block that it stands in."""
    if _short(op) != "if":
        return False
    return any(
        _short(inner) in _EXITS or _leaves(inner)
        for region in op.operation.regions
        for block in region.blocks
        for inner in block
    )


def _ways_through(ops: Sequence[OpView]) -> int:
    """How many paths reach the `yield` that ends these operations."""
    for i, op in enumerate(ops):
        if _leaves(op):
            return _branch_ways(op) * _ways_through(ops[i + 1 :])
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
            return frame.finish(c, op)
        if _leaves(op):
            return _convert_leaving_branch(c, op, list(ops[i + 1 :]), frame)
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


def _with_yield(op: OpView, region) -> list[OpView]:
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
    bounds = [c[o] for o in list(op.operation.operands)[:3]]
    initial = [c[o] for o in list(op.operation.operands)[3:] if not is_token(o.type)]
    types = [value.type for value in initial]
    attributes = {"unsignedCmp": c.builder.attribute("unit")} if has_flag(op, "unsignedCmp") else {}
    new = c.builder.create("scf.for", [*bounds, *initial], types, attributes, regions=1)
    old_body = op.operation.regions[0].blocks[0]
    body = c.builder.block(new.regions[0], [bounds[0].type, *types])
    _bind_arguments(c, old_body, body)
    with c.builder.at(body):
        c.builder.create("scf.yield", _convert_to_end(c, list(old_body), _ForFrame(types)))
    c.set(op, *new.results)


@lowers("loop")
def _loop(c: Converter, op: OpView) -> None:
    """A while loop whose condition region is the whole body."""
    initial = c.operands(op)
    carried = [value.type for value in initial]
    results = [c.type(r.type) for r in op.operation.results if not is_token(r.type)]
    frame = _LoopFrame(carried, results)
    frame.attach(c.builder)
    new = c.builder.create("scf.while", initial, [*carried, *results], regions=2)
    old_body = op.operation.regions[0].blocks[0]
    before = c.builder.block(new.regions[0], carried)
    _bind_arguments(c, old_body, before)
    with c.builder.at(before):
        c.builder.create("scf.condition", _convert_to_end(c, list(old_body), frame))
    after = c.builder.block(new.regions[1], [*carried, *results])
    with c.builder.at(after):
        c.builder.create("scf.yield", list(after.arguments)[: len(carried)])
    c.set(op, *list(new.results)[len(carried) :])


def _bind_arguments(c: Converter, old: Block, new: Block) -> None:
    kept = [a for a in old.arguments if not is_token(a.type)]
    for before, after in zip(kept, new.arguments, strict=True):
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
    if "optimization_hints" in op.operation.attributes:
        attributes[HINTS_ATTRIBUTE] = op.operation.attributes["optimization_hints"]
    function = builder.create("gpu.func", attributes=attributes, regions=1)
    body = builder.block(function.regions[0], inputs)
    _bind_arguments(c, old_body, body)
    with builder.at(body):
        _convert_to_end(c, list(old_body), _EntryFrame())
        builder.create("gpu.return")


def _parameter_type(c: Converter, type_: Type) -> Type:
    result = c.type(type_)
    if str(result) == "i4":
        raise Unsupported("no code generation for a parameter of i4", remedy="pass an i8")
    return result
