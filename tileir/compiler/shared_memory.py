"""Shared memory: how a buffer is laid out so that threads do not queue for its banks.

Shared memory has 32 banks of 4 bytes. An access of a warp is served in wavefronts of up to 128
bytes, each bank once; accesses of 8 and 16 bytes take at least 2 and 4 wavefronts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tileir.compiler.layout import Layout
from tileir.compiler.tile_types import BufferInfo, TileInfo

_BANKS = 32
_BANK_BYTES = 4
_VECTOR_BYTES = 16


def conversion_buffer(tile: TileInfo, target: Layout) -> BufferInfo:
    """The buffer through which `tile` reaches the layout `target` in the fewest wavefronts,
    counting the store and the load; the smallest among equals."""
    layouts = (tile.layout, target)
    return min(
        _candidates(tile),
        key=lambda buffer: (sum(wavefronts(layout, buffer) for layout in layouts), buffer.bytes),
    )


def _candidates(tile: TileInfo) -> Iterator[BufferInfo]:
    rank = len(tile.shape)
    for fastest in range(rank):
        if tile.shape[fastest] == 1 and any(n > 1 for n in tile.shape):
            continue
        order = (*(d for d in range(rank) if d != fastest), fastest)
        plain = BufferInfo(tile.shape, tile.element, order)
        yield plain
        for pad_bytes in (_BANK_BYTES, 2 * _BANK_BYTES, _VECTOR_BYTES):
            if plain.num_rows > 1 and pad_bytes % plain.element_bytes == 0:
                yield replace(plain, pad=pad_bytes // plain.element_bytes)


def vector_elements(layout: Layout, buffer: BufferInfo) -> int:
    """Elements that a thread may move to or from the buffer with one instruction."""
    run = layout.run(buffer.order[-1])
    limit = _VECTOR_BYTES // buffer.element_bytes
    pitch = buffer.pitch_bytes // buffer.element_bytes
    vector = 1
    while vector * 2 <= limit and run % (vector * 2) == 0 and pitch % (vector * 2) == 0:
        vector *= 2
    return vector


def wavefronts(layout: Layout, buffer: BufferInfo) -> int:
    """Wavefronts with which one warp moves all its elements to or from the buffer."""
    vector = vector_elements(layout, buffer)
    coordinates = layout.coordinates(1)[0]  # [lane, register, dimension]
    first = [group[0] for group in layout.groups(buffer.order[-1], vector)]
    starts = buffer.offsets(coordinates[:, first])
    width = vector * buffer.element_bytes
    return int(_wavefronts(starts, width).sum())


def _wavefronts(starts: np.ndarray, width: int) -> np.ndarray:
    """Wavefronts of accesses of `width` bytes by 32 lanes at byte offsets `starts` [lane, access]:
    for each, the most different words that any bank has to give."""
    accesses = starts.shape[1]
    parts = starts.T[:, :, None] + np.arange(0, width, _BANK_BYTES)
    words = np.sort(parts.reshape(accesses, -1) // _BANK_BYTES, axis=1)
    differs = np.ones(words.shape, bool)  # from the word before it
    differs[:, 1:] = words[:, 1:] != words[:, :-1]
    banks = words % _BANKS + np.arange(accesses)[:, None] * _BANKS
    given = np.bincount(banks[differs], minlength=accesses * _BANKS)
    return given.reshape(accesses, _BANKS).max(axis=1)
