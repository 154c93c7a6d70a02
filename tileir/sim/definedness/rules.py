"""How undefined bits spread through instructions.

Moves, shifts and logic carry each bit to where it goes; a zero in `and`, a one in `or` make their
bit defined. Packed arithmetic spreads an undefined bit to its element, all else to the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..instructions.matrices import transposed_matrix
from ..instructions.warp import shuffled
from ..numerics import integers
from ..ptx.syntax import Operand, Pair, Register, Sink, Vector
from ..ptx.types import TYPES, Type
from .masks import Array, Operands, filled, fitted, mask_dtype

Rule = Callable[[Operands], Sequence[Array]]
"""The masks of the results, in the order of `Step.results`."""

RULES: dict[str, Rule] = {}
_PACKED = {2: np.dtype(np.uint16), 4: np.dtype(np.uint8)}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def types_of(o: Operands) -> list[Type]:
    return [TYPES[part] for part in o.step.instruction.parts if part in TYPES]


def everything(o: Operands) -> Sequence[Array]:
    """Any undefined bit makes all results undefined; of packed types element by element."""
    results = o.step.results
    types = types_of(o)
    if types and types[0].lanes > 1 and len(results) == 1 and results[0].type.bits == 32:
        return [_elementwise(o, _PACKED[types[0].lanes])]
    undefined = o.undefined()
    return [filled(undefined, one.type.bits) for one in results]


def _elementwise(o: Operands, element: np.dtype[Any]) -> Array:
    found = o.none(32).view(element)
    for operand in o.given[1:]:
        mask = o.mask_of(operand)
        if mask.dtype.itemsize == 4 and mask.dtype != np.bool_:
            found = found | filled(mask.view(element) != 0, 8 * element.itemsize)
        else:
            found = found | np.repeat(mask != 0, 4 // element.itemsize, axis=1) * ~element.type(0)
    return found.view(np.uint32)


# --- bits that move ------------------------------------------------------------------------------


@rule("mov")
def move(o: Operands) -> Sequence[Array]:
    result, source = o.given
    if isinstance(source, Vector):
        return [_packed(o, source.elements, o.step.results[0].type.bits)]
    if isinstance(result, Vector):
        return _unpacked(o, result, source)
    return [fitted(o.mask_of(source), o.step.results[0].type.bits)]


def _packed(o: Operands, elements: Sequence[Operand], bits: int) -> Array:
    part, dtype = bits // len(elements), mask_dtype(bits)
    found = o.none(bits)
    for place, element in enumerate(elements):
        mask = fitted(fitted(o.mask_of(element), part), bits)
        found = found | mask << dtype.type(place * part)
    return found


def _unpacked(o: Operands, result: Vector, source: Operand) -> Sequence[Array]:
    mask = o.mask_of(source)
    part = 8 * mask.dtype.itemsize // len(result.elements)
    return [
        fitted(mask >> mask.dtype.type(place * part), part)
        for place, element in enumerate(result.elements)
        if not isinstance(element, Sink)
    ]


@rule("xor", "not")
def union(o: Operands) -> Sequence[Array]:
    bits = o.step.results[0].type.bits
    return [_joined(o, range(1, len(o.given)), bits)]


@rule("lop3")
def union_of_three(o: Operands) -> Sequence[Array]:
    mask = _joined(o, range(1, 4), 32)
    return [mask if one.type.bits == 32 else mask != 0 for one in o.step.results]


def _joined(o: Operands, which: Sequence[int], bits: int) -> Array:
    found = o.none(bits)
    for index in which:
        found = found | fitted(o.mask(index), bits)
    return found


@rule("and")
def both(o: Operands) -> Sequence[Array]:
    """A bit that is certainly zero makes the result's zero."""
    bits = o.step.results[0].type.bits
    (p, a), (q, b) = ((fitted(o.mask(k), bits), o.value(k, bits)) for k in (1, 2))
    return [(p & (q | b)) | (q & (p | a))]


@rule("or")
def either(o: Operands) -> Sequence[Array]:
    """A bit that is certainly one makes the result's one."""
    bits = o.step.results[0].type.bits
    (p, a), (q, b) = ((fitted(o.mask(k), bits), o.value(k, bits)) for k in (1, 2))
    return [(p & (q | ~b)) | (q & (p | ~a))]


