"""Modules as bytes, to copy them or to send them to another process."""

from __future__ import annotations

from io import BytesIO

from tileir.ir import Context, Module


def to_bytecode(module: Module) -> bytes:
    """MLIR bytecode of a module."""
    buffer = BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def copy(module: Module, context: Context | None = None) -> Module:
    """A copy of a module, in its own context or another."""
    return Module.parse(to_bytecode(module), context or module.context)
