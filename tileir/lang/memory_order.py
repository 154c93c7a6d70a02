"""Accesses to memory stay in program order: tokens.

Memory operations of the IR are ordered only by tokens.  Each records itself here, under the names
of the arrays that it may touch; when the whole kernel is known, `finish` hands the tokens on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from tileir.ir import Operation, Value

if TYPE_CHECKING:
    from .builder import Builder


class Effect(Enum):
    """What an operation does to memory: loads commute with each other, nothing else does."""

    LOAD = 1
    STORE = 2
    ATOMIC = 3


@dataclass(eq=False, slots=True)
class Access:
    """A memory operation. Its last result is its token, `token_operand` the position of the token
    it waits for."""

    op: Operation
    effect: Effect
    names: frozenset[str]
    token_operand: int
    acquire: bool = False
    release: bool = False
    #: Where a store goes if different values mean disjoint places.
    indices: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class Jump:
    """The end of a block."""

    op: Operation


@dataclass(eq=False, slots=True)
class Nested:
    """An `if`, `for` or `loop` and what happens in each of its regions."""

    op: Operation
    regions: tuple[list[Event], ...]


Event = Access | Jump | Nested

#: Stands for all names: what comes after waits for everything before, and the other way round.
EVERYTHING: frozenset[str] = frozenset({"*"})


@dataclass
class MemoryOrder:
    """Records events in the order of the program; `events` is the list of the current block."""

    builder: Builder
    events: list[Event] = field(default_factory=list)
    _root: Value | None = None

    @property
    def root(self) -> Value:
        """The token of the kernel's beginning, which memory operations are made with."""
        if self._root is None:
            builder = self.builder
            with builder.at_entry():
                self._root = builder.value("cuda_tile.make_token", builder.types.token, [])
        return self._root

    def access(
        self,
        op: Operation,
        effect: Effect,
        names: frozenset[str],
        token_operand: int,
        *,
        acquire: bool = False,
        release: bool = False,
        indices: Sequence[Value] = (),
    ) -> None:
        """Records a memory operation that was just appended with `root` as its token.

        `names` are those of the arrays that it may touch (`Array.names`).  `indices` are given for
        stores that do not touch the same place twice for different values of any index.
        """
        self.events.append(
            Access(op, effect, names, token_operand, acquire, release, tuple(indices))
        )

    def finish(self) -> None:
        """Gives every memory operation the token of what it must come after."""
