"""Tensor maps that kernels make: copies must see the finished map, and be done before the next.

A map in global memory is published with tensormap.cp_fenceproxy. Whoever uses it must come behind
that, and behind a fence.proxy.tensormap acquire for its address, its own or one it knows of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..machine.faults import ThreadFault
from ..machine.tensor import TensorCopy
from ..observer import AsyncAccess, Fence, Observer
from ..order.happens_before import HappensBefore
from ..order.knowledge import View
from ..order.names import site as place

if TYPE_CHECKING:
    from ..machine.cohort import Array
    from ..machine.launch import Launch
    from ..ptx.syntax import Instruction

_ORDER = "a barrier, or a release and an acquire, between the map's making and its use"
_FENCE = "fence.proxy.tensormap::generic.acquire for the map's address, behind its making"
_AWAIT = "wait for the copies that use a map before another one takes its place"


@dataclass(slots=True)
class _Map:
    """The last making of a map at an address: by agent, in epoch.

    `acquired` are the agents and epochs of fences behind it. Copies by it are `pending` until they
    read; then the last of each agent is in `used`.
    """

    agent: int
    epoch: int
    site: Instruction
    acquired: dict[int, int] = field(default_factory=dict)
    pending: list[Any] = field(default_factory=list)
    used: dict[int, tuple[int, Instruction]] = field(default_factory=dict)


class TensorMaps(Observer):
    """Must come in front of `order` on the list of observers."""

    def __init__(self, order: HappensBefore):
        self._order = order

    def launch_started(self, launch: Launch) -> None:
        self._maps: dict[int, _Map] = {}

    def fence(self, fence: Fence) -> None:
        if fence.kind != "proxy.tensormap" or fence.addresses is None:
            return
        if fence.order == "release":
            for row in range(len(fence.warps)):
                active = None if fence.active is None else fence.active[row : row + 1]
                thread = int(self._order.threads_of(fence.warps[row : row + 1], active)[0])
                self._make(int(fence.addresses[row, thread % 32]), thread, fence.site)
        elif self._maps:
            threads = self._order.threads_of(fence.warps, fence.active)
            addresses = np.broadcast_to(fence.addresses, (len(fence.warps), 32))
            lanes = addresses.ravel() if fence.active is None else addresses[fence.active]
            for thread, address in zip(threads.tolist(), lanes.tolist(), strict=True):
                self._acquire(int(address), thread)

    def _make(self, address: int, thread: int, site: Instruction) -> None:
        knowledge = self._order.knowledge
        before = self._maps.get(address)
        if before is not None:
            view = self._view(thread)
            users = [operation.site for operation in before.pending]
            users += [
                user
                for agent, (epoch, user) in before.used.items()
                if not self._knows(view, agent, epoch)
            ]
            if users:
                raise ThreadFault(
                    f"a tensor map is made where a copy may still use another: {place(users[0])}",
                    _AWAIT, thread=thread, at=site,
                )  # fmt: skip
        epoch = int(knowledge.own[0, thread])
        self._maps[address] = _Map(int(knowledge.agent[thread]), epoch, site)

    def _acquire(self, address: int, thread: int) -> None:
        found = self._maps.get(address)
        if found is not None and self._knows(self._view(thread), found.agent, found.epoch):
            knowledge = self._order.knowledge
            found.acquired[int(knowledge.agent[thread])] = int(knowledge.own[0, thread])

    def async_issued(self, operation: Any) -> None:
        if not isinstance(operation, TensorCopy):
            return
        found = self._maps.get(operation.map_address)
        if found is None:
            return
        thread = int(operation.threads[0])
        view = self._view(thread)
        if not self._knows(view, found.agent, found.epoch):
            raise ThreadFault(
                "nothing orders this use of a tensor map behind its making at "
                f"{place(found.site)}", _ORDER, thread=thread, at=operation.site,
            )  # fmt: skip
        if not any(self._knows(view, agent, epoch) for agent, epoch in found.acquired.items()):
            raise ThreadFault(
                f"no tensormap proxy fence behind the making of this tensor map at "
                f"{place(found.site)}", _FENCE, thread=thread, at=operation.site,
            )  # fmt: skip
        found.pending.append(operation)

    def async_access(self, operation: Any, access: AsyncAccess) -> None:
        if isinstance(operation, TensorCopy) and access.kind == "read":
            found = self._maps.get(operation.map_address)
            if found is not None and operation in found.pending:
                found.pending.remove(operation)
                agents, epochs = self._order.operations.record(operation, access)
                found.used[int(agents[0])] = int(epochs[0]), operation.site

    def _view(self, thread: int) -> View:
        return self._order.knowledge.view(np.array([thread]))

    def _knows(self, view: View, agent: int, epoch: int) -> bool:
        return bool(self._order.knowledge.knows(view, _one(agent), _one(epoch))[0, 0])


def _one(number: int) -> Array:
    return np.array([[number]])
