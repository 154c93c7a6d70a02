"""Tile IR bytecode 13.1 to 13.5.

    module = read_bytecode(data)
    data = write_bytecode(module, version="13.3")

`schema.py` and `tags.py` are the format: one table of operations, one each of types, attributes
and debug records. `decode` and `encode` turn bytes into the plain objects of `records.py` and
back; `reader` and `writer` do the same between those and MLIR.

    python -m tileir.bytecode FILE

lists a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir.bytecode.version import SUPPORTED, Version

if TYPE_CHECKING:
    from tileir.bytecode.reader import read_bytecode
    from tileir.bytecode.writer import write_bytecode

__all__ = ["SUPPORTED", "Version", "read_bytecode", "write_bytecode"]


def __getattr__(name: str) -> Any:
    """Imports what needs MLIR when it is first used."""
    if name == "read_bytecode":
        from tileir.bytecode.reader import read_bytecode

        return read_bytecode
    if name == "write_bytecode":
        from tileir.bytecode.writer import write_bytecode

        return write_bytecode
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
