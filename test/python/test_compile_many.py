"""Many compilations at once: the same programs, errors apart, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from kernel_cases import FOLDER, load_case

import tileir
from tileir import trace
from tileir.compiler import CompilerPool, Request
from tileir.compiler.worker import Worker

NAMES = ("vector_add_f32_even", "row_softmax_whole_f16", "transpose_2d_f16")


def test_the_programs_of_compile_in_order() -> None:
    sources = [load_case(name).bytecode for name in NAMES]
    for source, program in zip(sources, tileir.compile_many(sources), strict=True):
        assert isinstance(program, tileir.Program)
        alone = tileir.compile(source, cache=False)
        assert program.ptx == alone.ptx and program.cubin == alone.cubin
        assert program.kernels == alone.kernels and program.remarks == alone.remarks
        assert set(program.timings) == set(alone.timings)
        assert program.stage("tile_gpu") == alone.stage("tile_gpu")


def test_each_request_has_its_options() -> None:
    source = load_case("vector_add_f32_even").bytecode
    requests = [Request(source, "sm_80"), Request(source, "sm_100a", launch="managed"), source]
    programs = tileir.compile_many(requests, target="sm_90", fast_compile="max")
    found = [program.options for program in programs if isinstance(program, tileir.Program)]
    assert [(one.target, one.launch, one.opt_level) for one in found] == [
        ("sm_80", "plain", 3), ("sm_100a", "managed", 3), ("sm_90a", "plain", 0),
    ]  # fmt: skip


def test_sources_of_every_kind(tmp_path: Path) -> None:
    bytecode = load_case("vector_add_f32_even").bytecode
    module = tileir.parse(bytecode)
    file = tmp_path / "kernel.mlir"
    file.write_text(str(module))
    made = tileir.compile_many([bytecode, module, str(module), file, str(file)])
    ptx = {program.ptx for program in made if isinstance(program, tileir.Program)}
    assert len(made) == 5 and len(ptx) == 1


def test_errors_stand_where_their_programs_would(tmp_path: Path) -> None:
    good = load_case("vector_add_f32_even").bytecode
    made = tileir.compile_many(
        [tmp_path / "none.tilebc", "nonsense {", good, Request(good, target="sm_12"), good[:99]]
    )
    kinds = [type(one).__name__ for one in made]
    assert kinds == ["ParseError", "ParseError", "Program", "UnsupportedError", "BytecodeError"]
    assert "none.tilebc" in str(made[0]) and "<text>:1:1" in str(made[1])


def test_nothing_to_do() -> None:
    assert tileir.compile_many([]) == []


def test_a_compilation_that_takes_too_long() -> None:
    source = FOLDER / "perf" / "flash_attention_fwd_perf.tilebc"
    with CompilerPool(1, timeout=0.05) as pool:
        future = pool.submit(Request(source))
        with pytest.raises(tileir.CompileTimeout, match=r"perf.tilebc: compiling took longer than"):
            future.result()
    # The worker that was ended is replaced.
    assert isinstance(tileir.compile_many([load_case(NAMES[0]).bytecode])[0], tileir.Program)


def test_a_process_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a crash in a pass looks like."""
    worker, options = Worker(), Request(b"").options()

    def crash(*_: object) -> None:
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGSEGV)

    monkeypatch.setattr("tileir.compiler.worker.send", crash)
    with pytest.raises(tileir.CompilerCrash, match="k.mlir: the compiler process ended: signal"):
        worker.compile(b"", "k.mlir", options, None, None)
    worker.stop()


def test_slices_of_workers_carry_the_facts_of_the_caller() -> None:
    with trace.recording() as recorder, trace.facts(search="first"):
        tileir.compile_many([load_case(name).bytecode for name in NAMES[:2]])
    passes = [event for event in recorder.events if event.name == "assign-layouts"]
    symbols = {load_case(name).symbol for name in NAMES[:2]}
    assert {event.facts["kernel"] for event in passes} == symbols
    assert all(event.facts["search"] == "first" for event in passes)
    assert all(event.process != os.getpid() for event in passes)


def processes_with(marker: str) -> list[int]:
    """Processes whose environment holds `marker`."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and marker.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


LONG = """
import sys, tileir
from tileir.compiler import Request
sources = [Request(sys.argv[1], target) for target in ("sm_90a", "sm_100a") * 50]
print("ready", flush=True)
tileir.compile_many(sources, workers=2)
"""


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGKILL))
def test_nothing_is_left_running(how: signal.Signals) -> None:
    marker = f"TILEIR_TEST_MARKER={uuid.uuid4().hex}"
    name, value = marker.split("=")
    source = FOLDER / "perf" / "flash_attention_fwd_perf.tilebc"
    script = subprocess.Popen(
        [sys.executable, "-c", LONG, str(source)],
        env={**os.environ, name: value}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert script.stdout and script.stdout.readline() == "ready\n"
    end = time.monotonic() + 120
    while len(processes_with(marker)) < 3 and time.monotonic() < end:
        time.sleep(0.05)  # workers start
    script.send_signal(how)
    _, said = script.communicate(timeout=120)
    if how == signal.SIGINT:
        assert said.strip().endswith("KeyboardInterrupt")
        assert processes_with(marker) == []
        return
    while processes_with(marker) and time.monotonic() < end:
        time.sleep(0.1)  # workers notice
    assert processes_with(marker) == []
