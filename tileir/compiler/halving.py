"""Recursive halving: how lanes that hold partial results share out the results.

Of a tile whose columns are summed up, a thread holds several columns, and the lanes of a digit of
the rows each hold a part of every sum. Two lanes that exchange halves, each giving away what it
has of the one half and taking what the other has of the other, are left with half of the columns
each, and so on with the next lane:

    lane 0   a b c d      a+a' b+b'          a sum of all four lanes
    lane 1   a b c d  =>  c+c' d+d'  =>  ...
    ...

So the digits of the lanes take the places of digits of registers. Where all lanes combine all
results instead (a butterfly), each step moves every one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tileir.compiler.layout import Digit, Layout, Owner, lane, reg


@dataclass(frozen=True)
class LaneStep:
    """A step with the lane whose number differs in the bit `lane`. Either both get everything, or
    (`dim`, `weight`) says which half this lane keeps: elements whose coordinate along `dim` has the
    lane's bit as its digit of that weight."""

    lane: int
    dim: int = 0
    weight: int = 0

    @property
    def halves(self) -> bool:
        return self.weight > 0


def halved(layout: Layout, dim: int) -> Layout:
    """The layout of partial results over `dim`, one for each warp that has a part, if lanes share
    them out as far as there are enough in registers."""
    lanes = _lane_bits(layout, dim)
    dims = [[[digit] for digit in digits] for digits in layout.only(dim, Owner.WARP).dims]
    for other, index in _places(layout, dim):
        digit, is_run = layout.dims[other][index], index == len(layout.dims[other]) - 1
        count = min(len(lanes), _twos(digit.size))
        taken, lanes = lanes[:count], lanes[count:]
        # The first step is with the nearest lane: in this order, neighbours count together.
        shared = [lane(2, stride) for stride in reversed(taken)]
        left = [reg(digit.size >> count)]
        dims[other][index] = shared + left if is_run else left + shared
    return Layout.of(*(itertools.chain(*digits) for digits in dims))


def _places(layout: Layout, dim: int) -> list[tuple[int, int]]:
    """Digits of registers outside `dim`, (dimension, index), the last dimension's first, and runs
    of neighbours, which memory accesses want to keep, last of all."""
    digits = [
        (other, index)
        for other in reversed(range(layout.rank))
        for index in reversed(range(len(layout.dims[other])))
        if other != dim and layout.dims[other][index].owner is Owner.REGISTER
    ]
    return sorted(digits, key=lambda place: place[1] == len(layout.dims[place[0]]) - 1)


def lane_steps(source: Layout, dim: int, others: Sequence[Sequence[Digit]]) -> list[LaneStep]:
    """The steps in which lanes combine their parts of a reduction over `dim`. `others`: the digits
    that the result has in the other dimensions, where lanes of `dim` share out elements."""
    result = Layout(tuple(map(tuple, others)))
    return [_step(stride, result) for stride in _lane_bits(source, dim)]


def _step(stride: int, result: Layout) -> LaneStep:
    for dim in range(result.rank):
        for digit, weight in result.weighted(dim, Owner.LANE):
            if digit.stride <= stride < digit.stride * digit.size:
                return LaneStep(stride, dim, weight * (stride // digit.stride))
    return LaneStep(stride)


def _lane_bits(layout: Layout, dim: int) -> list[int]:
    """The bits of the lane's number in dimension `dim`, in the order of the steps."""
    return [
        digit.stride << bit
        for digit, _ in layout.weighted(dim, Owner.LANE)
        for bit in range(digit.size.bit_length() - 1)
    ]


def _twos(size: int) -> int:
    """How many times 2 divides `size`."""
    return math.gcd(size, 1 << size.bit_length()).bit_length() - 1
