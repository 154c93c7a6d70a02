"""Printing, checks, promises, the order of blocks, words for threads, PTX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lang_support import run, text

import tileir
import tileir.lang as ct
from tileir.errors import ExecutionError
from tileir.lang.errors import TileTypeError, TileValueError

X = np.array([0.5, -1.25, 3.0, 100.0], np.float32)


@ct.kernel
def call(x, function: ct.Constant):
    function(ct.load(x, (0,), (4,)), ct.bid(0) + 7)


PRINTS: dict[str, tuple[Callable[..., Any], str]] = {
    "printf": (lambda t, n: ct.printf("n=%d 100%% %5.2f\n", n, 1.5), "n=7 100%  1.50"),
    "values": (lambda t, n: print("n", n, 2.5, True, None), "n 7 2.5 True None"),
    "tile": (lambda t, n: print(t), "[0.500000, -1.250000, 3.000000, 100.000000]"),
    "f-string": (lambda t, n: print(f"{n}: {t:.1f}"), "7: [0.5, -1.2, 3.0, 100.0]"),
    "formats": (
        lambda t, n: print(f"{n:05d}|{n:>4}|{n:<3}|{n:x}|{n:+d}|{n:#x}|{n:.2f}"),
        "00007|   7|7  |7|+7|0x7|7.00",
    ),
    "separators": (lambda t, n: print(n, n, sep="-", end="!\n"), "7-7!"),
    "percent": (lambda t, n: print("50%", n), "50% 7"),
    "tuple": (lambda t, n: print((n, 2), (n,)), "(7, 2) (7,)"),
    "shape": (lambda t, n: print(t.shape, t.dtype), "(4,) float32"),
    "wide": (
        lambda t, n: print(n.astype(ct.int64) * 10**12, ct.uint32(2**32 - 1), ct.uint64(2**64 - 1)),
        "7000000000000 4294967295 18446744073709551615",
    ),
    "method": (lambda t, n: ct.print("a", n), "a 7"),
}


@pytest.mark.parametrize("name", PRINTS)
def test_prints(name: str) -> None:
    function, expected = PRINTS[name]
    assert run(call, 1, X, function) == [expected]


def test_prints_are_in_order() -> None:
    def several(t: Any, n: Any) -> None:
        for k in range(3):
            print("round", k)
        print("done")

    assert run(call, 1, X, several) == ["round 0", "round 1", "round 2", "done"]


ERRORS: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {
    "too few": (lambda t, n: ct.printf("%d %d", n), TileValueError, "no value for the conversion"),
    "too many": (lambda t, n: ct.printf("%d", n, n), TileValueError, "2 values for 1 conversion"),
    "letter": (lambda t, n: ct.printf("%s", n), TileValueError, "knows no conversion '%s'"),
    "kind": (lambda t, n: ct.printf("%d", t), TileTypeError, "'%d' is for integers, got float32"),
    "format": (lambda t, n: ct.printf(f"{n}"), TileTypeError, "must be a string known at compile"),
    "centred": (lambda t, n: print(f"{n:^5}"), TileValueError, "cannot be printed from a kernel"),
    "letter of floats": (lambda t, n: print(f"{t:d}"), TileTypeError, "'d' does not fit float32"),
    "assertion": (lambda t, n: ct.assert_(n), TileTypeError, "must be of booleans, got int32"),
    "divisor": (lambda t, n: ct.assume_divisible_by(n, 0), TileValueError, "must be positive"),
    "divided tile": (
        lambda t, n: ct.assume_divisible_by(t, 4),
        TileTypeError,
        "must be an integer scalar",
    ),
    "pattern": (lambda t, n: ct.swizzle("xz"), TileValueError, "the patterns are"),
    "no operand": (lambda t, n: ct.inline_ptx("mov.u32 $0, 1;"), TileTypeError, "needs an operand"),
    "register": (
        lambda t, n: ct.inline_ptx("add.f32 $0, $1, $2;", t),
        TileValueError,
        r"'\$2' names no register",
    ),
    "result": (lambda t, n: ct.inline_ptx("bar.sync 0;", t), TileValueError, "must set the result"),
    "narrow": (
        lambda t, n: ct.inline_ptx("mov.b32 $0, $1;", t, dtype=ct.int8),
        TileTypeError,
        "the result of inline_ptx.. is int8, which has no registers",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    function, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        text(call, X, function)


def test_assertions() -> None:
    run(call, 1, X, lambda t, n: ct.assert_(t > -2, "low"))
    with pytest.raises(ExecutionError, match="too low"):
        run(call, 1, X, lambda t, n: ct.assert_(t > -1, "too low"))

    def statement(t: Any, n: Any) -> None:
        assert n == 8, "wrong block"

    with pytest.raises(ExecutionError, match="wrong block"):
        run(call, 1, X, statement)


def test_promises() -> None:
    def promise(t: Any, n: Any) -> None:
        print(ct.assume_divisible_by(n * 12, 12), ct.assume_divisible_by(24, 8))

    assert "assume div_by<4>" in text(call, X, promise)
    assert run(call, 1, X, promise) == ["84 24"]


def test_dependent_launches_are_in_the_ir() -> None:
    @ct.kernel
    def dependent(x):
        ct.grid_dependency_control_wait()
        ct.store(x, (0,), ct.load(x, (0,), (4,)) * 2)
        ct.grid_dependency_control_launch_dependents()

    ir = text(dependent, X)
    wait, load, store, launch = (
        ir.index(name) for name in ("gdc_wait", "load_view", "store_view", "gdc_launch")
    )
    assert wait < load < store < launch
    x = X.copy()
    run(dependent, 1, x)
    np.testing.assert_array_equal(x, X * 2)


@pytest.mark.parametrize("pattern", ["xy", "z"])
@pytest.mark.parametrize("shape", [(8, 8), (5, 9), (1, 7), (13, 3), (4, 6)])
def test_every_place_of_the_grid_is_reached_once(pattern: str, shape: tuple[int, int]) -> None:
    @ct.kernel
    def visit(count, pattern: ct.Constant):
        ct.atomic_add(count, ct.swizzle(pattern), 1)

    count = np.zeros(shape, np.int32)
    run(visit, shape, count, pattern)
    assert (count == 1).all()


def test_raster_walks_bands() -> None:
    @ct.kernel
    def place(out):
        i, j = ct.swizzle2d(ct.bid(0), 5, 3, 2)
        ct.store(out, (ct.bid(0), 0), i)
        ct.store(out, (ct.bid(0), 1), j)

    out = np.zeros((15, 2), np.int32)
    run(place, 15, out)
    band = lambda first, height: [  # noqa: E731
        (first + row, column) for column in range(3) for row in range(height)
    ]
    assert list(map(tuple, out)) == band(0, 2) + band(2, 2) + band(4, 1)


def test_words_for_threads() -> None:
    @ct.kernel
    def double(x):
        i = ct.bid(0) * ct.block_dim(0) + ct.tid(0)
        if i < ct.grid_dim(0) * ct.block_dim(0):
            ct.store(x, (i,), ct.load(x, (i,), ()) * 2)

    x = X.copy()
    run(double, 4, x)
    np.testing.assert_array_equal(x, X * 2)


def test_kernels_for_threads_are_shown_as_kernels_on_tiles() -> None:
    @ct.kernel
    def saxpy(a, x, y):
        i = ct.bid(0) * 256 + ct.tid(0)
        if i < x.shape[0]:
            y[i] = a * x[i] + y[i]

    with pytest.raises(TileTypeError) as caught:
        text(saxpy, 2.0, X, X)
    shown = str(caught.value)
    assert "there are no threads to number" in shown
    start = shown.index("@ct.kernel")
    corrected = "\n".join(line[6:] for line in shown[start - 6 :].splitlines())
    assert corrected.strip() == (
        "@ct.kernel\n"
        "def saxpy(a, x, y, TILE: ct.Constant[int]):\n"
        "    i = ct.bid(0)\n"
        "    ct.store(y, (i,), a * ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,)))"
    )


def test_kernels_that_index_arrays_are_shown_as_kernels_on_tiles() -> None:
    @ct.kernel
    def transpose(x, out):
        tx, ty = ct.tid(0), ct.tid(1)
        i = ct.bid(0) * ct.block_dim(0) + tx
        j = ct.bid(1) * ct.block_dim(1) + ty
        if i >= x.shape[0] or j >= x.shape[1]:
            return
        out[j, i] = x[i, j]

    with pytest.raises(TileTypeError) as caught:
        text(transpose, np.zeros((4, 4), np.float32), np.zeros((4, 4), np.float32))
    assert "ct.store(out, (j, i), ct.load(x, (i, j), (TILE, TILE_1)))" in str(caught.value)


@pytest.mark.parametrize("backend", ["interp", "sim"])
def test_inline_ptx(backend: Any) -> None:
    @ct.kernel
    def instructions(x, out, n):
        t = ct.load(x, (0,), (4,))
        ct.store(out, (0,), ct.inline_ptx("fma.rn.f32 $0, $1, $2, 0f3F800000;", t, 2.0))
        bits = ".reg .b32 t; and.b32 t, $1, 255; popc.b32 $0, t;"
        ct.store(n, (0,), ct.inline_ptx(bits, t.astype(ct.int32), dtype=ct.int32))

    out, n = np.zeros(4, np.float32), np.zeros(4, np.int32)
    run(instructions, 1, X, out, n, backend=backend)
    np.testing.assert_array_equal(out, X * 2 + 1)
    np.testing.assert_array_equal(n, [0, 8, 2, 3])


def test_bytecode_has_no_inline_ptx() -> None:
    module = tileir.parse(text(call, X, lambda t, n: print(ct.inline_ptx("neg.f32 $0, $1;", t))))
    with pytest.raises(tileir.BytecodeError, match="cuda_tile.extended"):
        tileir.write_bytecode(module)
