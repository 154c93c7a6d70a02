"""Refusing an operation: a rule says why, its caller adds which operation and where."""

from __future__ import annotations

from tileir.compiler.locations import location_text
from tileir.errors import UnsupportedError
from tileir.ir import OpView


class Unsupported(UnsupportedError):
    """Raised where it is not known which operation is being lowered; `refusal` adds that."""

    def __init__(self, reason: str, remedy: str | None = None):
        super().__init__(reason, remedy=remedy)


def refusal(op: OpView, reason: str, remedy: str | None = None) -> UnsupportedError:
    """The error for an operation that cannot be lowered: its name, the reason, its location."""
    return UnsupportedError(
        f"'{op.operation.name}': {reason}", location=location_text(op), remedy=remedy
    )
