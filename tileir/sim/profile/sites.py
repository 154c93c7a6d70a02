"""Accesses of one instruction to global or shared memory, and what the hardware makes of them.

A *request* is what one warp does when it executes the instruction. Global memory moves in sectors
of 32 bytes, so a request costs as many as it touches. Shared memory has 32 banks of 4 bytes, each
of which gives one word in a *wavefront*; lanes that want the same word share it. Accesses of 8
and 16 bytes a lane take the lanes in halves and quarters, each with a wavefront of its own at
least; ldmatrix takes the eight rows of each matrix together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction

Array = np.ndarray[Any, np.dtype[Any]]

SECTOR = 32
_BANKS = 32
_WORD = 4
_LANES = 32


@dataclass(slots=True)
class Accesses:
    """What one instruction did: `requests` by warps, `bytes` that lanes asked for.

    `sectors` counts those of global memory; `wavefronts` those of shared memory, of which
    `needed` are unavoidable. `kind` is "load", "store" or "atomic".
    """

    site: Instruction
    kind: str
    space: str
    bytes_per_lane: int
    requests: int = 0
    bytes: int = 0
    sectors: int = 0
    wavefronts: int = 0
    needed: int = 0

    @property
    def conflicts(self) -> int:
        """Wavefronts that bank conflicts add."""
        return self.wavefronts - self.needed

    @property
    def sectors_per_request(self) -> float:
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def sector_use(self) -> float:
        """The part of the bytes in touched sectors that lanes asked for; above 1 if lanes ask for
        the same bytes."""
        return self.bytes / (SECTOR * self.sectors) if self.sectors else 0.0

    @property
    def location(self) -> str:
        """The place in the source program, or the line of PTX."""
        return self.site.location or f"PTX line {self.site.line}"


def sectors(address: Array, size: int, active: Array) -> int:
    """Sectors that warps touch, addresses int64[n, 32]; each warp for itself."""
    first = address // SECTOR
    parts = [first]
    if size > SECTOR or (address % SECTOR + size > SECTOR).any():
        parts.append((address + size - 1) // SECTOR)
    rows = np.where(
        np.concatenate([active] * len(parts), axis=1), np.concatenate(parts, axis=1), -1
    )
    return int((_distinct(rows) & (np.sort(rows, axis=1) >= 0)).sum())


def _distinct(rows: Array) -> Array:
    """bool like sorted rows: the first of each group of equal elements."""
    ordered = np.sort(rows, axis=1)
    first = np.ones(ordered.shape, bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return first


def wavefronts(offset: Array, size: int, active: Array) -> tuple[int, int]:
    """(wavefronts of warps, those needed at least); offsets of shared memory int64[n, 32]."""
    words = max(1, size // _WORD)
    phases = min(words, 4)  # the lanes go in whole, in halves, in quarters
    wanted = offset[:, :, None] // _WORD + np.arange(words)
    wanted = np.where(active[:, :, None], wanted, -1)
    groups = wanted.reshape(-1, _LANES // phases * words)
    ordered = np.sort(groups, axis=1)
    chosen = _distinct(groups) & (ordered >= 0)
    banks = np.zeros((len(groups), _BANKS), np.int64)
    rows = np.broadcast_to(np.arange(len(groups))[:, None], ordered.shape)
    np.add.at(banks, (rows[chosen], ordered[chosen] % _BANKS), 1)
    taken = banks.max(axis=1)
    return int(taken.sum()), int(np.count_nonzero(taken))
