"""What kernels ask of our launcher: the grid, and parameters beyond the entry's own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import pytest

import tileir
from tileir.runtime.expressions import Environment, evaluate
from tileir.runtime.metadata import PROGRAM_GRID, HiddenScalar, KernelInfo
from tileir.runtime.tensor_map import TensorMapRecipe

MATMUL = Path(__file__).resolve().parents[2] / "examples" / "matmul.mlir"
M, N, K = 1000, 520, 264


def info(launch: Literal["plain", "managed"]) -> KernelInfo:
    return tileir.compile(MATMUL, launch=launch).kernels["matmul"]


@pytest.fixture(scope="module")
def managed() -> KernelInfo:
    return info("managed")


def environment(grid: tuple[int, int, int], multiprocessors: int = 132) -> Environment:
    return Environment((0, 0, 0, M, N, K), grid, multiprocessors)


def test_plain_kernels_ask_for_nothing() -> None:
    plain = info("plain")
    assert (plain.hidden, plain.grid, plain.launch) == ((), PROGRAM_GRID, "plain")


@pytest.mark.parametrize("grid", [(1, 1, 1), (132, 1, 1), (133, 1, 1), (61, 2, 3), (100, 70, 1)])
def test_no_more_blocks_than_give_all_as_many_rounds(
    managed: KernelInfo, grid: tuple[int, int, int]
) -> None:
    at = environment(grid)
    blocks, *others = (evaluate(extent, at) for extent in managed.grid)
    cluster = evaluate(managed.cluster[0], at)
    work = math.prod(grid)
    assert others == [1, 1] and blocks % cluster == 0
    assert 1 <= blocks <= at.multiprocessors
    rounds = math.ceil(work / at.multiprocessors)
    assert math.ceil(work / blocks) == rounds
    assert blocks - cluster < work / rounds


def test_hidden_parameters(managed: KernelInfo) -> None:
    """The program's grid, then a map for each tensor: its extents fastest first, strides in
    bytes, and boxes as wide as the swizzle."""
    at = environment((8, 5, 1))
    scalars = [p for p in managed.hidden if isinstance(p, HiddenScalar)]
    maps = [p for p in managed.hidden if isinstance(p, TensorMapRecipe)]
    assert [evaluate(p.value, at) for p in scalars] == [8, 5, 1]
    assert len(managed.hidden) == len(scalars) + len(maps)
    assert {p.base: [evaluate(d, at) for d in p.dims] for p in maps} == {
        0: [K, M],
        1: [N, K],
        2: [N, M],
    }
    assert {p.base: [evaluate(s, at) for s in p.strides] for p in maps} == {
        0: [2 * K],
        1: [2 * N],
        2: [2 * N],
    }
    assert all(p.dtype == "f16" and p.swizzle == 128 and p.box[0] == 64 for p in maps)


def test_metadata_survives_json(managed: KernelInfo) -> None:
    assert KernelInfo.from_json(managed.to_json()) == managed
