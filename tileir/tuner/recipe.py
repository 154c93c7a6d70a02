"""Arguments by content, so that a launch can be repeated in another process.

An array travels as its type, shape, strides and alignment. Integers and small arrays travel with
their elements, since kernels use them as indices; of large arrays of floats only what the compiler
and the memory system see matters, and the elements are made anew, standard normal.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from ..runtime.array_view import ArrayView, view
from ..runtime.arrays import PointerTable
from ..runtime.dtypes import element, storage_dtype

#: Arrays of floats with more bytes than this travel without their elements.
_SMALL = 1 << 16
#: Arrays of integers with more bytes than this do not travel at all.
_MOST = 256 << 20
#: Addresses are the same modulo this.
ALIGNMENT = 256
_FASTEST_ZLIB = 1


@dataclass(frozen=True)
class ArrayRecipe:
    """An array: `strides` count elements, `misaligned` is its address modulo 256; `elements` are
    those of its memory, compressed, or None for random ones."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    misaligned: int
    elements: bytes | None = None

    @property
    def before(self) -> int:
        """Elements of the memory before the first element of the array (negative strides)."""
        return -sum((n - 1) * s for n, s in self._dims() if s < 0)

    @property
    def length(self) -> int:
        """Elements from the first byte of the array to the last."""
        if 0 in self.shape:
            return 0
        return 1 + sum((n - 1) * abs(s) for n, s in self._dims())

    def _dims(self) -> list[tuple[int, int]]:
        return list(zip(self.shape, self.strides, strict=True))

    def make(self, random: np.random.Generator) -> np.ndarray:
        """The array in host memory."""
        dtype = storage_dtype(self.dtype)
        size = self.length * dtype.itemsize
        raw = np.zeros(size + 2 * ALIGNMENT, np.uint8)
        before = self.before * dtype.itemsize
        start = (self.misaligned - before - raw.ctypes.data) % ALIGNMENT
        memory = raw[start : start + size]
        if self.elements is not None:
            memory[:] = np.frombuffer(zlib.decompress(self.elements), np.uint8)
        elif size:
            memory.view(dtype)[:] = random.standard_normal(self.length, np.float32).astype(dtype)
        strides = [stride * dtype.itemsize for stride in self.strides]
        return np.ndarray(self.shape, dtype, raw, start + before, strides)


@dataclass(frozen=True)
class TableRecipe:
    """A list of arrays."""

    arrays: tuple[ArrayRecipe, ...]


Word = ArrayRecipe | TableRecipe | int | float | bool


def describe_words(words: Sequence[Any]) -> tuple[Word, ...]:
    """Recipes for the words of a launch. Raises LaunchError for what cannot travel."""
    return tuple(_describe(word, f"word {index}") for index, word in enumerate(words))


def _describe(word: Any, name: str) -> Word:
    if isinstance(word, bool | int | float):
        return word
    if isinstance(word, PointerTable):
        return TableRecipe(tuple(_describe_array(array, name) for array in word.arrays))
    return _describe_array(word, name)


def _describe_array(value: Any, name: str) -> ArrayRecipe:
    array = value if isinstance(value, ArrayView) else view(value, name)
    if array is None:
        raise LaunchError(f"{name}: a {type(value).__name__} cannot be sent to another process")
    recipe = ArrayRecipe(array.dtype, array.shape, array.strides, array.address % ALIGNMENT)
    size = recipe.length * array.itemsize
    if element(array.dtype).kind == "float" and size > _SMALL:
        return recipe
    if size > _MOST:
        raise LaunchError(
            f"{name}: {size >> 20} MiB of {array.dtype} are too much to send to another process",
            remedy="tune in this process (no executor), or on smaller arrays",
        )
    memory = _host_memory(array, recipe)
    return ArrayRecipe(
        recipe.dtype, recipe.shape, recipe.strides, recipe.misaligned,
        zlib.compress(memory, _FASTEST_ZLIB),
    )  # fmt: skip


def _host_memory(array: ArrayView, recipe: ArrayRecipe) -> bytes:
    """All bytes from the first of the array to the last."""
    size = recipe.length * array.itemsize
    start = array.address - recipe.before * array.itemsize
    memory = np.empty(size, np.uint8)
    if not size:
        return b""
    if array.on_host:
        import ctypes

        ctypes.memmove(memory.ctypes.data, start, size)
    else:
        from ..runtime.driver import cuda_driver

        driver = cuda_driver()
        driver.copy_to_host(memory.ctypes.data, start, size, 0)
        driver.synchronize(0)
    return memory.tobytes()


def make_words(words: Sequence[Word], seed: int = 0) -> list[Any]:
    """The words of a launch with arrays in host memory."""
    random = np.random.default_rng(seed)

    def make(word: Word) -> Any:
        if isinstance(word, ArrayRecipe):
            return word.make(random)
        if isinstance(word, TableRecipe):
            return PointerTable([array.make(random) for array in word.arrays])
        return word

    return [make(word) for word in words]


def copied(words: Sequence[Any]) -> list[Any]:
    """The words with copies of NumPy arrays, strides and alignment kept; overlaps are not."""

    def copy(array: np.ndarray) -> np.ndarray:
        found = view(array, "array")
        assert found is not None
        recipe = ArrayRecipe(found.dtype, found.shape, found.strides, found.address % ALIGNMENT)
        memory = zlib.compress(_host_memory(found, recipe), 0)
        return ArrayRecipe(
            recipe.dtype, recipe.shape, recipe.strides, recipe.misaligned, memory
        ).make(np.random.default_rng(0))

    def word(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return copy(value)
        if isinstance(value, PointerTable):
            return PointerTable([copy(array) for array in value.arrays])
        return value

    return [word(value) for value in words]
