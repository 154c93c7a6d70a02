"""The test kernels of test/data/kernels by name.

case = load_case("matmul_f16_even")
args = case.args()                         # fresh arrays and scalars
interp.run(module, case.symbol, case.grid, args)
assert case.compare(args).passed
"""

from __future__ import annotations

from pathlib import Path

from tileir.runtime.cases import Case

FOLDER = Path(__file__).resolve().parents[1] / "data" / "kernels"


class KernelCase(Case):
    """A case with the bytecode of its kernel."""

    bytecode: bytes


def case_names() -> list[str]:
    """The small cases, which come with arguments and results."""
    return sorted(path.stem for path in FOLDER.glob("*.tilebc"))


def perf_names() -> list[str]:
    """The large shapes: bytecode and description only."""
    return sorted(path.stem for path in (FOLDER / "perf").glob("*.tilebc"))


def load_case(name: str) -> KernelCase:
    """The case called `name`, small or large."""
    folder = FOLDER / "perf" if name.endswith("_perf") else FOLDER
    case = KernelCase.load(folder / f"{name}.json")
    case.bytecode = (folder / f"{name}.tilebc").read_bytes()
    return case
