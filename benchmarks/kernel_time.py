"""Times the large test kernels on a GPU, beside the same kernels compiled by another compiler.

    python test/gpu/make_bundles.py -o out/gpu --only _perf
    python test/gpu/make_bundles.py -o out/peer --only _perf --tileiras
    python benchmarks/kernel_time.py out/gpu/cases.tileir out/peer/cases.tileir [--json FILE]

Needs PyTorch, NumPy and cuda-bindings. Inputs are standard normal. Both bundles are timed in turns,
several rounds in random order; a row shows the medians in microseconds, what the first achieves
(TB/s of array bytes, each array counted once), and the ratio second / first.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "python")]

import torch  # noqa: E402
from kernel_cases import KernelCase, load_case, perf_names  # noqa: E402

from tileir.runtime import Bundle  # noqa: E402

_TORCH = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i32": torch.int32, "i64": torch.int64,
}  # fmt: skip


def arguments(case: KernelCase) -> tuple[list[Any], int]:
    """Device arrays and scalars for a case, and the bytes of all arrays."""
    flat, size = [], 0
    for one in case.parameters:
        if one["kind"] != "array":
            flat.append(one["value"])
            continue
        dtype = _TORCH[one["dtype"]]
        if dtype.is_floating_point:
            array = torch.randn(one["shape"], device="cuda", dtype=torch.float32).to(dtype)
        else:
            array = torch.randint(0, 1000, one["shape"], device="cuda", dtype=dtype)
        size += array.numel() * array.element_size()
        flat.append(array)
    return flat, size


class Launches:
    """Several launches of a kernel as one CUDA graph, so that the host's time does not count."""

    def __init__(self, kernel: Any, grid: Any, args: list[Any], repeat: int):
        self.repeat = repeat
        self._graph = torch.cuda.CUDAGraph()
        kernel.launch(grid, args, stream=torch.cuda.current_stream())  # loads the module
        torch.cuda.synchronize()
        with torch.cuda.graph(self._graph):
            for _ in range(repeat):
                kernel.launch(grid, args, stream=torch.cuda.current_stream())

    def microseconds(self) -> float:
        """Time of one launch."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self._graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3 / self.repeat


def measure(bundles: list[Bundle], name: str, rounds: int) -> dict[str, Any]:
    case = load_case(name)
    args, size = arguments(case)
    kernels = [bundle[case.symbol] for bundle in bundles]
    launches = [Launches(kernel, case.grid, args, 20) for kernel in kernels]
    times: list[list[float]] = [[] for _ in kernels]
    for each in launches:
        each.microseconds()
    for _ in range(rounds):
        for i in random.sample(range(len(kernels)), len(kernels)):
            times[i].append(launches[i].microseconds())
    medians = [statistics.median(each) for each in times]
    return {"name": name, "us": medians, "tb_per_s": size / medians[0] / 1e6}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bundles", nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    bundles = [Bundle.load(path) for path in options.bundles]
    rows = []
    for name in perf_names():
        if options.only not in name:
            continue
        row = measure(bundles, name, options.rounds)
        rows.append(row)
        ratio = f"  ratio {row['us'][1] / row['us'][0]:.2f}" if len(bundles) > 1 else ""
        times = "  ".join(f"{us:10.1f} us" for us in row["us"])
        print(f"{name:<32} {times}  {row['tb_per_s']:6.2f} TB/s{ratio}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
