"""Traces: what a slice knows, what it costs when nobody listens, and the files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from kernel_cases import FOLDER, load_case

import tileir
from tileir import trace
from tileir.trace_file import write

KERNEL = str(FOLDER / "vector_add_f32_even.tilebc")


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], env={**os.environ, **environment},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def slices(path: Path) -> list[dict[str, Any]]:
    """The complete events of a file, checked against the format's rules."""
    content = json.loads(path.read_text())
    assert content["displayTimeUnit"] in ("ms", "ns")
    for event in content["traceEvents"]:
        assert event["ph"] in ("X", "M") and isinstance(event["pid"], int)
    found = [event for event in content["traceEvents"] if event["ph"] == "X"]
    for event in found:
        assert event["ts"] >= 0 and event["dur"] >= 0 and isinstance(event["tid"], int)
        assert all(isinstance(v, str | int | float | bool | None) for v in event["args"].values())
    named = {e["pid"] for e in content["traceEvents"] if e["name"] == "process_name"}
    assert named == {event["pid"] for event in found}
    return found


# ---- slices --------------------------------------------------------------------------------------


def test_a_slice_that_nobody_wants_is_nothing() -> None:
    assert not trace.is_on()
    first, second = trace.slice("a", facts=1), trace.slice("b")
    assert first is second
    with first as inside, trace.facts(kernel="k"):
        inside.note(more=2)


def test_facts() -> None:
    with trace.recording() as recorder, trace.facts(kernel="k", level=1):
        with trace.slice("outer", "pass", level=2) as outer:
            with trace.slice("inner"), trace.facts(kernel="other"):
                pass
            outer.note(found=True)
        with pytest.raises(ZeroDivisionError), trace.slice("failing"):
            _ = 1 / 0
    inner, outer_event, failing = recorder.events
    assert (inner.name, inner.category, inner.facts) == (
        "inner",
        "compile",
        {"kernel": "k", "level": 1},
    )
    assert outer_event.facts == {"kernel": "k", "level": 2, "found": True}
    assert outer_event.category == "pass"
    assert failing.facts["error"] == "ZeroDivisionError"
    assert outer_event.start <= inner.start
    assert inner.start + inner.duration <= outer_event.start + outer_event.duration
    assert (inner.process, inner.thread) == (os.getpid(), threading.get_native_id())


def test_many_slices_of_one_name_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_MOST_OF_A_NAME", 10)
    with trace.recording() as recorder:
        for _ in range(25):
            with trace.slice("launch"):
                pass
        with trace.slice("rare"):
            pass
    assert len(recorder.events) == 11 and recorder.left_out == {"launch": 15}


def test_every_sink_is_told() -> None:
    told: list[str] = []

    class Sink:
        def begin(self, name: str, category: str) -> None:
            told.append(f"begin {name}")

        def end(self, event: trace.Event) -> None:
            told.append(f"end {event.name}")

        def arrive(self, event: trace.Event) -> None:
            told.append(f"arrive {event.name}")

    sink = Sink()
    trace.add_sink(sink)
    try:
        with trace.slice("a"):
            trace.merge(trace.pack([trace.Event("b", "pass", 0, 1, 2, 3, {})]))
    finally:
        trace.remove_sink(sink)
    with trace.slice("c"):
        pass
    assert told == ["begin a", "arrive b", "end a"]


def test_slices_of_another_machine_are_moved() -> None:
    event = trace.Event("a", "pass", 1_000, 10, 7, 8, {"level": 3, "grid": (1, 2)})
    packed = json.loads(json.dumps(trace.pack([event])))
    with trace.recording() as recorder, trace.facts(search="s"):
        trace.merge(packed)
        trace.merge({**packed, "machine": "elsewhere", "to_wall": packed["to_wall"] + 5_000_000})
    here, there = recorder.events
    assert (here.start, here.duration, here.process, here.thread) == (1_000, 10, 7, 8)
    assert here.facts == {"search": "s", "level": 3, "grid": "(1, 2)"}
    # The clocks are read twice, a little apart.
    assert abs(there.start - 5_001_000) < 1_000_000
    assert there.facts["machine"] == "elsewhere"


# ---- files ---------------------------------------------------------------------------------------


def test_a_compilation_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    code = f"import tileir; tileir.compile({KERNEL!r}).cubin"
    done = run("-c", code, TILEIR_TRACE=str(path))
    assert done.returncode == 0, done.stderr
    found = slices(path)
    names = [event["name"] for event in found]
    for name in ("assign-layouts", "canonicalize", "convert-gpu-to-nvvm", "LLVM", "ptxas", "nvgpu"):
        assert name in names
    assert {event["args"]["kernel"] for event in found} == {load_case("vector_add_f32_even").symbol}
    llvm = next(event for event in found if event["name"] == "LLVM")
    around = next(event for event in found if event["name"] == "ptx")
    assert llvm["pid"] != around["pid"]
    # One clock: the worker works while its caller waits.
    assert around["ts"] <= llvm["ts"] <= llvm["ts"] + llvm["dur"] <= around["ts"] + around["dur"]


def test_processes_of_one_run_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    inner = "from tileir import trace\nwith trace.slice('inner'): pass"
    outer = (
        "import subprocess, sys\nfrom tileir import trace\n"
        f"with trace.slice('outer'): subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    )
    for _ in range(2):  # the second run begins anew
        assert run("-c", outer, TILEIR_TRACE=str(path)).returncode == 0
        found = slices(path)
        assert sorted(event["name"] for event in found) == ["inner", "outer"]
        assert len({event["pid"] for event in found}) == 2


def test_a_forked_child_writes_what_it_did_itself(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    code = (
        "import os\nfrom tileir import trace\nfrom tileir.trace_file import write_process_trace\n"
        "with trace.slice('parent'): pass\n"
        "if os.fork() == 0:\n"
        "    with trace.slice('child'): pass\n"
        "    write_process_trace(); os._exit(0)\n"
        "os.wait()"
    )
    assert run("-c", code, TILEIR_TRACE=str(path)).returncode == 0
    assert sorted(event["name"] for event in slices(path)) == ["child", "parent"]


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("tile_translate", ["--mlir-to-cubin", KERNEL, "-o", "{out}"], {"ptxas", "LLVM", "cse"}),
        (
            "tile_opt",
            ["--lower-to-nvgpu", KERNEL, "-o", "{out}"],
            {"convert-tile-gpu", "canonicalize"},
        ),
        ("tile_run", ["--list", KERNEL], set()),
    ],
)
def test_tools(tool: str, arguments: list[str], names: set[str], tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    filled = [argument.format(out=tmp_path / "out") for argument in arguments]
    done = run("-m", f"tileir.tools.{tool}", *filled, f"--trace={path}")
    assert done.returncode == 0, done.stderr
    assert names <= {event["name"] for event in slices(path)}


def test_no_place_for_the_file(tmp_path: Path) -> None:
    with trace.recording() as recorder, pytest.raises(tileir.ToolError, match="cannot write the"):
        write(tmp_path / "no" / "trace.json", recorder)
    missing = tmp_path / "no" / "trace.json"
    done = run("-m", "tileir.tools.tile_run", "--list", KERNEL, f"--trace={missing}")
    assert done.returncode == 1 and f"cannot write the trace to {missing}" in done.stderr
    # A program is not stopped by it.
    done = run("-c", "import tileir; print(len(tileir.compile.__doc__) > 0)",
               TILEIR_TRACE=str(missing))  # fmt: skip
    assert done.returncode == 0 and done.stdout == "True\n"
