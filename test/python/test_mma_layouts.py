"""Fragment layouts against the formulas of the PTX ISA, written out for each thread."""

from __future__ import annotations

import numpy as np
import pytest

from tileir.compiler import wgmma
from tileir.compiler.layout import Layout, Owner
from tileir.compiler.mma import (
    M16N8K16,
    WarpGrid,
    accumulator_layout,
    instruction_for,
    lhs_layout,
    warp_grid_of,
)

# ---- mma.sync ------------------------------------------------------------------------------------
#
# PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": groupID = lane >> 2,
# threadID_in_group = lane % 4.


def a_element(lane: int, i: int) -> tuple[int, int]:
    """Row and column of a_i, i = 0 .. 7."""
    group, thread = lane >> 2, lane % 4
    row = group if i in (0, 1, 4, 5) else group + 8
    column = thread * 2 + (i & 1) + (8 if i >= 4 else 0)
    return row, column


def b_element(lane: int, i: int) -> tuple[int, int]:
    """Row (k) and column (n) of b_i, i = 0 .. 3."""
    group, thread = lane >> 2, lane % 4
    return thread * 2 + (i & 1) + (8 if i >= 2 else 0), group


def c_element(lane: int, i: int) -> tuple[int, int]:
    """Row and column of c_i, i = 0 .. 3."""
    group, thread = lane >> 2, lane % 4
    return group + (8 if i >= 2 else 0), thread * 2 + (i & 1)


@pytest.mark.parametrize(
    ("fragment", "formula", "count"),
    [(M16N8K16.lhs, a_element, 8), (M16N8K16.rhs, b_element, 4), (M16N8K16.acc, c_element, 4)],
    ids=["a", "b", "c"],
)
def test_fragments_hold_what_the_isa_says(fragment, formula, count):
    """Each lane holds the elements of the formula (in what order is the lowering's business)."""
    layout = Layout.of(*fragment)
    places = layout.coordinates(1)[0]
    for lane in range(32):
        held = {tuple(place) for place in places[lane].tolist()}
        assert held == {formula(lane, i) for i in range(count)}


def test_registers_are_row_major():
    """The lowering finds a0 .. a3 and c0 .. c3 at these offsets from the thread's first element."""
    acc = Layout.of(*M16N8K16.acc)
    assert acc.register_offsets == ((0, 0), (0, 1), (8, 0), (8, 1))
    first = acc.coordinates(1)[0, 13, 0]
    assert tuple(first) == c_element(13, 0)


@pytest.mark.parametrize(
    ("shape", "grid"),
    [((64, 64), (2, 2)), ((128, 16), (4, 1)), ((16, 64), (1, 4)), ((192, 80), (3, 2))],
)
def test_accumulators_cover_the_tile(shape, grid):
    warps = WarpGrid(*grid)
    layout = accumulator_layout(M16N8K16, shape, warps)
    assert layout.shape == shape
    assert warp_grid_of(layout) == warps
    places = np.moveaxis(layout.coordinates(grid[0] * grid[1]), -1, 0)
    held = np.bincount(
        np.ravel_multi_index(tuple(places), shape).ravel(), minlength=shape[0] * shape[1]
    )
    assert (held == 1).all()
    # A warp's rows and columns are contiguous, so that it may count from its first.
    for w in range(grid[0] * grid[1]):
        rows, columns = (np.unique(places[d][w]) for d in (0, 1))
        assert (np.diff(rows) == 1).all()
        assert (np.diff(columns) == 1).all()


def test_left_operand_has_the_rows_of_the_accumulator():
    grid = WarpGrid(2, 2)
    acc = accumulator_layout(M16N8K16, (64, 64), grid)
    lhs = lhs_layout(M16N8K16, (64, 32), grid)
    rows = acc.coordinates(4)[..., 0]
    for w in range(4):
        assert set(rows[w].ravel()) == set(lhs.coordinates(4)[w, ..., 0].ravel())
    # The accumulator of one product is the left operand of the next, register for register.
    same = lhs_layout(M16N8K16, (64, 64), WarpGrid(4, 1))
    assert same == accumulator_layout(M16N8K16, (64, 64), WarpGrid(4, 1))


