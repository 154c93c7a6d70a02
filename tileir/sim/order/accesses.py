"""Compares every access to shared and global memory with those before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..machine.storage import SharedMemory
from ..observer import Access, AsyncAccess, BarrierArrival, Observer
from .clocks import COLUMN_MASK, INSTANCE_SHIFT, Array
from .forgetting import Forgetting
from .happens_before import HappensBefore
from .history import EPOCH_BITS, EPOCH_MASK, Earlier, History, Limits, Notes, record
from .knowledge import FENCED_BY_ITSELF, FENCED_GLOBAL, FENCED_SHARED, View
from .locations import SCOPES
from .readers import Readers, Reads

if TYPE_CHECKING:
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_WEAK = 0
_NOTES_LIMIT = 1 << 21  # reads to keep aside for a buffer that nothing has written


class Mark(NamedTuple):
    """An instruction as accesses remember it; `scope` 0 is weak, else how far it is strong."""

    site: Instruction
    kind: str
    scope: int


class Conflict(NamedTuple):
    """An access and an earlier one to the same byte.

    `thread` makes the access, or issued the operation that does; `agent` and `earlier` tell the
    other one.
    """

    storage: Any
    byte: int
    now: Mark
    thread: int
    earlier: Mark
    agent: int


Report = Callable[[Conflict], None]


class _Step(NamedTuple):
    """An access to be compared: granules int64[m, c], what its agents know, their threads."""

    storage: Any
    history: History
    cells: Array
    view: View
    mark: int
    threads: Array
    limits: Limits
    stored: Any = None  # where each lane's bytes are: int64[m], with `bytes` uint8[m, size]


class Accesses(Observer):
    """Keeps the history of all storages, and reports what has no order or no proxy fence."""

    def __init__(self, order: HappensBefore):
        self._order = order
        self.on_unordered: Report | None = None
        self.on_unfenced: Report | None = None

    def launch_started(self, launch: Launch) -> None:
        self._launch = launch
        self._histories: dict[int, tuple[History, Notes]] = {}
        self._marks: list[Mark] = []
        self._mark_numbers: dict[tuple[int, str], int] = {}
        self._shared_readers, self._global_readers = Readers(), Readers()
        self._forgetting = Forgetting(self._order, launch)
        self._met: dict[tuple[int, int], int] = {}
        self._always = Limits(np.zeros(1, np.int64), np.zeros(1, np.int64))

    # --- forgetting ------------------------------------------------------------------------------

    def block_started(self, slot: int, block: tuple[int, int, int]) -> None:
        self._forgetting.start_block(slot, self._shared_readers.count)
        known = self._histories.get(id(self._launch.shared))
        if known is not None:
            stride = self._launch.shared.stride
            known[0].reset(slot * stride, stride)

    def block_finished(self, slot: int, block: tuple[int, int, int], pending: list[Any]) -> None:
        self._forgetting.end_block(slot)

    def barrier_arrived(self, arrival: BarrierArrival) -> None:
        if not arrival.waits or self._launch.cluster_size > 1:
            return
        slots = arrival.warps // self._launch.warps_per_block
        lanes = 32 if arrival.active is None else arrival.active.sum(axis=1)
        for key, count in zip(
            zip(slots.tolist(), arrival.number.tolist(), strict=True),
            np.broadcast_to(lanes, slots.shape).tolist(), strict=True,
        ):  # fmt: skip
            self._met[key] = self._met.get(key, 0) + count

    def barrier_completed(self, slot: int, number: int) -> None:
        """A barrier at which all threads of a block wait is in front of everything to come."""
        if self._met.pop((slot, number), 0) == self._launch.threads_per_block:
            self._forgetting.met(slot, self._shared_readers.count)
            self._shared_readers.clear_below(self._forgetting.below)

    # --- events ----------------------------------------------------------------------------------

    def access(self, access: Access) -> None:
        if access.space not in ("global", "shared"):
            return
        threads = access.warps[:, None] * 32 + np.arange(32)
        if access.active is None:
            threads, offset = threads.ravel(), access.offset.ravel()
        else:
            threads, offset = threads[access.active], access.offset[access.active]
        if not len(threads):
            return
        knowledge = self._order.knowledge
        strong = access.order != "weak" or access.kind in ("atomic", "reduce")
        scope = SCOPES[access.scope or "sys"] if strong else _WEAK
        mark = self._mark(access.site, access.kind, scope)
        history, notes = self._history(access.storage)
        agent, epoch = knowledge.agent[threads], knowledge.own[0, threads].astype(np.int64)
        if access.kind == "load" and self._is_quiet(access.storage, history, notes):
            notes.read(offset, access.size, agent, epoch, mark)
            return
        notes.tell(history)
        step = _Step(
            access.storage, history, history.granules(offset, access.size),
            knowledge.view(threads), mark, threads, self._limits(access.storage, threads),
        )  # fmt: skip
        if access.kind == "load":
            self._compare_read(step)
            history.read(step.cells, agent, epoch, mark, step.limits)
        else:
            before, silent = self._compare_write(step, access, offset)
            records = record(agent, epoch)
            history.write(step.cells, records, mark)
            if silent is not None and silent.any():
                history.keep(step.cells[silent], *(part[silent] for part in before))
            if not strong:
                self._compare_lanes(step, access, records, offset)

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        operations = self._order.operations
        agent, epoch = operations.record(operation, access)
        records = record(agent, epoch)
        # Reducing copies are atomic, element by element, at the scope of the device.
        scope = SCOPES["gpu"] if access.kind == "reduce" else _WEAK
        mark = self._mark(operation.site, access.kind, scope)
        history, notes = self._history(access.storage)
        if access.kind == "read" and self._is_quiet(access.storage, history, notes):
            notes.read_async(access.offset, access.size, records, mark)
            return
        notes.tell(history)
        threads = operation.threads[:1] if access.owner is None else access.owner
        step = _Step(
            access.storage, history, history.granules(access.offset, access.size),
            operations.view(operation, access.owner), mark, threads,
            self._limits(access.storage, threads),
        )  # fmt: skip
        if operation.kind != "cp.async" and self.on_unfenced is not None:
            self._compare_fences(step)
            if access.kind != "read" and isinstance(access.storage, SharedMemory):
                self._compare_fences_of_readers(step)
        if access.kind == "read":
            self._compare_read(step)
            history.read_async(step.cells, records, mark)
        else:
            self._compare_write(step)
            history.write(step.cells, records, mark)

    # --- where and what --------------------------------------------------------------------------

    def _mark(self, site: Instruction, kind: str, scope: int) -> int:
        key = id(site), kind
        if key not in self._mark_numbers:
            self._mark_numbers[key] = len(self._marks)
            self._marks.append(Mark(site, kind, scope))
        return self._mark_numbers[key]

    def _history(self, storage: Any) -> tuple[History, Notes]:
        found = self._histories.get(id(storage))
        if found is None:
            shared = isinstance(storage, SharedMemory)
            readers = self._shared_readers if shared else self._global_readers
            lead = 0 if shared else storage.base & 15
            threads = self._order.knowledge.layout.threads
            found = History(storage.size, lead, threads, readers), Notes()
            self._histories[id(storage)] = found
        return found

    def _is_quiet(self, storage: Any, history: History, notes: Notes) -> bool:
        """Whether a read can be kept aside."""
        quiet = not history.written and not isinstance(storage, SharedMemory)
        return quiet and notes.lanes < _NOTES_LIMIT

    def _limits(self, storage: Any, threads: Array) -> Limits:
        return self._forgetting.of(threads) if isinstance(storage, SharedMemory) else self._always

    # --- comparing -------------------------------------------------------------------------------

    def _compare_read(self, step: _Step) -> None:
        if self.on_unordered is None:
            return
        earlier = step.history.last_write(step.cells)
        wrong = ~self._order.knowledge.knows(step.view, earlier.agent, earlier.epoch)
        if wrong.any():
            self._judge(step, earlier, wrong)

    def _compare_write(
        self, step: _Step, access: Access | None = None, offset: Any = None
    ) -> tuple[Earlier, Array | None]:
        """The last writes, and which of them have no order but wrote what is written again."""
        knows = self._order.knowledge.knows
        earlier = step.history.last_write(step.cells)
        if self.on_unordered is None:
            return earlier, None
        wrong = ~knows(step.view, earlier.agent, earlier.epoch)
        same = None
        if wrong.any():
            if access is not None and not self._marks[step.mark].scope:
                same = wrong & _changes_nothing(access, offset)[:, None]
                wrong &= ~same
            self._judge(step, earlier, wrong)
        for reads in step.history.async_reads(step.cells):
            wrong = ~knows(step.view, reads.agent, reads.epoch)
            if wrong.any():
                self._judge(step, reads, wrong)
        self._compare_readers(step, same)
        return earlier, same

    def _compare_readers(self, step: _Step, same: Array | None) -> None:
        """`same`: granules where the value stays; earlier writes of it that are kept among the
        reads do not count there."""
        for reads in step.history.reads(step.cells, step.limits.ordered):
            some, earlier = _at_reads(step, reads)
            known = self._order.knowledge.knows(some.view, earlier.agent, earlier.epoch)
            if same is not None:
                known |= self._are_stores(earlier.mark) & same.reshape(-1)[reads.place][:, None]
            if not known.all():
                self._judge(some, earlier, ~known)

    def _are_stores(self, marks: Array) -> Array:
        return np.array([mark.kind == "store" for mark in self._marks])[marks]

    def _judge(self, step: _Step, earlier: Earlier, wrong: Array) -> None:
        """Reports the first of the accesses that have no order, unless both are strong."""
        now = self._marks[step.mark]
        threads = np.broadcast_to(step.threads[:, None], wrong.shape)
        if now.scope:
            scopes = np.array([mark.scope for mark in self._marks])
            reach = np.minimum(scopes[earlier.mark], now.scope)
            wrong = wrong & ~self._reach_each_other(reach, threads, earlier.agent)
        if not wrong.any():
            return
        row, column = np.argwhere(wrong)[0]
        byte = step.history.byte(int(step.cells[row, column]))
        then, agent = self._marks[int(earlier.mark[row, column])], int(earlier.agent[row, column])
        assert self.on_unordered is not None
        thread = int(threads[row, column])
        self.on_unordered(Conflict(step.storage, byte, now, thread, then, agent))

    def _reach_each_other(self, reach: Array, threads: Array, agent: Array) -> Array:
        """Whether scopes as far as `reach` include both threads."""
        mine = self._order.knowledge.agent[threads]
        cluster = mine >> INSTANCE_SHIFT == agent >> INSTANCE_SHIFT
        per_block = 32 * self._launch.warps_per_block
        place, other = (mine & COLUMN_MASK) // per_block, (agent & COLUMN_MASK) // per_block
        return (
            (reach >= SCOPES["gpu"])
            | (cluster & (reach >= SCOPES["cluster"]))
            | (cluster & (place == other) & (reach >= SCOPES["cta"]))
        )

    def _compare_lanes(self, step: _Step, access: Access, records: Array, offset: Array) -> None:
        """Several lanes store to one place at once: the same value, or it is a race."""
        if self.on_unordered is None:
            return
        last = step.history.writer[step.cells]
        lost = last != records[:, None]
        if not lost.any():
            return
        others = lost & _differ(access, offset)[:, None]
        earlier = Earlier(last >> EPOCH_BITS, last & 0, np.full(last.shape, step.mark))
        self._judge(step, earlier, others)
        written = np.broadcast_to(records[:, None], lost.shape)[lost]
        marks = np.full(len(written), step.mark)
        step.history.keep(step.cells[lost], written >> EPOCH_BITS, written & EPOCH_MASK, marks)

    def _compare_fences(self, step: _Step) -> None:
        """The async proxy touches what threads wrote: a proxy fence must lie in between."""
        knowledge = self._order.knowledge
        earlier = step.history.last_write(step.cells)
        generic = (earlier.agent >= 0) & (earlier.agent & COLUMN_MASK < knowledge.layout.agents)
        if not generic.any():
            return
        shared = isinstance(step.storage, SharedMemory)
        section = FENCED_SHARED if shared else FENCED_GLOBAL
        wrong = generic & knowledge.knows(step.view, earlier.agent, earlier.epoch)
        wrong &= ~knowledge.knows(step.view, earlier.agent, earlier.epoch, section)
        if wrong.any():
            self._report_unfenced(step, earlier, wrong)

    def _compare_fences_of_readers(self, step: _Step) -> None:
        """The async proxy overwrites what threads read: each of them must have had a proxy fence
        before it let go. What others do cannot wait for loads that are on their way. (Stores
        that are kept among the reads are no loads.)"""
        knows = self._order.knowledge.knows
        for reads in step.history.reads(step.cells, step.limits.fenced):
            some, earlier = _at_reads(step, reads)
            wrong = ~knows(some.view, earlier.agent, earlier.epoch, FENCED_BY_ITSELF)
            if not wrong.any():
                continue
            wrong &= knows(some.view, earlier.agent, earlier.epoch)
            wrong &= ~self._are_stores(earlier.mark)
            if wrong.any():
                self._report_unfenced(some, earlier, wrong)

    def _report_unfenced(self, step: _Step, earlier: Earlier, wrong: Array) -> None:
        row, column = np.argwhere(wrong)[0]
        then = self._marks[int(earlier.mark[row, column])]
        thread = int(step.threads[min(row, len(step.threads) - 1)])
        byte = step.history.byte(int(step.cells[row, column]))
        assert self.on_unfenced is not None
        self.on_unfenced(
            Conflict(step.storage, byte, self._marks[step.mark], thread, then,
                     int(earlier.agent[row, column]))
        )  # fmt: skip


def _at_reads(step: _Step, reads: Reads) -> tuple[_Step, Earlier]:
    """The access at each of the granules that earlier reads touched, and the reads."""
    row, view = reads.place // step.cells.shape[1], step.view
    at = np.zeros_like(row) if len(view.agent) == 1 else row
    some = step._replace(
        cells=step.cells.reshape(-1)[reads.place][:, None],
        view=View(view.agent[at], view.row[at], view.own[:, at]),
        threads=step.threads[at] if len(step.threads) > 1 else step.threads,
    )
    return some, Earlier(reads.agent[:, None], reads.epoch[:, None], reads.mark[:, None])


def _changes_nothing(access: Access, offset: Array) -> Array:
    """bool[m], the lanes that store what is there already."""
    stored = access.stored_bytes()
    if stored is None:
        return np.zeros(len(offset), bool)
    flat, lead = access.storage.typed(np.dtype(np.uint8))
    present = flat[offset[:, None] - lead + np.arange(access.size)]
    return (present == stored).all(axis=1)


def _differ(access: Access, offset: Array) -> Array:
    """bool[m], the lanes whose value is not that of another lane which stores to the place."""
    stored = access.stored_bytes()
    if stored is None:
        return np.ones(len(offset), bool)
    places, index = np.unique(offset, return_inverse=True)
    last = np.zeros(len(places), np.int64)
    last[index] = np.arange(len(offset))
    return (stored != stored[last[index]]).any(axis=1)
