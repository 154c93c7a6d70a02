"""Values that come from several paths: which SSA values must pass, and how they become one value.

A `Plan` is made from a value (for a loop) or from the values at the ends of several paths (for a
branch).  `plan.collect(value)` gives the SSA values that a path passes on, `plan.rebuild(values)`
the value behind the join.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tileir.ir import Type, Value

from .builder import Builder
from .constants import constant
from .dtypes import DType
from .promotion import category_of, check_fits, default_dtype
from .signature import constant_key
from .values import RuntimeValue, Tile, describe

Path = tuple[int, ...]


class Mismatch(Exception):
    """Values of several paths that cannot be one.

    `path` and, for people, `part` say where in an aggregate; `can_change` whether a loop would do
    if it were known to change there.
    """

    def __init__(self, first: Any, second: Any, path: Path = (), can_change: bool = False):
        self.first = TileKind.of(first)
        self.second = TileKind.of(second)
        super().__init__(f"{self.name(self.first)} and {self.name(self.second)}")
        self.path = path
        self.can_change = can_change
        self.part = ""

    @staticmethod
    def name(value: Any) -> str:
        return str(value) if isinstance(value, TileKind) else describe(value)


@dataclass(frozen=True)
class TileKind:
    """What a tile is without its value."""

    dtype: DType
    shape: tuple[int, ...]

    @classmethod
    def of(cls, value: Any) -> Any:
        """The kind of a tile; other values as they are."""
        return cls(value.dtype, value.shape) if isinstance(value, Tile) else value

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}" if self.shape else str(self.dtype)


class Plan(ABC):
    """How one value passes a join. `types` are those of the SSA values that pass."""

    types: tuple[Type, ...] = ()

    @abstractmethod
    def collect(self, builder: Builder, value: Any) -> list[Value]:
        """The SSA values that pass for `value` on one path."""

    @abstractmethod
    def rebuild(self, values: Iterator[Value]) -> Any:
        """The value after the join, of those that have passed."""


@dataclass
class Same(Plan):
    """A value that is the same on all paths: nothing passes."""

    value: Any
    path: Path = ()

    def collect(self, builder: Builder, value: Any) -> list[Value]:
        if isinstance(value, frozenset) and value <= self.value:
            return []
        if not same(self.value, value):
            raise Mismatch(self.value, value, self.path, self.can_change)
        return []

    @property
    def can_change(self) -> bool:
        """Whether tracing the loop again, knowing that it changes, would help."""
        return isinstance(self.value, (bool, int, float, frozenset))

    def rebuild(self, values: Iterator[Value]) -> Any:
        return self.value


@dataclass
class AnyOf(Plan):
    """Names of arrays: behind the join it may be any of them."""

    names: frozenset[str]

    def collect(self, builder: Builder, value: Any) -> list[Value]:
        return []

    def rebuild(self, values: Iterator[Value]) -> frozenset[str]:
        return self.names


class Leaf(Plan):
    """A tile, or a number that becomes one."""

    def __init__(self, builder: Builder, dtype: DType, shape: tuple[int, ...], loose: bool = False):
        self.dtype, self.shape, self.loose = dtype, shape, loose
        self.types = (builder.types.tile(shape, dtype),)

    def collect(self, builder: Builder, value: Any) -> list[Value]:
        if isinstance(value, Tile):
            if value.dtype is self.dtype and value.shape == self.shape:
                return [value.value]
        elif _is_number(value) and not self.shape and _takes(self.dtype, value):
            return [constant(builder, value, self.dtype).value]
        raise Mismatch(TileKind(self.dtype, self.shape), value)

    def rebuild(self, values: Iterator[Value]) -> Tile:
        return Tile(next(values), self.dtype, self.shape, self.loose)


@dataclass
class Opaque(Plan):
    """An SSA value that is no tile of numbers: a pointer, a view."""

    types: tuple[Type, ...]

    def collect(self, builder: Builder, value: Any) -> list[Value]:
        return [value]

    def rebuild(self, values: Iterator[Value]) -> Value:
        return next(values)


class Group(Plan):
    """An aggregate: its parts pass one by one."""

    def __init__(self, example: Any, plans: list[Plan], make: Callable[[list[Any]], Any]):
        self.example, self.plans, self.make = example, plans, make
        self.types = tuple(type_ for plan in plans for type_ in plan.types)

    def collect(self, builder: Builder, value: Any) -> list[Value]:
        taken = parts(value)
        expected = parts(self.example)
        if taken is None or expected is None or taken.key != expected.key:
            raise Mismatch(self.example, value)
        passed: list[Value] = []
        for index, (plan, part) in enumerate(zip(self.plans, taken.items, strict=True)):
            try:
                passed += plan.collect(builder, part)
            except Mismatch as mismatch:
                mismatch.part = f"{taken.names[index]}{mismatch.part}"
                raise
        return passed

    def rebuild(self, values: Iterator[Value]) -> Any:
        return self.make([plan.rebuild(values) for plan in self.plans])


@dataclass(frozen=True)
class Parts:
    """An aggregate taken apart. Aggregates with equal keys can be joined part by part."""

    key: Any
    items: Sequence[Any]
    names: Sequence[str]
    make: Callable[[list[Any]], Any]


def parts(value: Any) -> Parts | None:
    """The parts of a tuple, dictionary or dataclass; None for everything else."""
    kind = type(value)
    if kind is tuple:
        return Parts((tuple, len(value)), value, _positions(value), tuple)
    if kind is dict:
        keys = tuple(value)
        names = [f"[{key!r}]" for key in keys]
        return Parts(
            (dict, keys),
            list(value.values()),
            names,
            lambda new: dict(zip(keys, new, strict=True)),
        )
    if isinstance(value, tuple):
        return Parts((kind, len(value)), value, _positions(value), lambda new: kind(*new))
    if is_dataclass(kind) and not isinstance(value, DType):
        # What follows from other fields, such as views of arrays, is made again behind a join.
        derived = getattr(kind, "derived_fields", ())
        names = [field.name for field in fields(kind) if field.name not in derived]

        def make(new: list[Any]) -> Any:
            made = object.__new__(kind)
            for name, item in zip(names, new, strict=True):
                object.__setattr__(made, name, item)
            if derived:
                made.derive()
            return made

        items = [getattr(value, name) for name in names]
        return Parts(kind, items, [f".{name}" for name in names], make)
    return None


def _positions(value: Sequence[Any]) -> list[str]:
    return [f"[{index}]" for index in range(len(value))]


#: What a first attempt to trace a loop has found to change: numbers and sets of names.
Promoted = dict[Path, Any]


def plan_for_loop(builder: Builder, value: Any, promoted: Promoted, path: Path = ()) -> Plan:
    """The plan for a value that a loop may change.

    A number becomes a run-time value, but within an aggregate only where `promoted` says so:
    sizes are kept in aggregates, too.
    """
    if isinstance(value, Tile):
        return Leaf(builder, value.dtype, value.shape)
    if _is_number(value):
        if path and path not in promoted:
            return Same(value, path)
        return Leaf(builder, default_dtype(value), ())
    if isinstance(value, frozenset):
        return Same(value | promoted.get(path, frozenset()), path)
    if isinstance(value, Value):
        return Opaque((value.type,))
    taken = parts(value)
    if taken is None:
        return Same(value, path)
    plans = [
        plan_for_loop(builder, item, promoted, (*path, index))
        for index, item in enumerate(taken.items)
    ]
    return Group(value, plans, taken.make)


def plan_for_paths(builder: Builder, values: Sequence[Any], *, inner: bool = False) -> Plan:
    """The plan for the values of a name at the ends of several paths.

    `inner` says that even a value that is the same on all paths was made on them, so that it must
    pass.  Raises `Mismatch`.
    """
    first = values[0]
    if not (inner and _holds_values(first)) and all(same(first, value) for value in values[1:]):
        return Same(first)
    if all(isinstance(value, frozenset) for value in values):
        return AnyOf(frozenset().union(*values))
    if all(isinstance(value, Tile) or _is_number(value) for value in values):
        return _leaf_for_paths(builder, values)
    if all(isinstance(value, Value) for value in values):
        if any(value.type != first.type for value in values):
            raise Mismatch(first, next(value for value in values if value.type != first.type))
        return Opaque((first.type,))
    taken = [parts(value) for value in values]
    head = taken[0]
    for value, other in zip(values[1:], taken[1:], strict=True):
        if head is None or other is None or other.key != head.key:
            raise Mismatch(first, value)
    assert head is not None
    columns = zip(*(other.items for other in taken if other is not None), strict=True)
    plans = [plan_for_paths(builder, column, inner=inner) for column in columns]
    return Group(first, plans, head.make)


def _leaf_for_paths(builder: Builder, values: Sequence[Any]) -> Leaf:
    tiles = [value for value in values if isinstance(value, Tile)]
    if not tiles:
        dtypes = [default_dtype(value) for value in values]
        widest = max(dtypes, key=lambda dtype: (dtype.category.value, dtype.bitwidth))
        leaf = Leaf(builder, widest, (), loose=True)
    else:
        firm = [tile for tile in tiles if not tile.loose] or tiles
        leaf = Leaf(builder, firm[0].dtype, firm[0].shape, loose=all(tile.loose for tile in tiles))
    for value in values:
        fits = (
            value.dtype is leaf.dtype and value.shape == leaf.shape
            if isinstance(value, Tile)
            else not leaf.shape and _takes(leaf.dtype, value)
        )
        if not fits:
            other = next(each for each in values if each is not value)
            raise Mismatch(other, value)
    return leaf


def _takes(dtype: DType, number: Any) -> bool:
    """Whether a number becomes `dtype` without losing what it is."""
    if category_of(number).value > dtype.category.value:
        return False
    check_fits(number, dtype)
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def _holds_values(value: Any) -> bool:
    """Whether SSA values are somewhere in it."""
    if isinstance(value, (RuntimeValue, Value)):
        return True
    taken = parts(value)
    return taken is not None and any(map(_holds_values, taken.items))


def same(first: Any, second: Any) -> bool:
    """Whether two values are the same one: the same SSA value, or equal Python values."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, Tile):
        return first.value == second.value
    if isinstance(first, Value):
        return first == second
    taken, other = parts(first), parts(second)
    if taken is not None and other is not None:
        return taken.key == other.key and all(map(same, taken.items, other.items))
    try:
        return bool(constant_key(first) == constant_key(second))
    except Exception:
        return False
