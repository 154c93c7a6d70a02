"""The words of a launch with arrays in device memory of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..runtime.array_view import ArrayView, view
from ..runtime.arrays import PointerTable
from ..runtime.device_arrays import DeviceArray
from ..runtime.driver import CudaDriver
from .recipe import ALIGNMENT, ArrayRecipe


class DeviceWords:
    """Copies of all arrays among the words of a launch, with their strides and alignment.

    Arrays that overlap get memory of their own, each.
    """

    def __init__(self, driver: CudaDriver, words: Sequence[Any], stream: int = 0):
        self._driver, self._stream = driver, stream
        self._memory: list[int] = []
        self._ordinal = driver.device().ordinal
        try:
            self.words = [self._word(word) for word in words]
            driver.synchronize(stream)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Gives the memory back."""
        while self._memory:
            self._driver.free(self._memory.pop())

    def __enter__(self) -> DeviceWords:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _word(self, word: Any) -> Any:
        if isinstance(word, PointerTable):
            return PointerTable([self._array(array) for array in word.arrays])
        return self._array(word) if isinstance(word, np.ndarray | DeviceArray) else word

    def _array(self, value: Any) -> DeviceArray:
        array = _view(value)
        recipe = ArrayRecipe(array.dtype, array.shape, array.strides, array.address % ALIGNMENT)
        before = recipe.before * array.itemsize
        size = recipe.length * array.itemsize
        # Allocations begin at multiples of 256 bytes.
        base = self._driver.allocate(size + 2 * ALIGNMENT)
        self._memory.append(base)
        start = base + (recipe.misaligned - before) % ALIGNMENT
        if size and array.on_host:
            self._driver.copy_to_device(start, array.address - before, size, self._stream)
        elif size:
            self._driver.copy_on_device(start, array.address - before, size, self._stream)
        strides = tuple(stride * array.itemsize for stride in array.strides)
        return DeviceArray(
            start + before, array.shape, strides, array.itemsize, array.dtype, self._ordinal
        )


def _view(value: Any) -> ArrayView:
    if isinstance(value, DeviceArray):
        strides = tuple(stride // value.itemsize for stride in value.strides)
        return ArrayView(
            value, value.dtype, value.itemsize, value.address, value.shape, strides, on_host=False
        )
    array = view(value, "array")
    assert array is not None
    return array
