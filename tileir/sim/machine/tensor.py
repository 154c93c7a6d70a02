"""Tensor copies: boxes of tensors in global memory, and how they lie in shared memory.

A box lies in shared memory row by row, dimension 0 innermost. Swizzling permutes the 16-byte
chunks of rows by address, so that columns fall into different banks: bits 4.. of the address are
xored with bits 7.. (3 bits for 128-byte rows, 2 for 64, 1 for 32).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...runtime.dtypes import element
from ...runtime.tensor_map import TensorMap
from ..numerics.fragments import round_tf32
from .asynchronous import Operation, slots_of
from .cohort import Array
from .faults import ThreadFault

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction
    from .launch import Launch

_CHUNK = 16
_SWIZZLE_BITS = {0: 0, 32: 1, 64: 2, 128: 3}


def swizzled(address: Array, width: int) -> Array:
    """Where the bytes of linear shared-memory addresses lie."""
    mask = (1 << _SWIZZLE_BITS[width]) - 1
    return address ^ ((address >> 7 & mask) << 4)


class Box(NamedTuple):
    """The elements of one copy.

    `offset` int64[rows, columns] are bytes from the tensor's first element, `inside` says which
    elements the tensor has; a row is one line of dimension 0.
    """

    offset: Array
    inside: Array
    itemsize: int

    @property
    def bytes(self) -> int:
        return self.offset.size * self.itemsize


def box_of(tensor: TensorMap, coordinates: tuple[int, ...]) -> Box:
    """The box at `coordinates`, dimension 0 first; they may be negative (those of loads).

    The hardware takes no steps along dimension 0, whatever the map says.
    """
    itemsize = element(tensor.dtype).bytes
    strides = (itemsize, *tensor.strides)
    steps = (1, *tensor.element_strides[1:])
    offset: Any = np.zeros(1, np.int64)
    inside: Any = np.ones(1, bool)
    dimensions = zip(coordinates, tensor.dims, strides, tensor.box, steps, strict=True)
    for start, extent, stride, size, step in reversed(list(dimensions)):
        index = start + step * np.arange(-(-size // step))
        offset = (offset[:, None] + index * stride).reshape(-1)
        inside = (inside[:, None] & ((index >= 0) & (index < extent))).reshape(-1)
    columns = tensor.box[0]
    return Box(offset.reshape(-1, columns), inside.reshape(-1, columns), itemsize)


class TensorCopy(Operation):
    """What loads and stores of boxes have in common."""

    kind = "bulk.tensor"

    def __init__(
        self,
        launch: Launch,
        site: Instruction,
        thread: int,
        tensor: TensorMap,
        coordinates: tuple[int, ...],
        shared: list[int],
        map_address: int = 0,
    ):
        slots = slots_of(launch, launch.shared, np.array(shared, np.int64))
        super().__init__(site, np.array([thread]), slots)
        self.tensor = tensor
        self.map_address = map_address  # generic, 0 if nobody needs to know
        self.coordinates = coordinates
        self.shared = shared
        self.box = box_of(tensor, coordinates)
        self._buffer, self._offset = self._locate(launch)
        self._data: Array = np.empty(0, np.uint8)

    @property
    def bytes(self) -> int:
        return self.box.bytes

    def _locate(self, launch: Launch) -> tuple[Any, Array]:
        """(the buffer that the tensor lies in, the element of it that each of the box is)"""
        inside = self.box.inside
        buffer = launch.space.find(self.tensor.base, -1)
        offset = np.where(inside, self.box.offset + (self.tensor.base - buffer.base), 0)
        if inside.any():
            low, high = int(offset[inside].min()), int(offset[inside].max()) + self.box.itemsize
            if low < 0 or high > buffer.size:
                raise ThreadFault(
                    f"the tensor map reaches bytes {low} to {high} of {buffer.name}, "
                    f"which holds {buffer.size}",
                    thread=int(self.threads[0]),
                    at=self.site,
                )
        return buffer, offset

    def _report_global(self, launch: Launch, kind: Any, buffer: Any, offset: Array) -> None:
        """Row by row."""
        if not launch.watch:
            return
        box = self.box
        first, lengths = box.inside.argmax(axis=1), box.inside.sum(axis=1)
        starts = offset[np.arange(len(first)), first]
        for length in np.unique(lengths[lengths > 0]).tolist():
            self.report(launch, kind, buffer, starts[lengths == length], length * box.itemsize)

    def _chunks(self, launch: Launch, start: int) -> Array:
        """The 16-byte chunks of the memory of all slots that hold the box at byte `start`."""
        count = -(-self.bytes // _CHUNK)
        base = start // launch.shared.stride * launch.shared.stride
        linear = start - base + _CHUNK * np.arange(count)
        return (base + swizzled(linear, self.tensor.swizzle)) // _CHUNK


class TensorLoad(TensorCopy):
    """A box from global to shared memory, of one block or several; elements outside are filled, and
    elements of tf32 rounded from the f32 that memory holds."""

    def __init__(self, *arguments: Any, mbarriers: list[int], map_address: int = 0):
        super().__init__(*arguments, map_address=map_address)
        self.mbarriers = mbarriers

    def _read(self, launch: Launch) -> None:
        buffer, offset = self._buffer, self._offset
        self._report_global(launch, "read", buffer, offset)
        unsigned = np.dtype(f"uint{8 * self.box.itemsize}")
        flat, lead = buffer.typed(unsigned)
        data = flat[(offset - lead) // self.box.itemsize]
        if not self.box.inside.all():
            data = np.where(self.box.inside, data, _fill(self.tensor, unsigned))
        if self.tensor.dtype == "tf32":
            data = round_tf32(data)
        self._data = np.ascontiguousarray(data)

    def _write(self, launch: Launch) -> None:
        words = launch.shared.data.view(np.uint64).reshape(-1, 2)
        for start, mbarrier in zip(self.shared, self.mbarriers, strict=True):
            chunks = self._chunks(launch, start)
            self.report(launch, "write", launch.shared, chunks * _CHUNK, _CHUNK)
            words[chunks] = self._data.reshape(-1).view(np.uint64).reshape(-1, 2)
            launch.mbarriers.complete_bytes(mbarrier, self.bytes, self.site, self.threads, self)


def _fill(tensor: TensorMap, unsigned: np.dtype[Any]) -> Any:
    """What elements outside the tensor read as."""
    ones = (1 << (8 * unsigned.itemsize - 1)) - 1  # a NaN in every float format
    return unsigned.type(ones if tensor.fill == "nan" else 0)


class TensorStore(TensorCopy):
    """A box from shared to global memory; elements beyond the tensor are dropped."""

    def __init__(self, *arguments: Any, function: Callable[[Array, Array], Array] | None = None,
                 dtype: np.dtype[Any] | None = None, map_address: int = 0):  # fmt: skip
        super().__init__(*arguments, map_address=map_address)
        self.function = function
        self.kind = "bulk.tensor" if function is None else "bulk.tensor.reduce"
        self._dtype = dtype or np.dtype(f"uint{8 * self.box.itemsize}")

    def _read(self, launch: Launch) -> None:
        chunks = self._chunks(launch, self.shared[0])
        self.report(launch, "read", launch.shared, chunks * _CHUNK, _CHUNK)
        words = launch.shared.data.view(np.uint64).reshape(-1, 2)
        flat = words[chunks].reshape(-1).view(self._dtype)
        self._data = flat[: self.box.offset.size].reshape(self.box.offset.shape)

    def _write(self, launch: Launch) -> None:
        buffer, offset = self._buffer, self._offset
        kind = "write" if self.function is None else "reduce"
        self._report_global(launch, kind, buffer, offset)
        if not buffer.writeable:
            raise ThreadFault(f"{buffer.name} is written, but is read-only", at=self.site)
        inside = self.box.inside
        flat, lead = buffer.typed(self._dtype)
        index = (offset[inside] - lead) // self.box.itemsize
        values = self._data[inside]
        flat[index] = values if self.function is None else self.function(flat[index], values)
