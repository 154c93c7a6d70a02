"""examples/miniweather.py: the kernels against NumPy, what must be conserved, the picture."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def weather() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "examples"))
        import miniweather  # pyright: ignore[reportMissingImports]

        yield miniweather


@pytest.mark.parametrize("tile", [(8, 16), (4, 8)])
def test_kernels_do_what_numpy_does(weather: ModuleType, tile: tuple[int, int]) -> None:
    box = weather.Box(16, 8, "float64")
    state = weather.run(weather.TileModel(box, tile), 3, box.dt)
    reference = weather.run(weather.NumpyModel(box), 3, box.dt)
    inside = (slice(None), slice(2, -2), slice(2, -2))
    scale = abs(reference[inside]).max(axis=(1, 2))
    assert (scale > 1e-4).all()
    error = abs(state[inside] - reference[inside]).max(axis=(1, 2))
    assert (error < 1e-9 * scale).all()


def test_physics_of_the_reference(weather: ModuleType) -> None:
    """Mass is conserved, still air stays still, a thermal rises and keeps its symmetry."""
    box = weather.Box(32, 16, "float64")
    still = weather.NumpyModel(box)
    for buffer in still.buffers:
        buffer[:] = 0
    assert abs(weather.run(still, 5, box.dt)).max() < 1e-9

    model = weather.NumpyModel(box)
    before = model.buffers[0].copy()
    state = weather.run(model, 100, box.dt)
    inside = state[:, 2:-2, 2:-2]
    mass = weather.Box.at_cells(box)[0][2:-2].sum() * box.nx
    assert abs(inside[0].sum() - before[0, 2:-2, 2:-2].sum()) < 1e-12 * mass
    assert inside[2].max() > 1
    warmth = box.warmth(state)
    np.testing.assert_allclose(warmth, warmth[:, ::-1], atol=1e-9)
    heights = np.arange(box.nz)[:, None]
    assert (warmth * heights).sum() / warmth.sum() > 1.05 * _height(box, before, heights)


def _height(box: Any, state: np.ndarray, heights: np.ndarray) -> float:
    warmth = box.warmth(state)
    return float((warmth * heights).sum() / warmth.sum())


def test_script(
    weather: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    picture = tmp_path / "folder" / "picture.png"
    size = ["--nx", "16", "--nz", "8", "--tile", "8", "16", "--seconds", "10"]
    monkeypatch.setattr(sys, "argv", ["miniweather.py", *size, "--picture", str(picture)])
    assert weather.main() == 0
    printed = capsys.readouterr().out
    assert "16 x 8 cells, 2 steps of 4.167 s" in printed
    assert "largest difference" in printed
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    pixels = zlib.decompress(data[start : start + length])
    assert len(pixels) == height * (1 + 3 * width)
    assert (width, height) == (16 * 8, 8 * 8)
