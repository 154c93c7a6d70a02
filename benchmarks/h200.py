"""Matrix products on a GPU beside cuBLAS, Triton, tileiras and hand-written kernels.

    python benchmarks/h200.py build out/h200 [--only TEXT] [--hand-written DIR]     here; no GPU
    python benchmarks/h200.py run out/h200 [--only TEXT] [--rounds 25] [--json FILE]  on the GPU

`build` compiles every program of gemm_cases.py for both launch modes, and for the peers of
peers.json, into bundles. `run` needs NumPy, cuda-bindings and PyTorch (with Triton): for each case
it checks every contender on fresh random data against PyTorch, then times all of them in turns, in
random order, the second-level cache flushed before each launch. Rows give the median of all
launches in microseconds, the range of the medians of rounds, and the ratio to our managed launch.
A contender that hangs is dropped and the rest goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from gemm_cases import SWEEP, Case, cases, hinted  # noqa: E402

PEERS = json.loads((HERE / "peers.json").read_text())
#: Seconds without a word from the worker after which it is taken for dead.
_PATIENCE = 60


def chosen(only: list[str]) -> list[Case]:
    """The cases whose name contains one of the texts; "sweep" adds the sweep of tiles, "hints" the
    combinations of hints."""
    found = [case for case in cases() if not only or any(text in case.name for text in only)]
    if "sweep" in only:
        found.append(Case("sweep", 4096, 4096, 4096, tuple(SWEEP)))
    return found + (hinted() if "hints" in only else [])


# ---- here -------------------------------------------------------------------------------------


def build(options: argparse.Namespace) -> int:
    """Bundles of everything that `run` launches."""
    import compile_kernels

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    found = chosen(options.only)
    ours = list(dict.fromkeys(program for case in found for program in case.programs))
    failed = compile_kernels.ours(ours, folder)
    failed += compile_kernels.tileiras(found, folder, PEERS["tileiras"]["gemm"])
    if options.hand_written:
        shutil.copytree(options.hand_written, folder / "hand_written", dirs_exist_ok=True)
    return 1 if failed else 0


# ---- on the GPU -------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Runs a worker and reads its rows; starts another one after a crash or a hang."""
    rows: list[dict[str, Any]] = []
    done, lost = 0, 0
    total = len(chosen(options.only))
    while done < total and lost < 4:
        for kind, data in _worker_says(options, done):
            if kind == "row":
                rows.append(data)
                _print_row(data)
            elif kind == "done":
                done = data + 1
        if done < total:
            lost += 1
            print(f"case {done} was lost", flush=True)
            done += 1
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if lost or any("wrong" in row for row in rows) else 0


def _worker_says(options: argparse.Namespace, start: int) -> Iterator[tuple[str, Any]]:
    command = [sys.executable, str(HERE / "h200_worker.py"), options.folder, str(start)]
    command += ["--rounds", str(options.rounds), *(f"--only={text}" for text in options.only)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=_PATIENCE)
        except queue.Empty:
            print("the worker hangs", flush=True)
            break
        if line is None:
            break
        if line.startswith("@"):
            kind, _, text = line[1:].partition(" ")
            yield kind, json.loads(text)
        else:
            print(line, end="", flush=True)
    worker.kill()
    worker.wait()


def _print_row(row: dict[str, Any]) -> None:
    print(f"{row['case']}")
    for one in row["contenders"]:
        if "wrong" in one:
            print(f"  {one['name']:<52} WRONG: {one['wrong']}")
            continue
        low, high = one["range"]
        ratio = f"  ratio {one['ratio']:.3f}" if one["ratio"] is not None else ""
        print(
            f"  {one['name']:<52} {one['us']:9.2f} us ({low:.2f} to {high:.2f}) "
            f"{one['tflops']:7.1f} TF{ratio}"
        )
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    for name, action in (("build", build), ("run", run)):
        command = commands.add_parser(name)
        command.add_argument("folder")
        command.add_argument("--only", action="append", default=[])
        command.set_defaults(action=action)
        if name == "build":
            command.add_argument("--hand-written", metavar="DIR")
        else:
            command.add_argument("--rounds", type=int, default=25)
            command.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    return options.action(options)


if __name__ == "__main__":
    sys.exit(main())
