"""Every operation through the code generator: kernels on the simulator against known results.

The kernels are those of the battery that `test/gpu/make_op_cases.py` makes for a GPU. Results come
from the interpreter, and for functions from NumPy in a wider format.
"""

from __future__ import annotations

import functools
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import tileir
from tileir import sim
from tileir.runtime.cases import Case
from tileir.sim.arguments import typed

sys.path.append(str(Path(__file__).resolve().parents[1] / "gpu"))
FAMILIES = import_module("make_op_cases").FAMILIES
writing = import_module("op_cases.writing")

TARGETS = ("sm_80", "sm_90a", "sm_120a")
#: Of this many kernels of a family, one runs in `make test`.
SAMPLE = 20
#: Kernels that run long on the simulator.
SLOW = ("blocks_wait", "reduce_sum_f16")


@functools.cache
def kernels() -> list[Any]:
    return [k for family in FAMILIES for k in import_module(f"op_cases.{family}").kernels()]


def sample() -> list[Any]:
    """One kernel in SAMPLE, for one target in turn; all for all targets when slow tests run."""
    found = []
    for number, kernel in enumerate(kernels()):
        for target in TARGETS:
            is_in = number % SAMPLE == 0 and target == TARGETS[number // SAMPLE % len(TARGETS)]
            marks = () if is_in and kernel.name not in SLOW else (pytest.mark.slow,)
            found.append(pytest.param(kernel, target, id=f"{kernel.name}-{target}", marks=marks))
    return found


@pytest.mark.parametrize("kernel, target", sample())
def test_kernel(kernel: Any, target: str, tmp_path: Path) -> None:
    program = tileir.compile(writing.module_text([kernel]), target=target, cache=False)
    writing.write_case(kernel, tmp_path)
    case = Case.load(tmp_path / kernel.name)
    args, info = case.args(), program.kernels[kernel.name]
    result = sim.run(
        program.ptx, kernel.name, kernel.grid, info.block, typed(info.parameters, args)
    )
    compared = case.compare(args)
    assert compared.passed, compared.failures
    if case.printed is not None:
        assert "".join(f"{line}\n" for line in result.printed) == case.printed


def test_all_operations_are_there() -> None:
    """But for those on memory of several GPUs, which no test machine has, and extensions, which
    have no bytecode (test/python/lang). `pow` is `fpowf`."""
    words = {word for kernel in kernels() for word in re.findall(r"\w+", kernel.text())}
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cuda_tile.md"
    names = set(re.findall(r"^### `cuda_tile\.(\w+)`", page.read_text(), re.MULTILINE))
    assert names - words - {"pow"} == {
        "module", "multimem_load_reduce_view_tko", "multimem_reduce_view_tko",
        "multimem_store_view_tko", "inline_ptx", "prefetch",
    }  # fmt: skip
