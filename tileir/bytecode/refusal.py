"""Errors of the writer: what a version cannot hold, at which operation, since when it can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from tileir import ir
from tileir.bytecode.mlir_locations import source_of
from tileir.bytecode.records import File, Record
from tileir.bytecode.version import V13_3, Version
from tileir.errors import BytecodeError

_HINTS_SINCE = {"default": V13_3, "num_worker_warps_per_cta": V13_3}
"""Hints and keys of hints that are not of 13.1."""


def place_of(op: ir.Operation) -> str:
    """`file:line:col` of an operation, or else the name of the entry or global."""
    source = source_of(op.location)
    if source is not None:
        return source
    parent: Any = op
    while parent is not None and "sym_name" not in parent.attributes:
        parent = parent.parent
    if parent is None:
        return "module"
    name: Any = parent.attributes["sym_name"]
    return "@" + name.value_bytes.decode("utf-8", "replace")


def refuse(op: ir.Operation, reason: str, remedy: str | None = None) -> NoReturn:
    raise BytecodeError(f"{op.name} {reason}", location=place_of(op), remedy=remedy)


def require(op: ir.Operation, since: Version, version: Version, feature: str = "") -> None:
    """Refuse `op` (or what it has: "with ...") unless `version` is `since` or newer."""
    if version < since:
        what = f"{feature} needs" if feature else "needs"
        refuse(op, f"{what} bytecode {since} or newer, {version} was asked for")


def check_attributes(op: ir.Operation, known: Iterable[str]) -> None:
    """Refuse attributes that bytecode has no place for."""
    try:
        names = list(op.attributes)
    except RuntimeError:  # of MLIR's bindings
        refuse(op, "has an attribute whose name is not UTF-8", "remove the attribute")
    for name in names:
        if name not in known:
            refuse(
                op,
                f"has an attribute '{name}', which has no place in Tile IR bytecode",
                "remove the attribute",
            )


def check_hints(op: ir.Operation, entries: dict[int, Record], file: File) -> None:
    """Refuse hints newer than the version of `file`."""
    names = [file.text(key) for key in entries]
    for hints in entries.values():
        names += [file.text(key) for key in hints.fields["entries"]]
    for name in names:
        since = _HINTS_SINCE.get(name, file.version)
        require(op, since, file.version, f"with the hint '{name}'")
