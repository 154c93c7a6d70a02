"""MLIR contexts that outlive a trace, and the types and attributes made in them.

Making a context costs as long as tracing a kernel, and types are found faster in a dictionary than
in MLIR.  A context is given up after a while, so that what it holds (MLIR frees no type, attribute
or location before its context) stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from tileir.dialects import cuda_tile, make_context
from tileir.ir import Attribute, Context, DenseI32ArrayAttr, IntegerType, Location, Type

from .dtypes import DType

#: Traces after which a context is given up.
_TRACES_PER_CONTEXT = 1000


class Pool:
    """A context, and one object for each type and attribute that was made in it."""

    def __init__(self) -> None:
        self.context: Context = make_context()
        self.traces = 0
        self._tiles: dict[Any, Type] = {}
        self._elements: dict[str, Type] = {}
        self._made: dict[Any, Any] = {}
        self.i1 = IntegerType.get_signless(1, self.context)
        self.i32 = IntegerType.get_signless(32, self.context)
        self.i64 = IntegerType.get_signless(64, self.context)
        self.unknown = Location.unknown(self.context)
        self.token = cuda_tile.TokenType.get(self.context)

    def element(self, dtype: DType) -> Type:
        """`i8` for uint8."""
        name = dtype.element
        found = self._elements.get(name)
        if found is None:
            text = f"!cuda_tile.{name}" if name.startswith("fnv") else name
            found = self._elements[name] = Type.parse(text, self.context)
        return found

    def tile(self, shape: tuple[int, ...], dtype: DType) -> Type:
        """`!cuda_tile.tile<8x4xi8>`."""
        found = self._tiles.get((shape, dtype.name))
        if found is None:
            with self.context, self.unknown:
                found = cuda_tile.TileType.get(shape, self.element(dtype))
            self._tiles[shape, dtype.name] = found
        return found

    def pointers(self, shape: tuple[int, ...], dtype: DType) -> Type:
        """`!cuda_tile.tile<8x4xptr<i8>>`: addresses of elements of `dtype`."""
        found = self._tiles.get((shape, dtype.name, "pointers"))
        if found is None:
            with self.context, self.unknown:
                pointer = cuda_tile.PtrType.get(self.element(dtype))
                found = cuda_tile.TileType.get(shape, pointer)
            self._tiles[shape, dtype.name, "pointers"] = found
        return found

    def made(self, key: Any, make: Callable[[], Any]) -> Any:
        """`make()`, called once for each key; for types and attributes. The key must be hashable
        and unlike those that others use: begin it with the kind of thing that is made."""
        found = self._made.get(key)
        if found is None:
            with self.context, self.unknown:
                found = self._made[key] = make()
        return found

    def enum(self, value: IntEnum) -> Attribute:
        """`#cuda_tile.rounding<zero>` for `cuda_tile.RoundingMode.Zero`."""
        key = (type(value), value)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = cuda_tile.enum_attribute(value, self.context)
        return found

    def segments(self, *sizes: int) -> Attribute:
        """How the operands are divided among the operand groups of an operation."""
        found = self._made.get(sizes)
        if found is None:
            found = self._made[sizes] = DenseI32ArrayAttr.get(sizes, self.context)
        return found

    def attribute(self, text: str) -> Attribute:
        """The attribute that `text` stands for."""
        found = self._made.get(text)
        if found is None:
            found = self._made[text] = Attribute.parse(text, self.context)
        return found


_local = threading.local()


def pool() -> Pool:
    """The pool that this thread traces in."""
    found: Pool | None = getattr(_local, "pool", None)
    if found is None or found.traces >= _TRACES_PER_CONTEXT:
        found = _local.pool = Pool()
    found.traces += 1
    return found
