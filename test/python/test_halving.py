"""Recursive halving: which lanes end with which results, and that all of them are right."""

from __future__ import annotations

import numpy as np
import pytest

from tileir.compiler.halving import LaneStep, halved, lane_steps
from tileir.compiler.layout import Layout

#: Layout, dimension that is reduced, and what is left.
CASES = [
    # The columns of an accumulator of wgmma: lanes of a row's eighth take an eighth of them.
    ("<[warp 8:1, reg 2, lane 8:4], [reg 32, lane 4:1, reg 2]>", 0,
     "<[warp 8:1], [reg 4, lane 32:1, reg 2]>"),
    # Its rows, of which a thread has two, are not enough for four lanes.
    ("<[warp 8:1, reg 2, lane 8:4], [reg 32, lane 4:1, reg 2]>", 1,
     "<[warp 8:1, lane 2:1, lane 8:4], []>"),
    # Lanes take the upper part of a run of neighbours.
    ("<[reg 8, lane 2:16], [lane 16:1, reg 4]>", 0, "<[], [lane 16:1, lane 2:16, reg 2]>"),
    # Other digits first.
    ("<[lane 4:8], [reg 2, lane 8:1, reg 4]>", 0, "<[], [lane 2:8, lane 8:1, lane 2:16, reg 2]>"),
    # Numbers that are no powers of two are halved as often as they can be.
    ("<[lane 8:4], [reg 12, lane 4:1]>", 0, "<[], [reg 3, lane 16:1]>"),
    ("<[lane 8:4], [reg 5, lane 4:1]>", 0, "<[], [reg 5, lane 4:1]>"),
    # Several digits of lanes, and several dimensions.
    ("<[lane 2:16, reg 2, lane 2:1], [reg 2], [reg 2, lane 8:2]>", 0,
     "<[], [lane 2:1], [lane 16:2]>"),
    # Nothing to combine, or nothing to share out.
    ("<[reg 4, warp 4:1], [lane 32:1, reg 2]>", 0, "<[warp 4:1], [lane 32:1, reg 2]>"),
    ("<[lane 32:1], [warp 4:1]>", 0, "<[], [warp 4:1]>"),
]  # fmt: skip


@pytest.mark.parametrize(("layout", "dim", "left"), CASES)
def test_layouts(layout: str, dim: int, left: str) -> None:
    assert halved(Layout.parse(layout), dim) == Layout.parse(left)


@pytest.mark.parametrize(("text", "dim"), [case[:2] for case in CASES])
def test_steps_give_each_lane_its_sums(text: str, dim: int) -> None:
    """Lanes step by step, straight from what a step is: a lane starts with the sums of its own
    registers and drops, in each step that halves, those of which the other keeps the sum."""
    layout = Layout.parse(text)
    result = halved(layout, dim)
    # Each warp by itself: coordinates along the dimension do not matter any more.
    held = np.delete(layout.coordinates(1)[0], dim, axis=2)
    sums = [dict[tuple[int, ...], int]() for _ in range(32)]
    tile = np.random.default_rng(len(text)).integers(0, 100, layout.shape)
    whole = layout.coordinates(1)[0]
    for lane in range(32):
        for place, at in zip(held[lane], whole[lane], strict=True):
            key = tuple(map(int, place))
            sums[lane][key] = sums[lane].get(key, 0) + int(tile[tuple(at)])
    others = result.dims[:dim] + result.dims[dim + 1 :]
    for step in lane_steps(layout, dim, others):
        sums = [_after(step, lane, sums) for lane in range(32)]
    kept = np.delete(result.coordinates(1)[0], dim, axis=2)
    whole_warp = _sums_of_first_warp(layout, dim, tile)
    for lane in range(32):
        places = {tuple(map(int, place)) for place in kept[lane]}
        assert set(sums[lane]) == places
        assert len(places) == result.num_registers
        for place in places:
            assert sums[lane][place] == whole_warp[place]


def _after(
    step: LaneStep, lane: int, sums: list[dict[tuple[int, ...], int]]
) -> dict[tuple[int, ...], int]:
    mine, theirs = sums[lane], sums[lane ^ step.lane]
    bit = int(lane & step.lane > 0)
    return {
        place: mine[place] + theirs[place]
        for place in mine
        if not step.halves or place[step.dim] // step.weight % 2 == bit
    }


def _sums_of_first_warp(layout: Layout, dim: int, tile: np.ndarray) -> np.ndarray:
    """Sums over what the first warp holds."""
    mask = np.zeros(layout.shape, bool)
    mask[tuple(layout.coordinates(1)[0].reshape(-1, layout.rank).T)] = True
    return np.where(mask, tile, 0).sum(axis=dim)
