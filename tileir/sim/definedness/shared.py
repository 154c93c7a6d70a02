"""Undefined bytes of shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine.storage import Bytes, SharedMemory
from ..observer import Access
from .masks import Array, Mask, kept

_WORD = 8


class SharedMasks(Bytes):
    """Ones in each byte of the shared memory of all slots that nobody has written."""

    def __init__(self, shared: SharedMemory):
        super().__init__(shared.size, "masks of shared memory")
        self.stride = shared.stride
        self._words = self.data.view(np.uint64)

    def reset(self, slot: int) -> None:
        self.data[slot * self.stride : (slot + 1) * self.stride] = 0xFF

    def clear(self, offset: Array, size: int) -> None:
        """Runs of `size` bytes at int64[m] are written."""
        unit = min(size & -size, _WORD)
        flat, _ = self.typed(np.dtype(f"uint{8 * unit}"))
        first = offset // unit
        count = size // unit
        flat[first if count == 1 else first[:, None] + np.arange(count)] = 0

    def bytes_at(self, offset: Array, size: int) -> Array:
        """uint8[m, size]"""
        unit = min(size & -size, _WORD)
        flat, _ = self.typed(np.dtype(f"uint{8 * unit}"))
        words = flat[(offset // unit)[:, None] + np.arange(size // unit)]
        return words.view(np.uint8).reshape(len(offset), size)

    def load(self, access: Access, element: int, dtype: np.dtype[Any]) -> Mask:
        """The masks that lanes load, [n, 32], of the element with that number."""
        flat, _ = self.typed(dtype)
        found = flat[access.offset // dtype.itemsize + element]
        if access.active is not None:
            found = np.where(access.active, found, dtype.type(0))
        return kept(found)

    def store(self, access: Access, element: int, mask: Array) -> None:
        """What lanes store is partly undefined."""
        flat, _ = self.typed(mask.dtype)
        index = access.offset // mask.dtype.itemsize + element
        if access.active is None:
            flat[index] = mask
        else:
            flat[index[access.active]] = mask[access.active]

    # --- ldmatrix, stmatrix ----------------------------------------------------------------------

    def load_rows(self, access: Access, count: int) -> Array:
        """uint32[n, count, 32], the masks of `count` matrices of 8 x 16 bytes."""
        flat, _ = self.typed(np.dtype(np.uint32))
        start = access.offset[:, : 8 * count] >> 2
        return flat[start[:, :, None] + np.arange(4)].reshape(len(start), count, 32)

    def store_rows(self, access: Access, masks: Array) -> None:
        """The reverse, for masks uint32[n, count, 32]."""
        flat, _ = self.typed(np.dtype(np.uint32))
        start = access.offset[:, : 8 * masks.shape[1]] >> 2
        flat[start[:, :, None] + np.arange(4)] = masks.reshape(*start.shape, 4)
