"""Values as text that is the same in every process, as keys of a cache need it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

#: Types whose values are as they are printed.
_PRINTED = frozenset([bool, int, str, bytes, type(None)])


class NoContent(Exception):
    """A value that has no such text, a function say."""


def content_of(value: Any) -> str:
    """Text that two values share only if they are equal and of the same types. Raises NoContent."""
    kind = type(value)
    if kind in _PRINTED:
        return f"{kind.__name__} {value!r}"
    if kind is float:
        return f"float {value.hex()}"
    if kind is tuple:
        return f"({', '.join(map(content_of, value))})"
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, Enum):
        return f"{name} {value.name}"
    if is_dataclass(value):
        parts = [f"{field}={content_of(getattr(value, field))}" for field in _names(kind)]
        return f"{name}({', '.join(parts)})"
    if kind.__module__ in ("torch", "numpy.dtypes", "numpy"):
        # Element types: their text is their name. Arrays of these libraries have no content.
        text = str(value)
        if text.isprintable() and len(text) < 64 and not hasattr(value, "shape"):
            return f"{name} {text}"
    raise NoContent(name)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass, which are asked for at every launch of a new specialisation."""
    return tuple(field.name for field in fields(kind))
