"""The order in which a persistent kernel takes the program's blocks: a permutation that keeps
neighbours together, by brute force and in whole kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from gemm_support import Gemm, Product, compiled
from mlir import ir

from tileir.compiler.builder import Builder
from tileir.dialects import make_context
from tileir.passes.analysis.scalar_values import scalar_value
from tileir.passes.swizzle_blocks import _reordered

#: Rows, along the run, and columns of the rectangles.
SIDES = [(1, 8), (2, 4), (4, 2)]
NEIGHBOURS = 16
#: The first eight blocks run elsewhere.
FIRST = 8


@cache
def shared_context() -> ir.Context:
    return make_context()


class Order:
    """The IR that computes the program's number of a block, for any count and run."""

    def __init__(self, sides: tuple[int, int]):
        with shared_context(), ir.Location.unknown():
            self.module = ir.Module.parse("func.func @f(%n: i32, %count: i32, %run: i32) {return}")
            body = self.module.body.operations[0].regions[0].blocks[0]
            self.number, self.count, self.run = body.arguments
            b = Builder(ir.InsertionPoint.at_block_begin(body), ir.Location.unknown())
            self.result = _reordered(b, self.number, self.count, self.run, sides)

    def numbers(self, count: int, run: int) -> list[int]:
        """Of all blocks in the order of execution."""
        return [self._number_of(n, count, run) for n in range(count)]

    def _number_of(self, block: int, count: int, run: int) -> int:
        known: dict[ir.Value, int] = {self.number: block, self.count: count, self.run: run}
        found = scalar_value(self.result, known, 0)
        assert found is not None
        return found


@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_every_block_has_its_turn(sides):
    """Runs that rectangles do not divide, counts that end within a panel, and less than one."""
    order = Order(sides)
    for run in (1, 2, 3, 4, 6, 8, 12, 16, 33):
        for count in (1, 7, 8, 31, 32, 64, 96, 100, 131, 132):
            assert sorted(order.numbers(count, run)) == list(range(count)), (count, run)


@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_what_is_too_little_for_a_rectangle_stays(sides):
    rows, columns = sides
    order = Order(sides)
    for run in (8, 12):
        panel = run * columns
        for count in (panel - 1, 2 * panel + panel - 1):
            numbers = order.numbers(count, run)
            whole = count // panel * panel
            assert numbers[whole:] == list(range(whole, count))
            # Panels do not mix.
            assert sorted(numbers[:panel]) == list(range(min(count, panel)))
    odd = rows + 1
    if odd % rows:
        assert order.numbers(10 * odd, odd) == list(range(10 * odd))


@pytest.mark.parametrize("sides", SIDES, ids=str)
@pytest.mark.parametrize("run", [8, 16, 32])
def test_neighbours_cover_a_rectangle(sides, run):
    """Two rectangles below each other, so long as both are of one panel."""
    rows, columns = sides
    panel = run * columns
    numbers = Order(sides).numbers(2 * panel, run)
    places = [divmod(number, run)[::-1] for number in numbers]
    checked = 0
    for start in range(FIRST, len(places) - NEIGHBOURS + 1, NEIGHBOURS):
        if start // panel != (start + NEIGHBOURS - 1) // panel:
            continue
        own = {row for row, _ in places[start : start + NEIGHBOURS]}
        shared = {column for _, column in places[start : start + NEIGHBOURS]}
        assert (len(own), len(shared)) == (2 * rows, columns)
        assert max(own) - min(own) == 2 * rows - 1
        assert max(shared) - min(shared) == columns - 1
        checked += 1
    assert checked or panel <= NEIGHBOURS


@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_panels_meet(sides):
    """Neighbours that end one panel and begin the next are of the same rows: one goes down, the
    next up."""
    rows, columns = sides
    run = 8
    panel = run * columns
    numbers = Order(sides).numbers(4 * panel, run)
    for meeting in (panel, 2 * panel, 3 * panel):
        around = numbers[meeting - NEIGHBOURS // 2 : meeting + NEIGHBOURS // 2]
        places = {divmod(number, run)[::-1] for number in around}
        assert len({row for row, _ in places}) == rows
        assert len({column for _, column in places}) == 2 * columns


def test_the_drawing():
    """The order that the pass's description draws: runs of four, rectangles of two rows."""
    numbers = Order((2, 4)).numbers(16, 4)
    turns = np.argsort(np.array(numbers, int)).reshape(4, 4).T
    np.testing.assert_array_equal(
        turns, [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
    )


# ---- whole kernels -------------------------------------------------------------------------------

#: A tile and how many of them there are, down and to the right: whole panels, the last of them
#: short, less than one, a group of rows that is not whole, and two groups.
GRIDS = [
    (Gemm(64, 64, 64, "bf16"), (16, 4)),
    (Gemm(64, 64, 64, "bf16"), (16, 7)),
    (Gemm(64, 64, 64, "bf16", b="k"), (3, 5)),
    (Gemm(128, 64, 64, "bf16"), (8, 9)),
    (Gemm(128, 64, 64, "bf16", b="k"), (11, 8)),
    (Gemm(128, 128, 64, "bf16"), (9, 9)),
]


@dataclass(frozen=True)
class PlaneGemm(Gemm):
    """A program with a grid of rows and columns of tiles, of which rows run fastest."""

    def grid(self, m: int, n: int) -> tuple[int, int, int]:
        return -(-m // self.bm), -(-n // self.bn), 1

    def text(self) -> str:
        text = super().text().replace("%i = addi %first, %below :", "%i = addi %c0, %x :")
        return text.replace("%j = divi %place, %height signed :", "%j = addi %c0, %y :")


GRIDS += [
    # Pairs of blocks, which fetch together.
    (Gemm(64, 64, 64, "bf16", divisor=8), (9, 7)),
    (Gemm(128, 64, 32, "f16", divisor=8), (8, 9)),
    # Runs as long as the grid is wide, which rectangles divide or not.
    (PlaneGemm(64, 64, 64, "bf16"), (6, 9)),
    (PlaneGemm(64, 64, 64, "bf16", b="k"), (5, 8)),
]


@pytest.mark.parametrize("launch", ["managed", pytest.param("plain", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("gemm", "tiles"), GRIDS, ids=lambda x: getattr(x, "name", str(x)))
def test_all_tiles_are_computed(gemm, tiles, launch):
    down, right = tiles
    product = Product(gemm, down * gemm.bm - 16, right * gemm.bn - 16, 16)
    np.testing.assert_array_equal(product.simulated(compiled(gemm, launch)), product.want)
