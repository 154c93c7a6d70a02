"""The dialects: importing this package registers them in every later `mlir.ir.Context()`."""

from __future__ import annotations

from mlir import ir

from . import _native  # noqa: F401  (registers them)
from .python_pass import register_pass, register_passes, register_pipeline

__all__ = ["make_context", "register_pass", "register_passes", "register_pipeline"]


def make_context() -> ir.Context:
    """A single-threaded context with all dialects loaded.

    Loading a dialect while a pass runs aborts the process, so none is left to load then; and
    passes are Python, which gains nothing from MLIR's threads.
    """
    context = ir.Context()
    context.enable_multithreading(False)
    context.load_all_available_dialects()
    return context
