"""Layouts: which thread holds which element of a tile.

A `Layout` writes each dimension of a tile as a mixed-radix number, most significant digit
first. A digit belongs to the registers of a thread, the lanes of a warp, or the warps of the
block. The text is that of the attribute `#tile_gpu.layout`:

    <[warp 4:1, reg 2, lane 8:4], [reg 2, lane 4:1, reg 2]>

is the accumulator of mma.m16n8k16 for a 64x16 tile on four warps. `lane 8:4` is the digit
`(lane / 4) % 8`. Seen from one warp (rows 0 to 15, columns 0 to 7; `l.r` = lane, register):

            col 0   1      2   3      4   5      6   7
    row 0   0.0 0.1    1.0 1.1    2.0 2.1    3.0 3.1
    row 1   4.0 4.1    5.0 5.1    6.0 6.1    7.0 7.1
    ...
    row 8   0.4 0.5    1.4 1.5    2.4 2.5    3.4 3.5

Since the digits are plain numbers, reshaping and permuting a tile only regroups them: no data
moves. Lanes and warps that no digit names hold copies.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

WARP_SIZE = 32


class Owner(enum.Enum):
    """What a digit indexes."""

    REGISTER = "reg"
    LANE = "lane"
    WARP = "warp"


@dataclass(frozen=True)
class Digit:
    """`size` values of a dimension; lanes and warps are read as `(index / stride) % size`."""

    owner: Owner
    size: int
    stride: int = 0

    def __str__(self) -> str:
        suffix = "" if self.owner is Owner.REGISTER else f":{self.stride}"
        return f"{self.owner.value} {self.size}{suffix}"


def reg(size: int) -> Digit:
    return Digit(Owner.REGISTER, size)


def lane(size: int, stride: int) -> Digit:
    return Digit(Owner.LANE, size, stride)


def warp(size: int, stride: int) -> Digit:
    return Digit(Owner.WARP, size, stride)


def _merge(major: Digit, minor: Digit) -> Digit | None:
    """One digit for two neighbours, if they count together."""
    if major.owner is not minor.owner:
        return None
    if major.owner is Owner.REGISTER:
        return reg(major.size * minor.size)
    if major.stride == minor.stride * minor.size:
        return Digit(major.owner, major.size * minor.size, minor.stride)
    return None


def _split(digit: Digit, minor_size: int) -> tuple[Digit, Digit] | None:
    """`digit` as a major digit and a minor one of `minor_size`."""
    if digit.size % minor_size:
        return None
    major_stride = digit.stride * minor_size
    return (
        Digit(digit.owner, digit.size // minor_size, major_stride),
        Digit(digit.owner, minor_size, digit.stride),
    )


def _canonical(digits: Iterable[Digit]) -> tuple[Digit, ...]:
    result: list[Digit] = []
    for digit in digits:
        if digit.size == 1:
            continue
        merged = _merge(result[-1], digit) if result else None
        if merged:
            result[-1] = merged
        else:
            result.append(digit)
    return tuple(result)


_DIMENSION = re.compile(r"\[([^\]]*)\]")
_DIGIT = re.compile(r"(reg|lane|warp) (\d+)(?::(\d+))?")


@dataclass(frozen=True)
class Layout:
    """Digits of each dimension, most significant first, in canonical form."""

    dims: tuple[tuple[Digit, ...], ...]

    @staticmethod
    def of(*dims: Iterable[Digit]) -> Layout:
        """The layout with these digits, neighbours merged and digits of size 1 dropped."""
        return Layout(tuple(_canonical(digits) for digits in dims))

    @staticmethod
    @functools.cache
    def parse(text: str) -> Layout:
        """Reads `<[warp 4:1, reg 2], []>`, with anything before the first bracket."""
        return Layout.of(
            *(
                [
                    Digit(Owner(owner), int(size), int(stride or 0))
                    for owner, size, stride in _DIGIT.findall(dimension)
                ]
                for dimension in _DIMENSION.findall(text)
            )
        )

    def __str__(self) -> str:
        dims = ", ".join("[" + ", ".join(map(str, digits)) + "]" for digits in self.dims)
        return f"#tile_gpu.layout<{dims}>"

    @property
    def rank(self) -> int:
        return len(self.dims)

    @functools.cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(math.prod(d.size for d in digits) for digits in self.dims)

    # ---- digits of one kind ---------------------------------------------------------------

    def weighted(self, dim: int, owner: Owner) -> list[tuple[Digit, int]]:
        """Digits of `owner` in dimension `dim`, each with the number of elements it counts."""
        result, weight = [], 1
        for digit in reversed(self.dims[dim]):
            if digit.owner is owner:
                result.append((digit, weight))
            weight *= digit.size
        return result[::-1]

    def count(self, owner: Owner, dim: int | None = None) -> int:
        """Product of the sizes of the digits of `owner`, in one or all dimensions."""
        dims = self.dims if dim is None else self.dims[dim : dim + 1]
        return math.prod(d.size for d in itertools.chain(*dims) if d.owner is owner)

    @property
    def num_registers(self) -> int:
        """Registers (elements) that each thread holds."""
        return self.count(Owner.REGISTER)

    def run(self, dim: int) -> int:
        """Neighbouring elements along `dim` that a thread holds."""
        digits = self.dims[dim]
        return digits[-1].size if digits and digits[-1].owner is Owner.REGISTER else 1

    @functools.cached_property
    def register_offsets(self) -> tuple[tuple[int, ...], ...]:
        """Coordinates, relative to the thread's first element, of each register."""
        per_dim = []
        for dim in range(self.rank):
            digits = self.weighted(dim, Owner.REGISTER)
            values = itertools.product(*(range(d.size) for d, _ in digits))
            per_dim.append(
                [sum(v * w for v, (_, w) in zip(value, digits, strict=True)) for value in values]
            )
        return tuple(itertools.product(*per_dim))

    @functools.cached_property
    def register_at(self) -> dict[tuple[int, ...], int]:
        """Register number by its coordinates relative to the thread's first element."""
        return {offset: index for index, offset in enumerate(self.register_offsets)}

    def groups(self, dim: int, size: int) -> list[list[int]]:
        """The registers in groups of `size` neighbours along `dim`; `size` divides the run."""
        groups = []
        for offset in self.register_offsets:
            if offset[dim] % size == 0:
                steps = (offset[:dim] + (offset[dim] + i,) + offset[dim + 1 :] for i in range(size))
                groups.append([self.register_at[step] for step in steps])
        return groups

    def free_strides(self, owner: Owner, total: int) -> list[tuple[int, int]]:
        """`(stride, size)` of the parts of the lane or warp index that no digit reads: threads
        that differ only there hold copies. Least significant first."""
        taken = sorted((d.stride, d.size) for d in itertools.chain(*self.dims) if d.owner is owner)
        free, position = [], 1
        for stride, size in taken:
            if stride > position:
                free.append((position, stride // position))
            position = stride * size
        if position < total:
            free.append((position, total // position))
        return free

    # ---- layouts of related tiles ---------------------------------------------------------

    def permute(self, permutation: Sequence[int]) -> Layout:
        """The layout of the permuted tile: dimension i is dimension `permutation[i]` of this."""
        return Layout(tuple(self.dims[p] for p in permutation))

    def reshape(self, shape: Sequence[int]) -> Layout | None:
        """The layout of the tile reshaped in row-major order, or None if a digit would have to
        be cut at a place that its size does not allow."""
        pending = list(_canonical(d for digits in self.dims for d in digits))
        dims: list[list[Digit]] = []
        for size in reversed(shape):
            digits: list[Digit] = []
            while size > 1:
                if not pending:
                    return None
                digit = pending.pop()
                if size % digit.size:
                    parts = _split(digit, math.gcd(size, digit.size))
                    if parts is None or parts[1].size == 1:
                        return None
                    pending.append(parts[0])
                    digit = parts[1]
                digits.insert(0, digit)
                size //= digit.size
            dims.insert(0, digits)
        return Layout.of(*dims)

    def resize(self, size: int) -> Layout | None:
        """The layout of a rank-1 tile whose elements are cut into parts, or are parts joined, by
        the thread that holds them, so that there are `size`; None if another holds a part."""
        (digits,) = self.dims
        count = self.shape[0]
        if size >= count:
            return Layout.of((*digits, reg(size // count)))
        factor = count // size
        if self.run(0) % factor:
            return None
        return Layout.of((*digits[:-1], reg(digits[-1].size // factor)))

    def drop(self, dim: int) -> Layout:
        """The layout after a reduction: `dim` is gone, its lanes and warps hold copies."""
        return Layout(self.dims[:dim] + self.dims[dim + 1 :])

    def collapse(self, shape: Sequence[int]) -> Layout:
        """The layout of a tile that broadcasts to this one: no digits where `shape` is 1."""
        return Layout(
            tuple(
                () if size == 1 else digits for size, digits in zip(shape, self.dims, strict=True)
            )
        )

    def within_warps(self, order: Sequence[int], vector: int) -> Layout | None:
        """A layout for coalesced accesses, as `blocked` makes it of each warp's elements, in which
        every warp holds what it holds in this one; None if lanes share out blocks of warps, or
        have too little to share out."""
        outer, inner = [], []
        for digits in self.dims:
            warps = [i for i, digit in enumerate(digits) if digit.owner is Owner.WARP]
            cut = warps[-1] + 1 if warps else 0
            outer.append(digits[:cut])
            inner.append(math.prod(digit.size for digit in digits[cut:]))
        per_warp = blocked(inner, order, vector, 1)
        lanes = [digit for digits in outer for digit in digits if digit.owner is Owner.LANE]
        if lanes or per_warp.count(Owner.LANE) < WARP_SIZE:
            return None
        return Layout.of(*(a + b for a, b in zip(outer, per_warp.dims, strict=True)))

    def only(self, dim: int, *owners: Owner) -> Layout:
        """Keeps, in dimension `dim`, the digits of `owners`."""
        kept = tuple(d for d in self.dims[dim] if d.owner in owners)
        return Layout.of(*self.dims[:dim], kept, *self.dims[dim + 1 :])

    # ---- for checks and cost models -------------------------------------------------------

    def coordinates(self, num_warps: int) -> np.ndarray:
        """Coordinates of every element held: int array [warp, lane, register, dimension]."""
        warps, lanes = np.arange(num_warps), np.arange(WARP_SIZE)
        result = np.zeros((num_warps, WARP_SIZE, self.num_registers, self.rank), np.int64)
        registers = np.array(self.register_offsets, np.int64).reshape(-1, self.rank)
        result += registers[None, None]
        for dim in range(self.rank):
            for digit, weight in self.weighted(dim, Owner.LANE):
                value = lanes // digit.stride % digit.size * weight
                result[..., dim] += value[None, :, None]
            for digit, weight in self.weighted(dim, Owner.WARP):
                value = warps // digit.stride % digit.size * weight
                result[..., dim] += value[:, None, None]
        return result


# ---- layouts made to a purpose ------------------------------------------------------------------


def reshapable(before: Sequence[int], after: Sequence[int], num_warps: int) -> Layout:
    """A layout of a tile of shape `before` that a reshape to `after` keeps.

    Both shapes cut the row-major index into digits. Where the cuts of one fall between those of
    the other in a way that no chain of digits has (48 and 60, say), registers hold what lies
    between their greatest common divisor and least common multiple; lanes and warps share out the
    rest.
    """
    cuts = sorted({*_suffix_products(before), *_suffix_products(after)})
    common = [c for c in cuts if all(c % other == 0 or other % c == 0 for other in cuts)]
    chain = _Chain(num_warps)
    for low, high in itertools.pairwise(common):
        between = [cut for cut in cuts if low < cut < high] or [low]
        first, last = math.gcd(*between), math.lcm(*between)
        chain.share_out(first // low)
        chain.digits.insert(0, reg(last // first))
        chain.share_out(high // last)
    layout = Layout.of(chain.digits).reshape(before)
    assert layout is not None
    return layout


class _Chain:
    """Digits under construction, from the least significant, as long as there are lanes and
    warps."""

    def __init__(self, num_warps: int):
        self.digits: list[Digit] = []
        self._used = {lane: 1, warp: 1}
        self._total = {lane: WARP_SIZE, warp: num_warps}

    def share_out(self, size: int) -> None:
        """Digits for `size` elements: lanes first, then warps, the rest in registers."""
        for make, used in self._used.items():
            count = math.gcd(size, self._total[make] // used)
            self.digits.insert(0, make(count, used))
            self._used[make] = used * count
            size //= count
        self.digits.insert(0, reg(size))


def _suffix_products(shape: Sequence[int]) -> Iterator[int]:
    """1, and the row-major strides of a shape, up to its number of elements."""
    return itertools.accumulate(reversed(shape), operator.mul, initial=1)


def blocked(
    shape: Sequence[int],
    order: Sequence[int],
    vector: int,
    num_warps: int,
    no_warps_in: int | None = None,
) -> Layout:
    """A layout for coalesced accesses.

    `order` lists the dimensions from slowest to fastest in memory. Each thread holds runs of
    `vector` elements along the fastest; lanes, then warps, take neighbouring runs, the fastest
    dimension first; what is left repeats in registers. Dimension `no_warps_in` stays within each
    warp, as scans need it.
    """
    left = list(shape)
    digits: list[list[Digit]] = [[] for _ in shape]

    def take(dim: int, digit: Digit) -> None:
        digits[dim].insert(0, digit)
        left[dim] //= digit.size

    fastest = order[-1]
    take(fastest, reg(math.gcd(left[fastest], vector)))
    for make, total in ((lane, WARP_SIZE), (warp, num_warps)):
        stride = 1
        for dim in reversed(order):
            if make is warp and dim == no_warps_in:
                continue
            size = math.gcd(left[dim], total // stride)
            take(dim, make(size, stride))
            stride *= size
    for dim, size in enumerate(left):
        take(dim, reg(size))
    return Layout.of(*digits)
