"""Undefined bits through matrices: a row of A, or a column of B, with one spoils all its sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..instructions.wgmma import Product
from ..numerics import fragments
from ..ptx.syntax import Vector
from ..ptx.types import TYPES
from .masks import Array, Operands, filled

_BITS = {"s4": 4, "u4": 4, "f16": 16, "bf16": 16, "tf32": 32, "f64": 64}
_BITS |= {"s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}


def elements(masks: Sequence[Array], bits: int) -> Array:
    """bool[n, 32, registers, per], the elements that are undefined."""
    stacked = np.stack(masks, axis=-1)
    if bits == 4:
        parts = stacked[..., None] >> (np.uint32(4) * np.arange(8, dtype=np.uint32))
        return (parts & np.uint32(15)) != 0
    parts = np.ascontiguousarray(stacked).view(f"u{bits // 8}")
    return parts.reshape(*stacked.shape, -1) != 0


def multiply(o: Operands) -> Sequence[Array]:
    """mma.sync: the masks of D."""
    parts = o.step.instruction.parts
    rows = 16 if any(part.startswith("m16") for part in parts) else 8
    a_bits, b_bits = (_BITS[part] for part in [p for p in parts if p in TYPES or p in _BITS][1:3])
    a, b, c = ([o.mask_of(one) for one in _registers(o.given[k])] for k in (1, 2, 3))
    left = np.asarray(fragments.matrix_a(elements(a, a_bits), rows).any(axis=2))
    right = np.asarray(fragments.matrix_b(elements(b, b_bits)).any(axis=1))
    spoiled = left[:, :, None] | right[:, None, :]
    d_bits = o.step.results[0].type.bits
    element = _accumulator_bits(parts, d_bits)
    spoiled |= _matrix_c(c, element, rows)
    return _registers_of(spoiled, element, d_bits)


def _registers(operand: Any) -> Sequence[Any]:
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _accumulator_bits(parts: Sequence[str], register_bits: int) -> int:
    types = [part for part in parts if part in ("f16", "f32", "f64", "s32")]
    return 16 if types[0] == "f16" else register_bits


def _matrix_c(masks: Sequence[Array], bits: int, rows: int) -> Array:
    """bool[n, rows, 8]"""
    parts = elements(masks, bits)  # [n, 32, registers, per]
    split = parts.reshape(len(parts), 8, 4, rows // 8, 2)
    return split.transpose(0, 3, 1, 2, 4).reshape(len(parts), rows, 8)


def _registers_of(spoiled: Array, bits: int, register_bits: int) -> list[Array]:
    """Masks of the registers that hold bool[n, rows, 8]."""
    n, rows, _ = spoiled.shape
    split = spoiled.reshape(n, rows // 8, 8, 4, 2)
    if bits < register_bits:
        pairs = split.transpose(1, 0, 2, 3, 4).reshape(-1, n, 32, 2)
        return [_pair(pair) for pair in pairs]
    single = split.transpose(1, 4, 0, 2, 3).reshape(-1, n, 32)
    return [filled(one, register_bits) for one in single]


def _pair(pair: Array) -> Array:
    halves = filled(np.ascontiguousarray(pair), 16)
    return halves.view(np.uint32)[..., 0]


# --- wgmma ---------------------------------------------------------------------------------------


def undefined_lines(product: Product, which: str, chunks: Array) -> Array:
    """bool[M or N], the rows of A, or columns of B, with an undefined element.

    `chunks` uint8[k, 16] are the masks of the operand's 16-byte runs, see `AsyncAccess`.
    """
    size = _BITS[product.a_type if which == "a" else product.b_type] // 8
    k_major = product.a_k_major if which == "a" else product.b_k_major
    count = 64 if which == "a" else product.n
    per = 16 // size
    bad = chunks.reshape(-1, per, size).any(axis=2)
    if k_major:  # [count, chunks along K, per]
        return np.asarray(bad.reshape(count, -1).any(axis=1))
    return np.asarray(bad.reshape(count // per, product.depth, per).any(axis=1)).reshape(-1)


def accumulators(product: Product, spoiled: Array, before: Sequence[Array]) -> list[Array]:
    """Masks of D of bool[n, 16, N]; `before` are those of the accumulators it is added to."""
    n = len(spoiled)
    split = spoiled.reshape(n, 2, 8, product.n // 8, 4, 2)
    if product.d_dtype.itemsize == 2:
        pairs = split.transpose(3, 1, 0, 2, 4, 5).reshape(-1, n, 32, 2)
        fresh = [_pair(pair) for pair in pairs]
        return [one | _halves(old) for one, old in zip(fresh, before, strict=True)]
    single = split.transpose(3, 1, 5, 0, 2, 4).reshape(-1, n, 32)
    return [filled(one | (old != 0), 32) for one, old in zip(single, before, strict=True)]


def _halves(mask: Array) -> Array:
    return filled(np.ascontiguousarray(mask).view(np.uint16) != 0, 16).view(np.uint32)
