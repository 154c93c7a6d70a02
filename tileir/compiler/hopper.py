"""What a matrix product costs on Hopper, and which tile suits a shape.

    time = fixed + max(waves x (k-blocks x time of a block + epilogue), bytes / bandwidth) + meeting

* waves: tiles (times the blocks that share each) over multiprocessors, rounded up;
* k-blocks: those that one block multiplies, each 128 bytes of K, which is what a swizzled row
  holds. The time of one was measured on an H200 with all multiprocessors busy and below the power
  limit; it is the same for 8-, 16- and 32-bit elements, since fetching is the limit, not
  arithmetic. Where rows do not start on cache lines it is at least what fetching them so takes;
* epilogue: what no products of another tile hide;
* bytes: operands and result, each once;
* meeting: where blocks share the sum of a tile, until they have met and the parts are added.

No search, no state: a front end may call this to choose a tile, and the compiler's remarks quote
it. Times are microseconds where a name ends in `_us`, nanoseconds where it ends in `_ns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Of an H200, and of an H100 as a module (SXM).
MULTIPROCESSORS = 132
#: Launch, first loads and last stores, as events around a launch see them.
FIXED_US = 5.0
#: Bytes that loads achieve.
BYTES_PER_US = 3.7e6
#: Bytes of K in a k-block: a row of the widest swizzle, and a cache line.
BLOCK_BYTES = 128
#: What no products hide of the epilogue, for each element of a tile: 1.4 us for 128x256; and in
#: ping-pong, where another warpgroup multiplies meanwhile: 0.2 us for 128x128.
_EPILOGUE_US, _PING_PONG_EPILOGUE_US = 4.3e-5, 1.2e-5
#: What a byte costs of rows that do not start on cache lines.
_OFF_LINES_NS = 0.02
#: Tiles whose predictions differ by less are equally fast: the one that moves fewer bytes wins.
_TOLERANCE = 1.025
#: Until blocks that share a tile have met, and for each part of its sum, and each of its columns
#: (a thread reads one for every two).
_MEETING_US, _PART_US, _PART_COLUMN_US = 2.0, 0.6, 0.008
#: Parts are read at once, as far as registers go.
_MOST_PART_COLUMNS = 512
#: Sharing must be faster by so much.
_WORTHWHILE = 1.05
#: Beyond this share of another tile's time, a tile is about as good as that one.
_ABOUT_AS_GOOD = 0.95
#: Rows of the result that one warpgroup's product has; fewer cost as much.
_LEAST_ROWS = 64
#: Up to so many rows a product is a stream of the other operand. Few columns are no such case: the
#: tiles of a stream get narrower until there are enough, and a tile cannot have fewer than 64 rows.
_NARROW = _LEAST_ROWS
#: Tiles of a stream that are enough: most multiprocessors have one.
_ENOUGH_TILES = 100
#: Up to so many rows, a tile as high as the product is among the choices.
_ONE_TILE_HIGH = 128


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
        per_element = _PING_PONG_EPILOGUE_US if self.ping_pong else _EPILOGUE_US
        return self.rows * self.columns * per_element

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
    """Whether a size is no power of two, which only `cuda_tile.extended` admits."""
    return any(size & (size - 1) for size in (tile.rows, tile.columns))


def predicted_us(
    tile: Tile, m: int, n: int, k: int, element_bytes: int = 2, *, on_lines: bool = True,
    split: int = 1,
) -> float:  # fmt: skip
    """Microseconds for a product of m x n x k, operands not in cache and elements of the result as
    wide as theirs. `on_lines`: rows of the operands start on cache lines. `split`: blocks that
    share the sum of a tile, of which the last to arrive reads the parts of all at once and adds
    them."""
    count = _ceildiv(m, tile.rows) * _ceildiv(n, tile.columns) * split
    blocks = _ceildiv(_ceildiv(k * element_bytes, BLOCK_BYTES), split)
    block_ns = tile.block_ns
    if not on_lines:
        # Pairs of blocks fetch the larger operand once.
        small, large = sorted((tile.rows, tile.columns))
        block_ns = max(block_ns, (small + large / 2) * BLOCK_BYTES * _OFF_LINES_NS)
    waves = _ceildiv(count, MULTIPROCESSORS)
    busy = waves * (blocks * block_ns * 1e-3 + tile.epilogue_us)
    moved = ((m + n) * k + m * n) * element_bytes
    meeting = 0.0
    if split > 1:
        meeting = _MEETING_US + split * (_PART_US + _PART_COLUMN_US * tile.columns)
    return FIXED_US + max(busy, moved / BYTES_PER_US) + meeting


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
        columns = next((c for c in (128, 64, 32) if _ceildiv(n, c) >= _ENOUGH_TILES), 32)
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
        # More than half of a tile's rows are rows of the result.
        if tile.rows == _LEAST_ROWS or tile.rows < 2 * m
    }
    limit = _TOLERANCE * min(times.values())
    good = [tile for tile, time in times.items() if time <= limit]

    def fetched(tile: Tile) -> tuple[int, int]:
        rows = _ceildiv(m, tile.rows)
        count = rows * _ceildiv(n, tile.columns)
        # A single row of tiles reads the other operand once.
        return (rows if m <= _ONE_TILE_HIGH else 0, count * (tile.rows + tile.columns))

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
    return (best, share) if share < _ABOUT_AS_GOOD else None


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)
