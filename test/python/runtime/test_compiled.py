"""Compiled kernels in memory and on disk: when they are made again, and when they are not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tileir.compiler.standby import assembler
from tileir.runtime import compiled as module
from tileir.runtime.array_view import view
from tileir.runtime.compiled import CompiledKernel, compile_kernel, forget
from tileir.runtime.content import NoContent, content_of
from tileir.runtime.disk_cache import DiskCache
from tileir.runtime.specialize import rule_of, specialize
from tileir.signature import Signature

pytest.importorskip("nvidia.cu13")  # ptxas

from jit_kernels import add, scale

from tileir.lang.kernel import Kernel

TARGET = "sm_90a"


def signature(kernel: Any, *args: Any) -> Signature:
    rules = [rule_of(info) for info in kernel.parameters]
    return specialize(kernel.name, rules, args, view).signature


def arrays(size: int = 256, dtype: Any = np.float32) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros(size, dtype) for _ in range(3))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILEIR_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    return tmp_path / "cache"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels that are compiled."""
    names: list[str] = []
    compile_now = module._compile

    def compile_and_note(kernel: Any, *rest: Any) -> CompiledKernel:
        names.append(kernel.name)
        return compile_now(kernel, *rest)

    monkeypatch.setattr(module, "_compile", compile_and_note)
    return names


def test_from_memory_from_disk_and_anew(folder: Path, made: list[str]) -> None:
    wanted = signature(add, *arrays(), 128)
    first = compile_kernel(add, wanted, TARGET)
    assert compile_kernel(add, wanted, TARGET) is first
    assert made == ["add"] and not first.from_disk
    forget()
    found = compile_kernel(add, wanted, TARGET)
    assert made == ["add"] and found.from_disk
    assert found.cubin == first.cubin and found.ptx == first.ptx
    assert found.info == first.info and found.remarks == first.remarks
    assert found.info.launch == "managed" and found.info.registers
    for file in folder.glob("kernel-*"):
        file.write_bytes(file.read_bytes()[:-1])
    forget()
    assert compile_kernel(add, wanted, TARGET).cubin == first.cubin
    assert made == ["add", "add"], "a damaged file is not used"


def test_what_makes_a_difference(folder: Path, made: list[str]) -> None:
    usual = signature(add, *arrays(), 128)
    compile_kernel(add, usual, TARGET)
    for kernel, other, target, level in (
        (add, signature(add, *arrays(), 64), TARGET, None),
        (add, signature(add, *arrays(250), 128), TARGET, None),
        (add, usual, "sm_80", None),
        (add, usual, TARGET, 1),
        (add.replace_hints(num_worker_warps=8), usual, TARGET, None),
    ):
        count = len(made)
        compile_kernel(kernel, other, target, level)
        compile_kernel(kernel, other, target, level)
        assert len(made) == count + 1
    compile_kernel(add.replace_hints(), usual, TARGET)
    assert len(made) == 6, "another object of the same kernel"


def test_what_a_kernel_uses_from_outside_makes_a_difference(
    folder: Path, tmp_path: Path, made: list[str]
) -> None:
    text = """
import tileir.lang as ct
FACTOR = {factor}
def helper(x):
    return x {operator} FACTOR
@ct.kernel
def scaled(a, out):
    ct.store(out, (0,), helper(ct.load(a, (0,), (64,))))
"""
    for number, (factor, operator, count) in enumerate(
        [(2, "*", 1), (2, "*", 1), (3, "*", 2), (3, "+", 3), (2, "*", 3)]
    ):
        path = tmp_path / f"kernel{number}.py"
        path.write_text(text.format(factor=factor, operator=operator))
        names: dict[str, Any] = {"__name__": "kernels"}
        exec(compile(path.read_text(), str(path), "exec"), names)
        kernel: Kernel = names["scaled"]
        compile_kernel(kernel, signature(kernel, *arrays()[:2]), TARGET)
        assert len(made) == count


def test_switched_off(
    folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TILEIR_CACHE_DIR", "off")
    wanted = signature(scale, *arrays()[:2], 2.0, 64)
    compile_kernel(scale, wanted, TARGET)
    forget()
    compile_kernel(scale, wanted, TARGET)
    assert made == ["scale", "scale"] and not folder.exists()


def test_a_hit_is_a_hundred_times_faster(folder: Path) -> None:
    """Than a compilation of a process that has not compiled before, for which no ptxas waits."""
    wanted = signature(add, *arrays(512), 256)
    assembler.stop()
    seconds = compile_kernel(add, wanted, TARGET).seconds
    best = seconds
    for _ in range(200):
        forget()
        start = time.perf_counter()
        assert compile_kernel(add, wanted, TARGET).from_disk
        best = min(best, time.perf_counter() - start)
    assert best < seconds / 100


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from jit_kernels import add
from tileir.runtime.array_view import view
from tileir.runtime.compiled import compile_kernel
from tileir.runtime.specialize import rule_of, specialize
arrays = [np.zeros(1024, np.float32) for _ in range(3)]
found = specialize("add", [rule_of(info) for info in add.parameters], (*arrays, 512), view)
compiled = compile_kernel(add, found.signature, "sm_90a")
print(compiled.from_disk, hash(compiled.cubin) is None, len(compiled.cubin))
"""


def test_of_many_processes_one_compiles(folder: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)]
    running = [
        subprocess.Popen(command, env={**os.environ}, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=120)[0].split() for process in running]
    assert sorted(words[0] for words in said) == ["False", "True", "True"]
    assert len({words[2] for words in said}) == 1
    kinds = sorted(stored.entry.kind for stored in DiskCache(folder).entries())
    assert kinds == ["compiler", "kernel"]


# ---- values as text ------------------------------------------------------------------------------


def test_content_tells_values_apart() -> None:
    values = [1, True, 1.0, "1", b"1", None, (1,), (1, 1), ((1,), 1), "(1)", 0.0, -0.0, ""]
    assert len({content_of(value) for value in values}) == len(values)
    assert content_of(float("nan")) == content_of(float("nan"))


def test_what_has_no_content() -> None:
    for value in (object(), lambda: 1, [1], np.zeros(2), {1: 2}):
        with pytest.raises(NoContent):
            content_of(value)
        with pytest.raises(NoContent):
            content_of((1, value))
