"""Races: two accesses to a byte, one of them a write, that nothing orders.

Strong accesses (atomics, relaxed, volatile, ...) whose scopes include each other's thread may
meet, and so may stores of the value that is there already.
"""

from __future__ import annotations

from typing import NoReturn

from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory
from ..order.accesses import Accesses, Conflict
from ..order.clocks import INSTANCE_SHIFT
from ..order.happens_before import HappensBefore
from ..order.names import Names

_IN_BLOCK = "a barrier between the two, or an mbarrier that the one arrives at and the other awaits"
_IN_WARP = "bar.warp.sync between the two: lanes of a warp need not run in step"
_AWAIT = "wait for the asynchronous operation first (its mbarrier, or its group)"
_BETWEEN_BLOCKS = (
    "between blocks, a release (or a fence and a strong write) that an acquire reads from, with "
    "scope .gpu"
)


def check_races(accesses: Accesses, order: HappensBefore) -> None:
    """Makes `accesses` report races."""
    names = Names(order)

    def report(conflict: Conflict) -> NoReturn:
        now, then = conflict.now, conflict.earlier
        place = names.place(conflict.storage, conflict.byte)
        if now.site is then.site and now.kind == then.kind == "store":
            what = f"race: {place} is stored to with different values by the same instruction"
            what += f", here and{names.agent(conflict.agent)}"
        else:
            what = f"race on {place}: nothing orders this access and {names.earlier(conflict)}"
        raise ThreadFault(what, _remedy(conflict, order), thread=conflict.thread, at=now.site)

    accesses.on_unordered = report


def _remedy(conflict: Conflict, order: HappensBefore) -> str:
    knowledge = order.knowledge
    mine = int(knowledge.agent[conflict.thread])
    if conflict.earlier.kind in ("read", "write"):
        return _AWAIT
    if mine // 32 == conflict.agent // 32:
        return _IN_WARP
    if (
        isinstance(conflict.storage, SharedMemory)
        or mine >> INSTANCE_SHIFT == conflict.agent >> INSTANCE_SHIFT
    ):
        return _IN_BLOCK
    return _BETWEEN_BLOCKS
