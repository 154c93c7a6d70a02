"""Running passes by name on a module of the caller's process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mlir.passmanager import PassManager

from tileir import trace
from tileir.compiler.locations import place
from tileir.errors import TileError, VerificationError
from tileir.ir import MLIRError, Module
from tileir.passes import REGISTRY, PassEntry

_PASS = re.compile(r"([\w-]+)(?:\{(.*)\})?")
_NESTED = re.compile(r"([\w.]+)\((.*)\)")


def run_passes(module: Module, passes: Sequence[str]) -> None:
    """Runs `passes`, each `name` or `name{option=value ...}`, in order, on `module`.

    Our passes are called directly, so that their errors arrive as they are; upstream passes run
    in a PassManager. Raises a TileError.
    """
    for ours, group in _grouped(passes):
        if ours is not None:
            entry, options = ours
            with trace.slice(entry.name, "pass"), module.context, module.operation.location:
                entry.run(module.operation, options)
        elif trace.is_on():
            for name, text in _one_by_one(group):  # each has a slice of its own
                with trace.slice(name, "pass"):
                    _run_upstream(module, [text])
        else:
            _run_upstream(module, group)


def _grouped(
    passes: Sequence[str],
) -> Iterator[tuple[tuple[PassEntry, dict[str, str]] | None, list[str]]]:
    """Our passes one by one, upstream passes in runs."""
    upstream: list[str] = []
    for text in passes:
        match = _PASS.fullmatch(text)
        entry = REGISTRY.get(match[1]) if match else None
        if entry is None or match is None:
            upstream.append(text)
            continue
        if upstream:
            yield None, upstream
            upstream = []
        pairs = (item.partition("=") for item in (match[2] or "").split())
        yield (entry, {key: value for key, _, value in pairs}), []
    if upstream:
        yield None, upstream


def _one_by_one(passes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and texts of passes; those of `gpu.module(a,b)` by themselves."""
    for text in passes:
        nested = _NESTED.fullmatch(text)
        for inner in nested[2].split(",") if nested else [text]:
            yield inner.partition("{")[0], f"{nested[1]}({inner})" if nested else inner


def _run_upstream(module: Module, passes: list[str]) -> None:
    """Runs a group of passes, and verifies what they leave: after each of them, the verifier would
    take a quarter of the time of the last conversions."""
    pipeline = f"builtin.module({','.join(passes)})"
    try:
        manager = PassManager.parse(pipeline, module.context)
        manager.enable_verifier(False)
        manager.run(module.operation)
        module.operation.verify()
    except MLIRError as error:
        raise _as_tile_error(error) from None


def _as_tile_error(error: MLIRError) -> TileError:
    diagnostics = error.error_diagnostics
    if not diagnostics:
        return TileError(str(error))
    first = diagnostics[0]
    return VerificationError(first.message, location=place(first.location))
