"""Swizzles: wgmma must read a matrix with the swizzle that the tensor copy wrote it with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory, describe
from ..machine.tensor import TensorLoad
from ..observer import Access, AsyncAccess, Observer
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_CHUNK = 16
_UNKNOWN = 255  # not written by a tensor copy
_REMEDY = "the tensor map and the matrix descriptor must name the same swizzle"


class Swizzles(Observer):
    """Keeps, for each 16 bytes of shared memory, the swizzle of the tensor copy that wrote them.

    Swizzles are numbered by `_widths`; `_sites` are the copies that used them last.
    """

    _widths = (0, 32, 64, 128)

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._written = np.full(launch.shared.size // _CHUNK, _UNKNOWN, np.uint8)
        self._sites: dict[int, Instruction] = {}

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        chunks = self._launch.shared.stride // _CHUNK
        self._written[slot * chunks : (slot + 1) * chunks] = _UNKNOWN

    def access(self, access: Access) -> None:
        if self._sites and access.space == "shared" and access.kind != "load":
            offset = access.offset if access.active is None else access.offset[access.active]
            self._written[offset // _CHUNK] = _UNKNOWN

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        if not isinstance(access.storage, SharedMemory):
            return
        chunks = access.offset // _CHUNK
        if access.kind != "read":
            number = _UNKNOWN
            if isinstance(operation, TensorLoad):
                number = self._widths.index(operation.tensor.swizzle)
                self._sites[number] = operation.site
            if self._sites:
                count = -(-access.size // _CHUNK)
                self._written[chunks[:, None] + np.arange(count)] = number
        elif access.swizzle is not None and self._sites:
            found = self._written[chunks]
            wrong = (found != _UNKNOWN) & (found != self._widths.index(access.swizzle))
            if wrong.any():
                self._fail(operation, access, int(wrong.argmax()), int(found[wrong][0]))

    def _fail(self, operation: Any, access: AsyncAccess, row: int, number: int) -> None:
        assert access.which is not None
        byte = describe(access.storage, int(access.offset[row]), self._launch.slot_name)
        raise ThreadFault(
            f"matrix {access.which.upper()} of this wgmma has swizzle {access.swizzle} in its "
            f"descriptor, but {byte} was written with swizzle {self._widths[number]} at "
            f"{place(self._sites[number])}", _REMEDY,
            thread=int(operation.threads[0]), at=operation.site,
        )  # fmt: skip
