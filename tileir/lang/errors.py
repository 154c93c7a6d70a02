"""Errors about the source of a kernel: the place, the line with a caret, what to write instead."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from types import FunctionType

from ..errors import TileError


@dataclass(frozen=True, slots=True)
class SourceRange:
    """Where an expression stands: line and columns count from 1; `end` lies on the same line."""

    file: str
    line: int
    column: int
    end: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def place_of(function: FunctionType) -> str:
    """`file:line` of a function."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def place_of_caller() -> str:
    """`file:line` of the innermost call from outside of this package."""
    frame = sys._getframe(1)
    generated = ("tileir.", "dataclasses")  # constructors of dataclasses are of no file
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(generated):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


#: How many of the innermost and of the outermost calls are shown if there are many.
_SHOWN_CALLS = 3


class TileSourceError(TileError):
    """Base of the errors about a kernel's source.

    `place` is the innermost place; `calls` are those of the calls that led there, from the kernel
    inwards, when functions called by the kernel are at fault.
    """

    def __init__(
        self,
        reason: str,
        *,
        location: str | None = None,
        remedy: str | None = None,
        place: SourceRange | None = None,
        calls: tuple[SourceRange, ...] = (),
    ):
        super().__init__(reason, location=location, remedy=remedy)
        self.place: SourceRange | None = None
        self.calls: tuple[SourceRange, ...] = ()
        if place is not None:
            self.locate(place, calls)

    def locate(self, place: SourceRange, calls: tuple[SourceRange, ...] = ()) -> None:
        """States where the error is; the first statement wins."""
        if self.place is not None:
            return
        self.place, self.calls = place, calls
        self.location = str(place)

    def __str__(self) -> str:
        if self.place is None:
            return super().__str__()
        parts = [f"{self.place}: {self.reason}", _excerpt(self.place)]
        if self.remedy:
            parts.append(f"  {self.remedy}")
        calls = self.calls[::-1]
        shown = calls if len(calls) <= 2 * _SHOWN_CALLS else calls[:_SHOWN_CALLS]
        parts += [_called_from(call) for call in shown]
        if len(shown) < len(calls):
            left_out = len(calls) - 2 * _SHOWN_CALLS
            parts.append(f"... {left_out} more calls ...")
            parts += [_called_from(call) for call in calls[-_SHOWN_CALLS:]]
        return "\n".join(part for part in parts if part)


def _called_from(call: SourceRange) -> str:
    return f"{call}: called from here\n{_excerpt(call)}"


def _excerpt(place: SourceRange) -> str:
    """The source line and a caret under the expression; empty if the file cannot be read."""
    line = linecache.getline(place.file, place.line).rstrip("\n")
    if not line:
        return ""
    start = min(place.column - 1, len(line))
    end = min(place.end - 1 if place.end > place.column else start + 1, len(line))
    # Tabs are kept, so that the caret stands right whatever their width.
    blank = "".join("\t" if character == "\t" else " " for character in line[:start])
    return f"    {line}\n    {blank}^{'~' * (end - start - 1)}"


class TileSyntaxError(TileSourceError):
    """A statement or expression that kernels cannot contain."""


class TileTypeError(TileSourceError):
    """A value of the wrong type: dtypes that do not mix, a tile where a constant is needed."""


class TileValueError(TileSourceError):
    """A value out of range: shapes that do not fit, an axis that does not exist."""


class TileRecursionError(TileSourceError):
    """Functions call each other, or code is nested, too deeply."""


class TileUnsupportedFeatureError(TileSourceError):
    """Something valid that the target or this compiler lacks."""


class TileStaticEvalError(TileSourceError):
    """Python code run while the kernel was compiled raised an exception."""


class TileStaticAssertionError(TileSourceError):
    """A `static_assert` does not hold."""


class TileInternalError(TileSourceError):
    """A fault of ours, with the place in the kernel that led to it."""
