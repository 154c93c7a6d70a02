"""Loops: `range` and `while` become loops of the IR, everything else is unrolled.

A loop's body is traced into a block of its own.  Jumps out of it are noted and become operations
when it is known what passes along them: a `for` without `break` and `return` stays a `for`; one
with them becomes a `loop`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tileir.dialects.cuda_tile import ComparisonPredicate, IntegerOverflow, Signedness
from tileir.ir import Block, InsertionPoint, Operation, Value

from . import static
from .aggregates import Leaf, Mismatch, Plan, Promoted, TileKind, plan_for_loop
from .analysis import Facts, walk_scope
from .branches import (
    close_branch,
    condition,
    plan_for_name,
    terminate,
    trace_region,
)
from .dtypes import bool_
from .errors import TileSyntaxError, TileTypeError
from .frames import Undefined
from .jumps import (
    Departure,
    LoopScope,
    StaticScope,
    jump,
    leave,
    placeholders,
    plan_returns,
)
from .memory_order import Event, Nested
from .ranges import Range, ResolvedRange
from .signals import Signal
from .values import Tile

if TYPE_CHECKING:
    from .interpreter import Interpreter

_MISSING = Undefined("the name has no value")


# Statements.


def for_statement(self: Interpreter, node: ast.For) -> Signal | None:
    if node.orelse:
        self.frame.node = node.orelse[0]
        raise TileSyntaxError(
            "a loop cannot have 'else' in a kernel", remedy="set a flag in the loop and test it"
        )
    iterable = self.evaluate(node.iter)
    if not isinstance(iterable, Range):
        return _unrolled(self, node, static.iterate(self, node.iter, iterable))
    self.frame.node = node.iter
    bounds = iterable.resolve(self.builder)
    return _with_retries(self, lambda promoted: _ForLoop(self, node, bounds, promoted).trace())


def while_statement(self: Interpreter, node: ast.While) -> Signal | None:
    if node.orelse:
        self.frame.node = node.orelse[0]
        raise TileSyntaxError(
            "a loop cannot have 'else' in a kernel", remedy="set a flag in the loop and test it"
        )
    return _with_retries(self, lambda promoted: _WhileLoop(self, node, promoted).trace())


def _unrolled(self: Interpreter, node: ast.For, values: Any) -> Signal | None:
    from .control_flow import assign

    frame = self.frame
    frame.loops.append(StaticScope())
    signal = None
    for value in values:
        assign(self, node.target, value)
        signal = self.block(node.body)
        if signal not in (None, Signal.CONTINUE):
            break
    frame.loops.pop()
    return signal if signal in (Signal.RETURN, Signal.DEAD) else None


class _Retry(Exception):
    """The body changes a part of an aggregate that was taken for a constant."""

    def __init__(self, name: str, mismatch: Mismatch):
        self.name = name
        self.mismatch = mismatch


def _with_retries(self: Interpreter, trace: Any) -> Signal | None:
    """Traces a loop; again if it has to know what of its aggregates changes."""
    promoted: dict[str, Promoted] = {}
    events = len(self.builder.memory.events)
    while True:
        try:
            return trace(promoted)
        except _Retry as retry:
            del self.builder.memory.events[events:]
            mismatch = retry.mismatch
            widened = mismatch.second if isinstance(mismatch.second, frozenset) else True
            known = promoted.setdefault(retry.name, {}).get(mismatch.path, frozenset())
            if isinstance(widened, frozenset):
                widened |= known
            promoted[retry.name][mismatch.path] = widened


class _Loop:
    """What `for` and `while` share. `plans` say how the names in `carried` go round."""

    def __init__(
        self, interpreter: Interpreter, node: ast.For | ast.While, promoted: dict[str, Promoted]
    ):
        self.interpreter = interpreter
        self.builder = interpreter.builder
        self.frame = interpreter.frame
        self.node = node
        self.facts: Facts = self.frame.source.facts.statements[node]
        self.scope = LoopScope(num_contexts=len(self.frame.contexts))
        self.plans: dict[str, Plan] = {}
        self.initial: list[Value] = []
        self.results: dict[str, Any] = {}
        #: The names in `plans` as a round begins.
        self.at_top: dict[str, Any] = {}
        #: Of a `loop`: how names, a returned value, and whether there is one pass out of it.
        self.exit_plans: dict[str, Plan] = {}
        self.return_plan: Plan | None = None
        self.flag: Leaf | None = None
        for name in self.facts.carried:
            value = self.frame.locals.get(name, _MISSING)
            if not isinstance(value, Undefined):
                plan = plan_for_loop(self.builder, value, promoted.get(name, {}))
                self.plans[name] = plan
                self.initial += plan.collect(self.builder, value)

    def carried_types(self) -> list[Any]:
        return [type_ for plan in self.plans.values() for type_ in plan.types]

    def body_region(self, block: Block, arguments: list[Value], body: Any) -> list[Event]:
        """Traces the body into `block`; the result is what happens to memory in it."""
        builder, frame = self.builder, self.frame
        outer_locals, outer_events = frame.locals, builder.memory.events
        names = {name: v for name, v in outer_locals.items() if name not in self.facts.assigned}
        for name in self.facts.carried:
            if name not in self.plans:
                names[name] = Undefined(
                    f"'{name}' has no value in the first round of the loop",
                    "give it a value before the loop, of the same dtype and shape",
                )
        events = builder.memory.events = []
        before = builder.enter(block)
        values = iter(arguments)
        self.at_top = {name: plan.rebuild(values) for name, plan in self.plans.items()}
        frame.locals = names | self.at_top
        frame.loops.append(self.scope)
        signal = body()
        leave(self.interpreter, Signal.CONTINUE if signal is None else signal)
        frame.loops.pop()
        builder.leave(before)
        frame.locals, builder.memory.events = outer_locals, outer_events
        return events

    def depart(self, departure: Departure, name: str, values: list[Value]) -> None:
        """Puts a jump into the IR."""
        self.frame.node = departure.node
        departure.event.op = terminate(self.builder, name, departure.block, values).op

    def next_round(self, departure: Departure) -> list[Value]:
        """What a `continue` passes on."""
        builder = self.builder
        before = builder.enter(departure.block)
        passed: list[Value] = []
        for name, plan in self.plans.items():
            value = departure.locals.get(name, _MISSING)
            if isinstance(value, Undefined):
                self._point_at(name)
                raise TileTypeError(value.reason, remedy=value.remedy)
            try:
                passed += plan.collect(builder, value)
            except Mismatch as mismatch:
                if mismatch.can_change and mismatch.path:
                    builder.leave(before)
                    raise _Retry(name, mismatch) from None
                self._point_at(name)
                raise self._changes(name, mismatch) from None
        builder.leave(before)
        return passed

    def _changes(self, name: str, mismatch: Mismatch) -> TileTypeError:
        before, after = mismatch.first, mismatch.second
        initial = self.frame.locals.get(name)
        name += mismatch.part
        remedy = f"give '{name}' the same dtype and shape before the loop and in it"
        if isinstance(before, TileKind) and isinstance(after, TileKind):
            if type(initial) is int and after.dtype.is_float and not after.shape:
                remedy = f"begin with {name} = {float(initial)}"
            elif before.shape == after.shape:
                remedy = (
                    f"write {name}.astype(ct.{before.dtype}) at the end of the loop, "
                    f"or give '{name}' the dtype {after.dtype} before it"
                )
            elif before.dtype is after.dtype or not before.shape:
                remedy = f"begin with ct.full({after.shape}, ..., ct.{after.dtype})"
        return TileTypeError(
            f"'{name}' is {mismatch.name(before)} before the loop and "
            f"{mismatch.name(after)} after a round",
            remedy=remedy,
        )

    def _point_at(self, name: str) -> None:
        """Makes the last assignment of a name in the loop the place of the error."""
        found: ast.AST = self.node
        for node in walk_scope([self.node]):
            if (
                isinstance(node, ast.Name)
                and node.id == name
                and not isinstance(node.ctx, ast.Load)
            ):
                found = node
        self.frame.node = found

    def exits(self) -> list[Departure]:
        return [each for each in self.scope.departures if each.signal is not Signal.CONTINUE]

    def close_loop(
        self, block: Block, events: list[Event], initial: list[Value], more: list[dict[str, Any]]
    ) -> Operation:
        """Makes a `loop`. `more` are the names at exits that are no departures.

        After it `results` holds the names behind the loop; the values of `more` are collected by
        the caller through `exit_values`.
        """
        paths = [each.locals for each in self.exits() if each.signal is Signal.BREAK] + more
        for name in self.facts.results:
            values = [path.get(name, _MISSING) for path in paths]
            if not values or all(value is _MISSING for value in values):
                continue
            plan = plan_for_name(self.interpreter, name, values, inner=True)
            if isinstance(plan, Undefined):
                self.results[name] = plan
            else:
                self.exit_plans[name] = plan
        self._plan_returns(bool(paths))
        for departure in self.exits():
            self.depart(departure, "break", self.exit_values(departure.block, departure))
        self.frame.node = self.node
        types = [type_ for plan in self.all_exit_plans() for type_ in plan.types]
        op = self.builder.op("cuda_tile.loop", types, initial, regions=1)
        block.append_to(op.regions[0])
        self.builder.memory.events.append(Nested(op, (events,)))
        return op

    def _plan_returns(self, also_breaks: bool) -> None:
        """How the value of a `return` within the loop passes out of it, and that there was one."""
        returning = [each for each in self.exits() if each.signal is Signal.RETURN]
        if not returning:
            return
        self.frame.node = returning[-1].node
        self.return_plan = plan_returns(self.interpreter, [each.value for each in returning])
        if also_breaks:
            self.flag = Leaf(self.builder, bool_, ())

    def all_exit_plans(self) -> list[Plan]:
        plans = list(self.exit_plans.values())
        if self.flag is not None:
            plans.append(self.flag)
        if self.return_plan is not None:
            plans.append(self.return_plan)
        return plans

    def exit_values(self, block: Block, departure: Departure | dict[str, Any]) -> list[Value]:
        """What an exit passes out: the names that are read later, and a returned value."""
        builder = self.builder
        returns = isinstance(departure, Departure) and departure.signal is Signal.RETURN
        names = departure.locals if isinstance(departure, Departure) else departure
        before = builder.enter(block)
        passed: list[Value] = []
        for name, plan in self.exit_plans.items():
            if returns:
                passed += placeholders(self.interpreter, plan)
            else:
                passed += plan.collect(builder, names[name])
        if self.flag is not None:
            passed += self.flag.collect(builder, returns)
        if self.return_plan is not None:
            if returns:
                assert isinstance(departure, Departure)
                passed += self.return_plan.collect(builder, departure.value)
            else:
                passed += placeholders(self.interpreter, self.return_plan)
        builder.leave(before)
        return passed

    def after_loop(self, op: Operation) -> Signal | None:
        """Gives the names their values behind a `loop` and passes a `return` on."""
        results = iter(op.results)
        for name, plan in self.exit_plans.items():
            self.results[name] = plan.rebuild(results)
        self.set_names()
        flag = self.flag.rebuild(results) if self.flag is not None else None
        if self.return_plan is None:
            falls_through = any(each.signal is Signal.BREAK for each in self.exits())
            return None if falls_through or isinstance(self, _ForLoop) else Signal.DEAD
        value = self.return_plan.rebuild(results)
        if flag is None:
            self.frame.return_value = value
            return Signal.RETURN

        def give_back() -> Signal:
            self.frame.return_value = value
            jump(self.interpreter, Signal.RETURN)
            return Signal.DEAD

        returning = trace_region(self.interpreter, give_back)
        close_branch(
            self.interpreter, flag, (returning, trace_region(self.interpreter, lambda: None))
        )
        return None

    def set_names(self) -> None:
        """The names that the loop may have changed, as they are behind it."""
        names = self.frame.locals
        for name in self.facts.assigned:
            names.pop(name, None)
            if name in self.results:
                names[name] = self.results[name]
            elif name in self.facts.results:
                names[name] = Undefined(
                    f"'{name}' has a value only if the loop ran at least once",
                    "give it a value before the loop, of the same dtype and shape",
                )


class _ForLoop(_Loop):
    """`for i in range(...)`."""

    def __init__(
        self,
        interpreter: Interpreter,
        node: ast.For,
        range_: ResolvedRange,
        promoted: dict[str, Promoted],
    ):
        super().__init__(interpreter, node, promoted)
        self.range = range_

    def trace(self) -> Signal | None:
        from .control_flow import assign

        builder, range_ = self.builder, self.range
        assert isinstance(self.node, ast.For)
        target, statements = self.node.target, self.node.body
        index_type = builder.types.tile((), range_.dtype)
        block = builder.new_block([index_type, *self.carried_types()])
        index, *arguments = list[Value](block.arguments)

        def body() -> Signal | None:
            assign(self.interpreter, target, Tile(index, range_.dtype, ()))
            return self.interpreter.block(statements)

        events = self.body_region(block, arguments, body)
        if self.exits() or self.scope.returns:
            return self._as_loop(block, events, index)
        for departure in self.scope.departures:
            self.depart(departure, "continue", self.next_round(departure))
        self.frame.node = self.node
        operands = [range_.start.value, range_.stop.value, range_.step.value, *self.initial]
        op = builder.op("cuda_tile.for", self.carried_types(), operands, regions=1)
        block.append_to(op.regions[0])
        builder.memory.events.append(Nested(op, (events,)))
        results = iter(op.results)
        self.results = {name: plan.rebuild(results) for name, plan in self.plans.items()}
        self.set_names()
        return None

    def _as_loop(self, block: Block, events: list[Event], index: Value) -> Signal | None:
        """The same as a `loop` that counts itself: `for` cannot be left early."""
        builder, range_ = self.builder, self.range
        for departure in self.scope.departures:
            if departure.signal is Signal.CONTINUE:
                passed = self.next_round(departure)
                before = builder.enter(departure.block)
                overflow = {"overflow": builder.types.enum(IntegerOverflow.NoSignedWrap)}
                following = builder.value(
                    "cuda_tile.addi", index.type, [index, range_.step.value], overflow
                )
                builder.leave(before)
                self.depart(departure, "continue", [following, *passed])
        op = self.close_loop(block, events, [range_.start.value, *self.initial], [self.at_top])
        self._test_first(block, events, index)
        return self.after_loop(op)

    def _test_first(self, block: Block, events: list[Event], index: Value) -> None:
        """Puts `if not index < stop: break` before the body."""
        builder = self.builder
        types = builder.types
        before = builder.enter_at(InsertionPoint.at_block_begin(block))
        inside = builder.value(
            "cuda_tile.cmpi",
            types.tile((), bool_),
            [index, self.range.stop.value],
            {
                "comparison_predicate": types.enum(ComparisonPredicate.LessThan),
                "signedness": types.enum(
                    Signedness.Signed if self.range.dtype.signed else Signedness.Unsigned
                ),
            },
        )
        op = builder.op("cuda_tile.if", (), [inside], regions=2)
        builder.leave(before)
        go_on, stop = builder.new_block(()), builder.new_block(())
        first = terminate(builder, "yield", go_on, ())
        last = terminate(builder, "break", stop, self.exit_values(stop, self.at_top))
        go_on.append_to(op.regions[0])
        stop.append_to(op.regions[1])
        events.insert(0, Nested(op, ([first], [last])))


class _WhileLoop(_Loop):
    """`while condition`."""

    def trace(self) -> Signal | None:
        builder = self.builder
        node = self.node
        assert isinstance(node, ast.While)
        block = builder.new_block(self.carried_types())
        events = self.body_region(block, list(block.arguments), self._body)
        for departure in self.scope.departures:
            if departure.signal is Signal.CONTINUE:
                self.depart(departure, "continue", self.next_round(departure))
        op = self.close_loop(block, events, self.initial, [])
        return self.after_loop(op)

    def _body(self) -> Signal | None:
        interpreter, node = self.interpreter, self.node
        assert isinstance(node, ast.While)
        test = condition(interpreter, node.test)
        if test is False:
            return Signal.BREAK
        if isinstance(test, Tile):
            go_on = trace_region(interpreter, lambda: None)
            stop = trace_region(interpreter, lambda: leave(interpreter, Signal.BREAK))
            close_branch(interpreter, test, (go_on, stop))
        return interpreter.block(node.body)
