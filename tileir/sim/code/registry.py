"""Which function translates which instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import UnsupportedError
from ..ptx.syntax import Instruction

if TYPE_CHECKING:
    from .emitter import Emitter
    from .form import Form

Translation = Callable[["Emitter", "Form"], None]


@dataclass(frozen=True)
class Rule:
    """How one family of instructions is translated, and what the control flow must know of it.

    `stops` says that warps may have to wait in front of it, so that a basic block starts there;
    `ends` that nothing of the basic block comes behind it. `results` is 0 if the first operand
    is no result although it is a register, and `updates` is true if the result is also read.

    A rule with the same name and a trailing "!" translates what is left to do when the warps go
    on behind an instruction that ends its block: taking the result of a reduction, say.
    """

    name: str
    translate: Translation
    stops: bool
    ends: bool
    results: int
    updates: bool


_RULES: dict[str, Rule] = {}


def instruction(
    *names: str,
    stops: bool = False,
    ends: bool = False,
    results: int = 1,
    updates: bool = False,
) -> Callable[[Translation], Translation]:
    """Registers the translation of all instructions whose opcode begins with one of `names`.

    Names end at a dot of the opcode; the longest one that fits wins.
    """

    def register(function: Translation) -> Translation:
        for name in names:
            _RULES[name] = Rule(name, function, stops, ends, results, updates)
        return function

    return register


def completion(rule: Rule) -> Rule | None:
    """The rule for the second half of an instruction, if it has one."""
    return _RULES.get(f"{rule.name}!")


def find(instruction: Instruction, module: str) -> tuple[Rule, list[str]]:
    """The rule for an instruction, and the modifiers behind its name."""
    parts = instruction.parts
    for length in range(len(parts), 0, -1):
        rule = _RULES.get(".".join(parts[:length]))
        if rule is not None:
            return rule, parts[length:]
    raise UnsupportedError(
        f"the simulator does not know the instruction '{instruction.opcode}' "
        f"(PTX line {instruction.line})",
        location=instruction.location or f"{module}:{instruction.line}",
    )
