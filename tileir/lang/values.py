"""What names stand for in a kernel, beside Python's own values.

Everything that is known when the kernel is compiled is the Python value itself: numbers, strings,
tuples, dtypes, enums, functions.  What is known only at run time is a `Tile`; a number that is
known only at run time is a tile of shape `()`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tileir.ir import Value

from .dtypes import DType


class RuntimeValue:
    """Base of all that exists only when a kernel runs. Other classes than `Tile` are frozen
    dataclasses; their fields may be run-time values."""

    __slots__ = ()


class Tile(RuntimeValue):
    """A value of the kernel: elements of one dtype in a shape known at compile time.

    `value` is the SSA value that holds it.  `loose` says that it came from Python's numbers on
    several paths and takes the dtype of what it meets, as they do.
    """

    __slots__ = ("dtype", "loose", "shape", "value")

    def __init__(self, value: Value, dtype: DType, shape: tuple[int, ...], loose: bool = False):
        self.value = value
        self.dtype = dtype
        self.shape = shape
        self.loose = loose

    def __repr__(self) -> str:
        return f"<tile {self.dtype}{list(self.shape)}>"


_ATOMS = frozenset({int, float, bool, str, type(None), DType})


def is_runtime(value: Any) -> bool:
    """Whether a value, or a part of it, is known only at run time."""
    kind = type(value)
    if kind in _ATOMS:
        return False
    if isinstance(value, RuntimeValue):
        return True
    if isinstance(value, (tuple, list)):
        return any(map(is_runtime, value))
    if kind is dict:
        return any(map(is_runtime, value.values()))
    if kind is slice:
        return any(map(is_runtime, (value.start, value.stop, value.step)))
    if is_dataclass(kind):
        return any(is_runtime(getattr(value, field.name)) for field in fields(kind))
    return False


def describe(value: Any) -> str:
    """A few words on a value for messages: `float32[16, 4]`, `the int 3`, `a tuple`."""
    if isinstance(value, Tile):
        return f"{value.dtype}{list(value.shape)}" if value.shape else str(value.dtype)
    if value is None:
        return "None"
    if isinstance(value, (bool, int, float, str)):
        return f"the {type(value).__name__} {value!r}"
    name = type(value).__name__
    if isinstance(value, tuple):
        return f"a {name} of {len(value)}"
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


@dataclass(frozen=True, slots=True)
class FormattedString(RuntimeValue):
    """An f-string that holds run-time values: text, and values with their format specification."""

    parts: tuple[str | tuple[Any, str], ...]
