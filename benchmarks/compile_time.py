"""How long a kernel takes to compile, beside NVIDIA's tileiras on the same bytecode.

    python benchmarks/compile_time.py [--runs 10] [--target sm_90a] [FILE.tilebc ...]

Medians in milliseconds of
  tileiras   whole process, -O3
  process    tile-translate --mlir-to-cubin, whole process
  warm       tileir.compile in a warm process
and of each stage of the warm compilations (cubin: ptxas).
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tileir

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "test" / "data"
DEFAULT = [
    DATA / "cases" / "vadd-13.3.tilebc",
    DATA / "cases" / "mm-13.3.tilebc",
    DATA / "kernels" / "perf" / "row_softmax_whole_perf.tilebc",
    DATA / "kernels" / "perf" / "matmul_fused_bias_relu_perf.tilebc",
    DATA / "kernels" / "perf" / "flash_attention_fwd_perf.tilebc",
]


def median_ms(runs: int, action: Callable[[], Any]) -> float:
    """Median wall time of `action` in milliseconds, after one untimed call."""
    action()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def tileiras() -> Path | None:
    """NVIDIA's assembler from PyPI, if it is installed."""
    try:
        roots = importlib.import_module("nvidia.cu13").__path__
    except ImportError:
        return None
    tools = (Path(root) / "bin" / "tileiras" for root in roots)
    return next((tool for tool in tools if tool.exists()), None)


def process(command: list[Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")


def measure(file: Path, target: str, runs: int) -> dict[str, float]:
    """Medians for one kernel: the three totals, then the stages."""
    row: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "out.cubin"
        tool = tileiras()
        if tool is not None:
            command = [tool, file, "-o", cubin, "--gpu-name", target.rstrip("af"), "-O3"]
            row["tileiras"] = median_ms(runs, lambda: process(command))
        translate = [sys.executable, "-m", "tileir.tools.tile_translate", "--mlir-to-cubin"]
        ours = [*translate, f"--target={target}", file, "-o", cubin]
        row["process"] = median_ms(runs, lambda: process(ours))
    stages: dict[str, list[float]] = {}

    def compile_warm() -> None:
        program = tileir.compile(file, target=target, cache=False)
        assert program.cubin, "a cubin was made"
        for stage, seconds in program.timings.items():
            stages.setdefault(stage, []).append(seconds)

    row["warm"] = median_ms(runs, compile_warm)
    return row | {stage: statistics.median(times) * 1e3 for stage, times in stages.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, default=DEFAULT)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    ratios: list[float] = []
    width = max(len(file.stem) for file in options.files)
    titles: list[str] = []
    for file in options.files:
        try:
            row = measure(file, options.target, options.runs)
        except tileir.TileError as error:
            print(f"{file.stem:<{width}}  {error.reason}")
            continue
        if list(row) != titles:
            titles = list(row)
            print(f"{'ms':<{width}}  " + "  ".join(f"{title:>9}" for title in titles))
        print(f"{file.stem:<{width}}  " + "  ".join(f"{row[title]:9.1f}" for title in titles))
        if "tileiras" in row:
            ratios.append(row["warm"] / row["tileiras"])
    if ratios:
        print(f"median of warm / tileiras: {statistics.median(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
