"""Proxies: copies by hardware and wgmma come behind what threads do only through a proxy fence.

What threads wrote they see behind a fence on the way from the write to the operation: in the
writing thread, in the one that issues the operation, or in one between them. What threads read
from shared memory a copy may overwrite if each of them has had a fence between the load and what
let the copy start: a load may still be on its way when its thread arrives at an mbarrier.
"""

from __future__ import annotations

from typing import NoReturn

from ..machine.faults import ThreadFault
from ..machine.storage import SharedMemory
from ..order.accesses import Accesses, Conflict
from ..order.happens_before import HappensBefore
from ..order.names import Names


def check_proxies(accesses: Accesses, order: HappensBefore) -> None:
    """Makes `accesses` report missing proxy fences."""
    names = Names(order)

    def report(conflict: Conflict) -> NoReturn:
        place = names.place(conflict.storage, conflict.byte)
        what, remedy = _words(conflict)
        raise ThreadFault(
            f"no proxy fence: {place} {what} {names.earlier(conflict)}",
            remedy,
            thread=conflict.thread,
            at=conflict.now.site,
        )

    accesses.on_unfenced = report


def _words(conflict: Conflict) -> tuple[str, str]:
    """What happens at the place, up to the earlier access, and the remedy."""
    if conflict.earlier.kind == "load":
        return (
            "is overwritten through the async proxy here, and was read through the generic proxy "
            "by",
            "fence.proxy.async.shared::cta behind the load, in each thread that loads, and then "
            "the arrival or the barrier that lets the copy start",
        )
    space = "shared::cta" if isinstance(conflict.storage, SharedMemory) else "global"
    return (
        "goes through the async proxy here, and through the generic proxy by",
        f"fence.proxy.async.{space} behind the store, and then a barrier",
    )
