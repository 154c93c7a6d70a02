"""Tile IR bytecode 13.1 to 13.5.

    module = read_bytecode(data)
    data = write_bytecode(module, version="13.3")
    file = FileBuilder(version="13.3")            # builds bytecode without MLIR

`schema.py` and `tags.py` are the format: one table of operations, one each of types, attributes
and debug records. `decode` and `encode` turn bytes into the plain objects of `records.py` and
back; `reader` and `writer` do the same between those and MLIR; `builder` makes records by hand.

    python -m tileir.bytecode FILE

lists a file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tileir.bytecode.version import SUPPORTED, Version

if TYPE_CHECKING:
    from tileir.bytecode.builder import FileBuilder, Source, Type
    from tileir.bytecode.entry_builder import EntryBuilder, Region, Value
    from tileir.bytecode.reader import read_bytecode
    from tileir.bytecode.writer import write_bytecode

__all__ = [
    "SUPPORTED",
    "EntryBuilder",
    "FileBuilder",
    "Region",
    "Source",
    "Type",
    "Value",
    "Version",
    "read_bytecode",
    "write_bytecode",
]

# What is imported when it is first used; reader and writer need MLIR.
_LAZY = {
    "EntryBuilder": "entry_builder",
    "FileBuilder": "builder",
    "Region": "entry_builder",
    "Source": "builder",
    "Type": "builder",
    "Value": "entry_builder",
    "read_bytecode": "reader",
    "write_bytecode": "writer",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
