"""Which function translates which operation."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import UnsupportedError
from . import access
from .access import Op
from .emitter import Emitter

Translation = Callable[[Emitter, Op], None]

_TRANSLATIONS: dict[str, Translation] = {}


def translates(*names: str) -> Callable[[Translation], Translation]:
    """Registers a function for operations of the cuda_tile dialect."""

    def register(function: Translation) -> Translation:
        for name in names:
            _TRANSLATIONS[f"cuda_tile.{name}"] = function
        return function

    return register


def translate(e: Emitter, op: Op) -> None:
    """Emits the code of one operation."""
    e.begin(op)
    name = op.operation.name
    if name not in _TRANSLATIONS:
        raise UnsupportedError(
            f"the interpreter does not know the operation '{name}'",
            location=access.location(op),
        )
    _TRANSLATIONS[name](e, op)
