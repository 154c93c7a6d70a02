"""Python's functions on tuples, for tuples of run-time values."""

from __future__ import annotations

import ast
from typing import Any

from . import branches
from .calls import replaces
from .interpreter import current_interpreter
from .operators import apply_binary
from .static import iterate


@replaces(sum)
def sum_of(values: Any, /, start: Any = 0) -> Any:
    """The sum of the items of a tuple; `ct.sum` adds the elements of a tile."""
    interpreter = current_interpreter()
    node = interpreter.frame.node
    for value in iterate(interpreter, node, values):
        start = apply_binary(interpreter, node, ast.Add, start, value)
    return start


@replaces(any)
def any_of(values: Any, /) -> Any:
    """Whether any item of a tuple is true."""
    interpreter = current_interpreter()
    node = interpreter.frame.node
    found: Any = False
    for value in iterate(interpreter, node, values):
        found = branches.either(interpreter, node, found, lambda value=value: value)
    return found


@replaces(all)
def all_of(values: Any, /) -> Any:
    """Whether all items of a tuple are true."""
    interpreter = current_interpreter()
    node = interpreter.frame.node
    found: Any = True
    for value in iterate(interpreter, node, values):
        found = branches.both(interpreter, node, found, lambda value=value: value)
    return found
