"""MLIR's parser as a function that raises: on text and bytecode that would make it abort, too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .errors import ParseError, TileError, ToolError, VerificationError

if TYPE_CHECKING:
    from mlir import ir

    from .dialects.diagnostics import Note

_SEVERAL_OPERATIONS = "source must contain a single top-level operation, found"
# MLIR adds this note to every error; an operation may be a whole kernel.
_WHOLE_OPERATION = "see current operation: "
_VERIFIER_MESSAGE = re.compile(r"'[\w.$]+' op ")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[(\[{<]|[)\]}>]')
_DEEPEST = 500
# A generic operation whose name ends with the name of its dialect.
_NAMELESS = re.compile(r'(?:^|[={};)])\s*("[\w$.]*\.")\s*\(', re.MULTILINE)
# The first place in any kind of location: plain, named, fused, call site, di_loc.
_LOCATION = re.compile(r'"([^"]*)":(\d+):(\d+)')


def parse_text(text: str, name: str) -> ir.Module:
    """The module in text that has passed `check_text`. Raises `ParseError`, `VerificationError`."""
    from mlir import ir

    from .dialects import make_context
    from .dialects.diagnostics import ErrorCollector

    context = make_context()
    # The bindings capture errors only where parsing fails, and abort where it goes on after one,
    # as after a stray full stop.
    operation = None
    with ErrorCollector(context) as errors, context:
        try:
            operation = ir.Operation.parse(text, source_name=name)
        except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
            if not errors.found:
                raise ParseError(error.message, location=name) from None
    if errors.found or operation is None:
        if errors.found[0].message.startswith(_SEVERAL_OPERATIONS):
            # A module around them, on the first line so that line numbers stay.
            return parse_text(f"builtin.module {{{text}\n}}", name)
        raise error_from(errors.found, name)
    return as_module(operation)


def parse_bytecode(data: bytes, name: str) -> ir.Module:
    """The module in MLIR bytecode. Raises `ParseError`, `VerificationError`."""
    check_bytecode(data, name)
    return parse_checked_bytecode(data, name)


def check_bytecode(data: bytes, name: str) -> None:
    """Raises what `parse_bytecode` raises, in another process where there can be one: MLIR's reader
    aborts on some malformed files."""
    from .compiler.worker import shared_worker

    with suppress(ToolError):
        shared_worker().check(data, name)


def parse_checked_bytecode(data: bytes, name: str, for_llvm: bool = False) -> ir.Module:
    """The module in MLIR bytecode, on which the reader may abort, in a context of its own."""
    from mlir import ir

    from .dialects import make_context

    with make_context(for_llvm):
        try:
            return ir.Module.parse(data)
        except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
            raise _from_exception(error, name) from None
        except RuntimeError:  # a message that is no UTF-8
            raise ParseError("malformed MLIR bytecode", location=name) from None


def verify(operation: Any, name: str) -> None:
    """Raises `VerificationError` for a module that its builder left invalid."""
    from mlir import ir

    try:
        operation.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise _from_exception(error, name) from None


def as_module(operation: Any) -> ir.Module:
    """A `Module` with what `operation`, a builtin.module or any other operation, holds."""
    from mlir import ir

    with operation.location:
        module = ir.Module.create()
    if operation.operation.name != "builtin.module":
        module.body.append(operation)
        return module
    for name in list(operation.attributes):
        module.operation.attributes[name] = operation.attributes[name]
    for inner in list(operation.regions[0].blocks[0].operations):
        module.body.append(inner)
    return module


# ---- text that the parser cannot take ------------------------------------------------------------


def check_text(text: str, name: str) -> None:
    """Raises `ParseError` for text on which MLIR's parser would end the process: brackets nested so
    deeply that its stack overflows, operations without a name."""
    if '."' in text and (match := _NAMELESS.search(text)):
        where = _line_and_column(text, match.start(1))
        raise ParseError(f"{match[1]} names no operation", location=f"{name}:{where}")
    if sum(map(text.count, "([{<")) <= _DEEPEST:
        return
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in ("(", "[", "{", "<"):
            depth += 1
        elif token in (")", "]", "}", ">"):
            depth -= 1
        if depth > _DEEPEST:
            raise ParseError(
                f"brackets are nested more than {_DEEPEST} deep",
                location=f"{name}:{_line_and_column(text, match.start())}",
            )


def _line_and_column(text: str, position: int) -> str:
    line_start = text.rfind("\n", 0, position)
    return f"{text.count(chr(10), 0, position) + 1}:{position - line_start}"


# ---- errors --------------------------------------------------------------------------------------


def _from_exception(error: Any, name: str) -> TileError:
    if error.error_diagnostics:
        return error_from(error.error_diagnostics, name)
    return ParseError(error.message, location=name)


def error_from(diagnostics: Iterable[Note], name: str) -> TileError:
    """MLIR's diagnostics as one of our exceptions: the first is the reason, notes follow."""
    first, *others = diagnostics
    lines = [first.message]
    notes = (note for note in first.notes if not note.message.startswith(_WHOLE_OPERATION))
    lines += [f"{_place(note.location, name)}: note: {note.message}" for note in notes]
    others = [other for other in others if other.message != first.message]
    lines += [f"{_place(other.location, name)}: error: {other.message}" for other in others]
    kind = VerificationError if _VERIFIER_MESSAGE.match(first.message) else ParseError
    return kind("\n".join(lines), location=_place(first.location, name))


def _place(location: ir.Location, name: str) -> str:
    """`file:line:col` of a location, or the file's name if it says no more."""
    match = _LOCATION.search(str(location))
    if match is None or match[2] == "0":
        return name
    return f"{match[1]}:{match[2]}:{match[3]}"
