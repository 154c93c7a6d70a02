"""Makes the operation battery on a machine without a GPU: kernels, arguments, results.

    python test/gpu/make_op_cases.py [-o out/gpu] [--target sm_90a] [--only SUBSTRING]

writes `ops.tileir`, a bundle of all kernels, and `ops/NAME.json` and `.npz` for each. On the
machine with the GPU,

    python test/gpu/run_cases.py out/gpu/ops.tileir --cases out/gpu/ops

runs them. Expected results come from the interpreter and, for functions, from NumPy in a wider
format. `--check` compiles only (for a target that is not at hand), and writes nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from op_cases.kernel import Kernel
from op_cases.writing import module_text, write_case

import tileir
from tileir.runtime import write_bundle

FAMILIES = (
    "float_arithmetic",
    "float_functions",
    "integer_arithmetic",
    "conversions",
    "shapes",
    "reductions",
    "views",
    "pointers",
    "atomics",
    "control_flow",
    "products",
    "others",
    "slices",
    "sparse_views",
)  # fmt: skip
#: Kernels compiled together.
_TOGETHER = 8


def families(only: str) -> Iterator[tuple[str, list[Kernel]]]:
    """The kernels whose names contain `only`, by family."""
    for family in FAMILIES:
        kernels = list(import_module(f"op_cases.{family}").kernels())
        kept = [kernel for kernel in kernels if only in kernel.name]
        if kept:
            yield family, kept


def compile_all(kernels: Sequence[Kernel], target: str) -> Iterator[tuple[Any, list[Kernel]]]:
    """Programs and their kernels; one that does not compile is reported and left out."""
    for start in range(0, len(kernels), _TOGETHER):
        group = kernels[start : start + _TOGETHER]
        try:
            yield _compile(group, target), list(group)
            continue
        except Exception:
            pass  # found below, kernel by kernel
        for kernel in group:
            try:
                yield _compile([kernel], target), [kernel]
            except Exception as error:  # whatever it is, the others go on
                lines = str(error).splitlines()
                print(f"  {kernel.name}: {type(error).__name__}: {' '.join(lines)}", flush=True)


def _compile(kernels: Sequence[Kernel], target: str) -> Any:
    source = tileir.parse(module_text(kernels), name=f"{kernels[0].name}.mlir")
    program = tileir.compile(source, target=target)
    assert program.cubin, "a cubin was made"
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", dest="folder", default="out/gpu")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--check", action="store_true", help="compile only, write nothing")
    options = parser.parse_args()
    cases = Path(options.folder) / "ops"
    if not options.check:
        shutil.rmtree(cases, ignore_errors=True)
        cases.mkdir(parents=True)
    programs, total = [], 0
    for family, kernels in families(options.only):
        start, made = time.perf_counter(), 0
        for program, compiled in compile_all(kernels, options.target):
            programs.append(program)
            made += len(compiled)
            for kernel in compiled if not options.check else ():
                write_case(kernel, cases)
        total += len(kernels)
        seconds = time.perf_counter() - start
        print(f"{family:<20} {made:4} of {len(kernels):4} kernels  {seconds:6.1f} s", flush=True)
    if not options.check:
        write_bundle(Path(options.folder) / "ops.tileir", programs)
    made = sum(len(program.kernels) for program in programs)
    print(f"{made} of {total} kernels")
    return 0 if made == total else 1


if __name__ == "__main__":
    sys.exit(main())
