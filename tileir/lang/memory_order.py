"""Accesses to memory stay in program order: what is recorded while a kernel is traced.

Memory operations of the IR are ordered only by tokens.  Each records itself here, under the names
of the arrays that it may touch; when the whole kernel is known, `tokens.py` hands tokens on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from tileir.ir import Operation, Value

if TYPE_CHECKING:
    from .builder import Builder


class Effect(Enum):
    """What an operation does to memory: loads commute with each other, nothing else does."""

    LOAD = 1
    STORE = 2
    ATOMIC = 3


class Role(Enum):
    """Which of an array's tokens: that of its last store, which loads wait for, or that of all
    that was done to it, which stores wait for."""

    STORES = 1
    ALL = 2


class Key(NamedTuple):
    """One of the tokens that are kept: for an array, or what was acquired last."""

    name: str
    role: Role


#: What was last acquired from other blocks; everything that follows waits for it.
ACQUIRED = Key("", Role.ALL)

#: Stands for all names: what comes after waits for everything before, and the other way round.
EVERYTHING: frozenset[str] = frozenset({"*"})


@dataclass(eq=False, slots=True)
class Access:
    """A memory operation. Its last result is its token, `token_operand` the position of the token
    it waits for.

    `indices` say where a store goes if different values mean disjoint places.  `live` are the
    tokens that are needed after it, `independent` says that rounds of the loop around need not
    wait for each other's.
    """

    op: Operation
    effect: Effect
    names: frozenset[str]
    token_operand: int
    acquire: bool = False
    release: bool = False
    indices: tuple[Value, ...] = ()
    live: set[Key] = field(default_factory=set)
    independent: bool = False


@dataclass(eq=False, slots=True)
class Jump:
    """The end of a block; a jump that leaves a loop gets its operation when the loop is closed."""

    op: Operation | None


@dataclass(eq=False, slots=True)
class Nested:
    """An `if`, `for` or `loop` and what happens in each of its regions.

    `live_top` are the tokens that a round of a loop may need, `live_out` those needed after it,
    `at_entry` those of the time before the loop that its rounds need.
    """

    op: Operation
    regions: tuple[list[Event], ...]
    live_top: set[Key] = field(default_factory=set)
    live_out: set[Key] = field(default_factory=set)
    at_entry: set[Key] = field(default_factory=set)

    def accesses(self) -> Iterator[Access]:
        """The accesses in all its regions, in order."""
        for region in self.regions:
            yield from all_accesses(region)


Event = Access | Jump | Nested


def all_accesses(events: Sequence[Event]) -> Iterator[Access]:
    """Those among the events and in all nested regions."""
    stack = list(events)
    while stack:
        event = stack.pop()
        if isinstance(event, Access):
            yield event
        elif isinstance(event, Nested):
            for region in event.regions:
                stack += region


class MemoryOrder:
    """Records events in the order of the program; `events` is the list of the current block."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.events: list[Event] = []
        self._root: Value | None = None

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

        `names` are those of the arrays that it may touch (`Array.names`), or `EVERYTHING`.
        `indices` are given for stores that touch disjoint places for different values of any
        one index.
        """
        self.events.append(
            Access(op, effect, names, token_operand, acquire, release, tuple(indices))
        )

    def finish(self) -> None:
        """Gives every memory operation the token of what it must come after."""
        from .tokens import order

        if self._root is not None:
            order(self.builder, self.events, self._root)
