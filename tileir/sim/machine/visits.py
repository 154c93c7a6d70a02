"""Who has come back to where it was, with nothing new in its registers or in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .cohort import Array, Cohort

if TYPE_CHECKING:
    from .launch import Launch


class _Visit(NamedTuple):
    """The registers of lanes in front of a block. None is written in place: no copy is needed."""

    active: Array
    registers: list[Array | None]


class Visits:
    """The last visit of lanes to a block, unless memory has changed since.

    Cohorts come and go as lanes part and meet, as they do in a loop where one thread updates a
    flag and tells the others through a barrier; so visits belong to sets of lanes.
    """

    def __init__(self, launch: Launch):
        self._launch = launch
        self._version = -1
        self._last: dict[Any, _Visit] = {}

    def clear(self) -> None:
        self._last.clear()

    def repeats(self, cohort: Cohort, pc: int) -> bool:
        """Whether these lanes were in front of block `pc` in this very state.

        If so, they make no progress on their own: only others can end their loop.
        """
        if self._version != self._launch.version:
            self._version = self._launch.version
            self.clear()
        visit = _Visit(cohort.active, self._registers(cohort, pc))
        key = pc, cohort.in_flight, cohort.threads[visit.active].tobytes()
        before = self._last.get(key)
        self._last[key] = visit
        return before is not None and _equal(before, visit)

    def _registers(self, cohort: Cohort, pc: int) -> list[Array | None]:
        live = self._launch.code.live
        found = [cohort.regs[slot] for slot in live[pc]]
        for frame in cohort.frames:
            found += [frame.registers[slot] for slot in live[frame.return_block]]
        return found


def _equal(a: _Visit, b: _Visit) -> bool:
    same_rows = np.array_equal(a.active, b.active)
    return len(a.registers) == len(b.registers) and all(
        (x is y and same_rows) or _bits(x, a.active) == _bits(y, b.active)
        for x, y in zip(a.registers, b.registers, strict=True)
    )


def _bits(register: Array | None, active: Array) -> bytes | None:
    return None if register is None else register[active].tobytes()
