"""From Python arguments to the words a kernel receives.

NumPy arrays are copied to the device before the launch and back after it; arrays that already
lie on the device are passed as they are.  The memory around each NumPy view is copied once, also
when several arguments are views of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from .arrays import PointerTable, address, byte_range, owner
from .device_arrays import DeviceArray, device_array
from .driver import Device, Driver
from .dtypes import element, holds
from .host_arrays import host_array
from .scalars import describe, mismatch, pack_scalar, wrong_count

_POINTER = re.compile(r"ptr<\s*(\w+).*>")


@dataclass(frozen=True)
class Word:
    """One kernel parameter: its bytes, and its value where it is an integer or an address."""

    data: bytes
    value: Any = None


@dataclass
class _Block:
    """A range of host memory and its copy on the device."""

    start: int
    end: int
    writeable: bool
    base: int = 0
    allocation: int = 0

    @property
    def size(self) -> int:
        return self.end - self.start


class Arguments:
    """The arguments of one launch, on the device.

    arguments = Arguments(driver, info.parameters, args, stream)
    arguments.words                   # launch with these
    arguments.copy_back()             # only if `has_host_arrays`; waits for the kernel
    arguments.release()               # always
    """

    def __init__(
        self,
        driver: Driver,
        parameters: Sequence[str],
        args: Sequence[Any],
        stream: int,
        device: Device | None = None,
    ):
        if len(args) != len(parameters):
            raise wrong_count(parameters, len(args))
        self._driver = driver
        self._stream = stream
        self._device = device
        self._blocks: list[_Block] = []
        self._tables: list[int] = []
        self._keep: list[Any] = []
        resolved = [
            self._resolve(value, type_name, index)
            for index, (value, type_name) in enumerate(zip(args, parameters, strict=True))
        ]
        try:
            self._copy_in(resolved)
            self.words = [
                self._word(value, type_name, index)
                for index, (value, type_name) in enumerate(zip(resolved, parameters, strict=True))
            ]
        except BaseException:
            self.release(quiet=True)
            raise

    @property
    def has_host_arrays(self) -> bool:
        return bool(self._blocks)

    def copy_back(self) -> None:
        """Copies results into the NumPy arrays and waits until they are there."""
        for block in self._blocks:
            if block.writeable:
                self._driver.copy_to_host(block.start, block.base, block.size, self._stream)
        self._driver.synchronize(self._stream)

    def release(self, quiet: bool = False) -> None:
        """Frees device memory; `quiet` hides errors that only follow from an earlier one."""
        try:
            while self._tables:
                self._driver.free_on(self._tables.pop(), self._stream)
            for block in self._blocks:
                if block.allocation:
                    allocation, block.allocation = block.allocation, 0
                    self._driver.free(allocation)
        except LaunchError:
            if not quiet:
                raise
        self._keep.clear()

    def _resolve(self, value: Any, type_name: str, index: int) -> Any:
        """Arrays become NumPy arrays or `DeviceArray`s of the right type; the rest stays."""
        pointee = _POINTER.fullmatch(type_name)
        if pointee is None:
            # Zero-dimensional arrays are a common way to spell scalars.
            return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        if isinstance(value, PointerTable):
            arrays = [self._array(one, None, type_name, index) for one in value.arrays]
            if element(pointee[1]).bytes != 8:
                raise mismatch(index, type_name, "a PointerTable, whose words are 64 bits")
            return PointerTable(arrays)
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return int(value)
        return self._array(value, pointee[1], type_name, index)

    def _array(
        self, value: Any, pointee: str | None, type_name: str, index: int
    ) -> np.ndarray | DeviceArray:
        if not isinstance(value, np.ndarray):
            found = value
            if not isinstance(value, DeviceArray):
                found = device_array(value, index, self._stream)
            if found is not None:
                self._check_device_array(found, pointee, type_name, index)
                return found
            value = _on_host(value, type_name, index)
        if pointee is not None and not holds(value.dtype, pointee):
            raise mismatch(index, type_name, describe(value))
        return value

    def _check_device_array(
        self, array: DeviceArray, pointee: str | None, type_name: str, index: int
    ) -> None:
        # An array interface cannot name the narrow floats: any 2-byte type may stand for bf16.
        if pointee is not None and not _same_storage(array.dtype, pointee):
            raise mismatch(index, type_name, f"device array of {array.dtype}")
        if self._device is not None and array.device not in (None, self._device.ordinal):
            raise LaunchError(
                f"parameter {index}: the array lies on device {array.device}, "
                f"the current device is {self._device.ordinal}"
            )
        if array.stream is not None and array.stream != self._stream:
            self._driver.synchronize(array.stream)
        self._keep.append(array.keep)

    def _copy_in(self, values: list[Any]) -> None:
        arrays = [one for value in values for one in _host_arrays(value)]
        for block in _merge([_block(array) for array in arrays]):
            # Views keep the alignment they have on the host.
            shift = block.start % 16
            block.allocation = self._driver.allocate(max(1, block.size + shift))
            block.base = block.allocation + shift
            self._blocks.append(block)
            if block.size:
                self._driver.copy_to_device(block.base, block.start, block.size, self._stream)

    def _device_address(self, array: np.ndarray | DeviceArray) -> int:
        if isinstance(array, DeviceArray):
            return array.address
        start = address(array)
        for block in self._blocks:
            if block.start <= start <= block.end:
                return block.base + start - block.start
        raise AssertionError("every host array has a block")

    def _word(self, value: Any, type_name: str, index: int) -> Word:
        if _POINTER.fullmatch(type_name) is None:
            data = pack_scalar(value, type_name, index)
            return Word(data, value)
        if isinstance(value, PointerTable):
            pointer = self._stage_table(value.words(self._device_address))
        elif isinstance(value, int):
            pointer = value
        else:
            pointer = self._device_address(value)
        return Word(pointer.to_bytes(8, "little"), pointer)

    def _stage_table(self, words: np.ndarray) -> int:
        table = self._driver.allocate_on(max(8, words.nbytes), self._stream)
        self._tables.append(table)
        self._keep.append(words)
        if words.nbytes:
            self._driver.copy_to_device(table, address(words), words.nbytes, self._stream)
        return table


def _on_host(value: Any, type_name: str, index: int) -> np.ndarray:
    """An array in host memory as a NumPy array of that memory."""
    try:
        array = host_array(value)
    except Exception as error:  # libraries raise what they like
        raise LaunchError(f"parameter {index}: {type(value).__name__}: {error}") from error
    if array is None:
        raise mismatch(index, type_name, describe(value))
    return array


def _host_arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, PointerTable):
        return [one for one in value.arrays if isinstance(one, np.ndarray)]
    return [value] if isinstance(value, np.ndarray) else []


def _block(array: np.ndarray) -> _Block:
    root = owner(array)
    return _Block(*byte_range(root), writeable=array.flags.writeable)


def _merge(blocks: list[_Block]) -> list[_Block]:
    """Overlapping ranges become one; it is copied back if any view of it may be written."""
    merged: list[_Block] = []
    for block in sorted(blocks, key=lambda one: (one.start, one.end)):
        last = merged[-1] if merged else None
        if last is not None and (block.start < last.end or block.start == last.start):
            last.end = max(last.end, block.end)
            last.writeable |= block.writeable
        else:
            merged.append(block)
    return merged


def _same_storage(found: str, expected: str) -> bool:
    """Whether device elements named `found` may be passed where the kernel has `expected`."""
    have, want = element(found), element(expected)
    if have.bytes != want.bytes:
        return False
    if have.kind == "float" and want.kind == "float":
        return have.numpy == want.numpy
    return have.kind == "uint" or (have.kind != "float" and want.kind != "float")
