"""Frames: one for each call of a function while a kernel is traced."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from tileir.ir import Context, Location

from .errors import SourceRange
from .source import FunctionSource


@dataclass(frozen=True, slots=True)
class Undefined:
    """What a name stands for that has no value, or not the same kind of value, on all paths."""

    reason: str
    remedy: str | None = None


class Frame:
    """The names of a function that is being traced, and where in it we are.

    `node` is the expression that is being evaluated; `caller` the frame that called, `outer` the
    one that the function is nested in, `globals` and `closure` what it sees beside its locals.
    """

    __slots__ = (
        "_located",
        "_location",
        "call_location",
        "caller",
        "closure",
        "context",
        "contexts",
        "globals",
        "locals",
        "loops",
        "node",
        "outer",
        "return_value",
        "returns",
        "source",
    )

    def __init__(
        self,
        source: FunctionSource,
        context: Context,
        global_names: Mapping[str, Any],
        closure: Mapping[str, Any],
        caller: Frame | None,
        outer: Frame | None,
    ):
        self.source = source
        self.context = context
        self.globals = global_names
        self.closure = closure
        self.caller = caller
        self.outer = outer
        self.locals: dict[str, Any] = {}
        self.node: ast.AST = source.node
        #: Loops around the current statement, innermost last.
        self.loops: list[Any] = []
        #: Context managers around the current statement, innermost last.
        self.contexts: list[Any] = []
        self.return_value: Any = None
        #: Collects returns that happen on some paths only.
        self.returns: Any = None
        self.call_location = caller.location() if caller is not None else None
        self._located: ast.AST | None = None
        self._location: Location | None = None

    def location(self) -> Location:
        """Of `node`; in a function that was called, also of the call."""
        node = self.node
        if node is not self._located or self._location is None:
            line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
            here = Location.file(self.source.file, line, column, self.context)
            if self.call_location is not None:
                here = Location.callsite(here, [self.call_location])
            self._located, self._location = node, here
        return self._location

    def place(self) -> SourceRange:
        """Where in the source it is."""
        return self.source.place(self.node)

    def calls(self) -> tuple[SourceRange, ...]:
        """The calls that led here, from the kernel inwards."""
        frame, found = self.caller, []
        while frame is not None:
            found.append(frame.place())
            frame = frame.caller
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class Closure:
    """A function defined in a kernel: its names are looked up when it is called."""

    source: FunctionSource
    frame: Frame
    defaults: tuple[Any, ...] = ()
    keyword_defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        return self.source.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Traces the function; for functions of the language that take functions."""
        from .interpreter import current_interpreter

        return current_interpreter().call(self, args, kwargs)


Callee = FunctionType | Closure
