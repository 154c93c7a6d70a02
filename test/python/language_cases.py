"""The kernels of test/data/kernels with only their import changed."""

from __future__ import annotations

import importlib
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).parents[1] / "data" / "kernels" / "source"


@cache
def _changed() -> tempfile.TemporaryDirectory[str]:
    """The sources with their import changed; kernels read theirs again when they are traced."""
    folder = tempfile.TemporaryDirectory()
    for source in _SOURCE.glob("*.py"):
        text = source.read_text().replace("cuda.tile", "tileir.lang")
        (Path(folder.name) / source.name).write_text(text)
    return folder


@cache
def language_cases() -> dict[str, dict[str, Any]]:
    """The cases of test/data/kernels/source, the large ones too, by name."""
    modules = {name: sys.modules.pop(name, None) for name in ("common", "kernels")}
    sys.path.insert(0, _changed().name)
    try:
        kernels = importlib.import_module("kernels")
        return {case["name"]: case for case in [*kernels.cases(), *kernels.perf_cases()]}
    finally:
        sys.path.remove(_changed().name)
        for name, module in modules.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def traced(case: dict[str, Any]) -> Any:
    """The module of cuda_tile that the language makes of a case."""
    signature = case["signature"]
    return case["kernel"].trace(signature.signature, symbol=signature.symbol)
