"""Proxies: what threads write, copies by hardware and wgmma see only behind a proxy fence.

The fence must lie on the way from the write to the operation: in the writing thread, in the one
that issues the operation, or in one between them.
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
        space = "shared::cta" if isinstance(conflict.storage, SharedMemory) else "global"
        raise ThreadFault(
            f"no proxy fence: {place} goes through the async proxy here, and through the generic "
            f"proxy by {names.earlier(conflict)}",
            f"fence.proxy.async.{space} behind the store, and then a barrier",
            thread=conflict.thread,
            at=conflict.now.site,
        )

    accesses.on_unfenced = report
