"""The cost model's choices beside those measured to be the fastest, and its arithmetic."""

from __future__ import annotations

import pytest

from tileir.compiler.hopper import (
    TILES,
    Tile,
    choose_split,
    choose_tile,
    faster_tile,
    predicted_us,
)

#: Shapes and the tiles that won on an H200, by interleaved measurements of hand-written kernels.
MEASURED = {
    (512, 512, 512): (64, 64, 64),
    (1024, 1024, 1024): (64, 128, 64),
    (2048, 2048, 2048): (128, 128, 64),
    (4096, 4096, 4096): (128, 256, 64),
    (8192, 8192, 8192): (128, 256, 64),
    (8192, 8192, 1024): (128, 128, 64),
    (4096, 14336, 4096): (128, 256, 64),
    (4096, 4096, 14336): (128, 256, 64),
    (128, 8192, 8192): (128, 64, 64),
    (16, 8192, 8192): (64, 64, 128),
    (16, 4096, 4096): (64, 32, 128),
}


@pytest.mark.parametrize("shape", MEASURED, ids=lambda shape: "x".join(map(str, shape)))
def test_the_fastest_measured_tile_is_chosen(shape: tuple[int, int, int]) -> None:
    assert choose_tile(*shape) == MEASURED[shape]


#: Where blocks that share a tile were faster on an H200, or not.
SHARED = {
    (512, 512, 16384): ((128, 64, 64), 4),
    (512, 512, 8192): ((64, 64, 64), 2),
    (256, 1024, 8192): ((64, 64, 64), 2),
    (1024, 1024, 8192): None,
    (512, 512, 512): None,
    (128, 8192, 8192): None,
}


@pytest.mark.parametrize("shape", SHARED, ids=lambda shape: "x".join(map(str, shape)))
def test_blocks_share_sums_where_that_was_faster(shape: tuple[int, int, int]) -> None:
    assert choose_split(*shape) == SHARED[shape]


@pytest.mark.parametrize(
    "tile,split,measured", [((64, 64), 2, 26.2), ((128, 64), 4, 24.8), ((64, 128), 4, 25.3)]
)
def test_predictions_of_shared_sums(tile: tuple[int, int], split: int, measured: float) -> None:
    """Microseconds for 512x512x16384, the mean of both layouts of B."""
    predicted = predicted_us(_tile(*tile), 512, 512, 16384, split=split)
    assert predicted == pytest.approx(measured, rel=0.05)


def _tile(rows: int, columns: int) -> Tile:
    return next(tile for tile in TILES if (tile.rows, tile.columns) == (rows, columns))


def test_rows_off_cache_lines_want_square_tiles_of_three_warpgroups() -> None:
    assert choose_tile(3000, 3000, 3000, on_lines=False, extended=True) == (192, 192, 64)
    assert choose_tile(3000, 3000, 3000, on_lines=False) == (128, 256, 64)


def test_depth_is_one_cache_line_whatever_the_element() -> None:
    depths = [choose_tile(4096, 4096, 4096, size)[2] * size for size in (1, 2, 4)]
    assert depths == [128, 128, 128]


def test_a_prediction_by_hand() -> None:
    # 4096^3 in tiles of 128x256: 512 tiles on 132 multiprocessors are 4 waves of 64 k-blocks.
    wide = _tile(128, 256)
    waves = 4 * (64 * 0.655 + 128 * 256 * 4.3e-5)
    assert predicted_us(wide, 4096, 4096, 4096) == pytest.approx(5.0 + waves)


def test_short_sums_are_bound_by_memory() -> None:
    # 16384x16384x64: both operands and the result cross memory once, 541 MB in 146 us. The 16384
    # tiles are 125 waves of one k-block and an epilogue, 0.331 and 0.197 us: 66 us.
    n, k = 16384, 64
    moved = 2 * (n * k + n * k + n * n)
    assert predicted_us(_tile(128, 128), n, n, k) == pytest.approx(5.0 + moved / 3.7e6)


def test_a_faster_tile_is_named_only_where_it_pays() -> None:
    found = faster_tile(64, 64)
    assert found is not None
    assert (found[0].rows, found[0].columns) == (128, 256)
    assert found[1] == pytest.approx((655 / (128 * 256)) / (130 / (64 * 64)))
    assert faster_tile(128, 256) is None
    assert faster_tile(32, 32) is None
