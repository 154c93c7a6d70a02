"""The kernels of a module: names and parameter types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .errors import LaunchError

if TYPE_CHECKING:
    from mlir import ir

_TILE = re.compile(r"!cuda_tile\.tile<(.*)>")


def entries(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """Kernel names and, for each, its parameters' types as text: `ptr<f16>`, `i32`."""
    from mlir import ir

    found: dict[str, tuple[str, ...]] = {}
    for outer in module.body.operations:
        if outer.operation.name != "cuda_tile.module":
            continue
        for inner in outer.regions[0].blocks[0].operations:
            if inner.operation.name == "cuda_tile.entry":
                name = ir.StringAttr(inner.operation.attributes["sym_name"]).value
                arguments = inner.regions[0].blocks[0].arguments
                found[name] = tuple(_scalar_type(str(argument.type)) for argument in arguments)
    return found


def choose_entry(module: ir.Module, kernel: str | None) -> str:
    """`kernel`, or the module's only one; `LaunchError` lists the kernels otherwise."""
    names = list(entries(module))
    if kernel is None and len(names) == 1:
        return names[0]
    if not names:
        raise LaunchError("the module has no kernel (cuda_tile.entry)")
    if kernel is None:
        raise LaunchError(
            f"the module has {len(names)} kernels", remedy=f"choose one: {', '.join(names)}"
        )
    if kernel not in names:
        raise LaunchError(f"there is no kernel '{kernel}'", remedy=f"kernels: {', '.join(names)}")
    return kernel


def _scalar_type(text: str) -> str:
    """`i32` for `!cuda_tile.tile<i32>`."""
    match = _TILE.fullmatch(text)
    return (match[1] if match else text).replace("!cuda_tile.", "")
