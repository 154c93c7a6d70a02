"""Tensor maps in plain launches: kept from launch to launch, by what they follow from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gemm_support import Gemm, compiled

import tileir
from tileir.passes.convert_tile_gpu import map_table
from tileir.sim import Observer, Simulator

GEMM = Gemm(128, 128, 64)
MAPS = 3  # of A, B and C, which two warpgroups store by copies


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

    def made(self, kernel: str, arrays: tuple[np.ndarray, ...], blocks: int = 1) -> int:
        """Maps made in a launch with A, B, C and residuals; C must be right."""
        a, b, c, *residuals = arrays
        c[...] = np.nan
        args = [
            one
            for array in arrays
            for one in (array, *array.shape, *(s // array.itemsize for s in array.strides))
        ]
        before = self._made.count
        self._simulator.run(kernel, blocks, args=args)
        want = a.astype(np.float32) @ b.astype(np.float32)
        np.testing.assert_array_equal(c, sum(residuals, want))
        return self._made.count - before


def operands(columns: int = 64, k: int = 64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and B of small integers, and room for C, of 64 rows."""
    r = np.random.default_rng(columns + k)
    a, b = (r.integers(-3, 4, size).astype(np.float16) for size in ((64, k), (k, columns)))
    return a, b, np.zeros((64, columns), np.float16)


def test_the_next_launch_finds_them() -> None:
    launches, arrays = Launches(compiled(GEMM, "plain").ptx), operands()
    assert launches.made(GEMM.name, arrays) == MAPS
    assert launches.made(GEMM.name, arrays) == 0


def test_other_sizes_have_other_maps() -> None:
    launches, small, large = Launches(compiled(GEMM, "plain").ptx), operands(), operands(k=128)
    assert launches.made(GEMM.name, small) == MAPS
    assert launches.made(GEMM.name, large) == MAPS
    assert launches.made(GEMM.name, small) == 0
    assert launches.made(GEMM.name, large) == 0


def test_other_addresses_have_other_maps() -> None:
    launches, (a, b, c) = Launches(compiled(GEMM, "plain").ptx), operands()
    assert launches.made(GEMM.name, (a, b, c)) == MAPS
    assert launches.made(GEMM.name, (b, a, c)) == MAPS
    assert launches.made(GEMM.name, (a, b, c)) == 0
    assert launches.made(GEMM.name, (b, a, c)) == 0


def test_blocks_that_start_together() -> None:
    """Those that do not get the entry make maps of their own, once."""
    launches, arrays = Launches(compiled(GEMM, "plain").ptx), operands(columns=256)
    made = launches.made(GEMM.name, arrays, 4)
    assert MAPS <= made <= 4 * MAPS and made % MAPS == 0
    assert launches.made(GEMM.name, arrays, 4) == 0


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_full_table(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    """Blocks make maps in slots of the pool, at every launch."""
    monkeypatch.setattr(map_table, "_TABLE_BITS", 0)
    launches, first = Launches(compiled(GEMM, "plain").ptx), operands()
    other = operands(columns=64 * blocks, k=128)
    assert launches.made(GEMM.name, first) == MAPS
    for _ in range(2):
        assert launches.made(GEMM.name, other, blocks) == MAPS * blocks
    assert launches.made(GEMM.name, first) == 0


@pytest.fixture
def one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys start at the same entry."""
    monkeypatch.setattr(map_table, "_MULTIPLIER", 0)


@pytest.mark.usefixtures("one_place")
def test_keys_that_meet() -> None:
    """A key whose entry is another's has the next one; a third key has none."""
    launches = Launches(compiled(GEMM, "plain").ptx)
    first, second, third = (operands(k=k) for k in (64, 128, 192))
    for made in (MAPS, 0):
        for arrays in (first, second):
            assert launches.made(GEMM.name, arrays) == made
    for _ in range(2):
        assert launches.made(GEMM.name, third) == MAPS


@pytest.mark.usefixtures("one_place")
def test_long_keys() -> None:
    """34 words, up to two for a lane. The residual's stride is the last."""
    gemm = Gemm(64, 64, 64, epilogue="residual")
    index = "%x, %y, %z = get_tile_block_id : tile<i64>"
    narrow = "%x32, %y, %z = get_tile_block_id : tile<i32>"
    wide = "%x = exti %x32 unsigned : tile<i32> -> tile<i64>"
    text = gemm.text().replace("i32", "i64").replace(index, f"{narrow}\n{wide}")
    launches = Launches(tileir.compile(text, "sm_90a", isolate=False, cache=False).ptx)
    memory, abc = (np.arange(64 * 192) % 61).astype(np.float16), operands()
    residuals = [memory[: 64 * pitch].reshape(64, pitch)[:, :64] for pitch in (128, 192)]
    for made in (MAPS + 1, 0):
        for residual in residuals:
            assert launches.made(gemm.name, (*abc, residual)) == made


def test_two_kernels_of_a_module() -> None:
    """The same operands in other boxes: each kernel has maps of its own."""
    other = Gemm(128, 128, 32)
    texts = [gemm.text().strip() for gemm in (GEMM, other)]
    inside = texts[1][texts[1].index("{") + 1 : texts[1].rindex("}")]
    both = texts[0][: texts[0].rindex("}")] + inside + "}"
    launches = Launches(tileir.compile(both, "sm_90a", isolate=False, cache=False).ptx)
    arrays = operands()
    for made in (MAPS, 0):
        for gemm in (GEMM, other):
            assert launches.made(gemm.name, arrays) == made
