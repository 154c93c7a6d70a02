"""One specialisation of a kernel: what is known of each parameter when it is compiled.

Everything here is frozen, hashable and free of MLIR, so that a launcher can use a signature as
the key of its caches.

The words that a kernel's entry takes, in the order of its parameters:

| parameter | words |
|---|---|
| scalar | the value |
| array of rank n | address of the first element, n extents, n strides in elements |
| list of arrays | address of a table with 1 + 2n 64-bit words an array, i32 number of arrays |
| tuple | those of its items |
| constant | none |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: Extents, strides and addresses are only ever asked whether they are multiples of this.
DIVISOR = 16

#: Nothing is assumed of arrays of higher rank but their element type.
MAX_RANK_WITH_FACTS = 5


@dataclass(frozen=True, slots=True)
class ArrayParameter:
    """An array, and what may be assumed of its layout.

    `dtype` is the IR's name (`f16`, `i32`, `u8`, `i1`, ...).  `index_bits` is the width of extents
    and strides, 32 or 64.  `pointer_divisible_by` counts bytes; `shape_divisible_by`,
    `stride_divisible_by`, `static_shape` and `static_strides` count elements, one number a
    dimension; 1 and None stand for nothing known.  `disjoint` says that no two elements share
    memory.  Arrays that have one of `alias_groups` in common may share memory with each other.
    """

    dtype: str
    rank: int
    index_bits: int = 32
    pointer_divisible_by: int = 1
    shape_divisible_by: tuple[int, ...] = ()
    stride_divisible_by: tuple[int, ...] = ()
    static_shape: tuple[int | None, ...] = ()
    static_strides: tuple[int | None, ...] = ()
    disjoint: bool = True
    alias_groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, missing in _PER_DIMENSION.items():
            given = tuple(getattr(self, name)) or (missing,) * self.rank
            if len(given) != self.rank:
                raise ValueError(
                    f"{name} has {len(given)} entries for an array of rank {self.rank}"
                )
            object.__setattr__(self, name, given)
        if self.index_bits not in (32, 64):
            raise ValueError(f"index_bits must be 32 or 64, got {self.index_bits}")


_PER_DIMENSION: dict[str, int | None] = {
    "shape_divisible_by": 1,
    "stride_divisible_by": 1,
    "static_shape": None,
    "static_strides": None,
}


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A number that is known only at the launch; `dtype` is the IR's name."""

    dtype: str


@dataclass(frozen=True, slots=True, eq=False)
class ConstantParameter:
    """A value known at compile time; it takes no word.

    Two are equal if type and value are: `1`, `1.0` and `True` are three constants, and NaN is
    equal to itself.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstantParameter):
            return NotImplemented
        return constant_key(self.value) == constant_key(other.value)

    def __hash__(self) -> int:
        return hash(constant_key(self.value))


@dataclass(frozen=True, slots=True)
class ListParameter:
    """A list of arrays that share one description; how many is known only at the launch."""

    element: ArrayParameter


@dataclass(frozen=True, slots=True)
class TupleParameter:
    """A tuple of parameters."""

    items: tuple[Parameter, ...]


Parameter: TypeAlias = (
    ArrayParameter | ScalarParameter | ConstantParameter | ListParameter | TupleParameter
)


@dataclass(frozen=True, slots=True)
class Signature:
    """What is known of all parameters of a kernel, in their order."""

    parameters: tuple[Parameter, ...]

    def words(self) -> tuple[str, ...]:
        """Types of the words that the entry takes: `ptr<f16>`, `i32`, ..."""
        return tuple(word for parameter in self.parameters for word in words(parameter))


def words(parameter: Parameter) -> Iterator[str]:
    """Types of the words that stand for one parameter. Integers of the IR have no sign."""
    match parameter:
        case ScalarParameter(dtype):
            yield signless(dtype)
        case ArrayParameter(dtype, rank, index_bits):
            yield f"ptr<{signless(dtype)}>"
            yield from [f"i{index_bits}"] * (2 * rank)
        case ListParameter():
            yield "ptr<i64>"
            yield "i32"
        case TupleParameter(items):
            for item in items:
                yield from words(item)


def signless(dtype: str) -> str:
    """The IR's type of a dtype: `i8` for `u8`."""
    return f"i{dtype[1:]}" if dtype[0] == "u" else dtype


def constant_key(value: Any) -> Any:
    """What tells constants apart: type and value, floats by their bits, tuples by their items."""
    if isinstance(value, float):
        return (type(value), value.hex())
    if type(value) is tuple:
        return (tuple, tuple(constant_key(item) for item in value))
    return (type(value), value)


def array_facts(
    dtype: str,
    itemsize: int,
    address: int,
    shape: Sequence[int],
    strides: Sequence[int],
    *,
    index_bits: int = 32,
    static_shape: Sequence[int | None] = (),
    static_strides: Sequence[int | None] = (),
) -> ArrayParameter:
    """The specialisation for an example array.

    `strides` count elements, `itemsize` bytes, `address` is that of the first element.  What is
    asked: whether the address and each stride are multiples of 16 bytes, whether each extent is
    a multiple of 16, whether an extent or a stride is 1, whether elements are disjoint.
    `static_shape` and `static_strides` pin further dimensions to their values in the example.
    """
    rank = len(shape)
    if rank > MAX_RANK_WITH_FACTS:
        return ArrayParameter(dtype, rank, index_bits, disjoint=disjoint(shape, strides))
    return ArrayParameter(
        dtype,
        rank,
        index_bits,
        pointer_divisible_by=DIVISOR if address % DIVISOR == 0 else 1,
        shape_divisible_by=tuple(DIVISOR if extent % DIVISOR == 0 else 1 for extent in shape),
        stride_divisible_by=tuple(_stride_divisor(stride, itemsize) for stride in strides),
        static_shape=_pinned(shape, static_shape),
        static_strides=_pinned(strides, static_strides),
        disjoint=disjoint(shape, strides),
    )


def _stride_divisor(stride: int, itemsize: int) -> int:
    """In elements: 8 for a stride of a multiple of 16 bytes between f16 elements."""
    return max(1, DIVISOR // itemsize) if stride * itemsize % DIVISOR == 0 else 1


def _pinned(values: Sequence[int], pinned: Sequence[int | None]) -> tuple[int | None, ...]:
    """Ones are always pinned: an extent of 1 needs no loop, a stride of 1 is contiguous."""
    asked = pinned or (None,) * len(values)
    return tuple(
        value if value == 1 or wanted is not None else None
        for value, wanted in zip(values, asked, strict=True)
    )


def disjoint(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether no two elements share memory, by a test that may say no too often.

    Dimensions sorted by stride must each step over all that the smaller ones reach.
    """
    reach = 0
    for stride, extent in sorted((abs(s), e) for s, e in zip(strides, shape, strict=True)):
        if extent == 0:
            return True
        if extent == 1:
            continue
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True
