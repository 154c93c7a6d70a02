"""Modules as bytes, to send them to another process, and copies of modules."""

from __future__ import annotations

from io import BytesIO

from tileir.ir import Module
from tileir.mlir_parser import as_module


def to_bytecode(module: Module) -> bytes:
    """MLIR bytecode of a module."""
    buffer = BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def copy(module: Module) -> Module:
    """A copy of a module, in its context."""
    return as_module(module.operation.clone(ip=False))
