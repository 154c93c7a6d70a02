"""Contexts of MLIR, 2 MiB each, end with what they were made for."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

import pytest
from kernel_cases import load_case

import tileir
from tileir.compiler.pipeline import MLIR_STAGES
from tileir.dialects import DIALECTS, make_context
from tileir.ir import Context, Module
from tileir.passes.walk import walk

SOURCE = load_case("vector_add_f32_even").bytecode
TEXT = str(tileir.parse(SOURCE))
INVALID = "entry @k(%a: tile<i32>) { %b = addf %a, %a : tile<i32> return }"


def live() -> int:
    gc.collect()
    return Context._get_live_count()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tileir.parse(SOURCE),
        lambda: tileir.parse(TEXT),
        lambda: tileir.parse("nonsense {"),
        lambda: tileir.parse(INVALID),
        lambda: tileir.compile(SOURCE, cache=False),
        lambda: tileir.compile(SOURCE, cache=False, isolate=False).stage("nvgpu"),
        lambda: tileir.compile_many([SOURCE, TEXT]),
    ],
    ids=["bytecode", "text", "syntax", "verifier", "compile", "stage", "many"],
)
def test_contexts_end(make: Callable[[], Any]) -> None:
    def use() -> None:
        with contextlib.suppress(tileir.TileError):
            make()

    use()  # a context may be got ready for the next
    before = live()
    use()
    use()
    assert live() == before


@pytest.mark.parametrize(
    "name", ["matmul_f16_even", "row_cumsum_even", "gather_rows_embedding_f32"]
)
@pytest.mark.parametrize("stage", MLIR_STAGES)
def test_modules_consist_of_loaded_dialects(name: str, stage: str) -> None:
    """No pass has to load one, which would abort the process."""
    program = tileir.compile(load_case(name).bytecode, "sm_90a", cache=False, isolate=False)
    with make_context():
        module = Module.parse(program.stage(stage))
    used = {op.operation.name.partition(".")[0] for op in walk(module.operation)}
    assert used <= {"builtin", *DIALECTS}


def test_the_parser_knows_other_dialects() -> None:
    text = "func.func @f(%i: index) { %j = affine.apply affine_map<(d) -> (d + 1)>(%i) return }"
    with make_context():
        assert "affine.apply" in str(Module.parse(text))
