"""TILEIR_LOG and CT_LOG_LEVEL."""

from __future__ import annotations

import logging as standard
import os
import subprocess
import sys

import pytest
from kernel_cases import FOLDER

from tileir import logging, trace

KERNEL = str(FOLDER / "row_softmax_whole_f16.tilebc")


@pytest.fixture(autouse=True)
def quiet():
    yield
    logging.show(())


def compile_with(**environment: str) -> str:
    """Standard error of a process that compiles a kernel."""
    code = f"import tileir; tileir.compile({KERNEL!r}).cubin"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "", done.stderr
    return done.stderr


def test_nothing_is_said_by_default() -> None:
    assert compile_with() == ""
    assert compile_with(TILEIR_LOG="", CT_LOG_LEVEL="0") == ""


def test_stages_and_timing() -> None:
    said = compile_with(TILEIR_LOG="stages,timing")
    for stage in ("cuda_tile", "tile_gpu", "nvgpu", "nvvm"):
        assert f"[tileir stages] {stage}\n" in said
    assert said.count("[tileir stages]") == 4
    for name in ("assign-layouts", "LLVM", "ptxas"):
        assert any(name in line for line in said.splitlines() if "[tileir timing]" in line)
    assert "[tileir ptx]" not in said


def test_levels() -> None:
    said = compile_with(CT_LOG_LEVEL="3")
    assert "[tileir ptx]" in said and ".visible .entry" in said and "[tileir timing]" in said
    assert "[tileir stages]" not in said
    assert ".visible .entry" not in compile_with(CT_LOG_LEVEL="2")


def test_what_is_unknown_is_named() -> None:
    said = compile_with(TILEIR_LOG="remark, everything", CT_LOG_LEVEL="high")
    assert said.splitlines() == [
        "tileir: warning: TILEIR_LOG: there is no log 'remark' (did you mean 'remarks'?); there "
        "are stages, timing, remarks, ptx",
        "tileir: warning: TILEIR_LOG: there is no log 'everything'; there are stages, timing, "
        "remarks, ptx",
        "tileir: warning: CT_LOG_LEVEL must be 0, 1, 2 or 3, not 'high'",
    ]


def test_timing_is_a_sink_of_slices(capsys: pytest.CaptureFixture[str]) -> None:
    logging.show(["timing"])
    with trace.slice("ptxas", "tool", kernel="k"):
        pass
    logging.show([])
    with trace.slice("unheard"):
        pass
    line = capsys.readouterr().err
    assert line.startswith("[tileir timing]") and "ptxas" in line and "kernel=k" in line
    assert "unheard" not in line and not trace.is_on()


def test_a_program_may_send_logs_elsewhere(caplog: pytest.LogCaptureFixture) -> None:
    logger = standard.getLogger("tileir.remarks")
    logging.tell("remarks", "unheard")
    with caplog.at_level(standard.INFO, "tileir.remarks"):
        assert logging.wants("remarks") and logger.isEnabledFor(standard.INFO)
        logging.tell("remarks", "100% of k.py:1:2")
    assert caplog.messages == ["100% of k.py:1:2"]
