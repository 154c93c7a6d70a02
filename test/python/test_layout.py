"""Layouts against their definition, written out thread by thread and digit by digit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileir.compiler.layout import (
    Digit,
    Layout,
    Owner,
    blocked,
    lane,
    reg,
    reshapable,
    warp,
)
from tileir.dialects import make_context
from tileir.ir import Attribute

LANES = 32
CONTEXT = make_context()


def elements(layout: Layout, num_warps: int) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """Coordinates of (warp, lane, register), straight from the definition: a dimension is a
    mixed-radix number, most significant digit first; registers count row-major over theirs."""
    register_digits = [d for digits in layout.dims for d in digits if d.owner is Owner.REGISTER]
    registers = list(itertools.product(*(range(d.size) for d in register_digits)))
    result = {}
    for w, t, (r, register) in itertools.product(
        range(num_warps), range(LANES), enumerate(registers)
    ):
        pending = list(register)
        place = []
        for digits in layout.dims:
            coordinate = 0
            for digit in digits:
                if digit.owner is Owner.REGISTER:
                    value = pending.pop(0)
                else:
                    index = t if digit.owner is Owner.LANE else w
                    value = index // digit.stride % digit.size
                coordinate = coordinate * digit.size + value
            place.append(coordinate)
        result[w, t, r] = tuple(place)
    return result


def as_array(layout: Layout, num_warps: int) -> np.ndarray:
    places = list(elements(layout, num_warps).values())
    return np.array(places, int).reshape(num_warps, LANES, -1, layout.rank)


@st.composite
def layouts(draw, rank: int | None = None) -> tuple[Layout, int]:
    """A layout and its number of warps: parts of the lanes and warps, some left out, and register
    digits of any size, dealt to the dimensions in any order."""
    num_warps = draw(st.sampled_from((1, 2, 3, 4, 6)))
    digits = []
    for make, total, primes in ((lane, LANES, (2, 4, 8)), (warp, num_warps, (2, 3))):
        stride = 1
        while stride < total:
            size = draw(st.sampled_from([p for p in primes if total // stride % p == 0]))
            if draw(st.booleans()):
                digits.append(make(size, stride))
            stride *= size
    digits += [reg(size) for size in draw(st.lists(st.sampled_from((2, 3, 4, 5)), max_size=3))]
    digits = draw(st.permutations(digits))
    rank = draw(st.integers(1, 3)) if rank is None else rank
    cuts = sorted(draw(st.lists(st.integers(0, len(digits)), min_size=rank - 1, max_size=rank - 1)))
    bounds = [0, *cuts, len(digits)]
    return Layout.of(*(digits[a:b] for a, b in itertools.pairwise(bounds))), num_warps


# ---- form ----------------------------------------------------------------------------------------


def test_canonical_form_merges_digits_that_count_together():
    assert Layout.of([reg(2), reg(3)]) == Layout.of([reg(6)])
    assert Layout.of([lane(4, 8), lane(8, 1)]) == Layout.of([lane(32, 1)])
    assert Layout.of([reg(1), lane(1, 4), warp(2, 1)]) == Layout.of([warp(2, 1)])
    apart = Layout.of([lane(8, 1), lane(4, 8)])  # counts in the wrong order
    assert apart.dims == ((lane(8, 1), lane(4, 8)),)
    assert Layout.of([reg(2), lane(2, 1), reg(2)]).dims == ((reg(2), lane(2, 1), reg(2)),)


@given(layouts())
@settings(max_examples=40, deadline=None)
def test_text_reads_back_and_is_what_the_dialect_prints(case):
    layout, _ = case
    assert Layout.parse(str(layout)) == layout
    assert str(Attribute.parse(str(layout), CONTEXT)) == str(layout)


def test_accumulator_of_the_documentation():
    layout = Layout.parse("<[warp 4:1, reg 2, lane 8:4], [reg 2, lane 4:1, reg 2]>")
    assert layout.shape == (64, 16)
    assert layout.num_registers == 8
    place = elements(layout, 4)
    assert place[0, 0, 0] == (0, 0)
    assert place[0, 0, 1] == (0, 1)
    assert place[0, 1, 0] == (0, 2)
    assert place[0, 4, 0] == (1, 0)
    assert place[0, 0, 4] == (8, 0)
    assert place[3, 31, 7] == (63, 15)


# ---- coordinates ---------------------------------------------------------------------------------


@given(layouts())
@settings(max_examples=40, deadline=None)
def test_coordinates(case):
    layout, num_warps = case
    assert (layout.coordinates(num_warps) == as_array(layout, num_warps)).all()


@given(layouts())
@settings(max_examples=40, deadline=None)
def test_register_offsets_are_relative_to_the_first_element(case):
    layout, num_warps = case
    places = as_array(layout, num_warps)
    offsets = np.array(layout.register_offsets).reshape(-1, layout.rank)
    assert (places == places[:, :, :1] + offsets).all()
    assert all(layout.register_at[o] == i for i, o in enumerate(layout.register_offsets))


@given(layouts(), st.data())
@settings(max_examples=100, deadline=None)
def test_warps_keep_their_elements_within_warps(case, data):
    layout, num_warps = case
    order = data.draw(st.permutations(range(layout.rank)))
    own = layout.within_warps(order, data.draw(st.sampled_from((1, 2, 4))))
    if own is None:
        return
    assert own.shape == layout.shape
    before, after = elements(layout, num_warps), elements(own, num_warps)
    for w in range(num_warps):
        mine = [place for (owner, _, _), place in after.items() if owner == w]
        assert len(set(mine)) == len(mine)
        assert set(mine) == {place for (owner, _, _), place in before.items() if owner == w}


def test_accumulators_within_warps():
    rows = [warp(4, 1), reg(2), lane(8, 4)]
    accumulator = Layout.of(rows, [reg(16), lane(4, 1), reg(2)])
    own = accumulator.within_warps((0, 1), 8)
    assert own == Layout.of([warp(4, 1), reg(8), lane(2, 16)], [lane(16, 1), reg(8)])
    assert Layout.of([lane(8, 1), warp(4, 1)], [lane(4, 8)]).within_warps((0, 1), 1) is None


@given(layouts(), st.data())
@settings(max_examples=40, deadline=None)
def test_groups_are_neighbours(case, data):
    layout, _ = case
    dim = data.draw(st.integers(0, layout.rank - 1))
    run = layout.run(dim)
    size = data.draw(st.sampled_from([n for n in range(1, run + 1) if run % n == 0]))
    groups = layout.groups(dim, size)
    assert sorted(r for group in groups for r in group) == list(range(layout.num_registers))
    for group in groups:
        first, *others = (layout.register_offsets[r] for r in group)
        assert first[dim] % size == 0
        for step, other in enumerate(others, 1):
            assert other == first[:dim] + (first[dim] + step,) + first[dim + 1 :]


@given(layouts())
@settings(max_examples=40, deadline=None)
def test_free_strides_say_which_threads_hold_copies(case):
    layout, num_warps = case
    owners: dict[tuple, set] = {}
    for (w, t, r), place in elements(layout, num_warps).items():
        if r == 0:
            owners.setdefault(place, set()).add((w, t))
    free = {
        owner: layout.free_strides(owner, total)
        for owner, total in ((Owner.LANE, LANES), (Owner.WARP, num_warps))
    }

    def canonical(w: int, t: int) -> tuple[int, int]:
        for stride, size in free[Owner.WARP]:
            w -= w // stride % size * stride
        for stride, size in free[Owner.LANE]:
            t -= t // stride % size * stride
        return w, t

    for threads in owners.values():
        assert {canonical(w, t) for w, t in threads} == {min(threads)}
    copies = math.prod(size for sizes in free.values() for _, size in sizes)
    assert {len(threads) for threads in owners.values()} == {copies}


# ---- related tiles -------------------------------------------------------------------------------


def factorisations(n: int) -> list[tuple[int, ...]]:
    shapes = [(n,), (1, n), (n, 1)]
    for a in range(2, n):
        if n % a == 0:
            shapes += [(a, n // a), (a, 1, n // a)]
            shapes += [(a, b, n // a // b) for b in range(2, n // a) if n // a % b == 0]
    return shapes


@given(layouts(), st.data())
@settings(max_examples=100, deadline=None)
def test_reshape_keeps_every_element_in_place(case, data):
    layout, num_warps = case
    shape = data.draw(st.sampled_from(factorisations(math.prod(layout.shape))))
    after = layout.reshape(shape)
    if after is None:
        return
    assert after.shape == shape
    before = as_array(layout, num_warps)
    flat = np.ravel_multi_index(tuple(np.moveaxis(before, -1, 0)), layout.shape)
    moved = np.moveaxis(as_array(after, num_warps), -1, 0)
    assert (flat == np.ravel_multi_index(tuple(moved), shape)).all()


def test_reshape_splits_registers_across_dimensions():
    layout = Layout.of([reg(6)], [reg(10)])
    assert layout.reshape([15, 4]) == Layout.of([reg(15)], [reg(4)])
    assert Layout.of([lane(8, 1)], [reg(5)]).reshape([4, 10]) == Layout.of(
        [lane(4, 2)], [lane(2, 1), reg(5)]
    )
    assert Layout.of([lane(8, 1)], [reg(5)]).reshape([5, 8]) is None


@given(layouts(), st.data())
@settings(max_examples=40, deadline=None)
def test_permute_drop_collapse_only(case, data):
    layout, num_warps = case
    order = data.draw(st.permutations(range(layout.rank)))
    # Registers are numbered anew, so that elements are compared as sets.
    permuted = as_array(layout.permute(order), num_warps)
    original = as_array(layout, num_warps)[..., list(order)]
    assert (np.sort(flatten(permuted)) == np.sort(flatten(original))).all()

    dim = data.draw(st.integers(0, layout.rank - 1))
    if layout.rank > 1:
        dropped = layout.drop(dim)
        assert dropped.shape == layout.shape[:dim] + layout.shape[dim + 1 :]
    collapsed = layout.collapse([1 if d == dim else n for d, n in enumerate(layout.shape)])
    assert collapsed.dims[dim] == ()
    assert collapsed.dims[:dim] == layout.dims[:dim]
    warps_only = layout.only(dim, Owner.WARP)
    assert warps_only.shape[dim] == layout.count(Owner.WARP, dim)


def flatten(places: np.ndarray) -> np.ndarray:
    """One number for each element, with the registers of a thread as the last dimension."""
    extents = tuple(places.reshape(-1, places.shape[-1]).max(0) + 1)
    return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), extents))


# ---- layouts made to a purpose -------------------------------------------------------------------


def covered_evenly(layout: Layout, num_warps: int) -> bool:
    """Whether every element is held, and all by the same number of threads."""
    places = np.moveaxis(layout.coordinates(num_warps), -1, 0)
    held = np.bincount(np.ravel_multi_index(tuple(places), layout.shape).ravel())
    return len(held) == math.prod(layout.shape) and held.min() == held.max()


SHAPES = [
    (1,), (7,), (64,), (1024,), (1, 1), (16, 8), (64, 32), (192, 80), (3, 5), (128, 1), (1, 128),
    (2, 3, 4), (4, 1, 8, 2), (2, 2, 2, 2, 2),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("num_warps", (1, 3, 4, 8))
def test_blocked_covers_every_element(shape, num_warps):
    for vector in (1, 2, 8):
        for order in {tuple(range(len(shape))), tuple(reversed(range(len(shape))))}:
            layout = blocked(shape, order, vector, num_warps)
            assert layout.shape == shape
            assert covered_evenly(layout, num_warps)
            assert layout.run(order[-1]) % math.gcd(shape[order[-1]], vector) == 0


def test_blocked_gives_neighbours_to_neighbouring_threads():
    layout = blocked((64, 64), (0, 1), 4, 4)
    places = as_array(layout, 4)
    # 16 lanes of 4 elements cover a row of 64; the next 16 lanes the next row.
    assert (places[0, :16, 0, 1] == np.arange(16) * 4).all()
    assert (places[0, :16, 0, 0] == 0).all()
    assert (places[0, 16:, 0, 0] == 1).all()
    assert (places[:, 0, 0, 0] == [0, 2, 4, 6]).all()
    columns = blocked((64, 64), (1, 0), 4, 4)
    assert columns.run(0) == 4
    assert columns.run(1) == 1


def test_blocked_keeps_warps_out_of_a_dimension():
    layout = blocked((8, 4096), (0, 1), 4, 4, no_warps_in=1)
    assert layout.count(Owner.WARP, 1) == 1
    assert layout.count(Owner.WARP, 0) == 4
    assert covered_evenly(layout, 4)


@given(
    st.sampled_from([12, 30, 60, 64, 240, 576]).flatmap(
        lambda n: st.tuples(st.sampled_from(factorisations(n)), st.sampled_from(factorisations(n)))
    ),
    st.sampled_from((1, 2, 4)),
)
@settings(max_examples=40, deadline=None)
def test_reshapable_suits_both_shapes(shapes, num_warps):
    before, after = shapes
    layout = reshapable(before, after, num_warps)
    assert layout.shape == before
    assert covered_evenly(layout, num_warps)
    reshaped = layout.reshape(after)
    assert reshaped is not None
    assert reshaped.shape == after


def test_reshapable_uses_lanes_where_it_can():
    layout = reshapable((64, 15), (64, 3, 5), 2)
    assert layout.count(Owner.LANE) == 32
    assert layout.count(Owner.WARP) == 2


def test_digit_text():
    assert str(Digit(Owner.LANE, 8, 4)) == "lane 8:4"
    assert str(reg(2)) == "reg 2"
