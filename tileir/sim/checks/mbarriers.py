"""mbarrier objects: known before they are used, left alone, and told the right number of bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory, describe
from ..observer import (
    Access,
    AsyncAccess,
    BarrierArrival,
    Fence,
    MbarrierEvent,
    Observer,
    Order,
)
from ..order.happens_before import HappensBefore
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.cohort import Array
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_BYTES = 8
_VISIBLE = ("mbarrier_init", "proxy.async")
_KNOWN = "a barrier (of the cluster, for other blocks) between mbarrier.init and the first use"
_FENCE = "fence.mbarrier_init.release.cluster or fence.proxy.async behind mbarrier.init"
_COUNT = "expect_tx must announce all bytes of the copies that complete in the phase"


@dataclass(slots=True)
class _Object:
    """Who initialised an mbarrier, when and where.

    `visible` to the async proxy since a fence. `released` by fence.mbarrier_init, which makes the
    init known to those who meet the thread at a relaxed barrier of the cluster: once it has
    `arrived`, to the threads `met` bool[threads of all slots].
    """

    agent: int
    epoch: int
    thread: int
    site: Instruction
    visible: bool = False
    released: bool = False
    arrived: bool = False
    met: Array | None = None


class MbarrierRules(Observer):
    """Must come in front of `order` on the list of observers."""

    def __init__(self, order: HappensBefore):
        self._order = order

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._objects: dict[int, _Object] = {}
        self._words = np.zeros(launch.shared.size // _BYTES, bool)

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        stride = self._launch.shared.stride
        for offset in [offset for offset in self._objects if offset // stride == slot]:
            self._forget(offset)

    def _forget(self, offset: int) -> None:
        del self._objects[offset]
        self._words[offset // _BYTES] = False

    # --- steps -----------------------------------------------------------------------------------

    def mbarrier(self, event: MbarrierEvent) -> None:
        if event.kind == "init":
            self._init(event)
            return
        found = self._objects[event.offset]
        if event.operation is None:
            self._must_be_known(event, found)
        elif not found.visible and event.kind == "complete_tx":
            self._fail(event, f"the mbarrier's init at {place(found.site)} is not visible to the "
                       "async proxy", _FENCE)  # fmt: skip
        if event.kind in ("arrive", "drop", "expect_tx", "complete_tx"):
            self._count(event)
        elif event.kind == "invalidate":
            self._forget(event.offset)

    def _init(self, event: MbarrierEvent) -> None:
        before = self._objects.get(event.offset)
        if before is not None:
            self._fail(event, f"mbarrier.init of {self._name(event.offset)}, which is an mbarrier "
                       f"since {place(before.site)}", "mbarrier.inval comes first")  # fmt: skip
        thread, knowledge = int(event.threads[0]), self._order.knowledge
        self._objects[event.offset] = _Object(
            int(knowledge.agent[thread]), int(knowledge.own[0, thread]), thread, event.site
        )
        self._words[event.offset // _BYTES] = True

    def _must_be_known(self, event: MbarrierEvent, found: _Object) -> None:
        knowledge = self._order.knowledge
        view = knowledge.view(event.threads)
        agent, epoch = np.array([[found.agent]]), np.array([[found.epoch]])
        known = knowledge.knows(view, agent, epoch)[:, 0]
        if found.met is not None:
            known |= found.met[event.threads]
        if not known.all():
            thread = int(event.threads[int((~known).argmax())])
            self._fail(event, f"nothing orders this use of {self._name(event.offset)} behind its "
                       f"init at {place(found.site)}", _KNOWN, thread)  # fmt: skip

    def _count(self, event: MbarrierEvent) -> None:
        """With all arrivals there, no expect_tx of this phase is to come."""
        thread = int(event.threads[0]) if len(event.threads) else None
        state = self._launch.mbarriers.at(event.offset, event.site, thread)
        if state.pending == 0 and state.bytes < 0:
            self._fail(event, f"the copies that complete on {self._name(event.offset)} in phase "
                       f"{event.phase} are {-state.bytes} bytes more than announced",
                       _COUNT)  # fmt: skip

    def _fail(
        self, event: MbarrierEvent, reason: str, remedy: str, thread: int | None = None
    ) -> None:
        if thread is None and len(event.threads):
            thread = int(event.threads[0])
        raise ThreadFault(reason, remedy, thread=thread, at=event.site)

    def _name(self, offset: int) -> str:
        return f"the mbarrier at {describe(self._launch.shared, offset, self._launch.slot_name)}"

    def fence(self, fence: Fence) -> None:
        if fence.kind not in _VISIBLE:
            return
        fenced = set(self._order.threads_of(fence.warps, fence.active).tolist())
        for one in self._objects.values():
            if one.thread in fenced:
                one.visible = True
                one.released |= fence.kind == "mbarrier_init"

    def barrier_arrived(self, arrival: BarrierArrival) -> None:
        if arrival.number[0] < 0 and self._objects:
            threads = set(self._order.threads_of(arrival.warps, arrival.active).tolist())
            for one in self._objects.values():
                one.arrived |= one.released and one.thread in threads

    def barrier_left(
        self, number: Array, order: Order, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        if number[0] >= 0:
            return
        size = self._launch.cluster_size * self._launch.warps_per_block * 32
        threads = self._order.threads_of(warps, active)
        for one in self._objects.values():
            if one.arrived:
                if one.met is None:
                    one.met = np.zeros(self._launch.live.size, bool)
                one.met[threads[threads // size == one.thread // size]] = True

    # --- memory ----------------------------------------------------------------------------------

    def access(self, access: Access) -> None:
        if access.space == "shared" and self._objects:
            offset = access.offset if access.active is None else access.offset[access.active]
            threads = self._order.threads_of(access.warps, access.active)
            self._leave_alone(offset.ravel(), access.size, access.site, threads)

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        if isinstance(access.storage, SharedMemory) and self._objects:
            self._leave_alone(access.offset, access.size, operation.site, operation.threads[:1])

    def _leave_alone(self, offset: Any, size: int, site: Instruction, threads: Any) -> None:
        first = offset // _BYTES
        if size > _BYTES:
            first = first[:, None] + np.arange(-(-size // _BYTES))
        hit = self._words[first]
        if hit.any():
            row = int(np.argwhere(hit)[0][0])
            word = int(first[hit].ravel()[0])
            thread = int(threads[row if len(threads) > 1 else 0])
            raise ThreadFault(
                f"an access to {self._name(word * _BYTES)} that is no mbarrier instruction",
                "mbarrier.inval ends an mbarrier's life", thread=thread, at=site,
            )  # fmt: skip
