"""Agents and accesses in words."""

from __future__ import annotations

from typing import Any

from ..machine.storage import describe
from .accesses import Conflict, Mark
from .clocks import COLUMN_MASK, INSTANCE_SHIFT
from .happens_before import HappensBefore

_VERBS = {
    "load": "the load",
    "store": "the store",
    "atomic": "the atomic update",
    "reduce": "the atomic update",
    "read": "the asynchronous read",
    "write": "the asynchronous write",
}


class Names:
    """What a message needs to know of a launch."""

    def __init__(self, order: HappensBefore):
        self._order = order

    def place(self, storage: Any, byte: int) -> str:
        return describe(storage, byte, self._order.launch.slot_name)

    def earlier(self, conflict: Conflict) -> str:
        """`the store at PTX line 12 (a.py:3:1, `st.shared ...`) by thread (0, 0, 0) of ...`"""
        return f"{self.access(conflict.earlier)}{self.agent(conflict.agent)}"

    def access(self, mark: Mark) -> str:
        return f"{_VERBS[mark.kind]} at {site(mark.site)}"

    def agent(self, agent: int) -> str:
        """` by thread (x, y, z) of block (x, y, z)`; nothing for other agents than threads."""
        launch, column = self._order.launch, agent & COLUMN_MASK
        layout = self._order.knowledge.layout
        if column >= layout.agents:
            return ""
        place, thread = divmod(column % layout.threads, launch.warps_per_block * 32)
        block = self._order.knowledge.instances[agent >> INSTANCE_SHIFT][place]
        return f" by thread {launch.specials.thread_coordinates(thread)} of block {block}"


def site(instruction: Any) -> str:
    """Where an instruction stands: its line of PTX, its place in the source, its text."""
    location = f"{instruction.location}, " if instruction.location else ""
    return f"PTX line {instruction.line} ({location}`{shortened(instruction.text)}`)"


def shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
