"""Checks the tuner's timer on a GPU, on kernels compiled elsewhere.

    python benchmarks/opt_levels.py build out/levels        here; no GPU
    python test/gpu/check_timer.py out/levels/O3.tileir     on the GPU; needs PyTorch

Times with warm caches must be those of a CUDA graph of many launches, up to what a launch costs;
copies of the arrays must give the same times; what is slow must be given up, and what takes too
long must say so.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "test" / "python")]

import kernel_time  # noqa: E402
from kernel_cases import load_case  # noqa: E402

from tileir.runtime import Bundle  # noqa: E402
from tileir.runtime.array_view import view  # noqa: E402
from tileir.tuner.device_words import DeviceWords  # noqa: E402
from tileir.tuner.local import starter  # noqa: E402
from tileir.tuner.result import Limits  # noqa: E402
from tileir.tuner.timer import DeviceTimer, RunTimeout  # noqa: E402

NAMES = ("matmul_f16_perf", "row_softmax_whole_perf", "flash_attention_fwd_perf")
#: Microseconds and part of the time by which two ways of timing may differ.
_APART_US, _APART = 4.0, 0.1


def passed(got: float, want: float) -> str:
    return "ok" if abs(got - want) <= _APART_US + _APART * want else "WRONG"


def check(timer: DeviceTimer, bundle: Bundle, name: str) -> bool:
    case = load_case(name)
    args, _ = kernel_time.arguments(case)
    kernel = bundle[case.symbol]
    words: list[Any] = []
    for arg in args:
        array = view(arg, name)
        words.append(arg if array is None else array.passed)
    graph = kernel_time.Launches(kernel, case.grid, args, 20)
    graph.microseconds()
    want = min(graph.microseconds() for _ in range(5))
    start = starter(kernel, case.grid, words, 0)
    lines = []
    begin = time.monotonic()
    warm, _ = timer.measure(start, Limits(flush_l2=False), None)
    lines.append(f"warm {warm.mean:.2f} +- {warm.margin:.2f} us {passed(warm.mean, want)}")
    cold, _ = timer.measure(start, Limits(), None)
    lines.append(f"cold {cold.mean:.2f} +- {cold.margin:.2f} us, {len(cold.times)} samples")
    with DeviceWords(timer.driver, words) as copies:
        apart, _ = timer.measure(starter(kernel, case.grid, copies.words, 0), Limits(), None)
    lines.append(f"on copies {apart.mean:.2f} us {passed(apart.mean, cold.mean)}")
    few, early = timer.measure(start, Limits(), cold.mean / 2)
    lines.append(f"given up after {len(few.times)} samples {'ok' if early else 'WRONG'}")
    try:
        timer.measure(start, Limits(single_run_seconds=1e-6), None)
        lines.append("no timeout WRONG")
    except RunTimeout as error:
        lines.append(f"{error.reason} ok")
    print(f"{name} (graph {want:.2f} us, {time.monotonic() - begin:.1f} s)")
    print("\n".join(f"  {line}" for line in lines), flush=True)
    return not any("WRONG" in line for line in lines)


def main() -> int:
    bundle = Bundle.load(sys.argv[1])
    timer = DeviceTimer()
    results = [check(timer, bundle, name) for name in NAMES]
    timer.close()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
