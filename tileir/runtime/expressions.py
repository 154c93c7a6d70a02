"""Integer expressions over a launch: entry parameters, the program's grid, the device.

Metadata says with them how large a grid is or where a tensor map points, so that a launcher can
work it out without the compiler.  An expression is an integer, a name, or `[operator, a, b]`:

    ["ceildiv", "param:3", 128]        the fourth entry parameter in tiles of 128
    ["min", "multiprocessors", ["mul", "grid:0", "grid:1"]]

Names: `param:N` (an integer entry parameter), `grid:0..2` (the program's grid),
`multiprocessors` (of the device).  Operators: add, sub, mul, floordiv, ceildiv, min, max.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LaunchError

Expression = int | str | list[Any]

_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
}
_DEEPEST = 32
#: Operations of `instructions`, numbered as in native/expression.h.
_OPERATIONS = (
    "constant", "param", "grid", "multiprocessors",
    "add", "sub", "mul", "floordiv", "ceildiv", "min", "max",
)  # fmt: skip


@dataclass(frozen=True)
class Environment:
    """What the names of an expression stand for in one launch."""

    parameters: Sequence[Any]
    grid: tuple[int, int, int]
    multiprocessors: int


def check(expression: Any, parameter_count: int, depth: int = 0) -> Expression:
    """Returns `expression` if it is well formed, so that `evaluate` cannot meet unknown names."""
    if depth > _DEEPEST:
        raise LaunchError("metadata: an expression is nested too deeply")
    if isinstance(expression, int) and not isinstance(expression, bool):
        return expression
    if isinstance(expression, str):
        kind, _, number = expression.partition(":")
        limit = {"param": parameter_count, "grid": 3}.get(kind, 0)
        if expression == "multiprocessors" or (number.isdecimal() and int(number) < limit):
            return expression
    elif isinstance(expression, list) and len(expression) == 3 and expression[0] in _OPERATORS:
        for operand in expression[1:]:
            check(operand, parameter_count, depth + 1)
        return expression
    raise LaunchError(f"metadata: '{expression}' is not an expression")


def evaluate(expression: Expression, environment: Environment) -> int:
    """The value of a checked expression; `LaunchError` for division by zero."""
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        kind, _, number = expression.partition(":")
        if kind == "multiprocessors":
            return environment.multiprocessors
        return int((environment.parameters if kind == "param" else environment.grid)[int(number)])
    operator, left, right = expression
    try:
        return _OPERATORS[operator](evaluate(left, environment), evaluate(right, environment))
    except ZeroDivisionError:
        raise LaunchError(f"division by zero in the launch recipe {expression}") from None


def instructions(expression: Expression) -> list[tuple[int, int]]:
    """A checked expression for the native launcher: pairs of operation and number that leave the
    value on a stack."""
    if isinstance(expression, int):
        return [(_OPERATIONS.index("constant"), expression)]
    if isinstance(expression, str):
        kind, _, number = expression.partition(":")
        return [(_OPERATIONS.index(kind), int(number or 0))]
    operator, left, right = expression
    return [*instructions(left), *instructions(right), (_OPERATIONS.index(operator), 0)]
