"""The builder: where operations of the kernel that is being traced go.

There is one ambient builder a thread while a kernel is traced.  Functions of the language take
it, look at the types of their arguments, and append operations:

    builder = current_builder()
    return builder.tile("cuda_tile.exp", x.dtype, x.shape, [x.value])
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tileir.ir import Attribute, Block, InsertionPoint, Location, Operation, Type, Value

from ..errors import TileError
from .context import Pool
from .dtypes import DType
from .errors import TileValueError
from .memory_order import MemoryOrder

if TYPE_CHECKING:
    from .frames import Frame
    from .values import Tile

#: Operations after which tracing stops: most likely an endless `static_iter` or recursion.
MAX_OPERATIONS = 200_000

Attributes = dict[str, Attribute]


class Builder:
    """Appends operations to the current block, with the location of the current expression.

    `types` makes types and attributes.  `memory` keeps accesses to memory in program order.
    `target` is the architecture (`sm_90a`) and `extended` whether dimensions of tiles need not be
    powers of two.  `frame` is the function that is being traced now.
    """

    def __init__(self, types: Pool, target: str, *, extended: bool = False, stops: bool = False):
        self.types = types
        self.target = target
        self.extended = extended
        #: Whether `breakpoint()` stops.
        self.stops = stops
        self.frame: Frame | None = None
        self.num_operations = 0
        # Blocks are filled here and move into their operation when its results are known.
        self._holder = Operation.create("builtin.module", regions=1, loc=self.types.unknown)
        self.block: Block = self.new_block(())
        self.entry_block = self.block
        self._point = InsertionPoint(self.block)
        self.memory = MemoryOrder(self)
        #: Operations that may be erased if nothing uses them, in the order in which they were made.
        self.removable: list[tuple[str, Operation]] = []
        #: Values that need to be made only once in a kernel, such as block numbers.
        self.once: dict[Any, Any] = {}

    def location(self) -> Location:
        """Of the expression that is being evaluated."""
        return self.frame.location() if self.frame is not None else self.types.unknown

    def op(
        self,
        name: str,
        results: Sequence[Type],
        operands: Sequence[Value],
        attributes: Attributes | None = None,
        regions: int = 0,
    ) -> Operation:
        """Appends an operation. All is given in its generic form, so `attributes` must also hold
        `operandSegmentSizes` where the operation has several groups of operands."""
        self.num_operations += 1
        if self.num_operations > MAX_OPERATIONS:
            raise TileValueError(
                f"the kernel grew beyond {MAX_OPERATIONS} operations",
                remedy="use range(...) where static_iter(...) or recursion repeats code too often",
            )
        made = Operation.create(
            name,
            results,
            operands,
            attributes,
            regions=regions,
            loc=self.location(),
            ip=self._point,
        )
        if results and not regions and not name.endswith("_tko"):
            self.removable.append((name, made))
        return made

    def value(
        self,
        name: str,
        result: Type,
        operands: Sequence[Value],
        attributes: Attributes | None = None,
    ) -> Value:
        """Appends an operation with one result and returns it."""
        return self.op(name, (result,), operands, attributes).result

    def tile(
        self,
        name: str,
        dtype: DType,
        shape: tuple[int, ...],
        operands: Sequence[Value],
        attributes: Attributes | None = None,
    ) -> Tile:
        """Appends an operation whose one result is a tile."""
        result = self.op(name, (self.types.tile(shape, dtype),), operands, attributes).result
        return values.Tile(result, dtype, shape)

    def new_block(self, types: Sequence[Type]) -> Block:
        """A block with arguments of these types, to be moved to where it belongs."""
        return Block.create_at_start(
            self._holder.regions[0], list(types), [self.types.unknown] * len(types)
        )

    def move_kernel(self, entry: Operation) -> None:
        """Moves the finished kernel into its operation and drops what is not part of it."""
        self.entry_block.append_to(entry.regions[0])
        # At once: code that was traced for nothing may use values of the kernel.
        self._holder.erase()

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Has operations appended to another block for the time of a `with` statement."""
        block_before, point_before = self.block, self._point
        self.block, self._point = block, InsertionPoint(block)
        try:
            yield block
        finally:
            self.block, self._point = block_before, point_before

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Has operations inserted at the beginning of the kernel, before all of its code."""
        point_before = self._point
        self._point = InsertionPoint.at_block_begin(self.entry_block)
        try:
            yield
        finally:
            self._point = point_before

    def enter(self, block: Block) -> tuple[Block, InsertionPoint]:
        """`inside` without `with`: hand the result to `leave`. For code that nests deeply."""
        before = self.block, self._point
        self.block, self._point = block, InsertionPoint(block)
        return before

    def enter_at(self, point: InsertionPoint) -> tuple[Block, InsertionPoint]:
        """`enter` for a place within a block."""
        before = self.block, self._point
        self.block, self._point = point.block, point
        return before

    def leave(self, before: tuple[Block, InsertionPoint]) -> None:
        """Goes back to the place that `enter` or `enter_at` returned."""
        self.block, self._point = before


class OutsideError(TileError):
    """A function of the language was called where no kernel is traced."""


class _Ambient(threading.local):
    builder: Builder | None = None


_ambient = _Ambient()


def current_builder() -> Builder:
    """The builder of the kernel that this thread traces.

    Raises `TileError` outside of kernels: functions of the language cannot be called there.
    """
    builder = _ambient.builder
    if builder is None:
        raise OutsideError(
            "functions of tileir.lang work only inside of a kernel",
            remedy="call them in a function decorated with @ct.kernel, or one that it calls",
        )
    return builder


@contextmanager
def ambient(builder: Builder | None) -> Iterator[None]:
    """Makes `builder` the one of this thread for the time of a `with` statement."""
    before = _ambient.builder
    _ambient.builder = builder
    try:
        yield
    finally:
        _ambient.builder = before


# Tiles have operators, which need builders.
from . import values  # noqa: E402
