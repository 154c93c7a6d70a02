"""What a matrix product costs on Hopper, and which tile suits a shape.

    time = FIXED + max(waves x (k-blocks x time of a block + exposed epilogue), bytes / bandwidth)

A k-block is 128 bytes of K: what one swizzled row holds. Its time was measured on an H200 with all
multiprocessors busy and below the power limit; it is the same for 8-, 16- and 32-bit elements,
since fetching is the limit, not arithmetic. No search, no state: a front end may call this to
choose a tile, and the compiler's remarks quote it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MULTIPROCESSORS = 132
#: Microseconds of launch, first loads and last stores, as events around a launch see them.
FIXED = 5.0
#: Bytes per microsecond that loads achieve.
BANDWIDTH = 3.7e6
BLOCK_BYTES = 128
#: Nanoseconds per byte that rows cost that do not start on cache lines.
_OFF_LINES = 0.02
#: Tiles whose predictions differ by less are equally fast: the one that moves fewer bytes wins.
_TOLERANCE = 1.025
#: Microseconds until blocks that share a tile have met, and for each part of its sum, and each of
#: its columns (a thread reads one for every two).
_MEETING, _PART, _PART_COLUMN = 2.0, 0.6, 0.008
#: Parts are read at once, as far as registers go.
_MOST_PART_COLUMNS = 512
#: Sharing must be faster by so much.
_WORTHWHILE = 1.05
#: Up to so many rows a product is a stream of the other operand.
_NARROW = 64


@dataclass(frozen=True)
class Tile:
    """A tile of the result, and nanoseconds for one k-block of it."""

    rows: int
    columns: int
    block_ns: float
    ping_pong: bool = False

    @property
    def epilogue_us(self) -> float:
        """Microseconds in which no products run, for each tile: ping-pong hides most of them."""
        return self.rows * self.columns * (1.2e-5 if self.ping_pong else 4.3e-5)

    @property
    def ns_per_element(self) -> float:
        """Of the result, for one k-block with all multiprocessors busy."""
        return self.block_ns / (self.rows * self.columns)


#: Measured tiles. Three warpgroups (192 rows) need `cuda_tile.extended`.
TILES = (
    Tile(64, 64, 130),
    Tile(64, 128, 190),
    Tile(128, 64, 215),
    Tile(128, 128, 331, ping_pong=True),
    Tile(128, 256, 655),
    Tile(192, 96, 435),
    Tile(128, 192, 515),
    Tile(192, 128, 520),
    Tile(192, 192, 765),
)


def is_extended(tile: Tile) -> bool:
    return any(size & (size - 1) for size in (tile.rows, tile.columns))


def predicted_us(
    tile: Tile, m: int, n: int, k: int, element_bytes: int = 2, *, on_lines: bool = True,
    split: int = 1,
) -> float:  # fmt: skip
    """Microseconds for a product of m x n x k, operands not in cache. `on_lines`: rows of the
    operands start on cache lines. `split`: blocks that share the sum of a tile, of which the last
    to arrive reads the parts of all at once and adds them."""
    count = _ceildiv(m, tile.rows) * _ceildiv(n, tile.columns) * split
    blocks = _ceildiv(_ceildiv(k * element_bytes, BLOCK_BYTES), split)
    block_ns = tile.block_ns
    if not on_lines:
        # Pairs of blocks fetch the larger operand once.
        small, large = sorted((tile.rows, tile.columns))
        block_ns = max(block_ns, (small + large / 2) * BLOCK_BYTES * _OFF_LINES)
    waves = _ceildiv(count, MULTIPROCESSORS)
    busy = waves * (blocks * block_ns * 1e-3 + tile.epilogue_us)
    moved = ((m + n) * k + m * n) * element_bytes
    meeting = 0.0 if split == 1 else _MEETING + split * (_PART + _PART_COLUMN * tile.columns)
    return FIXED + max(busy, moved / BANDWIDTH) + meeting


def choose_tile(
    m: int,
    n: int,
    k: int,
    element_bytes: int = 2,
    *,
    on_lines: bool = True,
    extended: bool = False,
) -> tuple[int, int, int]:
    """Rows, columns and depth (elements) of the tile for a product of m x n x k.

    Narrow products stream the wide operand, two k-blocks at a time. Otherwise the fastest
    prediction decides. `extended` admits sizes that are not powers of two.
    """
    depth = BLOCK_BYTES // element_bytes
    if m <= _NARROW:
        columns = next((c for c in (128, 64, 32) if _ceildiv(n, c) >= 100), 32)
        return _NARROW, columns, 2 * depth
    tiles = [tile for tile in TILES if extended or not is_extended(tile)]
    best = _fastest(tiles, m, n, k, element_bytes, on_lines)
    return best.rows, best.columns, depth


def choose_split(
    m: int, n: int, k: int, element_bytes: int = 2
) -> tuple[tuple[int, int, int], int] | None:
    """The tile, and how many blocks should share its sum over k, where tiles alone leave most
    multiprocessors idle for long; None where sharing does not pay.

    Meant for programs that share as `predicted_us` says.
    """
    alone = [tile for tile in TILES if not is_extended(tile)]
    best = predicted_us(_fastest(alone, m, n, k, element_bytes, True), m, n, k, element_bytes)
    shared = {
        (tile, split): predicted_us(tile, m, n, k, element_bytes, split=split)
        for tile in alone
        for split in (2, 4)
        if split * _ceildiv(m, tile.rows) * _ceildiv(n, tile.columns) <= MULTIPROCESSORS
        and split * tile.columns <= _MOST_PART_COLUMNS
    }
    if not shared or min(shared.values()) > best / _WORTHWHILE:
        return None
    tile, split = min(shared, key=shared.__getitem__)
    return (tile.rows, tile.columns, BLOCK_BYTES // element_bytes), split


def _fastest(
    tiles: Iterable[Tile], m: int, n: int, k: int, element_bytes: int, on_lines: bool
) -> Tile:
    times = {
        tile: predicted_us(tile, m, n, k, element_bytes, on_lines=on_lines)
        for tile in tiles
        if tile.rows <= 64 or tile.rows < 2 * m
    }
    limit = _TOLERANCE * min(times.values())
    good = [tile for tile, time in times.items() if time <= limit]

    def fetched(tile: Tile) -> tuple[int, int]:
        rows = _ceildiv(m, tile.rows)
        # A single row of tiles reads the other operand once.
        count = rows * _ceildiv(n, tile.columns)
        return (rows if m <= 128 else 0, count * (tile.rows + tile.columns))

    return min(good, key=fetched)


def faster_tile(rows: int, columns: int) -> tuple[Tile, float] | None:
    """The power-of-two tile that takes least time per element of the result where there are tiles
    enough for all multiprocessors, and its share of this tile's time; None if this is about as good
    or was not measured."""
    own = next((t for t in TILES if (t.rows, t.columns) == (rows, columns)), None)
    if own is None:
        return None
    best = min((t for t in TILES if not is_extended(t)), key=lambda tile: tile.ns_per_element)
    share = best.ns_per_element / own.ns_per_element
    return (best, share) if share < 0.95 else None


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)
