"""`breakpoint()` in kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir.lang as ct


@ct.kernel
def halves(x, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    tile = ct.load(x, (i,), (TILE,))
    half = tile.astype(ct.float32) / 2
    breakpoint()
    ct.store(out, (i,), half.astype(out.dtype))


def run(monkeypatch: pytest.MonkeyPatch, backend: str) -> list[dict[str, Any]]:
    """The variables at each stop; the result is right however often it stopped."""
    stops: list[dict[str, Any]] = []

    def hook() -> None:
        frame = sys._getframe(1)
        stops.append({**frame.f_globals, "place": (frame.f_code.co_filename, frame.f_lineno)})

    monkeypatch.setenv("TILEIR_BACKEND", backend)
    monkeypatch.setattr(sys, "breakpointhook", hook)
    x, out = np.arange(64, dtype=np.float16), np.zeros(64, np.float16)
    # A kernel keeps the backend of its first launch.
    ct.launch(None, (2,), halves.replace_hints(occupancy=1), (x, out, 32))
    np.testing.assert_array_equal(out, x / 2)
    return stops


def test_variables_are_arrays_where_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    stops = sorted(run(monkeypatch, "interp"), key=lambda stop: stop["block"])
    assert [stop["block"] for stop in stops] == [(0, 0, 0), (1, 0, 0)]
    for block, stop in enumerate(stops):
        expected = np.arange(32 * block, 32 * block + 32)
        np.testing.assert_array_equal(np.asarray(stop["tile"], np.float64), expected)
        np.testing.assert_array_equal(np.asarray(stop["half"], np.float64), expected / 2)
        assert stop["i"] == block and stop["TILE"] == 32
        file, line = stop["place"]
        assert file == __file__
        assert "breakpoint()" in Path(file).read_text().splitlines()[line - 1]


def test_it_is_nothing_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "sim") == []
