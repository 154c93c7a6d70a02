"""Forms of a value: whole, or one slice along a dimension.

A tile cut into `factor` slices along dimension d has, as slice s, the elements whose coordinate
along d lies in [s * n / factor, (s + 1) * n / factor), n being its size there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tileir.dialects.cuda_tile import PtrType, TileType
from tileir.ir import Type, Value

#: The dimension along which a value is sliced; None for the whole value.
Form = int | None
WHOLE: Form = None

_TWO_WORDS = {"i64", "f64"}


def tile_type(value: Value) -> TileType:
    """The type of a value that is a tile."""
    type_ = value.type
    assert isinstance(type_, TileType), f"{value} is no tile"
    return type_


def shape_of(value: Value) -> tuple[int, ...]:
    return tuple(tile_type(value).shape)


def sliced_shape(shape: Sequence[int], form: Form, factor: int) -> list[int]:
    return [n // factor if d == form else n for d, n in enumerate(shape)]


def sliced_type(type_: TileType, form: Form, factor: int) -> TileType:
    return type_ if form is None else type_.with_shape(sliced_shape(type_.shape, form, factor))


def can_be_cut(shape: Sequence[int], dim: int, factor: int) -> bool:
    return shape[dim] % factor == 0 and shape[dim] >= factor


def words_of(type_: Type) -> int:
    """Registers of 32 bits that a tile fills; 0 for tokens and views.

    An element narrower than 32 bits takes a register of its own in arithmetic.
    """
    if not isinstance(type_, TileType):
        return 0
    element = type_.element_type
    wide = isinstance(element, PtrType) or str(element) in _TWO_WORDS
    return type_.num_elements * (2 if wide else 1)


def packed_words_of(type_: TileType) -> int:
    """Registers that a tile fills as it lies in memory, elements beside each other."""
    return -(-type_.num_elements * element_bits(type_) // 32)


def element_bits(type_: TileType) -> int:
    """Bits of an element in memory."""
    element = type_.element_type
    if isinstance(element, PtrType):
        return 64
    match = re.search(r"\d+", str(element))
    bits = int(match[0]) if match else 8
    return {1: 8}.get(bits, bits) if str(element) != "tf32" else 32
