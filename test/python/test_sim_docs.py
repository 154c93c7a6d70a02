"""The example of docs/simulator.md prints what the page says, and its repair runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tileir
from tileir import sim
from tileir.sim.checks import NAMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "simulator.md").read_text()


@pytest.mark.parametrize("seed", (0, 1, 2))
def test_the_race_and_its_repair(seed):
    ((text, output),) = re.findall(r"```ptx\n(.*?)```.*?```text\n(.*?)```", PAGE, re.DOTALL)
    out = np.zeros(64, np.uint32)
    with pytest.raises(tileir.ExecutionError) as caught:
        sim.run(text, args=[out], seed=seed, name="rotate.ptx")
    if seed == 0:
        assert str(caught.value) + "\n" == output
    assert caught.value.reason.startswith("race on byte")
    store = "st.shared.u32 [%next], %i;\n"
    sim.run(text.replace(store, f"{store}  bar.sync 0;\n"), args=[out], seed=seed)
    assert out.tolist() == [(i + 32) % 64 for i in range(64)]


def test_all_checks_are_listed():
    assert tuple(re.findall(r"^\| `(\w+)` \| .*$", PAGE.partition("## What is")[2], re.M)) == NAMES
