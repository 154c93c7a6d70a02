"""Warps that run in step.

A cohort is a set of warps at one place in the code. Its registers are arrays [warps, 32] that are
never written in place, so cohorts share them freely: when the lanes of a warp part, both sides
keep all registers and only their masks differ; when they meet again, the arrays that have changed
since are put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .launch import Launch

Array = np.ndarray[Any, np.dtype[Any]]
Lanes = Array | None
"""Lanes that take part, bool[warps, 32], or None for all."""

STOP = -1
"""What a basic block returns when its cohort cannot go on as it is."""

# A part this small of a large cohort gets arrays of its own when lanes part.
_SMALL_PART = 4
_LARGE_COHORT = 32


class Frame(NamedTuple):
    """A caller that waits: where it goes on, its registers, the base of its local variables."""

    return_block: int
    registers: list[Any]
    base: int


class Cohort:
    """`warps` int64[n] in ascending order; `mask` bool[n, 32], or None if all lanes are active.

    `count` is the number of active lanes, `rows` that of warps with any: a cohort may hold warps
    that have no lane in it, where that saves taking its registers apart.

    `pc` is the next basic block, `frames` the callers, `frame` the address of local variables.
    `in_flight` lists the groups of wgmma operations whose results have not been waited for.
    """

    __slots__ = (
        "launch",
        "warps",
        "mask",
        "count",
        "rows",
        "regs",
        "pc",
        "frames",
        "frame",
        "in_flight",
        "polls",
        "_cache",
    )

    def __init__(self, launch: Launch, warps: Array, mask: Array | None, regs: list[Any], pc: int):
        self.launch = launch
        self.warps = warps
        self.mask = mask
        self.count = 32 * len(warps) if mask is None else int(np.count_nonzero(mask))
        self.rows = len(warps) if mask is None else int(np.count_nonzero(mask.any(axis=1)))
        self.regs = regs
        self.pc = pc
        self.frames: tuple[Frame, ...] = ()
        self.frame = 0
        self.in_flight: tuple[Any, ...] = ()
        self.polls: dict[int, Any] = {}
        self._cache: dict[Any, Any] = {}

    # --- lanes -----------------------------------------------------------------------------------

    def lanes(self, guard: Array) -> Lanes:
        """The active lanes for which a predicate holds."""
        active = guard if self.mask is None else guard & self.mask
        return None if np.count_nonzero(active) == active.size else active

    def chosen(self, lanes: Lanes) -> Array:
        """Lanes as bool[n, 32]."""
        return self.active if lanes is None else lanes

    @property
    def active(self) -> Array:
        """bool[n, 32]"""
        return np.ones((len(self.warps), 32), bool) if self.mask is None else self.mask

    @property
    def threads(self) -> Array:
        """int64[n, 32], warp * 32 + lane."""
        found = self._cache.get("threads")
        if found is None:
            found = self._cache["threads"] = self.warps[:, None] * 32 + np.arange(32)
        return found

    @property
    def slots(self) -> Array:
        """int64[n], the slot of each warp's block."""
        found = self._cache.get("slots")
        if found is None:
            found = self._cache["slots"] = self.warps // self.launch.warps_per_block
        return found

    def fill(self, value: Any) -> Array:
        """A scalar in every lane."""
        key = value if isinstance(value, int) else (value.dtype.char, value.tobytes())
        found = self._cache.get(key)
        if found is None:
            shape = (len(self.warps), 32)
            found = self._cache[key] = np.full(shape, value)
        return found

    def special(self, name: str) -> Array:
        """A special register, uint32[n, 32] (uint64 for the wide ones)."""
        if name in _CHANGING:
            return np.broadcast_to(self.launch.clock(name), (len(self.warps), 32))
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = self.launch.specials.get(name, self.warps)
        return found

    # --- parting ---------------------------------------------------------------------------------

    def branch(self, taken: Array, target: int, otherwise: int) -> int:
        """The next block; STOP if lanes part, which then go on as two cohorts."""
        active = taken if self.mask is None else taken & self.mask
        count = np.count_nonzero(active)
        if count == self.count:
            return target
        if not count:
            return otherwise
        self.part(active, target, otherwise)
        return STOP

    def part(self, leaving: Array, target: int, otherwise: int) -> None:
        """Active lanes in `leaving` go on at `target`, the others at `otherwise`."""
        staying = ~leaving if self.mask is None else self.mask & ~leaving
        scheduler = self.launch.scheduler
        scheduler.add(self.fork(staying, otherwise))
        scheduler.add(self.fork(leaving, target))

    def fork(self, active: Array, pc: int) -> Cohort:
        """A cohort of some of the active lanes, at least one."""
        rows = np.asarray(active.any(axis=1))
        count = int(np.count_nonzero(rows))
        if count < len(rows):
            before = rows[:, None] if self.mask is None else rows[:, None] & self.mask
            small = count * _SMALL_PART <= len(rows) and len(rows) >= _LARGE_COHORT
            if small or np.array_equal(active, np.broadcast_to(before, active.shape)):
                return self.select(np.flatnonzero(rows), pc, active)
        mask = None if np.count_nonzero(active) == active.size else active
        return self._copy(self.warps, mask, list(self.regs), pc)

    def select(self, rows: Array, pc: int, active: Array | None = None) -> Cohort:
        """A cohort of some of the warps (of their lanes in `active`)."""
        if active is None:
            active = self.mask
        index = _as_slice(rows)
        mask = None if active is None else active[index]
        if mask is not None and np.count_nonzero(mask) == mask.size:
            mask = None
        code = self.launch.code
        regs = _take(self.regs, code.live[pc], index)
        part = self._copy(self.warps[index], mask, regs, pc)
        part.frames = tuple(
            Frame(f.return_block, _take(f.registers, code.live[f.return_block], index), f.base)
            for f in self.frames
        )
        return part

    def _copy(self, warps: Array, mask: Array | None, regs: list[Any], pc: int) -> Cohort:
        part = Cohort(self.launch, warps, mask, regs, pc)
        part.frames, part.frame, part.in_flight = self.frames, self.frame, self.in_flight
        return part

    # --- meeting ---------------------------------------------------------------------------------

    @property
    def key(self) -> tuple[Any, ...]:
        """Cohorts with equal keys can be joined."""
        callers = tuple(frame.return_block for frame in self.frames)
        return (*callers, self.pc), self.in_flight

    def join(self, other: Cohort) -> Cohort:
        """Both cohorts as one; their keys are equal and their lanes differ."""
        live = self.launch.code.live
        plan = _Plan(self, other)
        joined = self._copy(
            plan.warps, plan.mask(), plan.merge(self.regs, other.regs, live[self.pc]), self.pc
        )
        joined.polls = {}
        joined.frames = tuple(
            Frame(
                mine.return_block,
                plan.merge(mine.registers, theirs.registers, live[mine.return_block]),
                mine.base,
            )
            for mine, theirs in zip(self.frames, other.frames, strict=True)
        )
        return joined

    def converge(self, pc: int) -> bool:
        """Whether every warp has all its threads here; otherwise the early ones wait."""
        self.pc = pc
        return self.launch.scheduler.converge(self)

    def converge_warpgroups(self, pc: int) -> bool:
        """Whether the four warps of each warpgroup are here; otherwise the early ones wait."""
        whole = self._cache.get("whole_warpgroups")
        if whole is None:
            per_block = self.launch.warps_per_block
            group = self.slots * per_block + self.warps % per_block // 4
            _, index, count = np.unique(group, return_inverse=True, return_counts=True)
            whole = self._cache["whole_warpgroups"] = count[index] == 4
        if whole.all():
            return True
        self.pc = pc
        self.launch.scheduler.await_lanes(self, ~whole)
        return False


