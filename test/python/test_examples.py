"""The demo and the code of the README do what they say."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def test_demo() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("interpreter: agrees with NumPy") == 2
    for stage in ("cuda_tile", "tile_gpu", "nvgpu", "nvvm", "llvmir", "ptx", "sass"):
        rows = re.findall(rf"^  {stage} +(\d+) +[\d.]+$", done.stdout, re.M)
        assert len(rows) == 2, stage
        assert all(int(count) > 10 for count in rows), stage
    for kernel in ("matmul_bias_relu", "row_softmax"):
        files = sorted(path.name for path in (ROOT / "out" / "demo" / kernel).iterdir())
        assert files == [
            "0.cuda_tile.mlir", "1.tile_gpu.mlir", "2.nvgpu.mlir", "3.nvvm.mlir", "4.llvmir.ll",
            "5.ptx", "6.sass",
        ]  # fmt: skip


def test_examples_are_checked_in_as_made() -> None:
    """The bytecode names its source, and nothing of the machine it was made on."""
    for name in ("matmul_bias_relu", "row_softmax"):
        data = (ROOT / "examples" / f"{name}.tilebc").read_bytes()
        assert b"examples/kernels.py" in data
        assert b"site-packages" not in data


def readme_block(title: str) -> str:
    """The indented block under a heading of the README."""
    section = (ROOT / "README.md").read_text().split(f"## {title}\n", 1)[1]
    block = re.search(r"(?:^(?: {4}.*)?\n)+", section, re.M)
    assert block is not None
    return textwrap.dedent(block[0])


def test_python_in_the_readme(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = (
        readme_block("From Python, without the language")
        + "\nassert abs(y.sum(axis=1) - 1).max() < 0.01\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "tile_gpu." in done.stdout
    assert ".entry row_softmax" in done.stdout
    assert (tmp_path / "softmax.tileir").stat().st_size > 1000


def test_kernel_in_the_readme(tmp_path: Path) -> None:
    # Kernels are compiled from their source.
    script = tmp_path / "kernel.py"
    script.write_text(readme_block("A kernel") + "\nassert (out == x + y).all()\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_commands_in_the_readme(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    bin_folder = Path(sys.executable).parent
    script = f"set -e\nPATH={bin_folder}:$PATH\n{readme_block('From the command line')}"
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "tile_gpu." in done.stdout
    assert ".target sm_90a" in done.stdout
    rows = re.findall(r"\[((?: *[\d.e+-]+){3}) \.\.\.", done.stdout)
    assert len(rows) == 4
    assert all(0 < float(value) < 1 for row in rows for value in row.split())
    assert np.isfinite(float(rows[0].split()[0]))
