"""The end of a block: nothing may touch its shared memory any more.

Asynchronous operations on it must be known to be done by a thread of the block before that thread
exits, and so must accesses by other blocks of the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..machine.asynchronous import Operation
from ..machine.bulk import BulkCopy
from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory
from ..machine.tensor import TensorStore
from ..observer import Access, AsyncAccess, MbarrierEvent, Observer, Order
from ..order.clocks import COLUMN_MASK
from ..order.happens_before import HappensBefore
from ..order.knowledge import Gathered
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.cohort import Array
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_AWAIT = "wait for it before the block ends: for its mbarrier, or with wait_group"
_CLUSTER = "a barrier of the cluster before the block ends"


class Exits(Observer):
    """Keeps, for each slot, the last access of each agent to its shared memory from outside.

    `_copies` int64[threads] is the last epoch of each thread's cp.async copies, `_copy` the last
    instruction that made any.
    """

    def __init__(self, order: HappensBefore):
        self._order = order

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._copies = np.zeros(launch.live.size, np.int64)
        self._copy: Instruction | None = None
        self._touched: dict[int, dict[int, tuple[int, Instruction]]] = {}
        self._settled: dict[int, dict[int, int]] = {}
        self._known: dict[int, Gathered] = {}

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        self._touched[slot] = {}
        self._settled[slot] = {}
        self._known.pop(slot, None)
        self._copies[self._threads(slot)] = 0

    def _threads(self, slot: int) -> slice:
        per_block = self._launch.warps_per_block * 32
        return slice(slot * per_block, (slot + 1) * per_block)

    # --- what touches a block --------------------------------------------------------------------

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        if not isinstance(access.storage, SharedMemory):
            return
        agents, epochs = self._order.operations.record(operation, access)
        if access.owner is not None:
            self._copies[access.owner] = np.maximum(self._copies[access.owner], epochs)
            self._copy = operation.site
            return
        column, epoch = int(agents[0]) & COLUMN_MASK, int(epochs[0])
        latest = self._touched[int(access.offset[0]) // self._launch.shared.stride]
        latest[column] = max(epoch, latest.get(column, (0,))[0]), operation.site

    def access(self, access: Access) -> None:
        if access.space != "shared" or self._launch.cluster_size == 1:
            return
        slots = access.offset // self._launch.shared.stride
        own = access.warps[:, None] // self._launch.warps_per_block
        remote = slots != own
        if access.active is not None:
            remote &= access.active
        if remote.any():
            threads = (access.warps[:, None] * 32 + np.arange(32))[remote]
            self._touch_from(threads, slots[remote], access.site)

    def mbarrier(self, event: MbarrierEvent) -> None:
        if self._launch.cluster_size == 1 or event.operation is not None:
            return
        slot = event.offset // self._launch.shared.stride
        threads = event.threads[event.threads // 32 // self._launch.warps_per_block != slot]
        self._touch_from(threads, np.full(len(threads), slot), event.site)

    def _touch_from(self, threads: Array, slots: Array, site: Instruction) -> None:
        knowledge = self._order.knowledge
        for thread, slot in zip(threads.tolist(), slots.tolist(), strict=True):
            column = int(knowledge.agent[thread]) & COLUMN_MASK
            self._touched[slot][column] = int(knowledge.own[0, thread]), site

    def barrier_completed(self, slot: int, number: int) -> None:
        """Threads that have met at the barrier of their cluster, even a relaxed one, are done with
        what they did before."""
        if number >= 0:
            return
        threads = self._order.knowledge.layout.threads
        for one in range(slot, slot + self._launch.cluster_size):
            self._settled[one] = {
                column: epoch
                for column, (epoch, _) in self._touched[one].items()
                if column < threads
            }

    def barrier_left(
        self, number: Array, order: Order, site: Instruction, warps: Array, active: Array | None
    ) -> None:
        """A block with a thread behind that barrier has waited for them."""
        if number[0] >= 0:
            return
        for slot in np.unique(warps // self._launch.warps_per_block).tolist():
            touched = self._touched[slot]
            for column, epoch in self._settled[slot].items():
                if touched.get(column, (None,))[0] == epoch:
                    del touched[column]
            self._settled[slot] = {}

    # --- the end ---------------------------------------------------------------------------------

    def threads_exited(self, warps: Array, active: Array | None) -> None:
        per_block = self._launch.warps_per_block
        threads = self._order.threads_of(warps, active)
        slots = threads // 32 // per_block
        for slot in np.unique(slots).tolist():
            mine = threads[slots == slot]
            alone = self._launch.cluster_size == 1 and not self._touched[slot]
            if alone and not self._copies[self._threads(slot)].any():
                continue
            if slot not in self._known:
                self._known[slot] = self._order.knowledge.gathered(int(mine[0]))
            self._order.knowledge.tell(mine, self._known[slot])

    def block_finished(self, slot: int, block: tuple[int, int, int], pending: list[Any]) -> None:
        for operation in pending:
            if _needs_shared(operation):
                self._fail(operation.site, slot, operation.issuers(slot))
        known = self._known.pop(slot, None)
        self._check_copies(slot, known)
        per_cluster = self._order.knowledge.layout.threads
        for column, (epoch, site) in self._touched[slot].items():
            reached = int(known.row[column]) if known and column < len(known.row) else 0
            if reached < epoch:
                from_thread = column < per_cluster
                self._fail(site, slot, None, remote=from_thread)

    def _check_copies(self, slot: int, known: Gathered | None) -> None:
        layout, threads = self._order.knowledge.layout, self._threads(slot)
        copies = self._copies[threads]
        if not copies.any():
            return
        first = layout.threads + slot % self._launch.cluster_size * len(copies)
        row = np.zeros(first + len(copies)) if known is None else known.row
        missing = copies > row[first : first + len(copies)]
        if missing.any():
            assert self._copy is not None
            self._fail(self._copy, slot, np.array([threads.start + int(missing.argmax())]))

    def _fail(self, site: Instruction, slot: int, threads: Any, remote: bool = False) -> NoReturn:
        what = "this access from another block" if remote else "this asynchronous operation"
        raise ThreadFault(
            f"{self._launch.slot_name(slot)} ends while {what} may still have to touch its shared "
            f"memory: {place(site)}", _CLUSTER if remote else _AWAIT,
            thread=None if threads is None else int(threads[0]), at=site,
        )  # fmt: skip


def _needs_shared(operation: Operation) -> bool:
    """Whether what is left to do concerns shared memory."""
    if isinstance(operation, TensorStore):
        return not operation.has_read
    if isinstance(operation, BulkCopy) and operation.has_read:
        return any(isinstance(target.storage, SharedMemory) for target in operation.targets)
    return True
