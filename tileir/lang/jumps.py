"""Jumps: `break`, `continue` and `return` on their way to the loop or function that they leave.

They are noted where they stand, and put into the IR when it is known what passes along them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileir.ir import Block, Value

from .aggregates import Leaf, Mismatch, Plan, plan_for_paths
from .branches import terminate
from .constants import constant
from .contexts import exit_contexts
from .errors import TileSyntaxError, TileTypeError
from .memory_order import Jump
from .signals import Signal

if TYPE_CHECKING:
    from .interpreter import Interpreter


@dataclass
class Departure:
    """A jump that is not in the IR yet: where it stands and what the names are there."""

    signal: Signal
    block: Block
    event: Jump
    node: ast.AST
    locals: dict[str, Any]
    value: Any = None


@dataclass
class LoopScope:
    """A loop of the IR whose body is being traced."""

    departures: list[Departure] = field(default_factory=list)
    #: Whether the kernel ends within the loop, which a `for` cannot contain.
    returns: bool = False
    #: How many context managers are open around it.
    num_contexts: int = 0


class StaticScope:
    """A loop that is being unrolled."""


def leave(self: Interpreter, signal: Signal | None) -> Signal | None:
    """At the end of a region: notes the jump that `signal` asks for; nothing follows it."""
    if signal in (Signal.BREAK, Signal.CONTINUE, Signal.RETURN):
        jump(self, signal)
        return Signal.DEAD
    return signal


def jump(self: Interpreter, signal: Signal) -> None:
    """Leaves the current block for the loop or function around."""
    frame = self.frame
    scope = frame.loops[-1] if frame.loops else None
    if signal is not Signal.RETURN and isinstance(scope, StaticScope):
        raise TileSyntaxError(
            f"'{signal.value}' of an unrolled loop depends on a condition known only at run time",
            remedy="loop over range(...), or put the rest of the body under `if`",
        )
    if signal is Signal.RETURN:
        scope = next((each for each in reversed(frame.loops) if isinstance(each, LoopScope)), None)
    ends_kernel = signal is Signal.RETURN and frame.caller is None
    loop = scope if isinstance(scope, LoopScope) and not ends_kernel else None
    exit_contexts(self, loop.num_contexts if loop is not None else 0)
    if ends_kernel:
        for each in frame.loops:
            if isinstance(each, LoopScope):
                each.returns = True
        self.builder.memory.events.append(terminate(self.builder, "return", self.builder.block, ()))
        return
    target = scope if isinstance(scope, LoopScope) else frame.returns
    event = Jump(None)
    self.builder.memory.events.append(event)
    target.departures.append(
        Departure(
            signal,
            self.builder.block,
            event,
            frame.node,
            dict(frame.locals),
            frame.return_value if signal is Signal.RETURN else None,
        )
    )


def plan_returns(self: Interpreter, values: list[Any]) -> Plan:
    """How the values of several `return`s become one."""
    try:
        return plan_for_paths(self.builder, values, inner=True)
    except Mismatch as mismatch:
        raise different_returns(self, mismatch) from None


def different_returns(self: Interpreter, mismatch: Mismatch) -> TileTypeError:
    """The error for a function whose returns cannot be one value."""
    remedy = "return the same dtype and shape everywhere, with x.astype(...)"
    if None in (mismatch.first, mismatch.second):
        remedy = "return a value on each path, also at the end of the function"
    return TileTypeError(
        f"{self.frame.source.name}() returns {mismatch} on different paths", remedy=remedy
    )


def placeholders(self: Interpreter, plan: Plan) -> list[Value]:
    """Values that pass where nobody will read them."""
    if isinstance(plan, Leaf):
        return [constant(self.builder, 0, plan.dtype, plan.shape).value]
    plans = getattr(plan, "plans", None)
    if plans is not None:
        return [value for inner in plans for value in placeholders(self, inner)]
    if plan.types:
        raise TileTypeError(
            "an array that changes in a loop cannot be returned from within the loop",
            remedy="leave the loop with `break` and return after it",
        )
    return []
