"""Streams as other libraries hand them over."""

from __future__ import annotations

from typing import Any

from ..errors import LaunchError


def stream_handle(stream: Any) -> int:
    """The driver's handle of `stream`; 0, the default stream, for None.

    Accepts an integer, PyTorch's `cuda_stream`, CuPy's `ptr`, the `__cuda_stream__` protocol
    (property or method, giving version and handle) and cuda-bindings' CUstream.
    """
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    protocol: Any = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version_and_handle: Any = protocol() if callable(protocol) else protocol
        return int(version_and_handle[1])
    for attribute in ("cuda_stream", "ptr"):
        handle = getattr(stream, attribute, None)
        if isinstance(handle, int):
            return handle
    try:
        return int(stream)
    except (TypeError, ValueError):
        raise LaunchError(
            f"{type(stream).__name__} is not a CUDA stream",
            remedy="pass an integer handle, or an object with cuda_stream, ptr or __cuda_stream__",
        ) from None
