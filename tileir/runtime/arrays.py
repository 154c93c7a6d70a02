"""Arrays as kernels see them: an address, and the memory around it that may be touched.

A NumPy array argument stands for the address of its first element.  The memory that a kernel may
reach from there is that of the array it is a view of, so strided, offset and overlapping views
work: `owner` finds that array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import LaunchError


def owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory `array` is a view of (itself if it owns its memory)."""
    root = array
    while True:
        base = root.base
        # as_strided puts a holder object between the view and the array it came from.
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray):
            return root
        root = base


def address(array: np.ndarray) -> int:
    """Host address of the first element."""
    return array.__array_interface__["data"][0]


def byte_range(array: np.ndarray) -> tuple[int, int]:
    """Host addresses of the first byte of `array`'s memory and of the byte after its last."""
    start = end = address(array)
    if array.size == 0:
        return start, end
    for extent, stride in zip(array.shape, array.strides, strict=True):
        reach = (extent - 1) * stride
        if reach < 0:
            start += reach
        else:
            end += reach
    return start, end + array.itemsize


def element_strides(array: Any) -> tuple[int, ...]:
    """Strides counted in elements."""
    return tuple(stride // array.itemsize for stride in array.strides)


class PointerTable:
    """The argument for a list of arrays: a pointer to one record of 64-bit words per array.

    A record is the array's address, its shape and its strides in elements.  All arrays must have
    the same rank.  The kernel's next parameter is usually the length of the list.
    """

    def __init__(self, arrays: Sequence[Any]):
        self.arrays = tuple(arrays)
        ranks = {len(array.shape) for array in self.arrays}
        if len(ranks) > 1:
            raise LaunchError(f"the arrays of a PointerTable differ in rank: {sorted(ranks)}")

    def words(self, address_of: Callable[[Any], int]) -> np.ndarray:
        """The table as int64[arrays * (1 + 2 * rank)], with addresses given by `address_of`."""
        words = [
            word & 0xFFFF_FFFF_FFFF_FFFF  # negative strides in two's complement
            for array in self.arrays
            for word in (address_of(array), *array.shape, *element_strides(array))
        ]
        return np.array(words, dtype=np.uint64).view(np.int64)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)
