"""An instruction while it is being translated: its modifiers are taken one by one.

What nobody took is unsupported, so a modifier is never silently ignored.
"""

from __future__ import annotations

from ...errors import UnsupportedError
from ..ptx.syntax import Instruction, Operand
from ..ptx.types import TYPES, Type


class Form:
    """`operands` and the modifiers that are left."""

    def __init__(self, instruction: Instruction, name: str, modifiers: list[str], module: str):
        self.instruction = instruction
        self.name = name
        self.operands: tuple[Operand, ...] = instruction.operands
        self._left = list(modifiers)
        self._module = module

    def has(self, *modifiers: str) -> bool:
        """Takes the first of `modifiers` that is there; whether there was one."""
        return self.one_of(*modifiers) is not None

    def one_of(self, *modifiers: str) -> str | None:
        """Takes the first of `modifiers` that is there and returns it."""
        for index, modifier in enumerate(self._left):
            if modifier in modifiers:
                del self._left[index]
                return modifier
        return None

    def need(self, *modifiers: str) -> str:
        """Takes one of `modifiers`, which must be there."""
        found = self.one_of(*modifiers)
        if found is None:
            raise self.error(f"expected one of .{', .'.join(modifiers)}")
        return found

    def rest_starting(self, *prefixes: str) -> str | None:
        """Takes the first modifier that starts with one of `prefixes`."""
        for index, modifier in enumerate(self._left):
            if modifier.startswith(prefixes):
                del self._left[index]
                return modifier
        return None

    def type(self, *allowed: str) -> Type:
        """Takes the next type, one of `allowed` if given."""
        for index, modifier in enumerate(self._left):
            if modifier in TYPES:
                if allowed and modifier not in allowed:
                    raise self.error(f"type .{modifier} is not supported")
                del self._left[index]
                return TYPES[modifier]
        raise self.error("expected a type")

    def optional_type(self) -> Type | None:
        return self.type() if any(modifier in TYPES for modifier in self._left) else None

    def operand(self, index: int) -> Operand:
        if index >= len(self.operands):
            raise self.error(f"expected at least {index + 1} operands")
        return self.operands[index]

    def count(self, *counts: int) -> int:
        """The number of operands, which must be one of `counts`."""
        if len(self.operands) not in counts:
            expected = " or ".join(map(str, counts))
            raise self.error(f"expected {expected} operands, found {len(self.operands)}")
        return len(self.operands)

    def finish(self) -> None:
        """Every modifier must have been taken."""
        if self._left:
            raise self.error(f"modifier .{self._left[0]} is not supported here")

    def error(self, reason: str) -> UnsupportedError:
        i = self.instruction
        return UnsupportedError(
            f"'{i.opcode}' (PTX line {i.line}): {reason}",
            location=i.location or f"{self._module}:{i.line}",
        )
