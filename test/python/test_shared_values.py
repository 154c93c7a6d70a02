"""Values that are used twice, whose uses are used twice, ...: passes look at each once.

Thirty doublings are as many operations, but a thousand million paths through them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir
from tileir.compiler.pipeline import Options, passes_of
from tileir.compiler.run_passes import run_passes

MATMUL = (Path(__file__).resolve().parents[2] / "examples" / "matmul.mlir").read_text()
DOUBLINGS = 30


def doubled(name: str, start: str) -> str:
    """`%name` = 2^30 `start`, by additions."""
    lines = [f"%{name}0 = addi {start}, {start} : tile<i32>"]
    for i in range(DOUBLINGS - 1):
        lines.append(f"%{name}{i + 1} = addi %{name}{i}, %{name}{i} : tile<i32>")
    return "\n".join([*lines, f"%{name} = addi %{name}{DOUBLINGS - 1}, {start} : tile<i32>"])


PROGRAMS = {
    "extent": MATMUL.replace("  %a_tensor", doubled("rows", "%m") + "\n  %a_tensor").replace(
        "shape = [%m,", "shape = [%rows,"
    ),
    "row": MATMUL.replace("  %sum = for", doubled("row", "%i") + "\n  %sum = for").replace(
        "[%i, ", "[%row, "
    ),
    "step": MATMUL.replace("    %lhs, ", doubled("at", "%step") + "\n    %lhs, ").replace(
        "%a[%i, %step]", "%a[%i, %at]"
    ),
}


@pytest.mark.parametrize("launch", ("plain", "managed"))
@pytest.mark.parametrize("where", PROGRAMS)
def test_lowering_ends(where: str, launch: str) -> None:
    module = tileir.parse(PROGRAMS[where], name=f"{where}.mlir")
    options = Options(launch="managed" if launch == "managed" else "plain")
    for stage in ("cuda_tile", "tile_gpu"):
        run_passes(module, passes_of(stage, options))
    assert "tile_gpu.specialize" in str(module)
