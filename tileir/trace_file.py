"""Files of traces: the JSON that Perfetto and Chrome's `about:tracing` read.

The format is "Trace Event Format, JSON Object Format": complete events (`ph: X`) with times in
microseconds, and metadata events (`ph: M`) that name processes.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tileir import trace
from tileir.errors import ToolError
from tileir.trace import Event, Recorder

#: Set for the processes that a traced process starts: their events go into the same file.
_RUN = "TILEIR_TRACE_RUN"
_process_traces: list[tuple[str, Recorder, str]] = []


def write(path: str | os.PathLike[str], recorder: Recorder, run: str | None = None) -> None:
    """Writes what `recorder` kept. Events of the same `run` that the file already holds stay.

    Raises ToolError if the file cannot be written.
    """
    try:
        with _locked(Path(path)):
            content = _content(recorder, run)
            before = _load(Path(path)) if run and Path(path).exists() else None
            if before and before.get("otherData", {}).get("run") == run:
                content["traceEvents"] = before["traceEvents"] + content["traceEvents"]
                left_out = before["otherData"].get("left_out", {})
                for name, count in content["otherData"]["left_out"].items():
                    left_out[name] = left_out.get(name, 0) + count
                content["otherData"]["left_out"] = left_out
            _replace(Path(path), json.dumps(content, separators=(",", ":")))
    except OSError as error:
        raise ToolError(f"cannot write the trace to {path}: {error.strerror}") from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises ToolError now, before the work, if there can be no such file."""
    folder = Path(path).parent
    if Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ToolError(
            f"cannot write the trace to {path}", remedy="name a file in a folder that exists"
        )


def record_process(path: str) -> None:
    """Records from now on; the file is written when the process ends."""
    try:
        check_writable(path)
    except ToolError as error:
        print(f"tileir: warning: TILEIR_TRACE: {error.reason}", file=sys.stderr)
        return
    run = os.environ.setdefault(_RUN, uuid.uuid4().hex)
    recorder = Recorder()
    trace.add_sink(recorder)
    _process_traces.append((path, recorder, run))
    # In a forked child what the parent did is the parent's to write.
    os.register_at_fork(after_in_child=recorder.forget)
    atexit.register(write_process_trace)


def write_process_trace() -> None:
    """Writes what `record_process` recorded; for processes that end without Python's cleaning."""
    while _process_traces:
        path, recorder, run = _process_traces.pop()
        trace.remove_sink(recorder)
        if not recorder.events:
            continue
        try:
            write(path, recorder, run)
        except ToolError as error:
            print(f"tileir: warning: {error.reason}", file=sys.stderr)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time reads and replaces the file; the lock is the folder's."""
    folder = os.open(path.resolve().parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _replace(path: Path, text: str) -> None:
    path = path.resolve()
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".trace-", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text())
    except (ValueError, OSError):
        return None
    return content if isinstance(content, dict) else None


def _content(recorder: Recorder, run: str | None) -> dict[str, Any]:
    events = recorder.events
    processes = sorted({event.process for event in events})
    names = [
        {"ph": "M", "name": "process_name", "pid": process, "args": {"name": _role(process)}}
        for process in processes
    ]
    return {
        "displayTimeUnit": "ms",
        "otherData": {"producer": "tileir", "run": run, "left_out": recorder.left_out},
        "traceEvents": [*names, *map(_to_json, events)],
    }


def _role(process: int) -> str:
    return f"python {process}" if process == os.getpid() else f"tileir worker {process}"


def _to_json(event: Event) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.category,
        "ts": event.start / 1000,
        "dur": event.duration / 1000,
        "pid": event.process,
        "tid": event.thread,
        "args": trace.plain(event.facts),
    }
