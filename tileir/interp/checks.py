"""Undefined behaviour of operations on values.

Undefined elements of an arithmetic result are a `Problem`; what cannot be confined to an element
is a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .faults import Fault
from .numerics import int_float, integers
from .numerics.formats import FloatFormat, IntFormat, Tile
from .numerics.rounding import to_float64
from .poison import Poison


def _at(bad: Tile) -> str:
    """Where the first bad element of a tile is; nothing for a rank-0 tile."""
    where = np.argwhere(bad)[0].tolist()
    return f" in element [{', '.join(map(str, where))}]" if where else ""


class Problem(NamedTuple):
    """Elements whose result is undefined, and why."""

    mask: Tile
    reason: str


def forbid(problem: Problem | None) -> None:
    """A fault if there is a problem: for rank-0 tiles, which nothing can drop an element of."""
    if problem is not None:
        raise Fault(problem.reason)


def undefined(problem: Problem | None, site: int) -> Poison | None:
    """The elements of a tile as poison: an error only if one of them is used."""
    return None if problem is None else Poison(np.asarray(problem.mask), site, problem.reason)


def divisor(a: Tile, b: Tile, fmt: IntFormat, signed: bool) -> Problem | None:
    """Division by zero, or the signed minimum divided by -1."""
    zero = np.equal(b, 0)
    if signed and fmt.bits > 1:
        minimum = np.equal(a, integers.bounds(fmt, True)[0]) & np.equal(b, -1)
        if minimum.any():
            reason = f"signed division overflows{_at(minimum)}: the minimum of {fmt.name} by -1"
            return Problem(minimum | zero, reason)
    return Problem(zero, f"division by zero{_at(zero)}") if zero.any() else None


def nonzero(b: Tile) -> Problem | None:
    """A remainder by zero."""
    zero = np.equal(b, 0)
    return Problem(zero, f"division by zero{_at(zero)}") if zero.any() else None


def shift(amount: Tile, fmt: IntFormat) -> Problem | None:
    """A shift by the width or more."""
    value = integers.as_unsigned(amount, fmt)
    bad = np.greater_equal(value, fmt.bits)
    if not bad.any():
        return None
    found = int(np.asarray(value).flat[int(bad.argmax())])
    reason = f"shift of {fmt.name} by {found}{_at(bad)}: the amount must be below {fmt.bits}"
    return Problem(bad, reason)


def overflow(
    promise: str, broken_signed: Tile | None, broken_unsigned: Tile | None
) -> Problem | None:
    """A promise of `overflow<...>` that does not hold."""
    for kind, broken in (("signed", broken_signed), ("unsigned", broken_unsigned)):
        if broken is not None and broken.any():
            reason = f"{kind} overflow{_at(broken)}, although `overflow<{promise}>` rules it out"
            return Problem(broken, reason)
    return None


def float_to_int(x: Tile, source: FloatFormat, target: IntFormat, signed: bool) -> Problem | None:
    """A float that the integer type cannot hold."""
    bad = int_float.int_range_broken(x, source, target, signed)
    if not bad.any():
        return None
    value = float(to_float64(np.asarray(x), source).flat[int(bad.argmax())])
    kind = "signed" if signed else "unsigned"
    return Problem(bad, f"ftoi of {value:g}{_at(bad)}, which no {kind} {target.name} holds")


def step(value: int) -> None:
    """A loop step that is not positive."""
    if value <= 0:
        raise Fault(f"the step of a for loop must be positive, found {value}")


def slice_index(index: Sequence[int], counts: Sequence[int]) -> None:
    """An extract or insert beyond the last slice."""
    for dimension, (i, count) in enumerate(zip(index, counts, strict=True)):
        if not 0 <= i < count:
            raise Fault(
                f"slice index {i} of dimension {dimension} is out of range: there are {count}"
            )


def neutral(identity: Tile, first: Tile, combined: Tile) -> None:
    """A reduction identity that changes an element it is combined with (NaN apart)."""
    bad = (first != combined) & (first == first)
    if bad.any():
        where = int(np.asarray(bad).argmax())
        value, result = np.asarray(first).flat[where], np.asarray(combined).flat[where]
        raise Fault(
            f"the identity {identity} is not neutral: combined with {value} it gives {result}"
        )


def divisible(x: Tile, number: int) -> None:
    """`assume div_by`: every element is a multiple."""
    bad = np.not_equal(x % number, 0)
    if bad.any():
        value = np.asarray(x).flat[int(bad.argmax())]
        raise Fault(f"broken assumption div_by<{number}>{_at(bad)}: found {value}")


def runs(x: Tile, number: int, every: int, along: int, pace: int) -> None:
    """`assume div_by` with `every`: groups of `every` elements along a dimension start at a
    multiple and grow by `pace`."""
    values = np.asarray(x)
    position = np.arange(values.shape[along])
    heads = np.take(values, position // every * every, axis=along)
    shape = [1] * values.ndim
    shape[along] = -1
    expected = heads + (position % every * pace).reshape(shape).astype(values.dtype)
    bad = (heads % number != 0) | (values != expected)
    if bad.any():
        value = values.flat[int(bad.argmax())]
        raise Fault(
            f"broken assumption div_by<{number}, every {every} along {along}>{_at(bad)}: "
            f"found {value}"
        )


def same_elements(x: Tile, block: Sequence[int]) -> None:
    """`assume same_elements`: constant inside each block of that shape."""
    values = np.asarray(x)
    heads = values
    for axis, extent in enumerate(block):
        heads = np.take(heads, np.arange(values.shape[axis]) // extent * extent, axis=axis)
    bad = values != heads
    if bad.any():
        shape = ", ".join(map(str, block))
        raise Fault(f"broken assumption same_elements<[{shape}]>{_at(bad)}")


def bounded(x: Tile, low: int | None, high: int | None) -> None:
    """`assume bounded`: an inclusive range of signed values."""
    values = np.asarray(x)
    bad = np.zeros(values.shape, bool)
    if low is not None:
        bad = bad | (values < low)
    if high is not None:
        bad = bad | (values > high)
    if bad.any():
        ends = ", ".join("?" if end is None else str(end) for end in (low, high))
        value = values.flat[int(bad.argmax())]
        raise Fault(f"broken assumption bounded<{ends}>{_at(bad)}: found {value}")
