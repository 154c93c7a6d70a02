"""Branches: on what is known at compile time, Python chooses; else the IR has an `if`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tileir.ir import Block, Value

from .aggregates import Mismatch, Plan, plan_for_paths
from .constants import constant
from .dtypes import bool_
from .errors import TileTypeError
from .frames import Undefined
from .memory_order import Event, Jump, Nested
from .values import Tile, describe

if TYPE_CHECKING:
    from .builder import Builder
    from .interpreter import Interpreter

_MISSING = Undefined("the name has no value")

#: Operations that may be executed for nothing: no effects, no undefined behaviour.
_SPECULATABLE_NAMES = (
    "constant cmpi cmpf andi ori xori addi subi muli negi mini maxi select exti "
    "trunci itof ftof addf subf mulf negf absf absi minf maxf reshape broadcast "
    "get_tile_block_id get_num_tile_blocks get_index_space_shape make_tensor_view "
    "make_partition_view assume"
)
_SPECULATABLE = frozenset(f"cuda_tile.{name}" for name in _SPECULATABLE_NAMES.split())


@dataclass
class Region:
    """Code that was traced into a block of its own. `locals` are the names at its end, `dead`
    says that the end is not reached, `end` is where in the source it ends."""

    block: Block
    events: list[Event]
    locals: dict[str, Any]
    dead: bool
    value: Any
    end: ast.AST


def trace_region(self: Interpreter, body: Callable[[], Any]) -> Region:
    """Traces `body` into a new block. It returns a value, or `DEAD` if its end is not reached."""
    from .signals import Signal

    builder, frame = self.builder, self.frame
    memory = builder.memory
    events_before, memory.events = memory.events, []
    locals_before = frame.locals
    frame.locals = dict(locals_before)
    block = builder.new_block(())
    before = builder.enter(block)
    value = body()
    region = Region(block, memory.events, frame.locals, value is Signal.DEAD, value, frame.node)
    builder.leave(before)
    frame.locals = locals_before
    memory.events = events_before
    return region


def terminate(builder: Builder, name: str, block: Block, values: Sequence[Value]) -> Jump:
    """Ends a block with `yield`, `continue`, `break` or `return`."""
    before = builder.enter(block)
    op = builder.op(f"cuda_tile.{name}", (), values)
    builder.leave(before)
    return Jump(op)


def collect(
    builder: Builder, block: Block, plans: Sequence[Plan], values: Sequence[Any]
) -> list[Value]:
    """The SSA values that pass for `values` at the end of `block`."""
    before = builder.enter(block)
    found = [
        passed
        for plan, value in zip(plans, values, strict=True)
        for passed in plan.collect(builder, value)
    ]
    builder.leave(before)
    return found


def close_branch(
    self: Interpreter,
    condition: Tile,
    regions: tuple[Region, Region],
    plans: Sequence[Plan] = (),
    values: tuple[Sequence[Any], Sequence[Any]] = ((), ()),
) -> list[Any]:
    """Makes an `if` of two regions; `values` are what each of them passes out, by `plans`."""
    builder = self.builder
    for region, passed in zip(regions, values, strict=True):
        if not region.dead:
            leaves = collect(builder, region.block, plans, passed)
            region.events.append(terminate(builder, "yield", region.block, leaves))
    types = [type_ for plan in plans for type_ in plan.types]
    op = builder.op("cuda_tile.if", types, [condition.value], regions=2)
    for region, place in zip(regions, op.regions, strict=True):
        region.block.append_to(place)
    builder.memory.events.append(Nested(op, tuple(region.events for region in regions)))
    results = iter(op.results)
    return [plan.rebuild(results) for plan in plans]


def truth(self: Interpreter, node: ast.AST, value: Any) -> bool | Tile:
    """The truth of a value: Python's, or a scalar of booleans at run time."""
    if not isinstance(value, Tile):
        self.frame.node = node
        try:
            return bool(value)
        except (TypeError, ValueError) as error:
            raise TileTypeError(f"{describe(value)} is neither true nor false: {error}") from None
    if value.shape:
        self.frame.node = node
        raise TileTypeError(
            f"a condition must be a scalar, this is {describe(value)}",
            remedy="choose element by element with ct.where(condition, x, y) and combine "
            "conditions with & | ~, or reduce it to a scalar first",
        )
    if value.dtype is bool_:
        return value
    self.frame.node = node
    return cast(Tile, value != 0)


def negate(self: Interpreter, node: ast.AST, value: Any) -> Any:
    """`not value`."""
    known = truth(self, node, value)
    if isinstance(known, bool):
        return not known
    builder = self.builder
    true = constant(builder, True)
    return builder.tile("cuda_tile.xori", bool_, (), [known.value, true.value])


def condition(self: Interpreter, node: ast.expr) -> bool | Tile:
    """The truth of an expression. Of `and` and `or` in it nothing but their truth is asked, so
    their operands need not have one dtype."""
    if isinstance(node, ast.BoolOp):
        return truth(self, node, boolean(self, node, lambda part: condition(self, part)))
    return truth(self, node, self.evaluate(node))


def boolean(self: Interpreter, node: ast.BoolOp, evaluate: Callable[[ast.expr], Any]) -> Any:
    """`a and b and ...` or `a or b or ...`, whose operands are what `evaluate` gives."""
    combine = both if isinstance(node.op, ast.And) else either

    def value_from(index: int) -> Any:
        value = evaluate(node.values[index])
        if index + 1 == len(node.values):
            return value
        return combine(self, node, value, lambda: value_from(index + 1))

    return value_from(0)


