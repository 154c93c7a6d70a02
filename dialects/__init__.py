"""The dialects: importing this package registers them in every later `mlir.ir.Context()`."""

from __future__ import annotations

from typing import Any

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

#: What modules consist of between bytecode and the stage nvvm. Others are there for the parser, but
#: to load all of MLIR's takes three times as long.
DIALECTS = (
    "arith", "cf", "cuda_tile", "func", "gpu", "llvm", "math", "memref", "nvgpu", "nvvm", "scf",
    "tile_gpu", "ub", "vector",
)  # fmt: skip
#: What a module at the stage nvvm consists of.
_LLVM_DIALECTS = ("gpu", "llvm", "nvvm")
#: Contexts that nobody has used, by whether they are for LLVM only.
_spare: dict[bool, ir.Context] = {}


def make_context(for_llvm: bool = False) -> ir.Context:
    """A single-threaded context with the dialects loaded that modules consist of, or only those
    that become LLVM IR.

    Loading a dialect while a pass runs aborts the process, so none is left to load then; and
    passes are Python, which gains nothing from MLIR's threads.
    """
    return _spare.pop(for_llvm, None) or _new_context(for_llvm)


def prepare_context(for_llvm: bool = False) -> None:
    """Makes the context that `make_context` will return next, which takes two milliseconds; for
    moments in which this process only waits."""
    if for_llvm not in _spare:
        _spare[for_llvm] = _new_context(for_llvm)


def _new_context(for_llvm: bool) -> ir.Context:
    # The bindings extend the class, unseen by its stub.
    make: Any = ir.Context
    context = make(load_on_create_dialects=_LLVM_DIALECTS if for_llvm else DIALECTS)
    context.enable_multithreading(False)
    return context
