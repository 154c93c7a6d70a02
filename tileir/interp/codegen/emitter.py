"""Building the Python function that runs an entry.

An entry becomes the source of two nested functions:

    def launch(run, a0, a1):        # once a launch: what does not depend on the block
        v3 = ...
        def block(t):               # once a tile block
            v9 = v3 + v8
        return block

One local variable holds one SSA value, control flow is Python's own, and a line number leads back
from an error to its operation, so a correct program pays nothing for knowing where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from ...dialects import cuda_tile
from .. import checks, debugger, poison, reductions, shapes
from ..numerics import bits, floats, functions, int_float, integers, matmul, rounding
from ..numerics.formats import Format, Number, PointerFormat, Tile
from . import access
from .access import Op

Shape = tuple[int, ...]


@dataclass(slots=True)
class Slot:
    """An SSA value in the generated code.

    `held` is the shape of the array in the variable: that of the tile, except that an extent may
    be 1 where the tile repeats itself, as after `broadcast`. Elementwise operations leave the
    repetition to NumPy. `poison` names the variable with the value's poison, if it may have any.
    `fmt` is None for tokens and views.
    """

    name: str
    fmt: Format | None
    shape: Shape
    held: Shape
    poison: str | None
    invariant: bool

    @property
    def number(self) -> Number:
        assert self.fmt is not None and not isinstance(self.fmt, PointerFormat)
        return self.fmt

    @property
    def pointee(self) -> Number:
        assert isinstance(self.fmt, PointerFormat)
        return self.fmt.pointee


@dataclass(frozen=True)
class Frame:
    """An enclosing loop: where `continue` and `break` put their operands.

    `pause` is a statement to run before the next round, in loops that may wait for other blocks;
    it belongs to `site`, the loop.
    """

    carried: list[Slot]
    results: Sequence[Slot]
    pause: str | None
    site: int


@dataclass
class Section:
    """Lines of one of the two functions, each with the site it belongs to."""

    indent: int
    lines: list[tuple[str, int]]


def expand(x: Tile, shape: Shape) -> Tile:
    """A tile with its repetitions spelled out."""
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


# What generated code may name.
_HELPERS = {
    "np": np,
    "bits": bits,
    "checks": checks,
    "debugger": debugger,
    "expand": expand,
    "floats": floats,
    "functions": functions,
    "int_float": int_float,
    "integers": integers,
    "matmul": matmul,
    "poison": poison,
    "reductions": reductions,
    "rounding": rounding,
    "shapes": shapes,
}


class Emitter:
    """State of one translation. `check`: also emit the detection of undefined behaviour."""

    def __init__(self, check: bool, poisonable: set[ir.Value]):
        self.check = check
        self.sites: list[str] = []
        self.site = -1
        self.suspends = False  # the block function must be a generator
        self.in_combiner = False
        self.may_drop_poison = False  # undefined elements flow in, and nothing follows them
        self.unconditional = True  # every block gets here
        self.loops: list[Frame] = []
        self._branches: list[list[Slot]] = []
        self.namespace: dict[str, Any] = dict(_HELPERS)
        self.launch = Section(1, [])
        self.block = Section(2, [])
        self._section = self.block
        self._poisonable = poisonable
        self._slots: dict[ir.Value, Slot] = {}
        self._names: dict[tuple[int, str | None], str] = {}
        self._count = 0

    # --- text --------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        section = self._section
        section.lines.append(("    " * section.indent + text, self.site))

    @contextmanager
    def indented(self) -> Iterator[None]:
        section = self._section
        section.indent += 1
        before = len(section.lines)
        yield
        if len(section.lines) == before:
            self.line("pass")
        section.indent -= 1

    @contextmanager
    def hoisted(self, hoist: bool) -> Iterator[None]:
        """Lines go to the launch function while inside."""
        previous = self._section
        if hoist:
            self._section = self.launch
        yield
        self._section = previous

    @contextmanager
    def in_loop(
        self, carried: list[Slot], pause: str | None, results: Sequence[Slot] = ()
    ) -> Iterator[None]:
        self.loops.append(Frame(carried, results, pause, self.site))
        with self._conditional():
            yield
        self.loops.pop()

    @contextmanager
    def in_branch(self, results: list[Slot]) -> Iterator[None]:
        self._branches.append(results)
        with self._conditional():
            yield
        self._branches.pop()

    @property
    def branch_results(self) -> list[Slot]:
        """The variables that the innermost `yield` sets."""
        return self._branches[-1]

    @contextmanager
    def combiner(self, of_undefined: bool) -> Iterator[None]:
        """Inside the function of a reduction, of operands that may have undefined elements."""
        previous = self.in_combiner, self.may_drop_poison
        self.in_combiner, self.may_drop_poison = True, of_undefined
        with self._conditional():
            yield
        self.in_combiner, self.may_drop_poison = previous

    @contextmanager
    def _conditional(self) -> Iterator[None]:
        previous, self.unconditional = self.unconditional, False
        yield
        self.unconditional = previous

    def fresh(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def constant(self, value: Any, name: str | None = None) -> str:
        """A name for a Python object in the generated code; `name` if it is a known helper."""
        # A helper may be known by several names: that of each operation which it computes.
        key = (id(value), name)
        if key not in self._names:
            chosen = name or self.fresh("k")
            self.namespace[chosen] = value
            self._names[key] = chosen
        return self._names[key]

    def begin(self, op: Op) -> None:
        """Lines from here on belong to `op`."""
        self.sites.append(access.location(op))
        self.site = len(self.sites) - 1

    # --- values ------------------------------------------------------------------------------

    def slot(self, value: ir.Value) -> Slot:
        return self._slots[value]

    def bind(self, value: ir.Value, slot: Slot) -> Slot:
        self._slots[value] = slot
        return slot

    def new_slot(
        self, value: ir.Value, *, held: Shape | None = None, invariant: bool = False
    ) -> Slot:
        """A slot with a new variable for an SSA value."""
        name = self.fresh()
        type_: Any = value.type
        if not isinstance(type_, cuda_tile.TileType):
            return self.bind(value, Slot(name, None, (), (), None, invariant))
        shape = tuple(type_.shape)
        poison = f"q{name[1:]}" if value in self._poisonable else None
        fmt = access.format_of(type_.element_type)
        slot = Slot(name, fmt, shape, shape if held is None else held, poison, invariant)
        return self.bind(value, slot)

    def alias(self, value: ir.Value, of: Slot, *, held: Shape | None = None) -> Slot:
        """A slot that shares the variable of another value."""
        type_: Any = value.type
        shape = tuple(type_.shape) if isinstance(type_, cuda_tile.TileType) else ()
        return self.bind(
            value,
            Slot(
                of.name,
                of.fmt,
                shape,
                of.held if held is None else held,
                of.poison,
                of.invariant,
            ),
        )

    def full(self, slot: Slot) -> str:
        """An expression for the tile without repetitions left out."""
        if slot.held == slot.shape:
            return slot.name
        return f"expand({slot.name}, {slot.shape})"

    def format_of(self, value: ir.Value) -> Any:
        """The format of a tile's elements."""
        type_: Any = value.type
        return access.format_of(type_.element_type)

    def format_name(self, fmt: Format) -> str:
        """The name of a format in the generated code."""
        return self.constant(fmt, None if isinstance(fmt, PointerFormat) else fmt.name.upper())

    def poison_of(self, *slots: Slot) -> str:
        """An expression for the joined poison of tiles that broadcast together."""
        names = [slot.poison for slot in slots if slot.poison]
        if not names:
            return "None"
        return names[0] if len(names) == 1 else f"poison.join({', '.join(names)})"

    def demand(self, slot: Slot, use: str) -> None:
        """Emits a check that no element of the tile is undefined."""
        if slot.poison:
            self.line(f"if {slot.poison} is not None: poison.demand({slot.poison}, {use!r})")

    def elementwise(
        self,
        op: Op,
        expression: Callable[..., str],
        checks: Callable[..., list[str]] | None = None,
        *,
        only_if_used: bool = False,
    ) -> Slot:
        """Emits `result = expression(names of operands)`, in the launch function if possible.

        `checks(names)` gives expressions for `Problem`s of the operands. A rank-0 tile with one
        is an error at once, unless `only_if_used`; in a larger tile its elements are undefined.
        """
        slots = [self.slot(value) for value in op.operands]
        names = [slot.name for slot in slots]
        held = np.broadcast_shapes(*(slot.held for slot in slots))
        result = self.new_slot(op.results[0], held=held)
        problems = checks(*names) if checks and self.check and not self.may_drop_poison else []
        certain = not result.shape and not any(slot.poison for slot in slots)
        at_once = bool(problems) and certain and not only_if_used
        invariant = all(slot.invariant for slot in slots) and not self.in_combiner
        result.invariant = invariant and not at_once
        with self.hoisted(result.invariant):
            if at_once:
                for problem in problems:
                    self.line(f"checks.forbid({problem})")
            self.line(f"{result.name} = {expression(*names)}")
            if result.poison:
                self.line(f"{result.poison} = {self.poison_of(*slots)}")
                for problem in [] if at_once else problems:
                    self.line(
                        f"{result.poison} = poison.join({result.poison}, "
                        f"checks.undefined({problem}, {self.site}))"
                    )
        return result
