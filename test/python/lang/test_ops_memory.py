"""Loads, stores, views, gather and scatter, atomics, slices and lists, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lang_support import run, text

import tileir.lang as ct
from tileir.lang import MemoryOrder, MemoryScope, PaddingMode
from tileir.lang.errors import TileTypeError, TileUnsupportedFeatureError, TileValueError


def matrix(rows: int, columns: int, dtype: Any = np.float32) -> np.ndarray:
    return np.arange(rows * columns).reshape(rows, columns).astype(dtype)


# ---- whole tiles -----------------------------------------------------------------------------


@ct.kernel
def copy(x, out, M: ct.Constant, N: ct.Constant, order: ct.Constant, padding: ct.Constant):
    i, j = ct.bid(0), ct.bid(1)
    t = ct.load(x, (i, j), (M, N), order=order, padding_mode=padding)
    ct.store(out, (i, j), t)


@pytest.mark.parametrize("order", ["C", "F", (1, 0)])
def test_load_order_and_padding(order: Any) -> None:
    x = matrix(6, 10)
    seen = x if order == "C" else x.T
    out = np.full((8, 16) if order == "C" else (12, 8), -1, np.float32)
    run(
        copy,
        (2 if order == "C" else 3, 2),
        x,
        out,
        4,
        8 if order == "C" else 4,
        order,
        PaddingMode.ZERO,
    )
    expected = np.full_like(out, 0)
    expected[: seen.shape[0], : seen.shape[1]] = seen
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("mode", "value"),
    [
        (PaddingMode.ZERO, 0.0),
        (PaddingMode.NEG_ZERO, -0.0),
        (PaddingMode.NAN, np.nan),
        (PaddingMode.POS_INF, np.inf),
        (PaddingMode.NEG_INF, -np.inf),
    ],
)
def test_padding_modes(mode: PaddingMode, value: float) -> None:
    x, out = matrix(3, 3), np.ones((4, 4), np.float32)
    run(copy, (1, 1), x, out, 4, 4, "C", mode)
    expected = np.full((4, 4), value, np.float32)
    expected[:3, :3] = x
    np.testing.assert_array_equal(out.view(np.uint32), expected.view(np.uint32))


def test_elements_beyond_the_edge_are_not_stored() -> None:
    x, wide = matrix(8, 8), np.full((8, 12), -1, np.float32)
    out = wide[:5, :7]
    run(copy, (2, 2), x, out, 4, 4, "C", PaddingMode.UNDETERMINED)
    np.testing.assert_array_equal(out, x[:5, :7])
    assert (wide[5:] == -1).all() and (wide[:, 7:] == -1).all()


@ct.kernel
def scalars(x, out, y):
    t = ct.load(x, (2, 1), ())
    ct.store(out, (1, 1), t * 2)
    ct.store(y, 3, ct.load(x, (0, 1), ()))
    ct.store(out, (0, 0), 7)


def test_scalars() -> None:
    x, out, y = matrix(4, 4), np.zeros((2, 2), np.float32), np.zeros(4, np.float64)
    run(scalars, 1, x, out, y)
    np.testing.assert_array_equal(out, [[7, 0], [0, 18]])
    np.testing.assert_array_equal(y, [0, 0, 0, 1])


def test_options_are_in_the_ir() -> None:
    @ct.kernel
    def options(x):
        t = ct.load(x, (0, 1), (4, 4), latency=3, allow_tma=False, check_bounds=False)
        ct.store(x, (0, 0), t, latency=5)
        order, scope = MemoryOrder.ACQUIRE, MemoryScope.DEVICE
        t = ct.load(x, (1, 1), (4, 4), memory_order=order, memory_scope=scope)
        order, scope = MemoryOrder.RELEASE, MemoryScope.SYS
        ct.store(x, (1, 0), t, memory_order=order, memory_scope=scope)

    ir = text(options, matrix(8, 8))
    assert "hints = <default = {allow_tma = false, latency = 3}> inbounds = [true, true]" in ir
    assert "hints = <default = {latency = 5}>" in ir
    assert "load_view_tko acquire device" in ir and "store_view_tko release sys" in ir


def test_facts_are_in_the_ir() -> None:
    @ct.kernel
    def facts(x):
        ct.store(x, (0, 0), ct.zeros((8, 8), ct.float16))

    ir = text(facts, np.zeros((32, 48), np.float16))
    assert "assume div_by<16>, %arg0 : tile<ptr<f16>>" in ir
    assert ir.count("assume div_by<16>") == 3  # the address and both extents
    assert ir.count("assume div_by<8>") == 1  # 16 bytes divide the distance of rows
    assert ir.count("assume bounded<0, ?>") == 3
    assert "tensor_view<?x?xf16, strides=[?,1]>" in ir
    assert "tensor_view<1x?xf16, strides=[?,1]>" in text(facts, np.zeros((1, 48), np.float16))


@ct.kernel
def wide_index(x, out):
    i = ct.bid(0).astype(ct.int64)
    ct.store(out, (i, ct.bid(1)), ct.load(x, (i, 0), (2, 2)))


def test_one_index_of_64_bits_makes_all_so() -> None:
    x, out = matrix(4, 2), np.zeros((4, 2), np.float32)
    run(wide_index, (2, 1), x, out)
    np.testing.assert_array_equal(out, x)


@ct.kernel
def counts(x, out):
    if ct.bid(0) + ct.bid(1) > 0:
        return
    ct.store(out, (0,), ct.num_tiles(x, 0, (4, 8)))
    ct.store(out, (1,), ct.num_tiles(x, 1, (4, 8)))
    ct.store(out, (2,), ct.num_tiles(x, 1, (4, 8), order="F"))
    ct.store(out, (3,), ct.num_blocks(0) * 10 + ct.grid_dim(1))


def test_num_tiles() -> None:
    out = np.zeros(4, np.int32)
    run(counts, (3, 2), np.zeros((9, 17), np.float32), out)
    np.testing.assert_array_equal(out, [3, 3, 2, 32])


def test_views() -> None:
    @ct.kernel
    def views(x, out, n):
        seen = x.tiled_view((4, 2), padding_mode=PaddingMode.ZERO, traversal_steps=(3, 2))
        made = out.tiled_view((4, 2))
        ct.static_assert(seen.tile_shape == (4, 2) and seen.dtype == ct.float32)
        ct.static_assert(seen.traversal_steps == (3, 2))
        i, j = ct.bid(0), ct.bid(1)
        made.store((i, j), seen.load((i, j)))
        if i + j == 0:
            ct.store(n, (0,), seen.num_tiles(0))

    x, out, n = matrix(7, 6), np.zeros((12, 6), np.float32), np.zeros(1, np.int32)
    run(views, (3, 3), x, out, n)
    padded = np.pad(x, ((0, 8), (0, 0)))
    np.testing.assert_array_equal(
        out, np.concatenate([padded[3 * i : 3 * i + 4] for i in range(3)])
    )
    assert n[0] == 3


@pytest.mark.parametrize(
    ("offset", "at_run_time"),
    # Those known only at run time must not be negative.
    [((0, 0), False), ((1, 2), False), ((-1, -2), False), ((-1, 3), False), ((1, 2), True)],
)
def test_offsets(offset: tuple[int, int], at_run_time: bool) -> None:
    @ct.kernel
    def shifted(x, out, di: ct.Constant, dj: ct.Constant, zero):
        offset = (di + zero, dj + zero) if at_run_time else (di, dj)
        i, j = ct.bid(0), ct.bid(1)
        t = ct.load(x, (i, j), (4, 4), offset=offset, padding_mode=PaddingMode.ZERO)
        ct.store(out, (i, j), t)

    x, out = matrix(10, 12), np.full((12, 12), -1, np.float32)
    run(shifted, (3, 2), x, out, *offset, 0)
    padded = np.pad(x, 8)
    for i in range(3):
        for j in range(2):
            first = 8 + 4 * i + offset[0], 8 + 4 * j + offset[1]
            expected = padded[first[0] : first[0] + 4, first[1] : first[1] + 4]
            np.testing.assert_array_equal(out[4 * i : 4 * i + 4, 4 * j : 4 * j + 4], expected)


def test_stores_at_offsets() -> None:
    @ct.kernel
    def stencil(out, first: ct.Constant):
        ct.store(out, (ct.bid(0),), ct.full((4,), ct.bid(0) + 1, ct.int32), offset=first)

    out = np.zeros(10, np.int32)
    run(stencil, 3, out, -2)
    np.testing.assert_array_equal(out, [1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    out = np.zeros(10, np.int32)
    run(stencil, 2, out, 3)
    np.testing.assert_array_equal(out, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2])


# ---- elements --------------------------------------------------------------------------------


def test_gather_and_scatter() -> None:
    @ct.kernel
    def rows(x, order, out):
        i = ct.gather(order, ct.arange(8, dtype=ct.int32))
        j = ct.arange(4, dtype=ct.int32)
        t = ct.gather(x, (i[:, None], j), padding_value=-5)
        ct.scatter(out, (ct.arange(8, dtype=ct.int32)[:, None], j), t, mask=j > 0)

    x, out = matrix(6, 3), np.full((7, 4), 9, np.float32)
    order = np.array([5, 0, -1, 6, 2, 2, 1, 4], np.int32)
    run(rows, 1, x, order, out)
    expected = np.full((7, 4), 9, np.float32)
    for k, row in enumerate(order[:7]):
        expected[k, 1:3] = x[row, 1:] if 0 <= row < 6 else -5
        expected[k, 3] = -5
    np.testing.assert_array_equal(out, expected)


def test_gather_options() -> None:
    @ct.kernel
    def options(x, out):
        i = ct.arange(8, dtype=ct.uint8)
        one = ct.gather(x, i, mask=ct.bid(0) > 0, padding_value=7)
        two = ct.gather(x, i, check_bounds=False, latency=2)
        three = ct.gather(x, ct.bid(0))
        ct.scatter(out, i, one + two + three)

    x, out = np.arange(8, dtype=np.int64), np.zeros(8, np.int64)
    ir = text(options, x, out)
    assert "latency = 2" in ir
    run(options, 1, x, out)
    np.testing.assert_array_equal(out, 7 + x)


def test_raw_memory() -> None:
    @ct.kernel
    def raw(x, out):
        memory = out.get_raw_memory()
        seen = x.get_raw_memory().load_offset(ct.arange(8, dtype=ct.int32) * 2)
        memory.store_offset(ct.arange(8, dtype=ct.int32), seen, mask=seen > 2)
        memory.store_offset(ct.bid(0), 50)
        old = memory.atomic_add_offset(1, 5, memory_order=MemoryOrder.RELAXED)
        memory.store_offset(7, old)

    x, out = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
    run(raw, 1, x, out)
    np.testing.assert_array_equal(out, [50, 5, 4, 6, 8, 10, 12, 0])


ATOMICS = {
    "add": (ct.atomic_add, lambda a, b: a + b),
    "max": (ct.atomic_max, np.maximum),
    "min": (ct.atomic_min, np.minimum),
    "and": (ct.atomic_and, np.bitwise_and),
    "or": (ct.atomic_or, np.bitwise_or),
    "xor": (ct.atomic_xor, np.bitwise_xor),
    "xchg": (ct.atomic_xchg, lambda a, b: b),
}


@ct.kernel
def update(x, old, function: ct.Constant):
    i = ct.arange(8, dtype=ct.int32)
    ct.store(old, (0,), function(x, i, (i * 3 - 4).astype(x.dtype)))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
@pytest.mark.parametrize("name", ATOMICS)
def test_atomics(name: str, dtype: type) -> None:
    function, reference = ATOMICS[name]
    x = np.array([7, 1, 2, 2**31 - 1, 0, 9, 3], dtype)  # the last index is outside
    before, old = x.copy(), np.zeros(7, dtype)
    run(update, 1, x, old, function)
    argument = (np.arange(8) * 3 - 4).astype(dtype)[:7]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(x, reference(before, argument))
    np.testing.assert_array_equal(old, before)


def test_atomic_addition_of_floats_and_swaps() -> None:
    @ct.kernel
    def floats(x, n, old):
        i = ct.arange(4, dtype=ct.int32)
        ct.atomic_add(x, (i, 0), 1.5, memory_scope=MemoryScope.SYS)
        ct.store(old, (0,), ct.atomic_cas(n, i, 1, 10))

    x, n, old = (
        np.zeros((4, 2), np.float32),
        np.array([0, 1, 1, 2], np.int32),
        np.zeros(4, np.int32),
    )
    run(floats, 1, x, n, old)
    np.testing.assert_array_equal(x, [[1.5, 0]] * 4)
    np.testing.assert_array_equal(n, [0, 10, 10, 2])
    np.testing.assert_array_equal(old, [0, 1, 1, 2])


def test_atomics_on_views() -> None:
    @ct.kernel
    def views(x, n):
        ct.static_assert(x.ndim == 2)
        x.tiled_view((2, 4)).atomic_store_add((0, ct.bid(0) // 2), ct.full((1, 4), 2, ct.int32))
        for function in ct.static_iter(("max", "min", "and", "or", "xor")):
            if function == "max":
                n.tiled_view((4,)).atomic_store_max(0, 5)
            elif function == "min":
                n.tiled_view((4,)).atomic_store_min(0, 6)
            elif function == "and":
                n.tiled_view((4,)).atomic_store_and(0, 7)
            elif function == "or":
                n.tiled_view((4,)).atomic_store_or(0, 8)
            else:
                n.tiled_view((4,)).atomic_store_xor(0, 3)

    x, n = np.zeros((2, 6), np.float32), np.array([1, 9, 5, 4], np.int64)
    run(views, 4, x, n[:3])
    np.testing.assert_array_equal(x, [[4, 4, 4, 4, 4, 4]] * 2)
    np.testing.assert_array_equal(n[3:], [4])


# ---- arrays ----------------------------------------------------------------------------------


def test_slices() -> None:
    @ct.kernel
    def slices(x, out, first):
        part = x.slice(0, first, first + 3).slice(-1, 1, 5)
        ct.static_assert(part.shape[1] == 4)
        ct.store(out, (0, 0), ct.load(part, (0, 0), (4, 4), padding_mode=PaddingMode.ZERO))

    x, out = matrix(8, 6), np.ones((4, 4), np.float32)
    run(slices, 1, x, out, 2)
    expected = np.zeros((4, 4), np.float32)
    expected[:3] = x[2:5, 1:5]
    np.testing.assert_array_equal(out, expected)


def test_advanced_indexing() -> None:
    @ct.kernel
    def rows(x, order, out, first):
        i = ct.load(order, (0,), (4,))
        for start in ct.static_iter((0, 4, 2)):
            slices = (i, ct.Slice(start, 4))
            t = ct.load_advanced_indexing(x, slices, padding_mode=PaddingMode.ZERO)
            ct.store_advanced_indexing(
                out, (ct.Slice(4 * start // 2, 4), ct.arange(4, dtype=ct.int32)), t
            )
        t = ct.load_advanced_indexing(x, (ct.Slice(first, 2), i))
        ct.store(out, (6, 0), t)

    x, out = matrix(5, 10), np.zeros((14, 4), np.float32)
    order = np.array([3, 0, 4, 1], np.int32)
    run(rows, 1, x, order, out, 1)
    np.testing.assert_array_equal(out[:4], x[order, 0:4])
    np.testing.assert_array_equal(out[4:8], x[order, 2:6])
    np.testing.assert_array_equal(out[8:12], x[order, 4:8])
    np.testing.assert_array_equal(out[12:], x[1:3][:, order])


def test_lists_of_arrays() -> None:
    @ct.kernel
    def total(arrays, out):
        t = ct.zeros((2, 4), ct.float32)
        for k in range(len(arrays)):
            t += ct.load(arrays[k], (0, 0), (2, 4), padding_mode=PaddingMode.ZERO)
        ct.store(out, (0, 0), t)
        ct.store(arrays[1], (0, 0), t)

    arrays = [matrix(2, 4), matrix(2, 3) * 10, np.ones((1, 4), np.float32)]
    arrays = [np.ascontiguousarray(a) for a in arrays]
    padded = [np.pad(a, ((0, 2 - a.shape[0]), (0, 4 - a.shape[1]))) for a in arrays]
    expected = np.sum(padded, axis=0)
    out = np.zeros((2, 4), np.float32)
    run(total, 1, arrays, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(arrays[1], expected[:, :3])


def test_arrays_without_dimensions() -> None:
    @ct.kernel
    def double(x):
        ct.store(x, (), ct.load(x, (), ()) * 2)

    x = np.array(21.0, np.float32)
    run(double, 1, x)
    assert x == 42


A = np.zeros((8, 8), np.float32)
I = np.zeros(8, np.int32)  # noqa: E741
ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "no array": (
        lambda x, n: ct.load(3, (0,), (4,)),  # type: ignore[arg-type]
        TileTypeError,
        "'array' must be an array",
    ),
    "a tile": (
        lambda x, n: ct.load(ct.zeros((4,), ct.int32), (0,), (4,)),  # type: ignore[arg-type]
        TileTypeError,
        "a tile is a value: use it as it is",
    ),
    "index": (lambda x, n: ct.load(x, (0,), (4, 4)), TileValueError, "'index' has 1 number, "),
    "float": (
        lambda x, n: ct.load(x, (0, 1.5), (4, 4)),
        TileTypeError,
        r"'index\[1\]' must be a signed integer, got the float 1.5",
    ),
    "negative": (lambda x, n: ct.load(x, (0, -1), (4, 4)), TileValueError, "count from 0"),
    "unsigned": (
        lambda x, n: ct.load(x, (0, ct.uint8(1)), (4, 4)),
        TileTypeError,
        "must be a signed integer, got uint8",
    ),
    "shape": (lambda x, n: ct.load(x, (0, 0), (4,)), TileValueError, "'shape' has 1 size, "),
    "latency": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), latency=11),
        TileValueError,
        "'latency' must be from 1 to 10",
    ),
    "scope": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), memory_order=MemoryOrder.ACQUIRE),
        TileValueError,
        "needs a scope",
    ),
    "weak scope": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), memory_scope=MemoryScope.SYS),
        TileValueError,
        "a weak access has no scope",
    ),
    "order": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), memory_order=MemoryOrder.RELEASE),
        TileValueError,
        "load takes MemoryOrder.WEAK, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE",
    ),
    "cluster": (
        lambda x, n: ct.load(
            x, (0, 0), (4, 4), memory_order=MemoryOrder.RELAXED, memory_scope=MemoryScope.CLUSTER
        ),
        TileUnsupportedFeatureError,
        "no MemoryScope.CLUSTER",
    ),
    "axis order": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), order=(0, 0)),
        TileValueError,
        "'order' must be a permutation",
    ),
    "padding of integers": (
        lambda x, n: ct.load(n, (0,), (4,), padding_mode=PaddingMode.NAN),
        TileTypeError,
        "padded with zeros only",
    ),
    "padding": (
        lambda x, n: ct.load(x, (0, 0), (4, 4), padding_mode=0),  # type: ignore[arg-type]
        TileTypeError,
        "'padding_mode' must be one of ct.PaddingMode.UNDETERMINED",
    ),
    "stored dtype": (
        lambda x, n: ct.store(n, (0,), ct.zeros((4,), ct.float32)),
        TileTypeError,
        "'tile' is float32, which does not become int32 by itself",
    ),
    "stored shape": (
        lambda x, n: ct.store(x, (0, 0), ct.zeros((4,), ct.float32)),
        TileTypeError,
        "the array has 2 dimensions",
    ),
    "indices": (lambda x, n: ct.gather(x, ct.bid(0)), TileValueError, "'indices' has 1 entry"),
    "float indices": (lambda x, n: ct.gather(n, 1.5), TileTypeError, "must be an integer"),
    "mask": (
        lambda x, n: ct.gather(n, ct.arange(4, dtype=ct.int32), mask=ct.ones((8,), ct.bool_)),
        TileValueError,
        "shapes do not broadcast",
    ),
    "atomic dtype": (
        lambda x, n: ct.atomic_max(x, (0, 0), 1.0),
        TileTypeError,
        "atomic_max works on arrays of int32, uint32, int64, uint64, not of float32",
    ),
    "atomic order": (
        lambda x, n: ct.atomic_add(n, 0, 1, memory_order=MemoryOrder.WEAK),
        TileValueError,
        "not MemoryOrder.WEAK",
    ),
    "atomic bits": (
        lambda x, n: ct.atomic_and(n, 0, ct.uint32(1)),
        TileTypeError,
        "bits are updated in the array's dtype, int32",
    ),
    "slices": (
        lambda x, n: ct.load_advanced_indexing(x, (ct.Slice(0, 4), ct.Slice(0, 4))),
        TileTypeError,
        "exactly one entry",
    ),
    "slice bounds": (lambda x, n: x.slice(0, 5, 2), TileValueError, "'start' is 5, beyond 'stop'"),
    "steps": (
        lambda x, n: x.tiled_view((4, 4), traversal_steps=(0, 4)),
        TileValueError,
        "'traversal_steps' must be 2 positive numbers",
    ),
    "axis of the grid": (lambda x, n: ct.bid(3), TileValueError, "axes of a grid are 0, 1 and 2"),
    "elements": (lambda x, n: x[0, 1], TileTypeError, "an array has no elements"),
}


@ct.kernel
def failing(x, n, function: ct.Constant):
    function(x, n)


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    function, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        text(failing, A, I, function)