_CHANGING = {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi"}


def _as_slice(rows: Array) -> Any:
    """Ascending row numbers, as a slice if they have no gap (which copies nothing)."""
    first, last = int(rows[0]), int(rows[-1])
    return slice(first, last + 1) if last - first + 1 == len(rows) else rows


def _take(registers: list[Any], live: Sequence[int], index: Any) -> list[Any]:
    taken: list[Any] = [None] * len(registers)
    for slot in live:
        value = registers[slot]
        if value is not None:
            taken[slot] = value[index]
    return taken


class _Plan:
    """How the rows and lanes of two cohorts are put together."""

    def __init__(self, a: Cohort, b: Cohort):
        self._a, self._b = a, b
        self._same = len(a.warps) == len(b.warps) and bool((a.warps == b.warps).all())
        if self._same:
            self.warps = a.warps
            self._from_b = b.active
            return
        self.warps = np.union1d(a.warps, b.warps)
        self._rows_a = np.searchsorted(self.warps, a.warps)
        self._rows_b = np.searchsorted(self.warps, b.warps)
        self._apart = len(self.warps) == len(a.warps) + len(b.warps)
        if self._apart:
            order = np.empty(len(self.warps), np.int64)
            order[self._rows_a] = np.arange(len(a.warps))
            order[self._rows_b] = np.arange(len(a.warps), len(self.warps))
            self._in_order = bool((np.diff(order) == 1).all())
            self._order = order

    def mask(self) -> Array | None:
        if self._same:
            mask = self._a.active | self._from_b
        elif self._a.mask is None and self._b.mask is None:
            return None
        else:
            mask = np.zeros((len(self.warps), 32), bool)
            mask[self._rows_a] = self._a.active
            mask[self._rows_b] |= self._b.active
        return None if np.count_nonzero(mask) == mask.size else mask

    def merge(self, a: list[Any], b: list[Any], live: Sequence[int]) -> list[Any]:
        merged: list[Any] = [None] * len(a)
        for slot in live:
            x, y = a[slot], b[slot]
            if x is y:
                merged[slot] = x if self._same or x is None else self._merge(x, y)
            elif x is None or y is None:
                merged[slot] = self._only(x, y)
            else:
                merged[slot] = self._merge(x, y)
        return merged

    def _merge(self, x: Array, y: Array) -> Array:
        if self._same:
            return np.where(self._from_b, y, x)
        if self._apart:
            both = np.concatenate((x, y))
            return both if self._in_order else both[self._order]
        out = np.zeros((len(self.warps), 32), x.dtype)
        out[self._rows_a] = x
        out[self._rows_b] = np.where(self._b.active, y, out[self._rows_b])
        return out

    def _only(self, x: Array | None, y: Array | None) -> Array | None:
        """A slot that one side never wrote (a shadow slot): zeros there."""
        if x is None and y is None:
            return None
        if x is None:
            assert y is not None
            x = np.zeros((len(self._a.warps), 32), y.dtype)
        if y is None:
            y = np.zeros((len(self._b.warps), 32), x.dtype)
        return self._merge(x, y)
