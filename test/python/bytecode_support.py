"""Case files, NVIDIA's disassembler, and small bytecode files for the bytecode tests."""

from __future__ import annotations

import importlib.util
import subprocess
from functools import cache
from pathlib import Path

import pytest

CASES = Path(__file__).parent.parent / "data" / "cases"
CASE_NAMES = sorted(path.stem for path in CASES.glob("*.tilebc"))


@cache
def case(name: str) -> bytes:
    return (CASES / f"{name}.tilebc").read_bytes()


def version_of(name: str) -> str:
    return name.rpartition("-")[2]


def disassembler() -> Path:
    """`tileirdisasm` of the PyPI package nvidia-cuda-tileiras; skips the test without it."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "cu13" / "bin" / "tileirdisasm"
        if path.exists():
            return path
    pytest.skip("needs nvidia-cuda-tileiras")


def disassemble(data: bytes, folder: Path, *options: str) -> str:
    """What NVIDIA's tool prints for a file; it verifies the module, and fails on a bad one."""
    file = folder / "input.tilebc"
    file.write_bytes(data)
    result = subprocess.run(
        [disassembler(), *options, file], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
