"""Random programs give what Python gives."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_python import check
from program_writer import ProgramWriter


def load(seed: int, folder: Path) -> Any:
    path = folder / f"program{seed}.py"
    path.write_text(ProgramWriter(seed).program())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(16))
def test_program(seed: int, tmp_path: Path):
    kernel = load(seed, tmp_path).k
    for arguments in ((0, 1, 2), (3, 2, 0), (7, -4, 3)):
        check(kernel, np.full(5, -1, np.int32), *arguments)
