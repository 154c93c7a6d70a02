"""tile-translate as a program: bytes out, diagnostics, exit codes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tileir
from tileir.compiler import translate
from tileir.tools.tile_translate import main

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
VADD = CASES / "vadd-13.3.tilebc"


def run(*args: object, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    """The tool as a process of its own."""
    command = [sys.executable, "-m", "tileir.tools.tile_translate", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


def test_bytecode_to_text_and_back_is_the_same_bytes(tmp_path: Path) -> None:
    text = tmp_path / "vadd.mlir"
    assert main(["--tilebc-to-mlir", "--mlir-print-debuginfo", str(VADD), "-o", str(text)]) == 0
    back = tmp_path / "vadd.tilebc"
    assert main(["--mlir-to-tilebc", str(text), "-o", str(back)]) == 0
    assert str(tileir.parse(back)) == str(tileir.parse(VADD))


def test_standard_input_and_output() -> None:
    shown = run("--tilebc-to-mlir", stdin=VADD.read_bytes())
    assert shown.returncode == 0
    assert b"entry @vadd" in shown.stdout
    written = run("--mlir-to-tilebc", "--bytecode-version=13.4", stdin=shown.stdout)
    assert written.stdout.startswith(b"\x7fTileIR\x00\x0d\x04")
    assert shown.stderr == written.stderr == b""
    too_old = run("--mlir-to-tilebc", "--bytecode-version=13.1", stdin=shown.stdout)
    assert too_old.returncode == 1
    assert too_old.stderr.startswith(b"<stdin>:3:5: error: cuda_tile.entry with the hint 'default'")


def test_generic_form(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("--tilebc-to-mlir", "--mlir-print-op-generic", VADD)
    assert b'"cuda_tile.entry"() <{' in shown.stdout


def test_diagnostics_have_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("entry @k() {\n  %0 = bogus : tile<i32>\n  return\n}\n")
    done = run("--mlir-to-tilebc", path)
    assert done.returncode == 1
    assert done.stderr.decode().startswith(f"{path}:2:8: error: ")
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--tilebc-to-mlir", "missing.tilebc"], "error: cannot read missing.tilebc"),
        (["--tilebc-to-mlir", VADD, "-o", "no/such/folder"], "error: cannot write no/such/folder"),
        (["--mlir-to-tilebc", "--bytecode-version=12.9", VADD], "error: "),
        (["--mlir-to-ptx", "--target=sm_12", VADD], "error: unknown target 'sm_12'"),
    ],
)
def test_failures_are_one_diagnostic(args: list[Any], message: str) -> None:
    done = run(*args)
    assert done.returncode == 1
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_wrong_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    for args in ([], ["--mlir-to-ptx", "--mlir-to-cubin"], ["--mlir-to-gold"]):
        with pytest.raises(SystemExit) as caught:
            main(args)
        assert caught.value.code == 2


def test_internal_errors_hide_the_traceback_unless_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise KeyError("oops")

    monkeypatch.setattr(tileir, "parse", broken)
    assert main(["--tilebc-to-mlir", str(VADD)]) == 1
    assert "internal error: KeyError: 'oops'\n  this is a bug" in capsys.readouterr().err
    monkeypatch.setenv("TILEIR_DEBUG", "1")
    with pytest.raises(KeyError):
        main(["--tilebc-to-mlir", str(VADD)])


# These run as processes: an abort inside LLVM must not end the tests.
@pytest.mark.parametrize("name", ["vadd-13.3", "mm-13.3"])
@pytest.mark.parametrize(
    ("option", "content"),
    [
        ("--mlir-to-llvmir", b"define ptx_kernel void @"),
        ("--mlir-to-ptx", b".entry "),
        ("--mlir-to-cubin", b"\x7fELF"),
    ],
)
def test_compiles_to_every_late_stage(name: str, option: str, content: bytes) -> None:
    done = run(option, "--target=sm_90a", CASES / f"{name}.tilebc")
    assert done.returncode == 0, done.stderr
    assert content in done.stdout


def test_ptx_for_another_target() -> None:
    done = run("--mlir-to-ptx", "--target=sm_80", VADD)
    assert b".target sm_80" in done.stdout
    assert b".version 7.0" in done.stdout


def test_binary_output_is_not_sent_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["--mlir-to-tilebc", str(VADD)]) == 1
    assert "the output is binary and standard output a terminal" in capsys.readouterr().err


def test_unknown_form_is_an_error_before_the_source_is_read() -> None:
    with pytest.raises(tileir.TileError, match="cannot translate to 'nonsense'\n  choose one of"):
        translate("missing.mlir", "nonsense")


def test_a_lowered_module_keeps_its_target_and_level() -> None:
    program = tileir.compile(CASES / "mm-13.3.tilebc", target="sm_80", opt_level=1)
    lowered = program.stage("tile_gpu")
    assert translate(lowered, "ptx", "sm_90a", opt_level=3) == program.ptx
    assert program.ptx != tileir.compile(CASES / "mm-13.3.tilebc", target="sm_80").ptx
