"""The examples of docs/interpreter.md print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir import interp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "interpreter.md"
EXAMPLE = re.compile(r"```mlir\n(.*?)```\s*```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("number,name,grid", [(0, "race.mlir", 2), (1, "index.mlir", 3)])
def test_example(number, name, grid):
    text, output = EXAMPLE.findall(PAGE.read_text())[number]
    with pytest.raises(tileir.ExecutionError) as caught:
        interp.run(tileir.parse(text, name=name), None, grid, [np.zeros(32, np.float32)])
    assert str(caught.value) + "\n" == output
