"""Bodies of functions: where a `return` depends on what is known only at run time."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tileir.ir import Value

from .aggregates import Mismatch, plan_for_paths
from .analysis import always_exits
from .branches import close_branch, collect, condition, terminate, trace_region
from .jumps import LoopScope, different_returns, jump, plan_returns
from .memory_order import Nested
from .signals import Signal

if TYPE_CHECKING:
    from .interpreter import Interpreter


def body_of_function(self: Interpreter) -> Any:
    """Executes the body of the current frame's function; the result is what it returns."""
    frame = self.frame
    if not frame.source.facts.structured:
        return _in_a_loop(self)
    frame.return_value = None
    return frame.return_value if structured_block(self, frame.source.body) else None


def structured_block(self: Interpreter, body: list[ast.stmt]) -> Signal | None:
    """Executes statements; what follows an `if` that may return goes into its branches."""
    may_return = self.frame.source.facts.may_return
    for index, statement in enumerate(body):
        if isinstance(statement, ast.If) and statement in may_return:
            return _structured_if(self, statement, body[index + 1 :])
        signal = self.execute(statement)
        if signal is not None:
            return signal
    return None


def _structured_if(self: Interpreter, node: ast.If, rest: list[ast.stmt]) -> Signal | None:
    self.frame.node = node
    test = condition(self, node.test)
    bodies = [
        branch if always_exits(branch) else [*branch, *rest] for branch in (node.body, node.orelse)
    ]
    if isinstance(test, bool):
        return structured_block(self, bodies[0 if test else 1])

    def value_of(body: list[ast.stmt]) -> Any:
        self.frame.return_value = None
        signal = structured_block(self, body)
        if signal is Signal.DEAD:
            return signal
        return self.frame.return_value if signal else None

    regions = (
        trace_region(self, lambda: value_of(bodies[0])),
        trace_region(self, lambda: value_of(bodies[1])),
    )
    self.frame.node = node
    alive = [region.value for region in regions if not region.dead]
    if not alive:
        close_branch(self, test, regions)
        return Signal.DEAD
    try:
        plan = plan_for_paths(self.builder, alive, inner=len(alive) == 1)
    except Mismatch as mismatch:
        self.frame.node = regions[1].end
        raise different_returns(self, mismatch) from None
    values = ([regions[0].value], [regions[1].value])
    self.frame.return_value = close_branch(self, test, regions, [plan], values)[0]
    return Signal.RETURN


def _in_a_loop(self: Interpreter) -> Any:
    """Puts the body into a loop of one round, which each `return` leaves by `break`.

    If no `return` depends on a run-time value, no loop is needed.
    """
    builder, frame = self.builder, self.frame
    scope = frame.returns = LoopScope()

    def body() -> Any:
        frame.return_value = None
        signal = self.block(frame.source.body)
        if signal is None:
            frame.return_value = None
        if signal is not Signal.DEAD:
            jump(self, Signal.RETURN)
        return Signal.DEAD

    region = trace_region(self, body)
    departures = scope.departures
    if len(departures) == 1 and departures[0].block == region.block:
        for operation in list(region.block.operations):
            builder.block.append(operation.operation)
        builder.memory.events += region.events[:-1]
        return departures[0].value
    if not departures:
        plan, values = None, []
    else:
        plan = plan_returns(self, [each.value for each in departures])
        values = [collect(builder, each.block, [plan], [each.value]) for each in departures]
    for departure, passed in zip(departures, values, strict=True):
        frame.node = departure.node
        departure.event.op = terminate(builder, "break", departure.block, passed).op
    frame.node = frame.source.node
    operands: list[Value] = []
    op = builder.op("cuda_tile.loop", plan.types if plan else (), operands, regions=1)
    region.block.append_to(op.regions[0])
    builder.memory.events.append(Nested(op, (region.events,)))
    return plan.rebuild(iter(op.results)) if plan else None