def both(self: Interpreter, node: ast.AST, first: Any, rest: Callable[[], Any]) -> Any:
    """`first and rest()`; `rest` has effects only if `first` holds."""
    return _shortcut(self, node, first, rest, "and", stops_at=False)


def either(self: Interpreter, node: ast.AST, first: Any, rest: Callable[[], Any]) -> Any:
    """`first or rest()`; `rest` has effects only if `first` does not hold."""
    return _shortcut(self, node, first, rest, "or", stops_at=True)


def _shortcut(
    self: Interpreter,
    node: ast.AST,
    first: Any,
    rest: Callable[[], Any],
    word: str,
    *,
    stops_at: bool,
) -> Any:
    """`first` if its truth is `stops_at`, else `rest()`: one of the two operands, as in Python."""
    known = truth(self, node, first)
    if isinstance(known, bool):
        return first if known is stops_at else rest()
    builder = self.builder
    region = trace_region(self, lambda: _scalar(self, node, rest()))
    second = region.value
    if first.dtype is bool_ and _is_boolean(second) and _may_run_for_nothing(region):
        for op in list(region.block.operations):
            builder.block.append(op.operation)
        if isinstance(second, bool):
            return second if second is stops_at else first
        return builder.tile(f"cuda_tile.{word}i", bool_, (), [first.value, second.value])
    skipped = trace_region(self, lambda: first)
    regions = (skipped, region) if stops_at else (region, skipped)
    values = regions[0].value, regions[1].value
    try:
        plan = plan_for_paths(builder, values, inner=True)
    except Mismatch as error:
        raise TileTypeError(
            f"'{word}' gives one of its operands, these are {error}, and which one is known only "
            "at run time",
            remedy="give both the same dtype, with x.astype(...); or compare, x != 0, where only "
            "the truth matters",
        ) from None
    return close_branch(self, known, regions, [plan], ([values[0]], [values[1]]))[0]


def _scalar(self: Interpreter, node: ast.AST, value: Any) -> Any:
    """An operand of `and` or `or`: no tile that has several elements is one."""
    if isinstance(value, Tile) and value.shape:
        truth(self, node, value)
    return value


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, Tile) and value.dtype is bool_)


def _may_run_for_nothing(region: Region) -> bool:
    operations = region.block.operations
    return not region.events and all(op.operation.name in _SPECULATABLE for op in operations)


def choose(
    self: Interpreter,
    node: ast.AST,
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
) -> Any:
    """`then() if condition else otherwise()`."""
    known = truth(self, node, condition)
    if isinstance(known, bool):
        return then() if known else otherwise()
    regions = (trace_region(self, then), trace_region(self, otherwise))
    self.frame.node = node
    values = regions[0].value, regions[1].value
    try:
        plan = plan_for_paths(self.builder, values)
    except Mismatch as error:
        raise TileTypeError(
            f"the branches give {error}, and the condition is known only at run time",
            remedy="give both the same dtype and shape, with x.astype(...) or ct.full(...)",
        ) from None
    return close_branch(self, known, regions, [plan], ([values[0]], [values[1]]))[0]


def if_statement(self: Interpreter, node: ast.If) -> Any:
    from .jumps import leave
    from .signals import Signal

    test = condition(self, node.test)
    if isinstance(test, bool):
        return self.block(node.body if test else node.orelse)
    frame = self.frame
    then = trace_region(self, lambda: leave(self, self.block(node.body)))
    if then.dead:
        # What follows is the other branch: nothing needs to pass.
        frame.node = node
        close_branch(self, test, (then, trace_region(self, lambda: None)))
        return self.block(node.orelse)
    other = trace_region(self, lambda: leave(self, self.block(node.orelse)))
    frame.node = node
    paths = [region for region in (then, other) if not region.dead]
    join(self, node, test, (then, other), paths)
    return None if paths else Signal.DEAD


def join(
    self: Interpreter,
    node: ast.If,
    condition: Tile,
    regions: tuple[Region, Region],
    paths: Sequence[Region],
) -> None:
    """Ends a branch and gives the names that it may have changed their values behind it."""
    facts = self.frame.source.facts.statements[node]
    names, plans = [], []
    after = self.frame.locals
    for name in facts.assigned:
        values = [path.locals.get(name, _MISSING) for path in paths]
        after.pop(name, None)
        if name not in facts.results or all(value is _MISSING for value in values):
            continue
        plan = plan_for_name(self, name, values, inner=len(paths) == 1)
        if isinstance(plan, Undefined):
            after[name] = plan
        else:
            names.append(name)
            plans.append(plan)
    passed = [[region.locals.get(name) for name in names] for region in regions]
    results = close_branch(self, condition, regions, plans, (passed[0], passed[1]))
    after.update(zip(names, results, strict=True))


def plan_for_name(
    self: Interpreter, name: str, values: Sequence[Any], *, inner: bool = False
) -> Plan | Undefined:
    """The plan for a name behind several paths, or why it has no value there."""
    for value in values:
        if value is _MISSING:
            return Undefined(
                f"'{name}' has a value only on some paths to here",
                "give it a value before the branch or loop, of the same dtype and shape",
            )
        if isinstance(value, Undefined):
            return value
    try:
        return plan_for_paths(self.builder, values, inner=inner)
    except Mismatch as error:
        return Undefined(
            f"'{name}' is {error} on different paths to here",
            "give it the same dtype and shape on each path, with x.astype(...) or ct.full(...)",
        )
