"""Optimisation levels: every level gives right results, and leaves out what it says."""

from __future__ import annotations

import subprocess
import sys

import pytest
from kernel_cases import load_case

import tileir
from tileir.compiler.effort import EFFORTS, choose_level
from tileir.compiler.pipeline import MLIR_STAGES, Options, passes_of
from tileir.compiler.toolchain import find_tool

#: Products in flight across a loop's rounds, several tiles a block, libdevice, both kinds together.
KERNELS = (
    "matmul_f16_even",
    "persistent_matmul_edge",
    "row_softmax_whole_f16",
    "flash_attention_fwd_causal_gqa",
)


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("name", KERNELS)
def test_results(name: str, level: int) -> None:
    case = load_case(name)
    args = case.args()
    tileir.run(case.bytecode, case.symbol, case.grid, args, backend="sim", opt_level=level)
    result = case.compare(args)
    assert result.passed, result.failures


@pytest.mark.parametrize("level", range(4))
def test_passes(level: int) -> None:
    def names(of: int) -> list[str]:
        texts = [text for stage in MLIR_STAGES for text in passes_of(stage, Options(opt_level=of))]
        return [text.partition("{")[0] for text in texts]

    left_out = EFFORTS[level].left_out
    assert left_out <= set(names(3))
    assert left_out.isdisjoint(names(level))


def test_every_level_leaves_out_what_those_above_do() -> None:
    for lower, higher in zip(EFFORTS, EFFORTS[1:], strict=False):
        assert lower.left_out >= higher.left_out and lower.llvm <= higher.llvm


@pytest.mark.parametrize("level", range(4))
def test_assembles(level: int) -> None:
    try:
        find_tool("ptxas")
    except tileir.ToolError as error:
        pytest.skip(error.reason)
    program = tileir.compile(load_case("row_softmax_whole_f16").bytecode, opt_level=level)
    assert program.cubin.startswith(b"\x7fELF")


def test_fast_compile_names_levels() -> None:
    assert [choose_level(3, name) for name in ("min", "mid", "max", None)] == [2, 1, 0, 3]
    assert choose_level(1, "mid") == 1
    source = load_case("vector_add_f32_even").bytecode
    assert tileir.compile(source, fast_compile="max").options.opt_level == 0


@pytest.mark.parametrize(
    ("level", "fast", "message"),
    [
        (4, None, "optimisation level must be 0 to 3, not 4"),
        (3, "fastest", "fast compile must be 'min', 'mid' or 'max', not 'fastest'"),
        (1, "max", "fast compile 'max' is optimisation level 0, not 1"),
    ],
)
def test_errors(level: int, fast: str | None, message: str) -> None:
    with pytest.raises(tileir.TileError, match=message):
        choose_level(level, fast)


def test_tool_errors() -> None:
    command = [sys.executable, "-m", "tileir.tools.tile_opt", "--fast-compile=most", "-"]
    done = subprocess.run(command, input="", capture_output=True, text=True)
    assert done.returncode == 1
    assert "fast compile must be 'min', 'mid' or 'max', not 'most'" in done.stderr
