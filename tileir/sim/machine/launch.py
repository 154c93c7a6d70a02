"""One launch: its blocks, its memory, and everything that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...interp.memory import AddressSpace, Buffer
from .barriers import Barriers
from .bulk_groups import BulkGroups
from .cluster_barrier import ClusterBarrier
from .cohort import Array, Cohort, Lanes
from .copies import Copies
from .mbarriers import Mbarriers
from .scheduler import Scheduler
from .specials import Extents, Specials, clusters_of
from .storage import Bytes, LocalMemory, SharedMemory

if TYPE_CHECKING:
    from ..code.program import Code
    from ..observer import Observers
    from .asynchronous import Operation


class Launch:
    """The state of a launch.

    Resident blocks sit in slots; those of a cluster in neighbouring ones. Warps are numbered
    through all slots. `version` grows whenever memory changes; `pending` holds asynchronous
    operations in the order of their issue.
    """

    def __init__(
        self,
        code: Code,
        space: AddressSpace,
        parameters: Bytes,
        symbols: dict[str, int],
        grid: Extents,
        block: Extents,
        cluster: Extents,
        shared_bytes: int,
        dynamic_bytes: int,
        resident: int,
        seed: int,
        watch: Observers | None,
    ):
        self.code = code
        self.space = space
        self.parameters = parameters
        self.symbols = symbols
        self.grid, self.block, self.cluster = grid, block, cluster
        self.cluster_size = int(np.prod(cluster))
        self.threads_per_block = int(np.prod(block))
        self.warps_per_block = -(-self.threads_per_block // 32)
        self.watch = watch
        self.version = 0
        self.printed: list[str] = []
        self.pending: list[Operation] = []
        #: what `malloc` gave and `free` has not had back, by address
        self.heap: dict[int, Buffer] = {}

        count = int(np.prod(grid))
        slots = min(max(resident, self.cluster_size), count)
        self.slot_count = slots // self.cluster_size * self.cluster_size
        warps = self.slot_count * self.warps_per_block
        self.blocks = np.zeros((self.slot_count, 3), np.int64)
        self.live = np.zeros((warps, 32), bool)
        self.shared = SharedMemory(self.slot_count, shared_bytes)
        self.local = LocalMemory(32 * warps)
        self.local.reserve(code.local_bytes)
        self.specials = Specials(grid, block, cluster, self.blocks, shared_bytes, dynamic_bytes)
        self.barriers = Barriers(self)
        self.cluster_barrier = ClusterBarrier(self)
        self.mbarriers = Mbarriers(self)
        self.copies = Copies(self)
        self.bulk = BulkGroups(self)
        self.scheduler = Scheduler(self, seed)
        self.local_limit = 1 << 20

        self._clusters = clusters_of(grid, cluster)
        self._more = True
        self._free = list(range(0, self.slot_count, self.cluster_size))
        self._ticks = 0
        in_block = np.arange(self.warps_per_block * 32).reshape(-1, 32)
        self._exists = in_block < self.threads_per_block

    # --- blocks ----------------------------------------------------------------------------------

    def run(self) -> None:
        if self.watch:
            self.watch.launch_started(self)
        self.scheduler.run()
        if self.watch:
            self.watch.launch_finished(self)

    def start_blocks(self) -> bool:
        """Fills the free slots with new blocks, which start as one cohort; False if none did."""
        free, self._free = self._free, []
        started: list[int] = []
        for slot in free:
            blocks = next(self._clusters, None) if self._more else None
            if blocks is None:
                self._more = False
                self._free.append(slot)
                continue
            for place, coordinates in enumerate(blocks):
                self._start_block(slot + place, coordinates)
                started.append(slot + place)
        if not started:
            return False
        started.sort()
        per_block = np.arange(self.warps_per_block)
        warps = (np.array(started)[:, None] * self.warps_per_block + per_block).ravel()
        mask = None if self._exists.all() else self.live[warps].copy()
        code = self.code
        regs = code.fresh_registers(len(warps))
        self.scheduler.add(Cohort(self, warps, mask, regs, code.entry_block))
        return True

    def _start_block(self, slot: int, coordinates: Extents) -> None:
        self.blocks[slot] = coordinates
        first = slot * self.warps_per_block
        self.live[first : first + self.warps_per_block] = self._exists
        self.shared.reset(slot)
        self.mbarriers.forget(slot * self.shared.stride, self.shared.stride)
        self.barriers.reset(slot)
        self.cluster_barrier.reset(slot)
        if self.watch:
            self.watch.block_started(slot, coordinates)

    def exit(self, w: Cohort, lanes: Lanes) -> None:
        """Threads have finished."""
        active = w.chosen(lanes)
        self.live[w.warps] &= ~active
        if self.watch:
            self.watch.threads_exited(w.warps, lanes)
        self.scheduler.threads_left()
        self.barriers.threads_left(w.slots)
        self.cluster_barrier.threads_left(w.slots)
        first = w.slots // self.cluster_size * self.cluster_size
        for cluster in np.unique(first).tolist():
            self._finish_cluster(cluster)

    def _finish_cluster(self, first: int) -> None:
        low = first * self.warps_per_block
        if self.live[low : low + self.cluster_size * self.warps_per_block].any():
            return
        slots = range(first, first + self.cluster_size)
        for slot in slots:
            pending = [one for one in self.pending if len(one.issuers(slot))]
            if self.watch:
                x, y, z = self.blocks[slot].tolist()
                self.watch.block_finished(slot, (x, y, z), pending)
            for operation in pending:
                operation.leave(self, slot)
        self._free.append(first)

    @property
    def finished(self) -> bool:
        return not self.live.any()

    # --- asynchronous operations -----------------------------------------------------------------

    def issue(self, operation: Operation) -> None:
        """An operation starts; it completes when the schedule says so."""
        if self.watch:
            self.watch.async_issued(operation)
        self.pending.append(operation)
        if self.scheduler.policy.completes_at_once():
            self.complete(operation)

    def complete_one(self) -> None:
        self.complete(self.pending[self.scheduler.policy.choose(self.pending)])

    def complete(self, operation: Operation) -> None:
        """Everything the operation still has to do happens now."""
        self.pending.remove(operation)
        self.version += 1
        operation.complete(self)
        if self.watch:
            self.watch.async_completed(operation)

    # --- names and small services ----------------------------------------------------------------

    def shared_base(self, w: Cohort) -> Array:
        """int64[n, 1], where each warp's shared memory starts in that of all slots."""
        found = w._cache.get("shared_base")
        if found is None:
            found = w._cache["shared_base"] = (w.slots * self.shared.stride)[:, None]
        return found

    def clock(self, name: str) -> Any:
        """A counter that moves on whenever it is read."""
        self._ticks += 32
        if name in ("clock", "globaltimer_lo"):
            return np.uint32(self._ticks & 0xFFFFFFFF)
        if name in ("clock_hi", "globaltimer_hi"):
            return np.uint32(self._ticks >> 32)
        return np.uint64(self._ticks)

    def slot_name(self, slot: int) -> str:
        x, y, z = self.blocks[slot].tolist()
        return f"block ({x}, {y}, {z})"

    def thread_name(self, thread: int) -> str:
        x, y, z = self.specials.thread_coordinates(thread)
        return f"thread ({x}, {y}, {z}) of {self.slot_name(thread // 32 // self.warps_per_block)}"
