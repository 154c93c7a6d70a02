"""Reinterpreting bits: bitcast, pack, unpack, and the packed form of f4E2M1FN in memory."""

from __future__ import annotations

import numpy as np

from .formats import I1, FloatFormat, IntFormat, Number, Tile


def bitcast(x: Tile, source: Number, target: Number) -> Tile:
    """The same bits as another format of equal width."""
    return from_nibbles(to_nibbles(x), target) if source.bits == 4 else x.view(target.dtype)


def pack(x: Tile, source: Number) -> Tile:
    """The bytes of a rank-1 tile as int8: little endian, narrow elements from the low bits up."""
    if source is I1:
        return np.packbits(x, bitorder="little").view(np.int8)
    if source.bits == 4:
        return pack_nibbles(to_nibbles(x)).view(np.int8)
    return np.ascontiguousarray(x).view(np.int8)


def unpack(x: Tile, target: Number) -> Tile:
    """The inverse of `pack`."""
    data = np.ascontiguousarray(x)
    if target is I1:
        return np.unpackbits(data.view(np.uint8), bitorder="little").view(np.bool_)
    if target.bits == 4:
        return from_nibbles(unpack_nibbles(data.view(np.uint8)), target)
    return canonical(data.view(target.dtype), target)


def to_nibbles(x: Tile) -> Tile:
    """The 4-bit codes of a tile of i4 or f4E2M1FN as uint8."""
    return x.view(np.uint8) & 15


def from_nibbles(codes: Tile, target: Number) -> Tile:
    """A tile of i4 (sign extended) or f4E2M1FN from its 4-bit codes."""
    if isinstance(target, IntFormat):
        return (codes.view(np.int8) << 4) >> 4
    return codes.view(target.dtype)


def pack_nibbles(codes: Tile) -> Tile:
    """Pairs along the last dimension to bytes, the even element in the low half."""
    return codes[..., 0::2] | (codes[..., 1::2] << 4)


def unpack_nibbles(data: Tile) -> Tile:
    """The inverse of `pack_nibbles`."""
    out = np.empty((*data.shape[:-1], 2 * data.shape[-1]), np.uint8)
    out[..., 0::2], out[..., 1::2] = data & 15, data >> 4
    return out


def canonical(x: Tile, fmt: Number) -> Tile:
    """Bits from memory as a value: any nonzero i1 is true, the low 13 bits of tf32 are dropped."""
    if fmt is I1:
        return x != 0
    if isinstance(fmt, FloatFormat) and fmt.name == "tf32":
        return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return x
