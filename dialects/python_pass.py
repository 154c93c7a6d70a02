"""Passes written in Python, registered by name in MLIR's own registry.

They stand in textual pipelines beside upstream passes and are timed and printed like them.
"""

from __future__ import annotations

import ctypes
import re
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from mlir import ir

from tileir.errors import TileError

from ._native import _CAPSULE_NAMES, Handle, _new_capsule, function, unwrap_location

PassFunction = Callable[[ir.Operation, Mapping[str, str]], None]

_Strings = ctypes.POINTER(ctypes.c_char_p)
_RunCallback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_ssize_t, _Strings, _Strings
)
_register_pass = function(
    "tileirRegisterPass", None, ctypes.c_char_p, ctypes.c_char_p, _RunCallback, ctypes.c_ssize_t
)
_emit_error = function("tileirEmitError", None, Handle, ctypes.c_char_p)

_passes: list[tuple[str, PassFunction]] = []
_registered: set[str] = set()
_KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


_register_pipeline = function(
    "tileirRegisterPipeline", None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p
)


class NamedPass(Protocol):
    """An entry of a registry of passes."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    def run(self, operation: ir.Operation, options: Mapping[str, str]) -> None: ...


def register_passes(entries: Iterable[NamedPass]) -> None:
    """Registers the passes of a registry that are not registered yet."""
    for entry in entries:
        if entry.name not in _registered:
            register_pass(entry.name, entry.summary, entry.run)


def register_pipeline(name: str, summary: str, pipeline: str) -> None:
    """Makes the passes `pipeline` (`a,b{key=value},func.func(c)`) available as one name."""
    _claim(name)
    _register_pipeline(name.encode(), summary.encode(), pipeline.encode())


def register_pass(name: str, summary: str, run: PassFunction) -> None:
    """Registers `run(operation, options)` as the pass `name` (kebab case).

    `options` holds what stands in braces in a pipeline, `name{key=value ...}`, as text. An
    exception becomes an error at the operation and fails the pass: the reason and remedy of a
    `TileError`, or an internal error for anything else.

    Raises `ValueError` for a name that is malformed or taken: MLIR would abort.
    """
    _claim(name)
    _passes.append((name, run))
    _register_pass(name.encode(), summary.encode(), _callback, len(_passes) - 1)


def _claim(name: str) -> None:
    if not _KEBAB_CASE.fullmatch(name):
        raise ValueError(f"pass name '{name}' is not in kebab case")
    if name in _registered:
        raise ValueError(f"pass '{name}' is registered already")
    _registered.add(name)


def _run(index: int, pointer: int, count: int, names: _Strings, values: _Strings) -> int:  # pyright: ignore[reportInvalidTypeForm]
    """Runs a pass; 0 if it succeeded. Lets no exception escape into C++."""
    name, run = _passes[index]
    capsule = _new_capsule(pointer, _CAPSULE_NAMES[ir.Operation], None)
    operation: Any = ir.Operation._CAPICreate(capsule)
    context = operation.context
    if _driver_owns_contexts:
        _keep_alive(context)
    options = {names[i].decode(): values[i].decode() for i in range(count)}
    try:
        with context, operation.location:
            run(operation, options)
    except TileError as error:
        _emit_error(_location_of(error, operation), _message_of(error).encode())
        return 1
    except BaseException as error:
        _emit_error(unwrap_location(operation.location), _internal_error(name, error).encode())
        return 1
    return 0


_callback = _RunCallback(_run)
_driver_owns_contexts = False


def driver_owns_contexts() -> None:
    """Says that from now on passes run in contexts that C++ makes and destroys."""
    global _driver_owns_contexts
    _driver_owns_contexts = True


def _keep_alive(context: ir.Context) -> None:
    """Keeps a context's wrapper for ever: destroying it would destroy the context, too."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(context))


_FILE_POSITION = re.compile(r"(.+):(\d+):(\d+)")


def _location_of(error: TileError, operation: ir.Operation) -> Handle:
    """Where to report an error: what it says itself, or the operation that the pass ran on."""
    match = _FILE_POSITION.fullmatch(error.location or "")
    if match is None:
        return unwrap_location(operation.location)
    location = ir.Location.file(match[1], int(match[2]), int(match[3]), operation.context)
    return unwrap_location(location)


def _message_of(error: TileError) -> str:
    return f"{error.reason}; {error.remedy}" if error.remedy else error.reason


def _internal_error(name: str, error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal error in pass {name}: {type(error).__name__}: {error} "
        f"({where.filename}:{where.lineno})"
    )
