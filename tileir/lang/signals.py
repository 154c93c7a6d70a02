"""How control leaves a statement."""

from __future__ import annotations

from enum import Enum


class Signal(Enum):
    """BREAK, CONTINUE and RETURN ask the loop or function around to act; after DEAD, the jump is
    in the IR already and nothing that follows can be reached."""

    BREAK = "break"
    CONTINUE = "continue"
    RETURN = "return"
    DEAD = "dead"
