"""Tensor views and tiles of them: from tile indices to strided regions of memory.

Tile element j of tile index I lies at tensor coordinate c[m[i]] = I[i] * step[i] + j[i], where m
is the dimension map and step the tile shape (or the traversal strides), at address
base + sizeof(element) * sum(c[k] * stride[k]). Here everything is kept in the order of the tile's
dimensions, so m is applied once, when a view is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .faults import Fault
from .memory import AddressSpace, Buffer
from .numerics.formats import Number, Tile


class TensorView:
    """A tensor in memory: base address, shape, strides in elements."""

    __slots__ = ("base", "shape", "strides", "buffer")

    def __init__(self, base: int, shape: tuple[int, ...], strides: tuple[int, ...]):
        self.base = base
        self.shape = shape
        self.strides = strides
        self.buffer: Buffer | None = None


@dataclass(frozen=True)
class Tiling:
    """What the type of a partition, strided or gather/scatter view says.

    `sparse` is the dimension whose index is a tile of element positions, if there is one.
    """

    fmt: Number
    tile: tuple[int, ...]
    steps: tuple[int, ...]
    dim_map: tuple[int, ...]
    padding: Tile | None
    sparse: int | None = None


class Region:
    """A tile's elements inside the tensor, as bytes of one buffer.

    `shape` is the tile's, clipped at the tensor's edge; `strides` are in bytes.
    """

    __slots__ = ("buffer", "offset", "shape", "strides")

    def __init__(
        self, buffer: Buffer, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
    ):
        self.buffer = buffer
        self.offset = offset
        self.shape = shape
        self.strides = strides

    def array(self, dtype: np.dtype[Any]) -> Tile:
        """The elements in place."""
        return np.ndarray(self.shape, dtype, self.buffer.data, self.offset, self.strides)

    def may_overlap(self, itemsize: int) -> bool:
        """Whether two elements may share bytes (never missed, sometimes suspected)."""
        reach = itemsize
        for stride, extent in sorted(zip(self.strides, self.shape, strict=True)):
            if extent > 1 and stride < reach:
                return True
            reach += stride * (extent - 1)
        return False


class TileView:
    """A tensor view cut into tiles; sizes and strides by tile dimension."""

    __slots__ = ("tensor", "tiling", "sizes", "strides", "extents")

    def __init__(self, tensor: TensorView, tiling: Tiling):
        self.tensor = tensor
        self.tiling = tiling
        self.sizes = tuple(tensor.shape[k] for k in tiling.dim_map)
        self.strides = tuple(tensor.strides[k] for k in tiling.dim_map)
        # ceil(size / step): how many tile indices there are.
        self.extents = tuple(
            -(-size // step) for size, step in zip(self.sizes, tiling.steps, strict=True)
        )

    def check_index(self, index: Sequence[int], inbounds: Sequence[bool]) -> None:
        """A fault for an index outside the index space, or a broken `inbounds` promise."""
        tiling = self.tiling
        for d, i in enumerate(index):
            if d == tiling.sparse:
                continue
            if not 0 <= i < self.extents[d]:
                signed = f" ({i - (1 << 32)} as a signed number)" if 1 << 31 <= i < 1 << 32 else ""
                raise Fault(
                    f"index {i}{signed} of dimension {d} is outside the index space "
                    f"{_by(self.extents)} of the view",
                    f"from its beginning on, the view has {self.sizes[d]} elements there, the tile "
                    f"{tiling.tile[d]}",
                )
            if inbounds and inbounds[d] and i * tiling.steps[d] + tiling.tile[d] > self.sizes[d]:
                raise Fault(
                    f"the tile at index {i} of dimension {d} reaches beyond the tensor's "
                    f"{self.sizes[d]} elements, although `inbounds` promises that it does not"
                )

    def clip(self, index: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
        """(first tensor coordinate, extent inside the tensor) of each tile dimension."""
        tiling = self.tiling
        start = [i * step for i, step in zip(index, tiling.steps, strict=True)]
        extent = tuple(
            max(0, min(t, size - s)) if s >= 0 else 0
            for t, size, s in zip(tiling.tile, self.sizes, start, strict=True)
        )
        return start, extent

    def region(
        self, space: AddressSpace, start: Sequence[int], extent: tuple[int, ...], block: int
    ) -> Region:
        """The region of memory of a clipped, non-empty tile; a fault if it is out of bounds."""
        tensor = self.tensor
        itemsize = self.tiling.fmt.memory_dtype.itemsize
        strides = tuple(stride * itemsize for stride in self.strides)
        buffer = tensor.buffer
        if buffer is None or buffer.data is None or buffer.private_to is not None:
            buffer = tensor.buffer = space.find(tensor.base, block)
        offset = tensor.base - buffer.base
        if tensor.base % itemsize:
            raise Fault(
                f"misaligned view: its base is byte {offset} of {buffer.name}, "
                f"elements have {itemsize} bytes"
            )
        for first, stride in zip(start, strides, strict=True):
            offset += first * stride
        last = offset + itemsize
        for count, stride in zip(extent, strides, strict=True):
            last += (count - 1) * stride
        if offset < 0 or last > buffer.size:
            bad = offset if not 0 <= offset <= buffer.size - itemsize else last - itemsize
            raise Fault(
                f"out of bounds: element {bad // itemsize} of {buffer.name}, "
                f"which holds {buffer.size // itemsize}",
                "the shape or the strides of the tensor view do not fit the memory behind it",
            )
        return Region(buffer, offset, extent, strides)

    def elements(
        self, start: Sequence[int], extent: tuple[int, ...], rows: Tile | None
    ) -> tuple[Tile, Tile]:
        """(element number from the base, whether it is inside the tensor) of every tile element.

        `rows`: element positions along the sparse dimension.
        """
        tiling = self.tiling
        rank = len(tiling.tile)
        number = np.zeros((1,) * rank, np.int64)
        inside = np.ones((1,) * rank, bool)
        for d in range(rank):
            along = [1] * rank
            along[d] = -1
            if d == tiling.sparse and rows is not None:
                c, ok = rows, (rows >= 0) & (rows < self.sizes[d])
                c = np.where(ok, c, 0)
            else:
                j = np.arange(tiling.tile[d])
                c, ok = start[d] + j, j < extent[d]
            number = number + (c * self.strides[d]).reshape(along)
            inside = inside & ok.reshape(along)
        return np.broadcast_to(number, tiling.tile), np.broadcast_to(inside, tiling.tile)


def _by(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"
