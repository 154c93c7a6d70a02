"""Contexts of MLIR, 2 MiB each, end with what they were made for."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

import pytest
from kernel_cases import load_case

import tileir
from tileir.ir import Context

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
