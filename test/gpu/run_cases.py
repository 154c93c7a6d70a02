"""Launches a bundle's kernels on the test cases and compares the results; needs a GPU.

    python test/gpu/run_cases.py out/gpu/cases.tileir [--only SUBSTRING] [--json FILE]
    compute-sanitizer --tool memcheck python test/gpu/run_cases.py BUNDLE --in-process

Needs NumPy and cuda-bindings only, and tileir as it lies in the checkout.  The cases run in a
worker process, so that a kernel that hangs (watched for) or breaks the context costs one case.
Exit code 0 if every case agrees.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
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


def run_case(bundle: Bundle, name: str) -> dict[str, Any]:
    """Launches one case; a row with the error, as fraction of the tolerance, or what failed."""
    case = load_case(name)
    args = case.args()
    start = time.perf_counter()
    try:
        bundle[case.symbol].launch(case.grid, args)
    except TileError as error:
        return {"name": name, "ok": False, "broken": True, "failures": [str(error)]}
    milliseconds = (time.perf_counter() - start) * 1e3
    result = case.compare(args)
    return {
        "name": name,
        "ok": result.passed,
        "worst": result.worst,
        "error": result.error,
        "milliseconds": round(milliseconds, 2),
        "failures": result.failures,
    }


def rows_in_process(bundle_path: str, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Runs everything here; a hanging kernel ends the process, since it cannot be stopped."""
    bundle = Bundle.load(bundle_path)
    for name in names:
        watchdog = threading.Timer(limit, _give_up, (name, limit))
        watchdog.daemon = True
        watchdog.start()
        yield run_case(bundle, name)
        watchdog.cancel()


def _give_up(name: str, limit: float) -> None:
    print(f"{name}: no result after {limit:g} s", file=sys.stderr, flush=True)
    os._exit(3)


def worker(bundle_path: str, names: list[str]) -> None:
    """Prints one JSON row per case; ends after a launch error, which may break the context."""
    bundle = Bundle.load(bundle_path)
    for name in names:
        row = run_case(bundle, name)
        print(json.dumps(row), flush=True)
        if row.get("broken"):
            return


def rows_from_workers(bundle_path: str, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Runs the cases in workers; a new one follows each that hangs, dies or gives up."""
    remaining = list(names)
    while remaining:
        for row in _worker_rows(bundle_path, remaining, limit):
            remaining.remove(row["name"])
            yield row


def _worker_rows(bundle_path: str, names: list[str], limit: float) -> Iterator[dict[str, Any]]:
    """Rows of one worker, the last of them for the case at which it hung, died or gave up."""
    command = [sys.executable, __file__, bundle_path, "--worker", *names]
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
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--json", metavar="FILE", help="write the rows")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds per case (default 20)")
    parser.add_argument("--in-process", action="store_true", help="no workers (for sanitizers)")
    parser.add_argument("--worker", nargs="+", metavar="CASE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.bundle, options.worker)
        return 0
    try:
        return run_all(options)
    except TileError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run_all(options: argparse.Namespace) -> int:
    names = [name for name in case_names() if options.only in name]
    run = rows_in_process if options.in_process else rows_from_workers
    rows = []
    device = cuda_driver().device()
    print(f"{device.name}, compute capability {'.'.join(map(str, device.capability))}")
    for row in run(options.bundle, names, options.limit):
        print_row(row)
        rows.append(row)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    good = sum(row["ok"] for row in rows)
    print(f"{good} of {len(names)} cases agree")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
