"""Passes from a Python file: `tile-opt --load-passes=FILE.py`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tileir.dialects import register_pass
from tileir.errors import TileError
from tileir.passes.base import ModulePass


def load_passes(path: str) -> None:
    """Registers the passes that a Python file defines: its subclasses of `ModulePass`. (It may
    also call `register_pass` itself.) Raises a TileError if the file cannot be run."""
    module = _import(Path(path))
    for value in list(vars(module).values()):
        own = isinstance(value, type) and value.__module__ == module.__name__
        if own and issubclass(value, ModulePass):
            _register(value)


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.stem}_passes", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise TileError(f"cannot load passes from {path}", remedy="name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # where dataclasses look for their annotations
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TileError(
            f"cannot load passes from {path}: {type(error).__name__}: {error}"
        ) from None
    return module


def _register(cls: type[ModulePass]) -> None:
    summary = (cls.__doc__ or "").partition("\n")[0].rstrip(".")
    try:
        register_pass(
            cls.name, summary, lambda operation, options: cls.from_options(options).apply(operation)
        )
    except ValueError as error:
        raise TileError(str(error)) from None
