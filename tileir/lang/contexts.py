"""Context managers: functions under `@contextlib.contextmanager` that yield once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import calls
from .errors import TileSyntaxError, TileTypeError
from .frames import Frame
from .signals import Signal
from .values import describe

if TYPE_CHECKING:
    from .interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class _OpenContext:
    """A context manager that was entered: the rest of its function runs when it is left."""

    frame: Frame
    rest: list[ast.stmt]


def with_statement(self: Interpreter, node: ast.With) -> Signal | None:
    from .control_flow import assign
    from .returns import structured_block

    frame = self.frame
    for item in node.items:
        manager = self.evaluate(item.context_expr)
        frame.node = item.context_expr
        if not isinstance(manager, calls.GeneratorContext):
            raise TileTypeError(
                f"{describe(manager)} cannot be used in `with`",
                remedy="use a function under @contextlib.contextmanager",
            )
        value, context = _enter_context(self, manager)
        frame.contexts.append(context)
        if item.optional_vars is not None:
            assign(self, item.optional_vars, value)
    if frame.caller is not None and frame.source.facts.structured:
        signal = structured_block(self, node.body)
    else:
        signal = self.block(node.body)
    for _ in node.items:
        context = frame.contexts.pop()
        if signal is not Signal.DEAD:
            _leave_context(self, context)
    return signal


def _enter_context(self: Interpreter, manager: calls.GeneratorContext) -> tuple[Any, _OpenContext]:
    function: FunctionType = manager.function
    frame = calls.frame_of(self.frame, function)
    calls.bind(
        frame,
        function.__defaults__ or (),
        function.__kwdefaults__ or {},
        manager.args,
        manager.kwargs,
    )
    body = frame.source.body
    first, yielding, rest = _around_yield(body)
    if yielding is None:
        raise TileSyntaxError(
            f"{frame.source.name} must yield exactly once, as a statement of its own",
            remedy="put `yield` at the level of the function's body, not under `if` or a loop",
        )
    before = self.enter(frame)
    self.block(first)
    value = None if yielding.value is None else self.evaluate(yielding.value)
    self.leave(before)
    return value, _OpenContext(frame, rest)


def _around_yield(
    body: list[ast.stmt],
) -> tuple[list[ast.stmt], ast.Yield | None, list[ast.stmt]]:
    """What stands before the `yield`, the `yield`, and what runs after it."""
    for index, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
            return body[:index], statement.value, body[index + 1 :]
        if isinstance(statement, ast.Try) and not statement.handlers:
            first, yielding, rest = _around_yield(statement.body)
            after = [*rest, *statement.finalbody, *body[index + 1 :]]
            return [*body[:index], *first], yielding, after
    return body, None, []


def _leave_context(self: Interpreter, context: _OpenContext) -> None:
    """Runs the rest of a context manager; several paths may leave it, each for itself."""
    frame = context.frame
    names = frame.locals
    frame.locals = dict(names)
    before = self.enter(frame)
    self.block(context.rest)
    self.leave(before)
    frame.locals = names


def exit_contexts(self: Interpreter, depth: int) -> None:
    """Leaves the context managers of the current function that a jump leaves."""
    for context in reversed(self.frame.contexts[depth:]):
        _leave_context(self, context)