@rule("shl", "shr")
def shift(o: Operands) -> Sequence[Array]:
    type_ = types_of(o)[0]
    mask = fitted(o.mask(1), type_.bits).view(type_.dtype)
    amount = np.minimum(o.value(2, 32), np.uint32(type_.bits)).astype(type_.dtype)
    moved = mask << amount if o.step.instruction.parts[0] == "shl" else mask >> amount
    return _unless(o, o.mask(2) != 0, moved.view(mask_dtype(type_.bits)))


def _unless(o: Operands, undefined: Array, mask: Array) -> Sequence[Array]:
    """`mask`, or all bits where what decides about it is undefined."""
    bits = o.step.results[0].type.bits
    return [np.where(undefined, filled(undefined, bits), fitted(mask, bits))]


@rule("shf")
def funnel(o: Operands) -> Sequence[Array]:
    parts = o.step.instruction.parts
    moved = integers.funnel_shift(
        o.mask(1), o.mask(2), o.value(3, 32), "l" in parts, "wrap" in parts
    )
    return _unless(o, o.mask(3) != 0, moved)


@rule("prmt")
def permute(o: Operands) -> Sequence[Array]:
    mode = next((part for part in o.step.instruction.parts if part in _MODES), None)
    moved = integers.permute_bytes(o.mask(1), o.mask(2), o.value(3, 32), mode)
    return _unless(o, o.mask(3) != 0, moved)


_MODES = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


@rule("bfe")
def extract(o: Operands) -> Sequence[Array]:
    type_ = types_of(o)[0]
    mask = o.mask(1).view(type_.dtype)
    moved = integers.extract_field(mask, o.value(2, 32), o.value(3, 32))
    undefined = (o.mask(2) != 0) | (o.mask(3) != 0)
    return _unless(o, undefined, moved.view(mask_dtype(type_.bits)))


@rule("bfi")
def insert(o: Operands) -> Sequence[Array]:
    moved = integers.insert_field(o.mask(1), o.mask(2), o.value(3, 32), o.value(4, 32))
    return _unless(o, (o.mask(3) != 0) | (o.mask(4) != 0), moved)


@rule("selp")
def select(o: Operands) -> Sequence[Array]:
    bits = o.step.results[0].type.bits
    a, b = fitted(o.mask(1), bits), fitted(o.mask(2), bits)
    return _unless(o, o.mask(3), np.where(o.value(3, 1), a, b))


@rule("cvt")
def convert(o: Operands) -> Sequence[Array]:
    target, source = types_of(o)[:2]
    bits = o.step.results[0].type.bits
    if target.lanes > 1 and len(o.given) == 3:  # the first source goes to the upper half
        part = target.bits // 2
        high, low = (fitted(filled(o.mask(k) != 0, part), target.bits) for k in (1, 2))
        return [fitted(high << high.dtype.type(part) | low, bits)]
    if target.is_float or source.is_float or "sat" in o.step.instruction.parts:
        return everything(o)
    mask = fitted(o.mask(1), source.bits)
    return [fitted(fitted(mask, target.bits, source.signed), bits, target.signed)]


# --- between lanes -------------------------------------------------------------------------------


@rule("shfl")
def shuffle(o: Operands) -> Sequence[Array]:
    parts = o.step.instruction.parts
    mode = next(part for part in parts if part in ("up", "down", "bfly", "idx"))
    lane, clamp = (np.broadcast_to(o.value(k, 32), o.shape) for k in (2, 3))
    moved, _ = shuffled(o.w, mode, o.mask(1), lane, clamp)
    undefined = (o.mask(2) != 0) | (o.mask(3) != 0)
    masks = []
    for register in o.step.results:
        bits = register.type.bits
        carried = o.none(1) if bits == 1 else fitted(moved, bits)
        masks.append(np.where(undefined, filled(undefined, bits), carried))
    return masks


@rule("vote", "match", "redux")
def exchange(o: Operands) -> Sequence[Array]:
    """One undefined lane makes the results of its warp undefined."""
    warp = (o.undefined() & o.w.active).any(axis=1, keepdims=True)
    return [filled(np.broadcast_to(warp, o.shape), one.type.bits) for one in o.step.results]


@rule("movmatrix")
def move_matrix(o: Operands) -> Sequence[Array]:
    return [transposed_matrix(o.w, o.mask(1))]


def results_of(operand: Operand) -> list[Register]:
    """The registers that a first operand names as results."""
    if isinstance(operand, Register):
        return [operand]
    if isinstance(operand, Vector):
        return [one for one in operand.elements if isinstance(one, Register)]
    if isinstance(operand, Pair):
        return [one for one in (operand.first, operand.second) if isinstance(one, Register)]
    return []
