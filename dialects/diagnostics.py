"""Diagnostics of passes that do not stop them, through MLIR's own engine.

A tool prints them as `file:line:col: remark: ...`; `RemarkCollector` keeps them for a caller.
What only explains is said to those who ask.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from mlir import ir

from ._native import Handle, function, unwrap_location

_emit_remark = function("tileirEmitRemark", None, Handle, ctypes.c_char_p)


def emit_remark(location: ir.Location, message: str) -> None:
    """Reports a decision that the author of the code at `location` may want to know."""
    _emit_remark(unwrap_location(location), message.encode())


class _Listeners:
    """How many want explanations."""

    count = 0


def emit_explanation(location: ir.Location, message: str) -> None:
    """Reports how something was done, if anybody wants to know."""
    if _Listeners.count:
        emit_remark(location, message)


def ask_for_explanations() -> None:
    """Has all explanations of this process reported."""
    _Listeners.count += 1


@dataclass(frozen=True)
class Note:
    """A diagnostic that outlives MLIR's own."""

    message: str
    location: ir.Location
    notes: tuple[Note, ...] = ()


class ErrorCollector:
    """Collects the errors of a context while it is entered, which then raise nothing themselves."""

    def __init__(self, context: ir.Context):
        self._context = context
        self._handler: Any = None
        self.found: list[Note] = []

    def __enter__(self) -> ErrorCollector:
        self._context.emit_error_diagnostics = True
        self._handler = self._context.attach_diagnostic_handler(self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        # The bindings' handler holds us, unseen by Python's collector of garbage.
        self._handler.detach()
        self._handler = None
        self._context.emit_error_diagnostics = False

    def _handle(self, diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        self.found.append(_note(diagnostic))
        return True


def _note(diagnostic: Any) -> Note:
    try:
        message = diagnostic.message
    except RuntimeError:
        message = "an error whose text is no UTF-8"
    return Note(message, diagnostic.location, tuple(map(_note, diagnostic.notes)))


class RemarkCollector:
    """Collects the remarks of a context while it is entered, each once:

    with RemarkCollector(context) as remarks:
        ...
    remarks.texts  # ["matmul.mlir:12:5: remark: ..."]
    """

    def __init__(self, context: ir.Context):
        self._context = context
        self._handler: Any = None
        self.texts: list[str] = []

    def __enter__(self) -> RemarkCollector:
        self._handler = self._context.attach_diagnostic_handler(self._handle)
        _Listeners.count += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._handler is not None
        # The bindings' handler holds us, unseen by Python's collector of garbage.
        self._handler.detach()
        self._handler = None
        _Listeners.count -= 1

    def _handle(self, diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.REMARK:
            return False
        place = str(diagnostic.location).removeprefix("loc(").removesuffix(")").replace('"', "")
        text = f"{place}: remark: {diagnostic.message}"
        if text not in self.texts:
            self.texts.append(text)
        return True
