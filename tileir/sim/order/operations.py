"""Asynchronous operations as agents: whose accesses they make, and who knows that they are done.

cp.async        the copies of each thread; epoch = groups committed << 8 | arrivals since
bulk            to global memory, in groups: those of each thread, reads and writes apart;
                epoch = groups committed + 1
bulk            that complete on an mbarrier: all that do; epoch = phases
wgmma           the products of each warpgroup; epoch = groups committed + 1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .clocks import INSTANCE_SHIFT, Array
from .knowledge import NOBODY, Gathered, Knowledge, View

_ARRIVAL_BITS = 8
_ARRIVALS = (1 << _ARRIVAL_BITS) - 1
_WARPS = 4  # of a warpgroup


class Operations:
    """Operations on their way, and counters of groups, by thread or warp of all slots."""

    def __init__(self, knowledge: Knowledge, phases: Mapping[int, Any]):
        self._knowledge = knowledge
        self._phases = phases
        self._launch = knowledge.launch
        count = knowledge.launch.live.size
        self._copy_groups = np.zeros(count, np.int64)
        self._copy_arrivals = np.zeros(count, np.int64)
        self._bulk_groups = np.zeros(count, np.int64)
        self._product_groups = np.zeros(len(knowledge.launch.live), np.int64)
        self._issued: dict[Any, View] = {}
        self._epochs: dict[Any, Any] = {}
        self._products: tuple[Any, int] = ((), 0)
        knowledge.clocks.roots.append(self._rows_in_use)

    def _rows_in_use(self) -> list[Any]:
        return [*(view.row for view in self._issued.values()), [self._products[1]]]

    def start_block(self, slot: int) -> None:
        warps = self._launch.warps_per_block
        threads = slice(slot * warps * 32, (slot + 1) * warps * 32)
        self._copy_groups[threads] = 1
        self._copy_arrivals[threads] = 0
        self._bulk_groups[threads] = 0
        self._product_groups[slot * warps : (slot + 1) * warps] = 0

    # --- the life of operations ------------------------------------------------------------------

    def issued(self, operation: Any) -> None:
        knowledge = self._knowledge
        if operation.kind == "wgmma":
            self._issued[operation] = self._view_of_products(operation)
            self._epochs[operation] = int(self._product_groups[operation.warps].max()) + 1
            return
        threads = operation.threads
        self._issued[operation] = knowledge.snapshot(threads)
        if operation.kind.startswith("cp.async"):
            self._epochs[operation] = self._copy_stamp(threads)
        else:
            self._epochs[operation] = int(self._bulk_groups[threads[0]]) + 1
        if operation.kind == "cp.async.mbarrier.arrive":
            self._copy_arrivals[threads] = np.minimum(self._copy_arrivals[threads] + 1, _ARRIVALS)
        knowledge.advance(np.unique(threads // 32))

    def completed(self, operation: Any) -> None:
        self._issued.pop(operation, None)
        self._epochs.pop(operation, None)

    def view(self, operation: Any, owner: Array | None) -> View:
        """What the issuers knew, one entry each for `owner` threads, or one for all."""
        view = self._issued[operation]
        if owner is None:
            return View(view.agent[:1], view.row[:1], view.own[:, :1])
        lanes = np.searchsorted(operation.threads, owner)
        return View(view.agent[lanes], view.row[lanes], view.own[:, lanes])

    def record(self, operation: Any, access: Any) -> tuple[Array, Array]:
        """(agents, epochs) in whose name an access goes down, int64[m] or [1]."""
        layout = self._knowledge.layout
        if operation.kind == "cp.async":
            owner = access.owner
            lanes = np.searchsorted(operation.threads, owner)
            return self._knowledge.agent[owner] + layout.threads, self._epochs[operation][lanes]
        if operation.kind == "wgmma":
            column = self._product_column(int(operation.warps[0]))
            return self._agent(int(operation.warps[0]) * 32, column), self._epoch(operation)
        thread = int(operation.threads[0])
        mbarriers = signalled(operation)
        if mbarriers:
            phases = self._phases[self._matching(mbarriers, access)]
            return self._agent(thread, phases.column), np.array([phases.epoch])
        return self._agent(thread, self._bulk_column(thread, access.kind)), self._epoch(operation)

    def _epoch(self, operation: Any) -> Array:
        return np.array([self._epochs[operation]])

    def _agent(self, thread: int, column: int) -> Array:
        self._knowledge.clocks.reserve(column)
        return np.array([(self._knowledge.instance_of(thread) << INSTANCE_SHIFT) + column])

    def _matching(self, mbarriers: list[int], access: Any) -> int:
        """The mbarrier of the block that is written, where there are several."""
        if len(mbarriers) > 1 and access.kind != "read":
            stride = self._launch.shared.stride
            slot = int(access.offset[0]) // stride
            return next(offset for offset in mbarriers if offset // stride == slot)
        return mbarriers[0]

    # --- columns ---------------------------------------------------------------------------------

    def _copy_stamp(self, threads: Array) -> Array:
        return (self._copy_groups[threads] << _ARRIVAL_BITS) | self._copy_arrivals[threads]

    def _bulk_column(self, thread: int, kind: str) -> int:
        place = int(self._knowledge.agent[thread]) & NOBODY
        return self._knowledge.layout.named("bulk", kind == "read", place)

    def _product_column(self, warp: int) -> int:
        launch = self._launch
        slot, inside = divmod(warp, launch.warps_per_block)
        return self._knowledge.layout.named("wgmma", slot % launch.cluster_size, inside // _WARPS)

    def _view_of_products(self, operation: Any) -> View:
        """What every warp that takes part knows, each of any of its lanes."""
        knowledge, warps = self._knowledge, operation.warps
        key = knowledge.version, warps.tobytes()
        if self._products[0] != key:
            rows = []
            for warp in warps.tolist():
                told = knowledge.gathered(warp * 32)
                knowledge.tell(np.arange(warp * 32, warp * 32 + 32), told)
                rows.append(told)
            row = np.minimum.reduce([told.row for told in rows])
            self._products = key, knowledge.clocks.add(row, rows[0].foreign)
        instance = knowledge.instance_of(int(warps[0]) * 32)
        agent = np.array([(instance << INSTANCE_SHIFT) + NOBODY])
        own = np.zeros((len(knowledge.own), 1), np.int32)
        return View(agent, np.array([self._products[1]], np.int32), own)

    # --- who knows -------------------------------------------------------------------------------

    def tell_arrival(self, operation: Any, into: Gathered) -> None:
        """The mbarrier learns that the copies of threads so far are done."""
        view = self._issued[operation]
        self._knowledge.tell(operation.threads, into, view.row, view.own)
        layout = self._knowledge.layout
        if layout.copies:
            columns = (view.agent & NOBODY) + layout.threads
            into.row[columns] = np.maximum(into.row[columns], self._epochs[operation])

    def committed(self, kind: str, warps: Array, threads: Array) -> None:
        if kind == "cp.async":
            self._copy_groups[threads] += 1
            self._copy_arrivals[threads] = 0
        elif kind == "bulk":
            self._bulk_groups[threads] += 1
        else:
            self._product_groups[warps] += 1

    def waited(
        self, kind: str, allowed: int, read_only: bool, warps: Array, threads: Array
    ) -> None:
        if kind == "cp.async":
            self._copies_done(threads, allowed)
        elif kind == "bulk":
            self._bulk_done(threads[self._bulk_groups[threads] > 0], allowed, read_only)
        else:
            self._products_done(warps, allowed)

    def _copies_done(self, threads: Array, allowed: int) -> None:
        """`allowed` -1: even those of no group."""
        own = self._knowledge.own
        if allowed < 0:
            done = self._copy_stamp(threads)
            self._copy_arrivals[threads] = np.minimum(self._copy_arrivals[threads] + 1, _ARRIVALS)
        else:
            done = (self._copy_groups[threads] - allowed << _ARRIVAL_BITS) - 1
        if self._knowledge.layout.copies:
            own[1, threads] = np.maximum(own[1, threads], done)
            self._knowledge.version += 1

    def _bulk_done(self, threads: Array, allowed: int, read_only: bool) -> None:
        for thread in threads.tolist():
            done = int(self._bulk_groups[thread]) - allowed
            kinds = ("read",) if read_only else ("read", "write")
            for kind in kinds:
                column = self._bulk_column(thread, kind)
                self._knowledge.raise_column(np.array([thread]), column, max(done, 0))

    def _products_done(self, warps: Array, allowed: int) -> None:
        groups = warps // self._launch.warps_per_block * 64
        groups += warps % self._launch.warps_per_block // _WARPS
        for group in np.unique(groups).tolist():
            mine = warps[groups == group]
            done = int(self._product_groups[mine].min()) - allowed
            threads = (mine[:, None] * 32 + np.arange(32)).ravel()
            column = self._product_column(int(mine[0]))
            self._knowledge.raise_column(threads, column, max(done, 0))


def signalled(operation: Any) -> list[int]:
    """The mbarriers on which an operation completes, as bytes of the memory of all slots."""
    return getattr(operation, "mbarriers", None) or []
