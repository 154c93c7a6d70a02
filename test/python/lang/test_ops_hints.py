"""Promises and hints about memory: they change how code is made, not what it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lang_support import run, text, trace

import tileir
import tileir.lang as ct
from tileir.errors import BytecodeError, TileError


def hinted_copy(hint: Any) -> Any:
    @ct.kernel
    def copy(x, out):
        ct.store(out, (0, 0), ct.load(x, (0, 0), (4, 8), hint=hint), hint=hint)

    return copy


def test_alignment_is_a_promise_in_the_ir() -> None:
    # A view of every other row of a matrix, whose launch knows less than the author.
    x, out = np.arange(64, dtype=np.float32).reshape(8, 8)[::2], np.zeros((4, 8), np.float32)
    shown = text(hinted_copy(ct.align(64)), x, out)
    assert "div_by<64>" in shown and "div_by<64>" not in text(hinted_copy(None), x, out)
    run(hinted_copy(ct.align(32)), 1, x, out)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (16, "'hint' must be ct.align(n), got"),
        (ct.swizzle, "'hint' must be ct.align(n), got"),
    ],
)
def test_other_hints(hint: Any, message: str) -> None:
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(TileError) as error:
        text(hinted_copy(hint), x, x.copy())
    assert message in str(error.value)


def test_alignments_are_powers_of_two() -> None:
    @ct.kernel
    def load(x):
        ct.load(x, (0,), (4,), hint=ct.align(24))

    with pytest.raises(TileError, match="an alignment is a power of two, got 24"):
        text(load, np.zeros(4, np.float32))


@ct.kernel
def scaled(x, table, out, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.prefetch(table, (0, i), (4, N))
    total = ct.zeros((N,), ct.float32)
    for k in range(ct.num_tiles(x, 0, (1, N))):
        total += ct.load(x, (k, i), (1, N)).reshape(N)
    ct.store(out, (0, i), total * ct.load(table, (0, i), (4, N)))


@pytest.mark.parametrize("backend", ["interp", "sim"])
def test_prefetches_change_no_result(backend: Any) -> None:
    """Also where the tile reaches beyond the table."""
    rng = np.random.default_rng(0)
    x, table = (rng.integers(-9, 9, (n, 100)).astype(np.float32) for n in (5, 4))
    out = np.zeros((4, 100), np.float32)
    run(scaled, 2, x, table, out, 64, backend=backend)
    np.testing.assert_array_equal(out, x.sum(0) * table)


def test_prefetches_ask_for_lines_once() -> None:
    """4 rows of 64 floats are 8 lines of 128 bytes: one instruction, by 8 threads."""
    x = np.zeros((4, 128), np.float32)
    module = trace(scaled, x, x, x, 64)
    assert tileir.compile(module, target="sm_90a").ptx.count("prefetch.global.L2") == 1
    with pytest.raises(BytecodeError, match="extended"):
        tileir.write_bytecode(module)
