"""Streams as other libraries hand them over."""

from __future__ import annotations

from typing import Any

from ..errors import LaunchError

#: Attributes that hold the handle as a number: PyTorch's and CuPy's.
_ATTRIBUTES = ("cuda_stream", "ptr")


def handle_attribute(stream: Any) -> str | None:
    """The attribute of a stream that is its handle, None if it has to be asked otherwise."""
    for name in _ATTRIBUTES:
        if isinstance(getattr(stream, name, None), int):
            return name
    return None


def stream_handle(stream: Any) -> int:
    """The driver's handle of `stream`; 0, the default stream, for None.

    Accepts an integer, PyTorch's `cuda_stream`, CuPy's `ptr`, Numba's `handle`, the
    `__cuda_stream__` protocol (property or method, giving version and handle) and cuda-bindings'
    CUstream.
    """
    if stream is None:
        return 0
    if isinstance(stream, int):
        if stream < 0:
            raise LaunchError(f"{stream} is not the handle of a CUDA stream")
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version_and_handle: Any = protocol() if callable(protocol) else protocol
        return int(version_and_handle[1])
    attribute = handle_attribute(stream)
    if attribute is not None:
        return getattr(stream, attribute)
    handle: Any = getattr(stream, "handle", None)
    if hasattr(handle, "value"):  # Numba's, a c_void_p
        return int(handle.value or 0)
    try:
        return int(stream)
    except (TypeError, ValueError):
        raise LaunchError(
            f"{type(stream).__name__} is not a CUDA stream",
            remedy="pass an integer handle, or an object with cuda_stream, ptr or __cuda_stream__",
        ) from None
