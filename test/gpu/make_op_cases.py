"""Makes the operation battery on a machine without a GPU: kernels, arguments, results.

    python test/gpu/make_op_cases.py [-o out/gpu] [--target sm_90a] [--only SUBSTRING]

writes `ops.tileir`, a bundle of all kernels, and `ops/NAME.json` and `.npz` for each. On the
machine with the GPU,

    python test/gpu/run_cases.py out/gpu/ops.tileir --cases out/gpu/ops --failures

runs them. Expected results come from the interpreter and, for functions, from NumPy in a wider
format. `--check` compiles only (for a target that is not at hand), and writes nothing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from op_cases.kernel import Kernel
from op_cases.writing import module_text, write_case

import tileir
from tileir.runtime import KernelInfo
from tileir.runtime.bundle import write_images

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
    "narrow_formats",
)  # fmt: skip
#: Kernels compiled together.
_TOGETHER = 8


@dataclass
class Made:
    """What became of some kernels of a family."""

    family: str
    images: list[tuple[bytes, list[KernelInfo]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(len(infos) for _, infos in self.images)


def parts(families: Sequence[str], only: str) -> Iterator[tuple[str, list[str]]]:
    """Families and names of kernels to make together."""
    for family in families:
        names = [k.name for k in kernels_of(family) if only in k.name]
        for start in range(0, len(names), _TOGETHER):
            yield family, names[start : start + _TOGETHER]


def kernels_of(family: str) -> Iterator[Kernel]:
    return import_module(f"op_cases.{family}").kernels()


def make(part: tuple[str, list[str]], target: str, cases: Path | None) -> Made:
    """Compiles kernels, together if that works, and writes their cases into a folder."""
    family, names = part
    wanted, made = set(names), Made(family)
    kernels = [kernel for kernel in kernels_of(family) if kernel.name in wanted]
    try:
        made.images.append(_compile(kernels, target))
        compiled = kernels
    except Exception:
        compiled = [kernel for kernel in kernels if _try(made, kernel, target)]
    for kernel in compiled if cases else ():
        write_case(kernel, cases)
    return made


def _try(made: Made, kernel: Kernel, target: str) -> bool:
    """Compiles one kernel alone; whatever goes wrong is noted."""
    try:
        made.images.append(_compile([kernel], target))
    except Exception as error:
        text = " ".join(str(error).splitlines())
        made.failures.append(f"  {kernel.name}: {type(error).__name__}: {text}")
        return False
    return True


def _compile(kernels: Sequence[Kernel], target: str) -> tuple[bytes, list[KernelInfo]]:
    source = tileir.parse(module_text(kernels), name=f"{kernels[0].name}.mlir")
    program = tileir.compile(source, target=target, cache=False)
    return program.cubin, list(program.kernels.values())


def make_all(options: argparse.Namespace, cases: Path | None) -> Iterator[Made]:
    work = list(parts(options.families, options.only))
    task = partial(make, target=options.target, cases=cases)
    if options.jobs == 1:
        yield from map(task, work)
        return
    with ProcessPoolExecutor(options.jobs) as pool:
        yield from pool.map(task, work)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", dest="folder", default="out/gpu")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--check", action="store_true", help="compile only, write nothing")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args()
    cases = None if options.check else Path(options.folder) / "ops"
    if cases is not None:
        shutil.rmtree(cases, ignore_errors=True)
        cases.mkdir(parents=True)
    start, counts, failed, images = time.perf_counter(), Counter(), 0, []
    for made in make_all(options, cases):
        print(*made.failures, sep="\n", end="\n" * bool(made.failures), flush=True)
        counts[made.family] += made.count
        failed += len(made.failures)
        images += made.images
    for family, count in counts.items():
        print(f"{family:<20} {count:4} kernels")
    if cases is not None:
        write_bundle(Path(options.folder) / "ops.tileir", images)
    seconds = time.perf_counter() - start
    print(f"{counts.total()} of {counts.total() + failed} kernels in {seconds:.0f} s")
    return 1 if failed else 0


def write_bundle(path: Path, images: Sequence[tuple[bytes, list[KernelInfo]]]) -> None:
    named: list[tuple[str, bytes, list[Any]]] = [
        (f"images/{number}.{infos[0].target}.cubin", cubin, list(infos))
        for number, (cubin, infos) in enumerate(images)
    ]
    write_images(path, named)


if __name__ == "__main__":
    sys.exit(main())
