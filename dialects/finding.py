"""Finding operations, in C++: most passes are about a few of hundreds."""

from __future__ import annotations

import ctypes
import functools
from enum import IntEnum
from typing import Any

from mlir import ir

from ._native import Handle, function, unwrap_operation, wrap

_find = function(
    "tileirFindOperations", ctypes.c_ssize_t, Handle, ctypes.c_ssize_t,
    ctypes.POINTER(ctypes.c_char_p), ctypes.c_int, ctypes.c_ssize_t, ctypes.POINTER(Handle),
)  # fmt: skip
_ROOM = 64


class Handled(IntEnum):
    """What operations have among their operands, results, and the arguments of their blocks."""

    NOTHING = 0
    TILES = 1
    BUFFERS = 2


def find_operations(
    root: ir.Operation, names: tuple[str, ...], handled: Handled = Handled.NOTHING
) -> list[ir.OpView]:
    """The operations inside `root` that have one of `names`, or handle values of tile_gpu of this
    kind, each before those of its regions."""
    handle, wanted = unwrap_operation(root), _strings(names)
    found = (Handle * _ROOM)()
    size = _find(handle, len(names), wanted, handled, len(found), found)
    if size > len(found):
        found = (Handle * size)()
        _find(handle, len(names), wanted, handled, len(found), found)
    return [wrap(ir.Operation, found[i]).opview for i in range(size)]


@functools.cache
def _strings(names: tuple[str, ...]) -> Any:
    return (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
