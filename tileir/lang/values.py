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
from .errors import TileTypeError


class RuntimeValue:
    """Base of all that exists only when a kernel runs. Other classes than `Tile` are frozen
    dataclasses; their fields may be run-time values."""

    __slots__ = ()


class Tile(RuntimeValue):
    """A value of the kernel: elements of one dtype in a shape known at compile time.

    `value` is the SSA value that holds it.  `loose` says that it came from Python's numbers on
    several paths and takes the dtype of what it meets, as they do.

    Operators work element by element, broadcast and promote as the functions of the language do.
    """

    __slots__ = ("dtype", "loose", "shape", "value")

    def __init__(self, value: Value, dtype: DType, shape: tuple[int, ...], loose: bool = False):
        self.value = value
        self.dtype = dtype
        self.shape = shape
        self.loose = loose

    def __repr__(self) -> str:
        return f"<tile {self.dtype}{list(self.shape)}>"

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def item(self) -> Tile:
        """The one element of a tile of one element, as a scalar."""
        return shapes.item(self)

    def astype(self, dtype: Any, *, rounding_mode: Any = None) -> Tile:
        """See `astype`."""
        return casts.astype(self, dtype, rounding_mode=rounding_mode)

    def reshape(self, shape: Any) -> Tile:
        """See `reshape`."""
        return shapes.reshape(self, shape)

    def permute(self, axes: Any) -> Tile:
        """See `permute`."""
        return shapes.permute(self, axes)

    def transpose(self, axis0: Any = None, axis1: Any = None) -> Tile:
        """See `transpose`."""
        return shapes.transpose(self, axis0, axis1)

    def extract(self, index: Any, shape: Any) -> Tile:
        """See `extract`."""
        return shapes.extract(self, index, shape)

    def insert(self, index: Any, value: Any) -> Tile:
        """See `insert`."""
        return shapes.insert(self, index, value)

    def __getitem__(self, index: Any) -> Tile:
        return shapes.subscript(self, index)

    #: Tiles are not iterated over: Python would index them without end.
    __iter__ = None

    def __bool__(self) -> bool:
        raise TileTypeError("whether a tile is true is known only at run time")

    def __index__(self) -> int:
        raise TileTypeError(
            "an integer known at compile time is needed here, this is known only at run time",
            remedy="pass it to the kernel as a ct.Constant[int]",
        )

    def __add__(self, other: Any) -> Any:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return arithmetic.sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return arithmetic.sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return arithmetic.mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return arithmetic.mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return arithmetic.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return arithmetic.truediv(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return arithmetic.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return arithmetic.floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        return arithmetic.mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return arithmetic.mod(other, self)

    def __divmod__(self, other: Any) -> Any:
        return arithmetic.divmod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return arithmetic.divmod(other, self)

    def __pow__(self, other: Any) -> Any:
        return arithmetic.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return arithmetic.pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        return matmul.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul.matmul(other, self)

    def __neg__(self) -> Any:
        return arithmetic.negative(self)

    def __pos__(self) -> Tile:
        return self

    def __abs__(self) -> Any:
        return arithmetic.abs(self)

    def __and__(self, other: Any) -> Any:
        return bitwise.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Any:
        return bitwise.bitwise_and(other, self)

    def __or__(self, other: Any) -> Any:
        return bitwise.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Any:
        return bitwise.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Any:
        return bitwise.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return bitwise.bitwise_xor(other, self)

    def __invert__(self) -> Any:
        return bitwise.bitwise_not(self)

    def __lshift__(self, other: Any) -> Any:
        return bitwise.bitwise_lshift(self, other)

    def __rlshift__(self, other: Any) -> Any:
        return bitwise.bitwise_lshift(other, self)

    def __rshift__(self, other: Any) -> Any:
        return bitwise.bitwise_rshift(self, other)

    def __rrshift__(self, other: Any) -> Any:
        return bitwise.bitwise_rshift(other, self)

    def __eq__(self, other: Any) -> Any:
        return comparison.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return comparison.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return comparison.less(self, other)

    def __le__(self, other: Any) -> Any:
        return comparison.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return comparison.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return comparison.greater_equal(self, other)

    __hash__ = object.__hash__


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


#: What a scalar may be in a kernel, for annotations of functions.
Scalar = bool | int | float | Tile

# What operators of tiles do. These modules make tiles themselves.
from .ops import arithmetic, bitwise, casts, comparison, matmul  # noqa: E402
from .ops import shape as shapes  # noqa: E402
