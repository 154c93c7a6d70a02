"""From whatever holds a program to a module: files, text, bytecode, modules.

Text may be a `builtin.module`, a `cuda_tile.module`, or the form that NVIDIA's disassembler
prints: the contents of a `cuda_tile.module` without it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BytecodeError, ParseError, TileError
from .garbage import collector_pause
from .mlir_parser import as_module, check_text, parse_bytecode, parse_text, verify

if TYPE_CHECKING:
    from mlir import ir

TILEIR_MAGIC = b"\x7fTileIR\x00"
MLIR_MAGIC = b"ML\xefR"

# What stands before the first token: blanks, comments. Possessive (`*+`): never tried twice.
_SPACE = r"(?:\s|//[^\n]*+)*+"
_ALIAS = r"[#!][\w$.-]+\s*=[^\n]*+\n"
_BARE_CONTENTS = re.compile(rf"{_SPACE}(?:{_ALIAS}{_SPACE})*+(?=(?:entry|global)\b)")
_OUTSIDE_LINE = re.compile(r"\s*(?:[#!][\w$.-]+\s*=.*|//.*)?")
_OPENING = "cuda_tile.module @kernels {"


@collector_pause
def parse(source: Any, *, name: str | None = None) -> ir.Module:
    """The module that `source` holds, in a context with all our dialects.

    `source` is a path (`str` or `Path`), text, Tile IR bytecode or MLIR bytecode (`bytes`), or an
    `mlir.ir.Module`, which is cloned in its own context.  `name` is the file name for locations
    and messages where `source` is no path.

    Raises `ParseError` or `VerificationError` with `file:line:col`, `BytecodeError` with the
    byte offset.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _parse_bytes(bytes(source), name or "<bytes>")
    if isinstance(source, Path) or (isinstance(source, str) and _is_path(source)):
        try:
            data = Path(source).read_bytes()
        except OSError as error:
            raise ParseError(f"cannot read {source}: {error.strerror}") from error
        return _parse_bytes(data, name or str(source))
    if isinstance(source, str):
        return _parse_text(source, name or "<text>")
    if type(source).__module__.startswith("mlir.") and hasattr(source, "operation"):
        verify(source.operation, name or "<module>")
        return as_module(source.operation.clone())
    raise ParseError(
        f"cannot parse {type(source).__name__}",
        remedy="pass a path, text, bytecode (bytes) or an mlir.ir.Module",
    )


def _is_path(text: str) -> bool:
    """Whether a string is a file's name and not a program."""
    if "\n" in text or "{" in text or "\0" in text:
        return False
    return len(text) < 4096 and (os.path.exists(text) or not re.search(r"[\s=(\"]", text))


def _parse_bytes(data: bytes, name: str) -> ir.Module:
    if data.startswith(TILEIR_MAGIC):
        from .bytecode import read_bytecode

        try:
            return read_bytecode(data)
        except BytecodeError as error:
            where = f"{name}: {error.location}" if error.location else name
            raise BytecodeError(error.reason, location=where, remedy=error.remedy) from None
    if data.startswith(MLIR_MAGIC):
        return parse_bytecode(data, name)
    try:
        return _parse_text(data.decode(), name)
    except UnicodeDecodeError as error:
        raise ParseError(
            f"{name} is neither text nor bytecode (byte {error.start} is no UTF-8)",
            remedy="Tile IR bytecode starts with the bytes 7f 'TileIR' 00",
        ) from None


def _parse_text(text: str, name: str) -> ir.Module:
    check_text(text, name)
    bare = _BARE_CONTENTS.match(text)
    if bare is None:
        return parse_text(text, name)
    line = text.count("\n", 0, _opening_position(text, bare.end())) + 1
    wrapped = _wrap(text, bare.end())
    try:
        return parse_text(wrapped, name)
    except TileError as error:
        raise _shift_column(error, name, line) from None


def wrap_bare_contents(text: str) -> str | None:
    """The text of a module, if `text` is the contents of a `cuda_tile.module` without it.

    Line numbers stay; columns shift only on a first line that holds an operation.
    """
    bare = _BARE_CONTENTS.match(text)
    return None if bare is None else _wrap(text, bare.end())


def _wrap(text: str, start: int) -> str:
    """Puts `cuda_tile.module` around bare contents that start at `start`; line numbers stay.

    The aliases that follow the contents cannot stand in a region and stay outside.
    """
    end = len(text)
    for line in reversed(text[start:].splitlines(keepends=True)):
        if not _OUTSIDE_LINE.fullmatch(line.rstrip("\n")):
            break
        end -= len(line)
    opening = _opening_position(text, start)
    contents = text[opening:end]
    newline = "" if contents.endswith("\n") else "\n"
    return f"{text[:opening]}{_OPENING}{contents}{newline}}}{text[end:]}"


def _opening_position(text: str, start: int) -> int:
    """Where the module opens: on the line before, if nothing but a comment stands there."""
    line_start = text.rfind("\n", 0, start) + 1
    previous_start = text.rfind("\n", 0, max(line_start - 1, 0)) + 1
    previous = text[previous_start:line_start].strip()
    if line_start and (not previous or previous.startswith("//")):
        return previous_start
    return start


def _shift_column(error: TileError, name: str, line: int) -> TileError:
    """Takes back what the inserted opening did to the columns of its line."""
    prefix = f"{name}:{line}:"
    if error.location is None or not error.location.startswith(prefix):
        return error
    column = int(error.location.removeprefix(prefix)) - len(_OPENING)
    location = f"{prefix}{max(1, column)}"
    return type(error)(error.reason, location=location, remedy=error.remedy)
