"""Stopping inside of a kernel."""

from __future__ import annotations

import builtins
import json
from typing import Any

from ...dialects import cuda_tile
from ..builder import current_builder
from ..calls import replaces
from ..values import Tile
from .printing import emit_print, print_format


@replaces(builtins.breakpoint)
def breakpoint() -> None:
    """Stops in Python's debugger where the kernel is interpreted (`TILEIR_BACKEND=interp`), once in
    each block; elsewhere it does nothing.

    Tiles are NumPy arrays there, constants are what they are in the kernel. `PYTHONBREAKPOINT`
    chooses the debugger, as for Python's own `breakpoint()`.
    """
    builder = current_builder()
    frame = builder.frame
    if not builder.stops or frame is None:
        return
    tiles = {name: value for name, value in frame.locals.items() if isinstance(value, Tile)}
    constants = {name: value for name, value in frame.locals.items() if _is_plain(value)}
    spec = json.dumps({"names": list(tiles), "constants": constants})
    text = "".join(print_format(tile) for tile in tiles.values())
    emit_print(text, list(tiles.values()), {cuda_tile.BREAKPOINT_ATTRIBUTE: spec})


breakpoint.always = True  # type: ignore[attr-defined]


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)
