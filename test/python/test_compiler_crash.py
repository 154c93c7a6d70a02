"""What LLVM refuses, and what it dies of, becomes one short error; the caller lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tileir.compiler.mlir_bytecode import to_bytecode
from tileir.compiler.worker import Worker, shared_worker
from tileir.compiler.worker_process import run_here
from tileir.dialects import make_context
from tileir.errors import CompilerCrash, ToolError, VerificationError
from tileir.ir import Attribute, Module
from tileir.tools.tile_translate import main

#: What a kernel holds, and what LLVM says to it.
REFUSED = {
    "left-over": (
        "%x = builtin.unrealized_conversion_cast %a : i32 to i64",
        "LLVM Translation failed for operation: builtin.unrealized_conversion_cast",
    ),
    "intrinsic": (
        '%x = llvm.call_intrinsic "llvm.nvvm.no.such"(%a) : (i32) -> i32',
        'could not find LLVM intrinsic: "llvm.nvvm.no.such"',
    ),
}
FATAL = {
    # LLVM's default handler of diagnostics exits with code 1.
    "constraint": (
        '%x = llvm.inline_asm has_side_effects "mov.u32 $0, $1;", "=Q,r" %a : (i32) -> i32',
        "couldn't allocate output register for constraint 'Q'",
    ),
    # Instruction selection aborts.
    "f128": (
        "%y = llvm.sitofp %a : i32 to f128\nllvm.store %y, %p : f128, !llvm.ptr<1>",
        "unsupported library call operation",
    ),
}
VALID = "%x = llvm.add %a, %a : i32"


def text(*bodies: str) -> str:
    kernels = "".join(
        f"llvm.func @k{i}(%p: !llvm.ptr<1>, %a: i32) attributes {{gpu.kernel, nvvm.kernel}} {{\n"
        f'{body}\nllvm.return loc(unknown)\n}} loc("k.py":{i + 1}:5)\n'
        for i, body in enumerate(bodies)
    )
    target = '[#nvvm.target<chip = "sm_90a">]'
    return (
        f"module attributes {{gpu.container_module}} {{\ngpu.module @m {target} {{\n{kernels}}}}}"
    )


def bytecode(*bodies: str) -> bytes:
    with make_context():
        return to_bytecode(Module.parse(text(*bodies)))


@pytest.fixture(autouse=True)
def report_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Reports go here; workers started before would write to another folder."""
    monkeypatch.setenv("TILEIR_CRASH_DIR", str(tmp_path))
    shared_worker().stop()
    yield
    shared_worker().stop()


def check(crash: CompilerCrash, kernel: str, said: str, folder: Path) -> None:
    assert crash.reason == f"LLVM failed on kernel '{kernel}': {said}"
    assert crash.kernel == kernel
    assert len(str(crash)) < 1000 and str(crash).count("\n") == 1
    assert said in crash.details
    assert crash.report is not None and crash.report in str(crash)
    report = Path(crash.report)
    assert report.parent == folder
    assert said in report.read_text()


@pytest.mark.parametrize("body, said", [*REFUSED.values(), *FATAL.values()])
def test_one_kernel_of_several(body: str, said: str, tmp_path: Path) -> None:
    worker = shared_worker()
    with pytest.raises(CompilerCrash) as caught:
        worker.run("ptx", bytecode(VALID, body, VALID))
    check(caught.value, "k1", said, tmp_path)
    assert ".entry k0" in worker.run("ptx", bytecode(VALID))


def test_folder_of_the_script_is_not_searched(tmp_path: Path, monkeypatch) -> None:
    """A checkout or a folder of the same name, where a script happens to run, is not the package
    that is installed."""
    (tmp_path / "tileir").mkdir()
    (tmp_path / "tileir" / "__init__.py").write_text("raise ImportError('a decoy')\n")
    monkeypatch.chdir(tmp_path)
    worker = Worker()
    try:
        assert ".entry k0" in worker.run("ptx", bytecode(VALID))
    finally:
        worker.stop()


def test_location_is_that_of_the_operation_or_the_kernel() -> None:
    left_over, f128 = REFUSED["left-over"][0], FATAL["f128"][0]
    with pytest.raises(CompilerCrash) as caught:
        shared_worker().run("ptx", bytecode(f'{left_over} loc("k.py":7:9)'))
    assert caught.value.location == "k.py:7:9"
    with pytest.raises(CompilerCrash) as caught:
        shared_worker().run("ptx", bytecode(VALID, f128))
    assert caught.value.location == "k.py:2:5"


@pytest.mark.parametrize("body, said", REFUSED.values())
@pytest.mark.parametrize("step", ["ptx", "llvmir"])
def test_what_is_refused_can_run_in_process(step, body: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CompilerCrash) as caught:
        run_here(step, bytecode(body))
    check(caught.value, "k0", said, tmp_path)


@pytest.mark.parametrize("name", ["left-over", "f128"])
def test_a_report_repeats_the_failure(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    body, said = {**REFUSED, **FATAL}[name]
    with pytest.raises(CompilerCrash) as caught:
        shared_worker().run("ptx", bytecode(body))
    assert caught.value.report is not None
    assert main(["--mlir-to-ptx", caught.value.report]) == 1
    errors = capsys.readouterr().err
    assert f"error: LLVM failed on kernel 'k0': {said}" in errors
    assert len(errors.splitlines()) == 2


def test_invalid_ir_never_reaches_llvm() -> None:
    """A pass that ran last may have broken a rule."""
    with make_context():
        module = Module.parse(text("nvvm.wgmma.fence.aligned"))
        older = Attribute.parse('[#nvvm.target<chip = "sm_80">]')
        module.body.operations[0].operation.attributes["targets"] = older
        broken = to_bytecode(module)
    with pytest.raises(VerificationError, match="is not supported on sm_80"):
        shared_worker().run("ptx", broken)


def test_no_place_for_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_CRASH_DIR", str(tmp_path / "missing"))
    shared_worker().stop()
    with pytest.raises(CompilerCrash) as caught:
        shared_worker().run("ptx", bytecode(REFUSED["left-over"][0]))
    assert caught.value.report is None
    assert caught.value.remedy == "this is a bug of tileir; please report it"


def test_a_worker_that_is_killed_is_replaced() -> None:
    worker = Worker()
    try:
        worker.run("ptx", bytecode(VALID))
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGKILL)
        worker._process.wait(timeout=10)
        assert ".entry k0" in worker.run("ptx", bytecode(VALID))
    finally:
        worker.stop()


def test_no_worker_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(ToolError, match=r"(?s)cannot start .*isolate=False"):
        Worker().run("ptx", bytecode(VALID))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ToolError, match="exit code 1"):
        Worker().run("ptx", bytecode(VALID))


def test_tools_live_on(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(text(FATAL["f128"][0]))
    command = [sys.executable, "-m", "tileir.tools.tile_translate", "--mlir-to-ptx", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("k.py:1:5: error: LLVM failed on kernel 'k0'")
    assert "Stack dump" not in done.stderr
