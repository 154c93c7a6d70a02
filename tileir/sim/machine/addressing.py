"""From addresses to bytes of a storage.

State spaces and generic addresses are laid out like this:

    global    64-bit addresses of `AddressSpace`; generic and global addresses are the same
    shared    SHARED_BASE + offset in the block's own memory; the memory of block number r of the
              cluster is there too, at (r + 1) << 24
    local     offsets from 0; each thread has its own
    param     offsets from 0 in the parameters of the entry
    generic   the windows below hold shared, local and parameter addresses
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .cohort import Array, Cohort, Lanes
from .faults import Fault, ThreadFault, first_lane

if TYPE_CHECKING:
    from .launch import Launch

SHARED_BASE = 1024
RANK_SHIFT = 24
RANK_LIMIT = 64  # above that of any block
SHARED_WINDOW = 1 << 62
LOCAL_WINDOW = SHARED_WINDOW + (1 << 40)
PARAM_WINDOW = SHARED_WINDOW + (2 << 40)
CODE_WINDOW = SHARED_WINDOW + (3 << 40)

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


class Place(NamedTuple):
    """The lanes of an access that fall into one storage.

    `offset` int64[n, 32] counts bytes, 0 in lanes outside `active` (None: all take part).
    """

    space: str
    storage: Any
    offset: Array
    active: Array | None


def locate(w: Cohort, space: str, address: Array, size: int, lanes: Lanes) -> list[Place]:
    """Where `size` bytes at each lane's address lie; a fault if outside or misaligned.

    `address` is uint32 or uint64, [n, 32] or a scalar.
    """
    if lanes is not None and not lanes.any():
        return []
    if np.ndim(address) == 0:
        address = np.broadcast_to(address, (len(w.warps), 32))
    if address.dtype.itemsize < 8:
        address = address.astype(np.uint64)
    return _LOCATORS[space](w, address, size, lanes)


def _locate_global(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    first = address.flat[0] if active is None else address.ravel()[int(active.argmax())]
    try:
        buffer = w.launch.space.find(int(first), -1)
    except Fault:
        return _by_buffer(w, address, size, active)
    offset = (address - np.uint64(buffer.base)).view(np.int64)
    if active is not None:
        offset = np.where(active, offset, 0)
    lead = buffer.base & 255
    if (
        int(offset.min()) >= 0
        and int(offset.max()) + size <= buffer.size
        and not (int(np.bitwise_or.reduce(offset + lead, axis=None)) & (size - 1))
    ):
        return [Place("global", buffer, offset, active)]
    return _by_buffer(w, address, size, active)


def _by_buffer(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    """Lanes in several buffers, or the fault of one that is in none."""
    rest = np.ones(address.shape, bool) if active is None else active.copy()
    places = []
    while rest.any():
        lane = int(rest.argmax())
        first = int(address.ravel()[lane])
        try:
            buffer = w.launch.space.find(first, -1)
        except Fault as fault:
            thread = int(w.threads.ravel()[lane])
            raise ThreadFault(fault.reason, fault.remedy, thread=thread) from None
        offset = (address - np.uint64(buffer.base)).view(np.int64)
        inside = rest & (offset > -(1 << 39)) & (offset < 1 << 39)
        offset = np.where(inside, offset, 0)
        outside = inside & ((offset < 0) | (offset + size > buffer.size))
        if outside.any():
            wrong = int(offset.ravel()[int(outside.argmax())])
            raise ThreadFault(
                f"out of bounds: {size} bytes at byte {wrong} of {buffer.name}, "
                f"which holds {buffer.size}",
                thread=first_lane(w.threads, outside),
            )
        _check_alignment(w, np.where(inside, address, 0), size, f"of {buffer.name}", buffer.base)
        places.append(Place("global", buffer, offset, inside))
        rest &= ~inside
    return places


def _check_alignment(w: Cohort, address: Array, size: int, where: str, base: int = 0) -> None:
    wrong = (address & np.uint64(size - 1)) != 0
    if wrong.any():
        at = int(address.ravel()[int(wrong.argmax())]) - base
        raise ThreadFault(
            f"misaligned address: byte {at} {where} for an access of {size} bytes",
            thread=first_lane(w.threads, wrong),
        )


def _locate_shared(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    launch = w.launch
    relative = address.view(np.int64) - SHARED_BASE
    if active is not None:
        relative = np.where(active, relative, 0)
    base = launch.shared_base(w)
    if int(relative.min()) < 0 or int(relative.max()) + size > launch.shared.used:
        relative, base = _in_cluster(w, relative, base, size)
    if int(np.bitwise_or.reduce(relative, axis=None)) & (size - 1):
        _check_alignment(w, relative.view(np.uint64), size, "of shared memory")
    return [Place("shared", launch.shared, base + relative, active)]


def _in_cluster(w: Cohort, relative: Array, base: Array, size: int) -> tuple[Array, Array]:
    """Shared addresses that may be of other blocks of the cluster."""
    launch = w.launch
    address = relative + SHARED_BASE
    rank = (address >> RANK_SHIFT) - 1
    inside = np.where(rank >= 0, address & ((1 << RANK_SHIFT) - 1), address) - SHARED_BASE
    wrong = (inside < 0) | (inside + size > launch.shared.used) | (rank >= launch.cluster_size)
    if wrong.any():
        at = int(inside.ravel()[int(wrong.argmax())])
        raise ThreadFault(
            f"out of bounds: {size} bytes at byte {at} of shared memory, "
            f"of which the block has {launch.shared.used}",
            thread=first_lane(w.threads, wrong),
        )
    first = (w.slots // launch.cluster_size * launch.cluster_size)[:, None]
    return inside, np.where(rank >= 0, (first + rank) * launch.shared.stride, base)


def _locate_local(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    memory = w.launch.local
    offset = address.view(np.int64)
    if active is not None:
        offset = np.where(active, offset, 0)
    wrong = (offset < 0) | (offset + size > memory.stride)
    if wrong.any():
        at = int(offset.ravel()[int(wrong.argmax())])
        raise ThreadFault(
            f"out of bounds: {size} bytes at byte {at} of local memory",
            thread=first_lane(w.threads, wrong),
        )
    _check_alignment(w, offset.view(np.uint64), size, "of local memory")
    return [Place("local", memory, w.threads * memory.stride + offset, active)]


def _locate_param(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    memory = w.launch.parameters
    offset = address.view(np.int64)
    if active is not None:
        offset = np.where(active, offset, 0)
    wrong = (offset < 0) | (offset + size > memory.size)
    if wrong.any():
        raise ThreadFault("out of bounds: not a parameter", thread=first_lane(w.threads, wrong))
    _check_alignment(w, offset.view(np.uint64), size, "of the parameters")
    return [Place("param", memory, offset, active)]


def _locate_generic(w: Cohort, address: Array, size: int, active: Array | None) -> list[Place]:
    window = address >> np.uint64(40)
    first = window.flat[0] if active is None else window.ravel()[int(active.argmax())]
    if first < SHARED_WINDOW >> 40 and (window < SHARED_WINDOW >> 40).all():
        return _locate_global(w, address, size, active)
    rest = np.ones(address.shape, bool) if active is None else active
    places: list[Place] = []
    for space, base in WINDOWS.items():
        inside = rest & (window == base >> 40)
        if inside.any():
            mask = None if inside.all() else inside
            places += _LOCATORS[space](w, address - np.uint64(base), size, mask)
            rest = rest & ~inside
    if rest.any():
        places += _locate_global(w, address, size, rest)
    return places


_LOCATORS = {
    "global": _locate_global,
    "const": _locate_global,
    "shared": _locate_shared,
    "local": _locate_local,
    "param": _locate_param,
    "generic": _locate_generic,
}


def shared_offset(launch: Launch, slot: int, address: int) -> int:
    """The byte in the memory of all slots of a shared address that block `slot` names."""
    rank = (address >> RANK_SHIFT) - 1
    if rank >= 0:
        slot = slot // launch.cluster_size * launch.cluster_size + rank
        address &= (1 << RANK_SHIFT) - 1
    return slot * launch.shared.stride + address - SHARED_BASE
