"""What atomic updates do to one element: `operation(old, value)` gives the new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .numerics.formats import Tile


def _unsigned(operation: Callable[[Tile, Tile], Tile]) -> Callable[[Tile, Tile], Tile]:
    def apply(old: Tile, value: Tile) -> Tile:
        unsigned = np.dtype(f"uint{8 * old.dtype.itemsize}")
        return operation(old.view(unsigned), value.view(unsigned)).view(old.dtype)

    return apply


def _exchange(old: Tile, value: Tile) -> Tile:
    return value


# addf rounds to nearest even and keeps subnormals; hardware may flush them in f32.
OPERATIONS: dict[str, Callable[[Tile, Tile], Tile]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "add": np.add,
    "addf": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "umax": _unsigned(np.maximum),
    "umin": _unsigned(np.minimum),
    "xchg": _exchange,
}


def compare_and_swap(old: Tile, expected: Tile, value: Tile) -> Tile:
    """`value` where `old` has the bits of `expected`, otherwise `old`."""
    bits: np.dtype[Any] = np.dtype(f"uint{8 * old.dtype.itemsize}")
    return np.where(old.view(bits) == expected.view(bits), value, old)