def test_choice_of_instruction():
    assert instruction_for("f16", "f32", (64, 64, 32), 80) is M16N8K16
    assert instruction_for("bf16", "f32", (16, 8, 16), 90) is M16N8K16
    assert instruction_for("f16", "f32", (8, 64, 32), 80) is None
    assert instruction_for("f16", "f32", (64, 64, 8), 80) is None
    assert instruction_for("f32", "f32", (64, 64, 32), 80) is None
    assert instruction_for("f16", "f32", (64, 64, 32), 75) is None


def test_choice_of_grid():
    # The fewest operand elements: squares.
    assert WarpGrid.choose(M16N8K16, (128, 128), 4, whole_rows=False) == WarpGrid(2, 2)
    assert WarpGrid.choose(M16N8K16, (128, 128), 4, whole_rows=True) == WarpGrid(4, 1)
    assert WarpGrid.choose(M16N8K16, (16, 128), 4, whole_rows=False) == WarpGrid(1, 4)
    # Warps that find no block hold copies.
    assert WarpGrid.choose(M16N8K16, (16, 8), 4, whole_rows=False) == WarpGrid(1, 1)


# ---- wgmma ---------------------------------------------------------------------------------------
#
# PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": each warp of the warpgroup holds 16
# rows, in them the elements of mma.m16n8k16.


def d_element(thread: int, i: int) -> tuple[int, int]:
    """Row and column of d_i for thread 0 .. 127 of a warpgroup."""
    warp, lane = divmod(thread, 32)
    row = warp * 16 + (lane >> 2) + (8 if i & 2 else 0)
    return row, (i >> 2) * 8 + lane % 4 * 2 + (i & 1)


def wgmma_a_element(thread: int, i: int, neighbours: int) -> tuple[int, int]:
    """Row and column of a_i, i = 0 .. 4 * neighbours - 1 (so many in each register)."""
    warp, lane = divmod(thread, 32)
    register, within = divmod(i, neighbours)
    row = warp * 16 + (lane >> 2) + (8 if register & 1 else 0)
    return row, (lane % 4 + (4 if register & 2 else 0)) * neighbours + within


