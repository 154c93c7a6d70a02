"""Kernels of cuTile Python with only their import changed: what they become, and what they compute.

The kernels, their arguments and expected results are those of test/data/kernels, where the bytecode
that cuda.tile itself exports for them lies, too.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from mlir.passmanager import PassManager

import tileir
from tileir import interp

DATA = Path(__file__).parents[2] / "data" / "kernels"
sys.path.insert(0, str(Path(__file__).parents[1]))
from kernel_cases import load_case  # noqa: E402
from language_cases import language_cases, traced  # noqa: E402

NAMES = sorted(path.stem for path in DATA.glob("*.tilebc"))


@pytest.fixture(scope="module")
def cases() -> dict[str, dict[str, Any]]:
    return language_cases()


def histogram(module: Any) -> Counter[str]:
    """How often each operation of cuda_tile is in a module."""
    found: Counter[str] = Counter()

    def walk(op: Any) -> None:
        found[op.operation.name.removeprefix("cuda_tile.")] += 1
        for region in op.operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    walk(inner)

    walk(module.operation)
    return found


def canonical(module: Any) -> Any:
    with module.context:
        PassManager.parse("builtin.module(canonicalize,cse,canonicalize)").run(module.operation)
    return module


#: Operations of which we need fewer, and why.
FEWER = {
    "assume": "each fact is stated once, and none of numbers that are constants",
    "broadcast": "a number beside a tile is a constant of the tile's shape",
    "reshape": "as broadcast",
    "constant": "what is not used is not made; numbers are constants of the shape they are used in",
    "get_tile_block_id": "the numbers of a block are asked for once",
    "join_tokens": "what waits for one operation needs its token only",
}
#: Operations of which there are more as traced.
MORE = {"constant": "a number that is used in several shapes is a constant of each"}
#: Differences that are left when both are simplified.
LEFT = {
    "make_partition_view": "views within loops are hoisted by the compiler, not the front end",
    "broadcast": "of what is made in several loops",
    "reshape": "as broadcast",
    "assume": "an extent of 1 is a constant, about which nothing is assumed",
    "constant": "as assume",
}


def theirs(name: str) -> Any:
    return tileir.read_bytecode((DATA / f"{name}.tilebc").read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_operations_are_those_of_cuda_tile(name: str, cases: dict[str, Any]) -> None:
    module = traced(cases[name])
    ours, others = histogram(module), histogram(theirs(name))
    for operation in ours | others:
        if ours[operation] < others[operation]:
            assert operation in FEWER, f"{operation}: {ours[operation]} of {others[operation]}"
        if ours[operation] > others[operation]:
            assert operation in MORE, f"{operation}: {ours[operation]} of {others[operation]}"
    ours, others = histogram(canonical(module)), histogram(canonical(theirs(name)))
    different = {operation for operation in ours | others if ours[operation] != others[operation]}
    assert different <= LEFT.keys()
    assert ours.total() - others.total() <= 4


@pytest.mark.parametrize("name", NAMES)
def test_results_on_the_interpreter(name: str, cases: dict[str, Any]) -> None:
    case = load_case(name)
    args = case.args()
    interp.run(traced(cases[name]), case.symbol, case.grid, args)
    comparison = case.compare(args)
    assert comparison.passed, comparison.failures


#: One of each kind of code, small enough for every run of the tests.
SAMPLE = [
    "vector_add_f32_edge",
    "gather_rows_embedding_f32",
    "matmul_f16_edge",
    "row_softmax_whole_f32",
    "flash_attention_fwd_causal_edge",
]


def check_compiled(name: str, cases: dict[str, Any]) -> None:
    program = tileir.compile(traced(cases[name]), target="sm_90a", cache=False)
    assert program.cubin[:4] == b"\x7fELF"
    case = load_case(name)
    args = case.args()
    tileir.run(traced(cases[name]), case.symbol, case.grid, args, backend="sim")
    comparison = case.compare(args)
    assert comparison.passed, comparison.failures


@pytest.mark.parametrize("name", SAMPLE)
def test_results_on_the_simulator(name: str, cases: dict[str, Any]) -> None:
    check_compiled(name, cases)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in SAMPLE])
def test_results_of_all_on_the_simulator(name: str, cases: dict[str, Any]) -> None:
    check_compiled(name, cases)


def test_the_bytecode_of_a_kernel_is_valid(cases: dict[str, Any]) -> None:
    """Written and read again, the module is the same."""
    module = traced(cases["flash_attention_fwd_causal_gqa"])
    again = tileir.read_bytecode(tileir.write_bytecode(module, version="13.1"))
    assert histogram(again) == histogram(module)
