"""How long the front end takes: from a kernel and a signature to a verified module.

    python benchmarks/trace_time.py [part of a kernel's name]

The kernels are those of test/data/kernels, in the large shapes.  Printed are milliseconds of
processor time, the median of 20 traces after the first, and the first, which reads and analyses
the source and makes the types.  Needs neither a GPU nor a compiler.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "python"))
from language_cases import language_cases, traced

_REPEATS = 20


def milliseconds(case: dict[str, Any]) -> float:
    start = time.process_time()
    traced(case)
    return (time.process_time() - start) * 1e3


def num_operations(case: dict[str, Any]) -> int:
    lines = str(traced(case)).splitlines()
    return sum(" = " in line or "store" in line for line in lines)


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'kernel':<34} {'operations':>10} {'first':>8} {'warm':>8}  ms")
    for name, case in language_cases().items():
        if wanted not in name or not name.endswith("perf"):
            continue
        first = milliseconds(case)
        warm = statistics.median(milliseconds(case) for _ in range(_REPEATS))
        print(f"{name:<34} {num_operations(case):>10} {first:>8.1f} {warm:>8.1f}")


if __name__ == "__main__":
    main()
