"""tileir: an open compiler for CUDA Tile IR.

    import tileir
    program = tileir.compile("kernel.tilebc", target="sm_90a")
    program.ptx, program.cubin, program.stage("nvvm")
    tileir.run("kernel.tilebc", grid=(8, 1, 1), args=[...], backend="interp")

Importing this package costs a few milliseconds: MLIR and the parts of the compiler are loaded
when they are first used, and `tileir.runtime` works without MLIR installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    BytecodeError,
    CacheError,
    CompilerCrash,
    CompileTimeout,
    ExecutionError,
    LaunchError,
    ParseError,
    ResourceError,
    TileError,
    ToolError,
    UnsupportedError,
    VerificationError,
)

if TYPE_CHECKING:
    from .api import run
    from .bytecode import read_bytecode, write_bytecode
    from .compiler import Program, compile, compile_many
    from .runtime import PointerTable
    from .source import parse

__version__ = "0.1.0"

__all__ = [
    "BytecodeError",
    "CacheError",
    "CompileTimeout",
    "CompilerCrash",
    "ExecutionError",
    "LaunchError",
    "ParseError",
    "PointerTable",
    "Program",
    "ResourceError",
    "TileError",
    "ToolError",
    "UnsupportedError",
    "VerificationError",
    "__version__",
    "compile",
    "compile_many",
    "parse",
    "read_bytecode",
    "run",
    "write_bytecode",
]

# Public names that live in modules too heavy to import before they are needed.
_LAZY = {
    "PointerTable": ".runtime",
    "Program": ".compiler",
    "compile": ".compiler",
    "compile_many": ".compiler",
    "parse": ".source",
    "read_bytecode": ".bytecode",
    "run": ".api",
    "write_bytecode": ".bytecode",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tileir' has no attribute '{name}'")
    value = getattr(import_module(_LAZY[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
