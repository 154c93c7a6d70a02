"""Breakpoints of kernels: Python's debugger, with a block's tiles as NumPy arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

#: The first place in a location: file and line.
_PLACE = re.compile(r'"([^"]*)":(\d+)')


def stop(spec: str, location: str, block: Sequence[int], values: Sequence[Any]) -> None:
    """Calls `sys.breakpointhook` where the kernel does: names of tiles are their arrays, constants
    what they are, `block` is the index of the block."""
    known = json.loads(spec)
    names = {**known["constants"], **dict(zip(known["names"], values, strict=True))}
    file, line = "<kernel>", 1
    found = _PLACE.search(location)
    if found is not None:
        file, line = found[1], int(found[2])
    # At the same line of the same file, so that a debugger shows the kernel.
    code = compile("\n" * (line - 1) + "breakpoint()", file, "exec")
    exec(code, {"block": tuple(block), **names})
