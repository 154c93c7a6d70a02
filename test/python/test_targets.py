"""Every kernel for every architecture: PTX that ptxas accepts, and on sm_90a no spills."""

from __future__ import annotations

import itertools

import pytest
from kernel_cases import case_names, load_case

import tileir
from tileir.runtime.metadata import KernelInfo

TARGETS = (
    "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103",
    "sm_110", "sm_120", "sm_120a", "sm_121",
)  # fmt: skip
#: Of this many pairs, one is compiled in `make test`; no two targets in a row are alike.
SAMPLE = 23


def pairs() -> list:
    found = []
    for number, (name, target) in enumerate(itertools.product(case_names(), TARGETS)):
        marks = () if number % SAMPLE == 0 else (pytest.mark.slow,)
        found.append(pytest.param(name, target, marks=marks))
    return found


def assembled(name: str, target: str) -> KernelInfo:
    case = load_case(name)
    program = tileir.compile(case.bytecode, target=target, cache=False)
    assert program.cubin.startswith(b"\x7fELF")
    return program.kernels[case.symbol]


@pytest.mark.parametrize("name, target", pairs())
def test_compiles_and_assembles(name: str, target: str) -> None:
    info = assembled(name, target)
    assert info.target == str(target if target[-1] == "a" or int(target[3:]) < 90 else f"{target}a")
    if info.target == "sm_90a":
        assert info.spill_bytes == 0


@pytest.mark.parametrize("launch", ["plain", "managed"])
@pytest.mark.parametrize("name", case_names()[::4])
def test_no_spills_on_hopper(name: str, launch) -> None:
    case = load_case(name)
    program = tileir.compile(case.bytecode, target="sm_90a", launch=launch, cache=False)
    assert program.cubin
    assert program.kernels[case.symbol].spill_bytes == 0
