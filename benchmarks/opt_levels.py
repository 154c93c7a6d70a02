"""What the optimisation levels cost: compile time here, speed of the kernels on a GPU.

    python benchmarks/opt_levels.py build out/levels [--runs 7]     here; no GPU
    python benchmarks/opt_levels.py run out/levels [--json FILE]    on the GPU; needs PyTorch

`build` compiles the large test kernels at every level, managed launch, into a bundle a level, and
prints the time of a warm compilation in milliseconds, the fastest of several, with what passes,
LLVM and ptxas take of it. `run` times the bundles in turns and prints microseconds at level 3 and
the time of each other level over it: above 1 the level's kernel is slower.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test" / "python")]

LEVELS = (3, 2, 1, 0)
#: What each stage of `Program.timings` counts as.
_PARTS = {"ptx": "LLVM", "cubin": "ptxas"}


def compile_at(bytecode: bytes, level: int, target: str) -> tuple[Any, dict[str, float]]:
    """The program, and milliseconds of passes, LLVM and ptxas."""
    import tileir

    program = tileir.compile(bytecode, target, level, launch="managed", cache=False)
    assert program.cubin, "a cubin was made"
    parts = {"passes": 0.0, "LLVM": 0.0, "ptxas": 0.0}
    for stage, seconds in program.timings.items():
        parts[_PARTS.get(stage, "passes")] += seconds * 1e3
    return program, parts


def fastest(bytecode: bytes, target: str, runs: int) -> dict[int, tuple[Any, dict[str, float]]]:
    """The fastest compilation of several at each level; the levels take turns."""
    found: dict[int, tuple[Any, dict[str, float]]] = {}
    for _ in range(runs):
        for level in LEVELS:
            program, parts = compile_at(bytecode, level, target)
            if level not in found or sum(parts.values()) < sum(found[level][1].values()):
                found[level] = program, parts
    return found


def build(options: argparse.Namespace) -> int:
    from kernel_cases import load_case, perf_names

    from tileir.runtime import write_bundle

    programs: dict[int, list[Any]] = {level: [] for level in LEVELS}
    totals: dict[int, list[float]] = {level: [] for level in LEVELS}
    print(f"{'ms: all (passes LLVM ptxas)':<32}" + "".join(f"{f'-O{n}':>26}" for n in LEVELS))
    for name in perf_names():
        if options.only not in name:
            continue
        row = f"{name:<32}"
        found = fastest(load_case(name).bytecode, options.target, options.runs)
        for level, (program, parts) in found.items():
            programs[level].append(program)
            totals[level].append(sum(parts.values()))
            inner = " ".join(f"{ms:.0f}" for ms in parts.values())
            row += f"{totals[level][-1]:10.0f} {f'({inner})':<15}"
        print(row.rstrip(), flush=True)
    row = f"{'median of level / -O3':<32}"
    for level in LEVELS:
        ratios = [t / full for t, full in zip(totals[level], totals[3], strict=True)]
        row += f"{statistics.median(ratios):10.2f} {'':<15}"
    print(row.rstrip())
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for level, compiled in programs.items():
        write_bundle(folder / f"O{level}.tileir", compiled)
    return 0


def run(options: argparse.Namespace) -> int:
    import json

    import kernel_time
    from kernel_cases import perf_names

    from tileir.runtime import Bundle

    bundles = [Bundle.load(Path(options.folder) / f"O{level}.tileir") for level in LEVELS]
    rows = []
    print(f"{'':<32}  us at -O3" + "".join(f"{f'-O{level}':>8}" for level in LEVELS[1:]))
    for name in perf_names():
        if options.only not in name:
            continue
        rows.append(kernel_time.measure(bundles, name, options.rounds))
        full, *others = rows[-1]["us"]
        print(f"{name:<32} {full:10.1f} " + "".join(f"{us / full:8.2f}" for us in others))
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("build", "run"):
        action = actions.add_parser(name)
        action.add_argument("folder", help="of the bundles")
        action.add_argument("--only", default="", help="kernels whose name contains this")
        action.set_defaults(call=globals()[name])
    actions.choices["build"].add_argument("--target", default="sm_90a")
    actions.choices["build"].add_argument("--runs", type=int, default=5)
    actions.choices["run"].add_argument("--rounds", type=int, default=5)
    actions.choices["run"].add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    return options.call(options)


if __name__ == "__main__":
    sys.exit(main())
