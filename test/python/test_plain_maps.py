"""Tensor maps in plain launches: kept from launch to launch, by what they follow from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gemm_support import Gemm, compiled

import tileir
from tileir.passes.convert_tile_gpu import map_table
from tileir.sim import Observer, Simulator

GEMM = Gemm(64, 64, 64)
MAPS = 3  # of A, B and C


class MapsMade(Observer):
    """Counts copies of maps to global memory."""

    def __init__(self) -> None:
        self.count = 0

    def fence(self, fence: Any) -> None:
        if fence.kind == "proxy.tensormap" and fence.order == "release":
            self.count += len(fence.warps)


class Launches:
    """A module whose global memory lasts from launch to launch, with all checks."""

    def __init__(self, ptx: str):
        self._made = MapsMade()
        self._simulator = Simulator(ptx, observers=[self._made])

    def made(self, kernel: str, blocks: int, columns: int, k: int = 64, first: int = 0) -> int:
        """Maps made in a launch of 64 rows, whose result must be right; A starts `first` rows into
        an array."""
        r = np.random.default_rng(columns + first)
        whole = r.integers(-3, 4, (64 + first, k)).astype(np.float16)
        a, b = whole[first:], r.integers(-3, 4, (k, columns)).astype(np.float16)
        c = np.full((64, columns), np.nan, np.float16)
        args = [one for array in (a, b, c) for one in (array, *array.shape, array.shape[1], 1)]
        before = self._made.count
        self._simulator.run(kernel, blocks, args=args)
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
        return self._made.count - before


def test_the_next_launch_finds_them() -> None:
    launches = Launches(compiled(GEMM, "plain").ptx)
    assert launches.made(GEMM.name, 1, 64) == MAPS
    assert launches.made(GEMM.name, 1, 64) == 0


def test_other_sizes_have_other_maps() -> None:
    launches = Launches(compiled(GEMM, "plain").ptx)
    assert launches.made(GEMM.name, 1, 64) == MAPS
    assert launches.made(GEMM.name, 1, 64, k=128) == MAPS
    assert launches.made(GEMM.name, 1, 64) == 0
    assert launches.made(GEMM.name, 1, 64, k=128) == 0


def test_other_addresses_have_other_maps() -> None:
    launches = Launches(compiled(GEMM, "plain").ptx)
    assert launches.made(GEMM.name, 1, 64) == MAPS
    assert launches.made(GEMM.name, 1, 64, first=8) == MAPS
    assert launches.made(GEMM.name, 1, 64, first=8) == 0


def test_blocks_that_start_together() -> None:
    """Those that do not get the entry make maps of their own, once."""
    launches = Launches(compiled(GEMM, "plain").ptx)
    made = launches.made(GEMM.name, 4, 256)
    assert MAPS <= made <= 4 * MAPS and made % MAPS == 0
    assert launches.made(GEMM.name, 4, 256) == 0


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_full_table(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    """Blocks make maps in slots of the pool, at every launch."""
    monkeypatch.setattr(map_table, "_TABLE_BITS", 0)
    launches = Launches(compiled(GEMM, "plain").ptx)
    assert launches.made(GEMM.name, 1, 64) == MAPS
    for _ in range(2):
        assert launches.made(GEMM.name, blocks, 64 * blocks, k=128) == MAPS * blocks
    assert launches.made(GEMM.name, 1, 64) == 0


def test_two_kernels_of_a_module() -> None:
    """The same operands in other boxes: each kernel has maps of its own."""
    other = Gemm(64, 64, 32)
    texts = [gemm.text().strip() for gemm in (GEMM, other)]
    inside = texts[1][texts[1].index("{") + 1 : texts[1].rindex("}")]
    both = texts[0][: texts[0].rindex("}")] + inside + "}"
    ptx = tileir.compile(both, "sm_90a", isolate=False, cache=False).ptx
    launches = Launches(ptx)
    for gemm in (GEMM, other):
        assert launches.made(gemm.name, 1, 64) == MAPS
    for gemm in (GEMM, other):
        assert launches.made(gemm.name, 1, 64) == 0