@pytest.mark.parametrize("columns", [8, 64, 256])
def test_wgmma_accumulator(columns):
    grid = wgmma.WarpgroupGrid(1, 1)
    layout = wgmma.accumulator_layout((64, columns), grid)
    places = layout.coordinates(4)
    for thread in (0, 1, 5, 33, 127):
        held = {tuple(p) for p in places[thread // 32, thread % 32].tolist()}
        assert held == {d_element(thread, i) for i in range(columns // 2)}
    assert wgmma.grid_of(layout, 4) == grid


def held_by_instructions(shape, chosen: wgmma.WarpgroupGrid, thread: int) -> set[tuple[int, int]]:
    """What a thread holds of the transposed accumulator, of which warpgroups share out blocks of
    rows first: each has its blocks of 64 rows and so many columns from d_element."""
    columns, rows = shape[0] // chosen.rows, shape[1] // chosen.columns
    group, within = divmod(thread, 128)
    right, down = divmod(group, chosen.columns)
    return {
        (down * rows + block + row, right * columns + column)
        for block in range(0, rows, 64)
        for row, column in (d_element(within, i) for i in range(columns // 2))
    }


@pytest.mark.parametrize(
    ("shape", "warps", "grid"),
    [
        ((128, 64), 4, (1, 1)),
        ((256, 64), 4, (1, 1)),
        ((256, 64), 8, (2, 1)),
        ((256, 128), 8, (1, 2)),
        ((256, 128), 4, (1, 1)),
        ((192, 64), 12, (3, 1)),
        ((384, 192), 12, (1, 3)),
    ],
)
def test_transposed_wgmma_accumulator(shape, warps, grid):
    """They are those of the transposed product: warpgroups share out columns first."""
    chosen = wgmma.WarpgroupGrid(*grid, transposed=True)
    if shape[1] == 64:
        assert wgmma.WarpgroupGrid.choose(shape, warps, whole_rows=False) == chosen
    layout = wgmma.accumulator_layout(shape, chosen)
    assert layout.shape == shape
    assert layout.num_registers * 32 * warps == shape[0] * shape[1]
    assert wgmma.grid_of(layout, warps) == chosen
    places = layout.coordinates(warps)
    for thread in range(32 * warps):
        held = {(column, row) for row, column in places[thread // 32, thread % 32].tolist()}
        assert held == held_by_instructions(shape, chosen, thread)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("rows", "columns", "groups"), [(1, 1, 1), (2, 1, 2), (1, 2, 2), (1, 3, 3), (3, 1, 3)]
)
def test_grids_are_found_again(rows, columns, groups, transposed):
    grid = wgmma.WarpgroupGrid(rows, columns, transposed)
    layout = wgmma.accumulator_layout((64 * rows, 64 * columns), grid)
    assert wgmma.grid_of(layout, 4 * groups) == grid
    assert wgmma.grid_of(layout.permute((1, 0)), 4 * groups) == grid.transpose()
    assert grid.transpose().transpose() == grid


def test_a_layout_that_no_grid_has():
    layout = accumulator_layout(M16N8K16, (64, 64), WarpGrid(2, 2))
    assert wgmma.grid_of(layout, 4) is None


def test_which_accumulators_are_transposed():
    """Those of 64 columns that are taller than wide, unless warpgroups must own whole rows."""
    sizes = (64, 80, 96, 128, 192, 256)
    for m in sizes:
        for n in sizes:
            for warps in (4, 8, 12):
                for whole_rows in (False, True):
                    grid = wgmma.WarpgroupGrid.choose((m, n), warps, whole_rows)
                    if grid is None:
                        continue
                    assert grid.transposed == (n == 64 < m and not whole_rows)
                    assert grid.rows * grid.columns * 4 == warps
                    assert m % grid.rows == 0 and n % grid.columns == 0
                    assert not whole_rows or grid.columns == 1
    # Rows of an instruction are whole, and it has no more than 256 columns.
    assert wgmma.WarpgroupGrid.choose((512, 64), 4, whole_rows=False) is None
    assert wgmma.WarpgroupGrid.choose((512, 64), 8, whole_rows=False) == wgmma.WarpgroupGrid(
        2, 1, transposed=True
    )


def test_blocks_of_instructions():
    upright, tall = wgmma.WarpgroupGrid(2, 1), wgmma.WarpgroupGrid(2, 1, transposed=True)
    assert upright.block_of((128, 96)) == (64, 96)
    assert tall.block_of((256, 64)) == (128, 64)
    assert (upright.stacked, tall.stacked) == (2, 1)


@pytest.mark.parametrize(
    ("element", "depth", "neighbours"),
    [("bf16", 16, 2), ("tf32", 8, 1), ("i8", 32, 4), ("f8E5M2", 32, 4)],
)
def test_wgmma_left_operand(element, depth, neighbours):
    layout = wgmma.lhs_layout((64, depth), element, wgmma.WarpgroupGrid(1, 1))
    places = layout.coordinates(4)
    for thread in range(128):
        held = {tuple(p) for p in places[thread // 32, thread % 32].tolist()}
        assert held == {wgmma_a_element(thread, i, neighbours) for i in range(4 * neighbours)}


def test_widths_of_wgmma():
    """PTX ISA, the table of shapes: integers have 8, 16, 24, 32, then multiples of 16."""
    integers = [n for n in range(1, 300) if wgmma.takes_width("i8", n)]
    assert integers == [8, 16, 24, 32, *range(48, 257, 16)]
    assert [n for n in range(1, 300) if wgmma.takes_width("tf32", n)] == list(range(8, 257, 8))


@pytest.mark.parametrize(
    ("shape", "warps", "grid"),
    [
        ((64, 64), 4, (1, 1)),
        ((128, 128), 8, (2, 1)),
        ((64, 256), 8, (1, 2)),
        ((192, 128), 12, (3, 1)),
    ],
)
def test_warpgroups_stack_in_rows_first(shape, warps, grid):
    chosen = wgmma.WarpgroupGrid.choose(shape, warps, whole_rows=False)
    assert chosen is not None and chosen == wgmma.WarpgroupGrid(*grid)
    layout = wgmma.accumulator_layout(shape, chosen)
    assert layout.shape == shape
    assert layout.count(Owner.WARP) == warps
    assert wgmma.grid_of(layout, warps) == chosen


def test_what_warpgroups_cannot_share():
    assert wgmma.WarpgroupGrid.choose((64, 64), 2, whole_rows=False) is None
    assert wgmma.WarpgroupGrid.choose((32, 64), 4, whole_rows=False) is None
    assert wgmma.WarpgroupGrid.choose((64, 512), 4, whole_rows=False) is None
    assert wgmma.WarpgroupGrid.choose((64, 256), 8, whole_rows=True) is None
