"""Masks of undefined bits: ones where a value depends on bits that nobody wrote.

A register's mask has its width, as an unsigned integer (bool for a predicate), one for each lane:
[n, 32]. None stands for no undefined bit. Masks lie in the registers' second slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ptx.syntax import (
    Address,
    Arguments,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Vector,
)

if TYPE_CHECKING:
    from ..machine.cohort import Cohort

Array = np.ndarray[Any, np.dtype[Any]]
Mask = Array | None


def mask_dtype(bits: int) -> np.dtype[Any]:
    return np.dtype(np.bool_) if bits == 1 else np.dtype(f"uint{bits}")


def followed(register: Register) -> bool:
    """Whether a register has a mask; those of 128 bits have none."""
    return register.type.bits <= 64


def registers_of(operand: Operand) -> list[Register]:
    """All registers in an operand."""
    if isinstance(operand, Register):
        return [operand]
    if isinstance(operand, Negated):
        return [operand.register]
    if isinstance(operand, (Vector, Arguments)):
        return [one for element in operand.elements for one in registers_of(element)]
    if isinstance(operand, Pair):
        return registers_of(operand.first) + registers_of(operand.second)
    if isinstance(operand, Address):
        inside = [one for element in operand.coordinates for one in registers_of(element)]
        return registers_of(operand.base) + inside
    return []


class Step(NamedTuple):
    """An instruction as data flow: its results, and how far masks lie behind registers."""

    instruction: Instruction
    results: tuple[Register, ...]
    distance: int


class Operands:
    """The masks and values of an instruction's operands while it runs."""

    def __init__(self, w: Cohort, regs: list[Any], step: Step):
        self.w = w
        self.step = step
        self.shape = (len(w.warps), 32)
        self._regs = regs
        self.given: Sequence[Operand] = step.instruction.operands

    def mask_of(self, operand: Operand) -> Array:
        """Of a register (zeros where nothing is undefined) or anything else that is defined."""
        if isinstance(operand, Negated):
            operand = operand.register
        if isinstance(operand, Register) and followed(operand):
            found = self._regs[operand.slot + self.step.distance]
            return self.none(operand.type.bits) if found is None else found
        return self.none(32)

    def mask(self, index: int) -> Array:
        return self.mask_of(self.given[index])

    def none(self, bits: int) -> Array:
        return np.zeros(self.shape, mask_dtype(bits))

    def value(self, index: int, bits: int) -> Any:
        """The bits of an operand: an array, or a scalar for a number."""
        operand, dtype = self.given[index], mask_dtype(bits)
        if isinstance(operand, Immediate):
            number = int(operand.value if operand.bits is None else operand.bits)
            return dtype.type(bool(number) if bits == 1 else number & (1 << bits) - 1)
        registers = registers_of(operand)
        if not registers:
            return np.zeros(self.shape, dtype)
        found = self._regs[registers[0].slot]
        if bits == 1:
            return ~found if isinstance(operand, Negated) else found
        wide = found.view(f"u{found.dtype.itemsize}")
        return wide if wide.dtype == dtype else wide.astype(dtype)

    def undefined(self, first: int = 1) -> Array:
        """bool[n, 32], whether any operand from `first` on has an undefined bit."""
        found = np.zeros(self.shape, bool)
        for operand in self.given[first:]:
            for register in registers_of(operand):
                found |= self.mask_of(register) != 0
        return found


def filled(undefined: Array, bits: int) -> Array:
    """All bits of the lanes that are undefined."""
    if bits == 1:
        return undefined
    dtype = mask_dtype(bits)
    return np.where(undefined, ~dtype.type(0), dtype.type(0))


def fitted(mask: Array, bits: int, signed: bool = False) -> Array:
    """A mask as wide as a register: cut, or extended as its value is."""
    dtype = mask_dtype(bits)
    if mask.dtype == dtype:
        return mask
    if bits == 1 or mask.dtype == np.bool_:
        return filled(mask != 0, bits)
    if signed:
        size = mask.dtype.itemsize
        return mask.view(f"i{size}").astype(f"i{bits // 8}").view(dtype)
    return mask.astype(dtype)


def kept(mask: Array) -> Mask:
    """None if nothing is undefined."""
    return mask if mask.any() else None
