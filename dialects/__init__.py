"""The dialects: importing this package registers them in every later `mlir.ir.Context()`."""

from __future__ import annotations

from mlir import ir

from . import _native  # noqa: F401  (registers them)
from .python_pass import register_pass, register_passes, register_pipeline

__all__ = [
    "make_context",
    "prepare_context",
    "register_pass",
    "register_passes",
    "register_pipeline",
]

#: Contexts that nobody has used.
_spare: list[ir.Context] = []


def make_context() -> ir.Context:
    """A single-threaded context with all dialects loaded.

    Loading a dialect while a pass runs aborts the process, so none is left to load then; and
    passes are Python, which gains nothing from MLIR's threads.
    """
    try:
        return _spare.pop()
    except IndexError:
        return _new_context()


def prepare_context() -> None:
    """Makes the context that `make_context` will return next, which takes ten milliseconds; for
    moments in which this process only waits."""
    if not _spare:
        _spare.append(_new_context())


def _new_context() -> ir.Context:
    context = ir.Context()
    context.enable_multithreading(False)
    context.load_all_available_dialects()
    return context
