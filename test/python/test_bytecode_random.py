"""Random kernels through bytecode, and mutated bytecode through the reader."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bytecode_generator import kernels
from bytecode_support import disassemble
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tileir
from tileir.bytecode import SUPPORTED, Version, read_bytecode, write_bytecode
from tileir.bytecode.decode import decode
from tileir.bytecode.sections import MAGIC
from tileir.errors import BytecodeError


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(kernels(), st.sampled_from(SUPPORTED))
def test_random_kernels(text: str, version: Version) -> None:
    module = tileir.parse(text)
    try:
        written = write_bytecode(module, version)
    except BytecodeError as error:
        assert f"or newer, {version} was asked for" in error.reason
        version = SUPPORTED[-1]
        written = write_bytecode(module, version)
    with tempfile.TemporaryDirectory() as folder:
        disassemble(written, Path(folder), "-g")
    again = read_bytecode(written)
    expected = str(module).replace("cuda_tile.module @m", "cuda_tile.module @kernels")
    assert str(again) == expected.replace(" = pow ", " = fpowf ")
    assert write_bytecode(again, version) == written


@given(st.binary(max_size=200), st.sampled_from(SUPPORTED))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_random_bytes(data: bytes, version: Version) -> None:
    """Behind a valid header; a file of these sizes cannot be valid but by a miracle."""
    with pytest.raises(BytecodeError):
        decode(MAGIC + bytes([*version, 0, 0]) + data)


@pytest.mark.parametrize("seed", range(2))
def test_mutated_files(seed: int, tmp_path: Path) -> None:
    """In a process of its own, which a crash of native code would end."""
    culprit = tmp_path / "culprit.tilebc"
    script = Path(__file__).with_name("bytecode_fuzz.py")
    command = [sys.executable, script, str(seed), "250", culprit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{culprit.read_bytes().hex()}\n{done.stderr}"
