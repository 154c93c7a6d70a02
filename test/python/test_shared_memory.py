"""Bank conflicts of shared memory, counted word by word; buffers that avoid them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir.compiler.layout import Layout, blocked, lane, reg, warp
from tileir.compiler.mma import M16N8K16, WarpGrid, accumulator_layout
from tileir.compiler.shared_memory import conversion_buffer, vector_elements, wavefronts
from tileir.compiler.tile_types import BufferInfo, TileInfo

BANKS = 32
WORD = 4


def counted(layout: Layout, buffer: BufferInfo) -> int:
    """Wavefronts of one warp, from the definition: for each instruction, the most different words
    that one bank has to give."""
    vector = vector_elements(layout, buffer)
    places = layout.coordinates(1)[0]
    total = 0
    for group in layout.groups(buffer.order[-1], vector):
        words: list[set[int]] = [set() for _ in range(BANKS)]
        for thread in range(32):
            for register in group:
                offset = int(buffer.offsets(places[thread, register][None])[0])
                for byte in range(offset, offset + buffer.element_bytes):
                    words[byte // WORD % BANKS].add(byte // WORD)
        total += max(map(len, words))
    return total


SHAPES = [(64, 64), (16, 32), (128, 8), (8, 128), (32, 24), (1, 256)]


@given(
    st.sampled_from(SHAPES),
    st.sampled_from(("f16", "f32", "i8", "f64")),
    st.permutations((0, 1)),
    st.permutations((0, 1)),
    st.sampled_from((1, 2, 4, 8)),
    st.sampled_from((0, 1, 4, 8)),
)
@settings(max_examples=40, deadline=None)
def test_wavefronts(shape, element, order, layout_order, vector, pad):
    buffer = BufferInfo(shape, element, tuple(order), pad=pad)
    layout = blocked(shape, layout_order, vector, 4)
    assert wavefronts(layout, buffer) == counted(layout, buffer)


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_wavefronts_of_swizzled_buffers(swizzle):
    buffer = BufferInfo((64, 64), "f16", (0, 1), swizzle=swizzle)
    for order in ((0, 1), (1, 0)):
        layout = blocked((64, 64), order, 8, 4)
        assert wavefronts(layout, buffer) == counted(layout, buffer)


def test_known_conflicts():
    column = Layout.of([lane(32, 1)], [reg(32)])
    plain = BufferInfo((32, 32), "f32", (0, 1))
    # Rows of 128 bytes: in vectors of 16 bytes, every lane asks the same four banks.
    assert vector_elements(column, plain) == 4
    assert wavefronts(column, plain) == 8 * 32
    # One word more in each row puts the rows on different banks, a word at a time.
    padded = BufferInfo((32, 32), "f32", (0, 1), pad=1)
    assert vector_elements(column, padded) == 1
    assert wavefronts(column, padded) == 32
    row = Layout.of([reg(32)], [lane(32, 1)])
    assert wavefronts(row, plain) == 32


def test_vectors_stay_within_rows():
    layout = Layout.of([lane(32, 1)], [reg(8)])
    assert vector_elements(layout, BufferInfo((32, 8), "f16", (0, 1))) == 8
    assert vector_elements(layout, BufferInfo((32, 8), "f16", (0, 1), pad=2)) == 2
    assert vector_elements(layout, BufferInfo((32, 8), "f16", (1, 0))) == 1
    assert vector_elements(layout, BufferInfo((32, 8), "f64", (0, 1))) == 2


CONVERSIONS = {
    "accumulator to rows, f16": ((64, 64), "f16", "mma", "rows"),
    "accumulator to rows, f32": ((64, 64), "f32", "mma", "rows"),
    "transpose f32": ((64, 64), "f32", "rows", "columns"),
    "transpose f16": ((64, 64), "f16", "rows", "columns"),
    "rows to rows of fewer": ((128, 32), "f32", "rows", "single"),
}


def make_layout(kind: str, shape: tuple[int, int], element_bytes: int) -> Layout:
    if kind == "mma":
        return accumulator_layout(M16N8K16, shape, WarpGrid(2, 2))
    if kind == "single":
        return blocked(shape, (0, 1), 1, 4)
    order = (0, 1) if kind == "rows" else (1, 0)
    return blocked(shape, order, 16 // element_bytes, 4)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversion_buffers_have_few_conflicts(name):
    shape, element, source_kind, target_kind = CONVERSIONS[name]
    size = BufferInfo(shape, element, (0, 1)).element_bytes
    source, target = (make_layout(kind, shape, size) for kind in (source_kind, target_kind))
    buffer = conversion_buffer(TileInfo(shape, element, source), target)
    chosen = sum(counted(layout, buffer) for layout in (source, target))
    # No buffer with rows of either kind and any padding does better.
    others = [
        BufferInfo(shape, element, order, pad=pad)
        for order in ((0, 1), (1, 0))
        for pad in range(0, 16 // size + 1)
    ]
    best = min(sum(wavefronts(layout, other) for layout in (source, target)) for other in others)
    assert chosen <= best


def test_conversion_buffer_of_one_element():
    tile = TileInfo((1, 1), "f32", Layout.of([], []))
    buffer = conversion_buffer(tile, Layout.of([], []))
    assert buffer.stage_bytes == 4


def test_conversion_buffer_of_rank_one():
    tile = TileInfo((128,), "f32", Layout.of([warp(4, 1), lane(32, 1)]))
    assert conversion_buffer(tile, Layout.of([reg(4), lane(32, 1)])).stage_bytes == 512
