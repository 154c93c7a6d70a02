"""Launches a bundle's kernels on the test cases and compares the results; needs a GPU.

    python test/gpu/run_cases.py out/gpu/cases.tileir [--only SUBSTRING] [--json FILE]
    python test/gpu/run_cases.py out/gpu/ops.tileir --cases out/gpu/ops [--failures]
    compute-sanitizer --tool memcheck python test/gpu/run_cases.py BUNDLE --in-process

Needs NumPy and cuda-bindings only, and tileir as it lies in the checkout.  The cases run in a
worker process, so that a kernel that hangs (watched for) or breaks the context costs one case.
`--cases` names a folder of cases (`make_op_cases.py`), instead of the kernels of test/data.
Exit code 0 if every case agrees.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "python")]

from kernel_cases import case_names, load_case  # noqa: E402

from tileir.errors import TileError  # noqa: E402
from tileir.runtime import Bundle, cuda_driver  # noqa: E402
from tileir.runtime.cases import Case  # noqa: E402


class Suite:
    """A bundle, and the cases for it: those of test/data/kernels, or of a folder."""

    def __init__(self, bundle: str, folder: str | None):
        self.bundle, self.folder = bundle, folder

    def names(self) -> list[str]:
        if self.folder is None:
            return case_names()
        return sorted(path.stem for path in Path(self.folder).glob("*.json"))

    def load(self, name: str) -> Case:
        return load_case(name) if self.folder is None else Case.load(Path(self.folder) / name)

    @property
    def command(self) -> list[str]:
        """The arguments with which a worker finds the same."""
        return [self.bundle, *(["--cases", self.folder] if self.folder else [])]


def run_case(bundle: Bundle, case: Case) -> dict[str, Any]:
    """Launches one case; a row with the error, as fraction of the tolerance, or what failed."""
    args = case.args()
    start = time.perf_counter()
    try:
        with printed() if case.printed is not None else contextlib.nullcontext([]) as said:
            bundle[case.symbol].launch(case.grid, args)
    except TileError as error:
        return {"name": case.name, "ok": False, "broken": True, "failures": [str(error)]}
    milliseconds = (time.perf_counter() - start) * 1e3
    result = case.compare(args)
    failures = [*result.failures, *_text_differs("".join(said), case.printed or "")]
    return {
        "name": case.name,
        "ok": not failures,
        "worst": result.worst,
        "error": result.error,
        "milliseconds": round(milliseconds, 2),
        "failures": failures,
    }


@contextlib.contextmanager
def printed() -> Iterator[list[str]]:
    """What reaches standard output by then, also from the driver, is in the list afterwards."""
    said: list[str] = []
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield said
            cuda_driver().synchronize(0)
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        said.append(file.read().decode(errors="replace"))


def _text_differs(got: str, want: str) -> Iterator[str]:
    """The first lines that differ."""
    if got == want:
        return
    ours, theirs = got.splitlines(), want.splitlines()
    pairs = list(zip(ours, theirs, strict=False))
    differing = [(a, b) for a, b in pairs if a != b]
    yield f"printed {len(ours)} lines, should be {len(theirs)}; {len(differing)} differ"
    for a, b in differing[:4]:
        yield f"    {a!r} should be {b!r}"


def rows_in_process(suite: Suite, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Runs everything here; a hanging kernel ends the process, since it cannot be stopped."""
    bundle = Bundle.load(suite.bundle)
    for name in names:
        watchdog = threading.Timer(limit, _give_up, (name, limit))
        watchdog.daemon = True
        watchdog.start()
        yield run_case(bundle, suite.load(name))
        watchdog.cancel()


def _give_up(name: str, limit: float) -> None:
    print(f"{name}: no result after {limit:g} s", file=sys.stderr, flush=True)
    os._exit(3)


def worker(suite: Suite, names: list[str]) -> None:
    """Prints one JSON row per case; ends after a launch error, which may break the context."""
    bundle = Bundle.load(suite.bundle)
    for name in names:
        row = run_case(bundle, suite.load(name))
        print(json.dumps(row), flush=True)
        if row.get("broken"):
            return


def rows_from_workers(suite: Suite, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Runs the cases in workers; a new one follows each that hangs, dies or gives up."""
    remaining = list(names)
    while remaining:
        for row in _worker_rows(suite, remaining, limit):
            remaining.remove(row["name"])
            yield row


def _worker_rows(suite: Suite, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Rows of one worker, the last of them for the case at which it hung, died or gave up."""
    command = [sys.executable, __file__, *suite.command, "--worker", *names]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_forward, args=(process.stdout, lines), daemon=True).start()
    try:
        for name in list(names):
            try:
                line = lines.get(timeout=limit)
            except queue.Empty:
                yield {"name": name, "ok": False, "failures": [f"no result after {limit:g} s"]}
                return
            if not line:
                yield {"name": name, "ok": False, "failures": ["the worker process died"]}
                return
            row = json.loads(line)
            yield row
            if row.get("broken"):
                return
    finally:
        process.kill()
        process.wait()


def _forward(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def print_row(row: dict[str, Any]) -> None:
    if "worst" in row:
        print(
            f"{row['name']:<40} {'ok' if row['ok'] else 'WRONG':<6} error {row['error']:9.3g}  "
            f"{row['worst']:6.3f} of the tolerance  {row['milliseconds']:8.2f} ms",
            flush=True,
        )
    else:
        print(f"{row['name']:<40} FAILED", flush=True)
    for line in row["failures"]:
        print(f"    {line}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("bundle")
    parser.add_argument("--cases", metavar="FOLDER", help="cases other than those of test/data")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--failures", action="store_true", help="print only cases that fail")
    parser.add_argument("--json", metavar="FILE", help="write the rows")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per case (default 20)")
    parser.add_argument("--in-process", action="store_true", help="no workers (for sanitizers)")
    parser.add_argument("--worker", nargs="+", metavar="CASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(Suite(options.bundle, options.cases), options.worker)
        return 0
    try:
        return run_all(options)
    except TileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run_all(options: argparse.Namespace) -> int:
    suite = Suite(options.bundle, options.cases)
    names = [name for name in suite.names() if options.only in name]
    run = rows_in_process if options.in_process else rows_from_workers
    rows = []
    device = cuda_driver().device()
    print(f"{device.name}, compute capability {'.'.join(map(str, device.capability))}")
    for row in run(suite, names, options.limit):
        if not (row["ok"] and options.failures):
            print_row(row)
        rows.append(row)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    good = sum(row["ok"] for row in rows)
    print(f"{good} of {len(names)} cases agree")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
