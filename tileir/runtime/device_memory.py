"""Device memory of the launcher's own, which launches use without allocating any.

Tables of the arrays in lists, and workspaces.  Both work where a stream captures a graph: tables
that a graph reads are written once and kept for good.
"""

from __future__ import annotations

import ctypes
import threading

from ..errors import LaunchError
from .driver import CudaDriver, Driver

_CHUNK = 1 << 20
_ALIGNMENT = 256
#: Tables of a context beyond which it starts anew, once its work is done.
_MOST = 64 * _CHUNK


class Tables:
    """Tables on the device by contents: what is launched on the same arrays again, copies nothing.

    A table belongs to a stream, since its copy is ordered there.
    """

    def __init__(self, driver: CudaDriver):
        self._driver = driver
        self._lock = threading.Lock()
        self._known: dict[tuple[int, int, bytes], int] = {}
        self._captured: dict[tuple[int, bytes], int] = {}
        self._chunks: dict[int, _Chunks] = {}
        self._captured_chunks: dict[int, _Chunks] = {}

    def address(self, context: int, stream: int, data: bytes) -> int:
        """Where the table lies for work put on `stream` after this call; `context` is current or
        the stream's."""
        with self._lock:
            found = self._known.get((context, stream, data))
            if found is not None and not self._driver.is_capturing(stream):
                return found
            with self._driver.current(context):
                if self._driver.is_capturing(stream):
                    return self._for_graph(context, data)
                return self._on_stream(context, stream, data)

    def _on_stream(self, context: int, stream: int, data: bytes) -> int:
        chunks = self._chunks.setdefault(context, _Chunks(self._driver))
        if chunks.size > _MOST:
            self._driver.synchronize_context()
            self._known = {key: at for key, at in self._known.items() if key[0] != context}
            chunks.reuse()
        address = chunks.take(len(data))
        # The driver has read pageable memory when the call returns.
        source = ctypes.create_string_buffer(data, len(data))
        self._driver.copy_to_device(address, ctypes.addressof(source), len(data), stream)
        self._known[context, stream, data] = address
        return address

    def _for_graph(self, context: int, data: bytes) -> int:
        """A table for graphs: the copy is no part of them, and is done when this returns."""
        found = self._captured.get((context, data))
        if found is None:
            chunks = self._captured_chunks.setdefault(context, _Chunks(self._driver))
            with self._driver.aside_from_capture():
                found = chunks.take(len(data))
                self._driver.copy_aside(found, data)
            self._captured[context, data] = found
        return found


class _Chunks:
    """Memory handed out from front to back."""

    def __init__(self, driver: CudaDriver):
        self._driver = driver
        self._chunks: list[tuple[int, int]] = []
        self._used = 0
        self._position = 0

    @property
    def size(self) -> int:
        return sum(size for _, size in self._chunks)

    def take(self, size: int) -> int:
        while self._used < len(self._chunks):
            start, available = self._chunks[self._used]
            if self._position + size <= available:
                address = start + self._position
                self._position += size + -size % _ALIGNMENT
                return address
            self._used, self._position = self._used + 1, 0
        length = max(size, _CHUNK)
        with self._driver.aside_from_capture():
            self._chunks.append((self._driver.allocate(length), length))
        return self.take(size)

    def reuse(self) -> None:
        self._used = self._position = 0


class Workspaces:
    """One block per context, stream and slot, grown as needed.

    Launches on one stream run one after another, so they share it; a block that has become too
    small is given back in stream order.
    """

    def __init__(self, driver: Driver):
        self._driver = driver
        self._lock = threading.Lock()
        self._blocks: dict[tuple[int, int, int], tuple[int, int]] = {}

    def address(self, context: int, stream: int, slot: int, size: int) -> int:
        """At least `size` bytes for work put on `stream` after this call.

        Raises LaunchError where more would have to be allocated while the stream captures a graph.
        """
        key = (context, stream, slot)
        with self._lock:
            block, available = self._blocks.get(key, (0, 0))
            if size <= available:
                return block
            if self._driver.is_capturing(stream):
                raise LaunchError(
                    f"a kernel needs {size} bytes of workspace, which cannot be allocated while "
                    "its stream captures a graph",
                    remedy="launch it once on the stream before the capture",
                )
            with self._driver.current(context):
                if block:
                    self._driver.free_on(block, stream)
                    del self._blocks[key]
                block = self._driver.allocate_on(size, stream)
            self._blocks[key] = (block, size)
            return block
