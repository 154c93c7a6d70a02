"""Finding operations by name, in C++: most passes are about a few of hundreds."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from mlir import ir

from ._native import Handle, function, unwrap_operation, wrap

_Names = ctypes.POINTER(ctypes.c_char_p)
_find = function(
    "tileirFindOperations", ctypes.c_ssize_t, Handle, ctypes.c_ssize_t, _Names, ctypes.c_ssize_t,
    ctypes.POINTER(Handle),
)  # fmt: skip
_ROOM = 64


def find_operations(root: ir.Operation, names: tuple[str, ...]) -> list[ir.OpView]:
    """The operations inside `root` that have one of `names`, each before those of its regions."""
    found = (Handle * _ROOM)()
    handle, wanted = unwrap_operation(root), _strings(names)
    size = _find(handle, len(names), wanted, len(found), found)
    if size > len(found):
        found = (Handle * size)()
        _find(handle, len(names), wanted, len(found), found)
    return [wrap(ir.Operation, found[i]).opview for i in range(size)]


@functools.cache
def _strings(names: tuple[str, ...]) -> Any:
    return (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
