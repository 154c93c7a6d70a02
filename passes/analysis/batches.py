"""Tensors of batches, as tensor memory accesses see them.

A load knows only the dimensions in which its tile has more than one element; where it lies in the
others is part of its address. A tensor map has these dimensions, too: it is the same for all blocks
then, and is made once.

    %p = getelementptr %all[%n * %stride]           base %all, dimensions (%n, %stride), %i, %j
    load %p[%i, %j] sizes[...] strides[...]   =>
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tileir.compiler.builder import Builder
from tileir.compiler.ir_util import defining_op, int_attr, splat_integer
from tileir.compiler.tile_types import TENSOR_ALIGNMENT, BufferInfo, tile_of
from tileir.dialects import tile_gpu
from tileir.ir import OpView, Value

#: On a load or store: bytes that divide the strides of the dimensions in its address, where there
#: are any.
BATCH_ALIGNMENT_ATTRIBUTE = "tile_gpu.batch_alignment"
#: The most dimensions of a tensor map (CUDA driver, cuTensorMapEncodeTiled).
_MOST_DIMENSIONS = 5
#: A program's index is inside the tensor, so that its size need not be known.
_ANY_SIZE = 2**31 - 1


@dataclass(frozen=True)
class Tensor:
    """A tensor in memory, and where an access starts in it.

    `batch` are the dimensions in which the accessed tile has one element, slowest first: starts and
    strides, in elements.
    """

    base: Value
    batch: tuple[tuple[Value, Value], ...]
    starts: tuple[Value, ...]
    sizes: tuple[Value, ...]
    strides: tuple[Value, ...]

    @staticmethod
    def of(access: tile_gpu.LoadOp | tile_gpu.StoreOp) -> Tensor:
        base, batch = access.base, []
        if int_attr(access, BATCH_ALIGNMENT_ATTRIBUTE, 1) % TENSOR_ALIGNMENT == 0:
            base, batch = _without_batch(base, tile_of(_tile(access)).element_bytes)
        if len(batch) + len(access.starts) > _MOST_DIMENSIONS:
            base, batch = access.base, []
        lists = (access.starts, access.sizes, access.strides)
        return Tensor(base, tuple(batch), *map(tuple, lists))

    def transposed(self) -> Tensor:
        """The same tensor, of which the accessed tile is the transpose."""
        lists = (self.starts, self.sizes, self.strides)
        starts, sizes, strides = (values[::-1] for values in lists)
        return replace(self, starts=starts, sizes=sizes, strides=strides)

    @property
    def place(self) -> list[Value]:
        """Where the access starts, in all dimensions."""
        return [*(start for start, _ in self.batch), *self.starts]

    @property
    def description(self) -> list[Value]:
        """What a map of the tensor follows from."""
        return [self.base, *(stride for _, stride in self.batch), *self.sizes, *self.strides]

    def described_by(self, change: Callable[[Value], Value]) -> Tensor:
        """The same, described by other values."""
        return replace(
            self,
            base=change(self.base),
            batch=tuple((start, change(stride)) for start, stride in self.batch),
            sizes=tuple(map(change, self.sizes)),
            strides=tuple(map(change, self.strides)),
        )

    def map_of(self, b: Builder, box: BufferInfo, rows: Value | None = None) -> Value:
        """The map for copies of `box`, a part of the tile, or of so many `rows` of it."""
        count = len(self.batch)
        sizes = [*[b.c64(_ANY_SIZE)] * count, *self.sizes]
        strides = [*(stride for _, stride in self.batch), *self.strides]
        order = (*range(count), *(count + dim for dim in box.order))
        box = replace(box, shape=(*(1,) * count, *box.shape), order=order)
        type_ = b.type(str(box).replace("buffer", "tensor_map", 1))
        some_rows = [] if rows is None else [rows]
        segments = b.segments(1, len(sizes), len(strides), rows, 0, 0, 0)
        operands = [self.base, *sizes, *strides, *some_rows]
        return b.op("tile_gpu.tensor_map", operands, type_, {"operandSegmentSizes": segments})


def _tile(access: tile_gpu.LoadOp | tile_gpu.StoreOp) -> Value:
    return access.result if isinstance(access, tile_gpu.LoadOp) else access.value


def _without_batch(base: Value, element_bytes: int) -> tuple[Value, list[tuple[Value, Value]]]:
    """The address before dimensions were folded into it, and these."""
    batch: list[tuple[Value, Value]] = []
    while (op := defining_op(base)) is not None:
        dimension = _folded(op, element_bytes)
        if dimension is None:
            break
        base, start, stride = dimension
        batch.insert(0, (start, stride))
    return base, batch


def _folded(op: OpView, element_bytes: int) -> tuple[Value, Value, Value] | None:
    """Address, start and stride of `address + start * stride`."""
    operands = list(op.operation.operands)
    if op.operation.name != "llvm.getelementptr" or len(operands) != 2:
        return None
    if str(op.operation.attributes["elem_type"]) != f"!llvm.array<{element_bytes} x i8>":
        return None
    product = defining_op(operands[1])
    if product is None or product.operation.name != "arith.muli":
        return None
    start, stride = product.operation.operands
    constant = splat_integer(defining_op(stride))
    if constant is not None and constant * element_bytes % TENSOR_ALIGNMENT:
        start, stride = stride, start  # constants stand on the right: this one is an index
    return operands[0], start, stride
