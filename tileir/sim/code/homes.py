"""How each register is held: as unsigned bits, signed integers or floats.

PTX registers have a width only, and NumPy needs a microsecond to see an array as another type.
So each register is held in the type that most of its uses ask for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ptx.syntax import Function, Instruction, Negated, Operand, Register, Vector
from ..ptx.types import TYPES, Type

_BITS = {1: np.dtype(np.bool_), 8: TYPES["b8"].dtype, 16: TYPES["b16"].dtype}
_BITS |= {32: TYPES["b32"].dtype, 64: TYPES["b64"].dtype, 128: TYPES["b128"].dtype}

# Their results have the same bits for signed and unsigned operands.
_SIGN_AGNOSTIC = {"add", "sub", "mov", "ld", "st", "ldu"}


def choose_homes(function: Function) -> list[np.dtype[Any]]:
    """The type that holds each register of a function."""
    votes: list[Counter[np.dtype[Any]] | None] = [None] * len(function.registers)
    for statement in function.body or ():
        if isinstance(statement, Instruction):
            for register, type_ in _uses(statement):
                if type_.bits == register.type.bits and type_.kind in "fs":
                    counter = votes[register.slot] or Counter()
                    votes[register.slot] = counter
                    counter[type_.dtype] += 1
    return [
        _BITS[register.type.bits] if count is None else count.most_common(1)[0][0]
        for register, count in zip(function.registers, votes, strict=True)
    ]


def _uses(instruction: Instruction) -> Iterator[tuple[Register, Type]]:
    """Registers with the types that the modifiers give them, roughly."""
    name, *modifiers = instruction.parts
    types = [TYPES[modifier] for modifier in modifiers if modifier in TYPES]
    if not types or not instruction.operands:
        return
    if name in ("mma", "wgmma"):
        yield from _typed(instruction.operands[0], types[0])
        if name == "mma":
            yield from _typed(instruction.operands[-1], types[-1])
        return
    if name in _SIGN_AGNOSTIC or "lo" in modifiers:
        types = [type_ for type_ in types if type_.kind == "f"]
        if not types:
            return
    result, *sources = instruction.operands
    yield from _typed(result, types[0])
    for source in sources:
        yield from _typed(source, types[-1])


def _typed(operand: Operand, type_: Type) -> Iterator[tuple[Register, Type]]:
    if isinstance(operand, Register):
        yield operand, type_
    elif isinstance(operand, Negated):
        yield operand.register, type_
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _typed(element, type_)
