"""malloc and free of the device's heap."""

from __future__ import annotations

import numpy as np

from ...interp.memory import Buffer
from ..machine.cohort import Cohort, Lanes
from ..machine.faults import ThreadFault
from ..machine.storage import POISON
from .printing import read_local

_ADDRESS = np.dtype(np.uint64)


def allocate(w: Cohort, size_place: int, result_place: int, lanes: Lanes) -> None:
    """malloc(size): each thread has a buffer of its own, filled with bytes that mean nothing."""
    active = w.chosen(lanes)
    sizes = read_local(w, size_place, _ADDRESS)
    memory = w.launch.local
    flat, _ = memory.typed(_ADDRESS)
    for row, lane in np.argwhere(active):
        thread = int(w.threads[row, lane])
        data = np.full(int(sizes[row, lane]), POISON, np.uint8)
        buffer = w.launch.space.allocate(data, f"memory that thread {thread} allocated")
        w.launch.heap[buffer.base] = buffer
        where = thread * memory.stride + w.frame + result_place
        flat[where // _ADDRESS.itemsize] = buffer.base


def release(w: Cohort, place: int, lanes: Lanes) -> None:
    """free(address)."""
    active = w.chosen(lanes)
    addresses = read_local(w, place, _ADDRESS)
    for row, lane in np.argwhere(active):
        buffer: Buffer | None = w.launch.heap.pop(int(addresses[row, lane]), None)
        if buffer is None:
            raise ThreadFault(
                f"free of {int(addresses[row, lane]):#x}, which malloc did not give",
                thread=int(w.threads[row, lane]),
            )
        w.launch.space.free(buffer)
