"""A driver whose device memory is host memory and whose kernels are Python functions.

It records every call, checks that memory is freed, and lets a kernel read its parameters as the
hardware would, from the packed bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tileir.errors import LaunchError
from tileir.runtime.driver import Device, LaunchConfig
from tileir.runtime.tensor_map import TensorMap


class FakeDriver:
    """`kernels` maps names to functions `(config, read)`; `read(index, ctype)` is a parameter."""

    def __init__(
        self,
        kernels: dict[str, Callable[..., None]] | None = None,
        capability: tuple[int, int] = (9, 0),
    ):
        self.kernels = kernels or {}
        self.capability = capability
        self.calls: list[str] = []
        self.tensor_maps: list[TensorMap] = []
        self.memory: dict[int, Any] = {}
        self.loaded: list[bytes] = []
        self.fail_synchronize: str | None = None
        self.capturing: set[int] = set()

    def device(self) -> Device:
        return Device(0, "Fake GPU", self.capability, 132, 1)

    @contextmanager
    def current(self, context: int) -> Iterator[Device]:
        yield self.device()

    def is_capturing(self, stream: int) -> bool:
        return stream in self.capturing

    def allocate(self, size: int) -> int:
        assert size > 0
        block = ctypes.create_string_buffer(size + 256)
        base = ctypes.addressof(block)
        base += -base % 256
        self.memory[base] = block
        self.calls.append("allocate")
        return base

    def free(self, address: int) -> None:
        del self.memory[address]
        self.calls.append("free")

    def allocate_on(self, size: int, stream: int) -> int:
        return self.allocate(size)

    def free_on(self, address: int, stream: int) -> None:
        self.free(address)

    def copy_to_device(self, target: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(target, source, size)
        self.calls.append(f"to_device {size}")

    def copy_to_host(self, target: int, source: int, size: int, stream: int) -> None:
        ctypes.memmove(target, source, size)
        self.calls.append(f"to_host {size}")

    def zero(self, address: int, size: int, stream: int) -> None:
        ctypes.memset(address, 0, size)
        self.calls.append(f"zero {size}")

    def synchronize(self, stream: int) -> None:
        self.calls.append(f"synchronize {stream}")
        if self.fail_synchronize:
            raise LaunchError(self.fail_synchronize)

    def load(self, image: bytes, what: str) -> Any:
        self.loaded.append(image)
        return len(self.loaded) - 1

    def function(self, library: Any, name: str, config: LaunchConfig) -> Any:
        return self.kernels[name]

    def launch(
        self, function: Any, name: str, config: LaunchConfig, parameters: int, stream: int
    ) -> None:
        self.calls.append(f"launch {name} on {stream}")

        def read(index: int, kind: Any) -> Any:
            pointers = (ctypes.c_void_p * (index + 1)).from_address(parameters)
            found = kind.from_address(pointers[index])
            return found.value if hasattr(found, "value") else found

        function(config, read)

    def encode_tensor_map(self, tensor_map: TensorMap) -> bytes:
        self.tensor_maps.append(tensor_map)
        return bytes([len(self.tensor_maps)]) * 128


def array_at(address: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """The device memory at `address` as an array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(memoryview(raw), dtype).reshape(shape)
