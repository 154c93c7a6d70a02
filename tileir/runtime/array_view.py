"""Array arguments as a kernel sees them, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LaunchError
from .arrays import address
from .device_arrays import device_array
from .dtypes import element, name_of
from .host_arrays import host_array


@dataclass(frozen=True)
class ArrayView:
    """An array: `strides` count elements, `dtype` is the name in signatures.

    `passed` is what stands for it where a flat list of parameters is launched: a NumPy array of its
    memory, or a DeviceArray (`device`: its number, None if unknown).
    """

    passed: Any
    dtype: str
    itemsize: int
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    on_host: bool
    device: int | None = None


def view(value: Any, name: str, stream: int = 0) -> ArrayView | None:
    """`value` as an array, None if it is none. `name` is the parameter's, for errors.

    `stream` is where a kernel will use the array; a DLPack producer makes it ready there.
    """
    detach = getattr(value, "detach", None)
    if getattr(value, "requires_grad", False) and detach is not None:
        value = detach()  # PyTorch does not export what it tracks
    try:
        host = host_array(value)
    except LaunchError:
        raise
    except Exception as error:  # libraries raise what they like
        raise LaunchError(
            f"{name}: this {type(value).__name__} cannot be passed: {error}"
        ) from error
    if host is not None:
        return _host_view(host, name)
    if isinstance(value, np.generic):
        return None
    found = device_array(value, name, stream)
    if found is None:
        return None
    return ArrayView(
        found, found.dtype, found.itemsize, found.address, found.shape,
        _in_elements(found.strides, found.itemsize, name), on_host=False, device=found.device,
    )  # fmt: skip


def _host_view(array: np.ndarray, name: str) -> ArrayView:
    dtype = name_of(array.dtype)
    if dtype is None or not array.dtype.isnative:
        raise LaunchError(
            f"{name}: kernels have no elements of type {array.dtype}",
            remedy="convert the array, to float32 say",
        )
    strides = _in_elements(array.strides, array.itemsize, name)
    return ArrayView(
        array, dtype, element(dtype).bytes, address(array), array.shape, strides, on_host=True
    )


def _in_elements(strides: Sequence[int], itemsize: int, name: str) -> tuple[int, ...]:
    if any(stride % itemsize for stride in strides):
        raise LaunchError(
            f"{name}: strides of {tuple(strides)} bytes are not multiples of the element's "
            f"{itemsize}",
            remedy="copy the array into one with whole strides",
        )
    return tuple(stride // itemsize for stride in strides)
