"""Compiles the test kernels into one bundle, on a machine without a GPU.

    python test/gpu/make_bundles.py [-o out/gpu] [--target sm_90a] [--only SUBSTRING]

writes `cases.tileir` and `report.json` (per kernel: compile time, registers, spills, shared
memory, or the error) to the output folder.  `run_cases.py` launches the bundle.

With --language the kernels' source is compiled by our own front end, with only the import changed.
With --tileiras the code comes from NVIDIA's compiler (nvidia-cuda-tileiras): that tells a fault of
the launcher or of a case from one of our compiler.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from kernel_cases import KernelCase, case_names, load_case, perf_names

import tileir
from tileir.runtime import KernelInfo, write_bundle


def by_tileir(case: KernelCase, options: argparse.Namespace) -> Any:
    """The case's program, compiled by us."""
    return tileir.compile(
        case.bytecode, options.target, options.opt_level, launch=options.launch, cache=False
    )


def by_language(case: KernelCase, options: argparse.Namespace) -> Any:
    """The kernel's source with only its import changed, compiled by us."""
    from language_cases import language_cases, traced

    module = traced(language_cases()[case.name])
    return tileir.compile(
        module, options.target, options.opt_level, launch=options.launch, cache=False
    )


def by_tileiras(case: KernelCase, options: argparse.Namespace) -> Any:
    """The case's program, compiled by NVIDIA: launched with one thread, the driver knows better."""
    tool = next(Path(root) / "bin" / "tileiras" for root in import_module("nvidia.cu13").__path__)
    target = options.target.rstrip("af")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "case.tilebc", Path(folder) / "case.cubin"
        source.write_bytes(case.bytecode)
        done = subprocess.run(
            [tool, source, "-o", cubin, "--gpu-name", target, "-O3"], capture_output=True, text=True
        )
        if done.returncode:
            raise tileir.ToolError(f"tileiras: {done.stderr.strip()}")
        parameters = tuple(
            f"ptr<{one['dtype']}>" if one["kind"] == "array" else one["dtype"]
            for one in case.parameters
        )
        info = KernelInfo(case.symbol, parameters, (1, 1, 1), target)
        return SimpleNamespace(cubin=cubin.read_bytes(), kernels={case.symbol: info})


def compile_case(name: str, options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The compiled program (None if it failed) and a row of the report."""
    case = load_case(name)
    start = time.perf_counter()
    try:
        program = options.maker(case, options)
        assert program.cubin, "a cubin was made"  # registers are known only then
        info = program.kernels[case.symbol]
    except tileir.TileError as error:
        return None, {"name": name, "error": str(error)}
    row = {"name": name, "seconds": round(time.perf_counter() - start, 3)}
    for key in ("registers", "spill_bytes", "shared_bytes", "dynamic_shared_bytes"):
        row[key] = getattr(info, key)
    return program, row


def print_row(row: dict[str, Any]) -> None:
    if "error" in row:
        print(f"{row['name']:<40} {row['error'].splitlines()[0]}")
        return
    shared = row["shared_bytes"] + row["dynamic_shared_bytes"]
    print(
        f"{row['name']:<40} {row['seconds'] * 1e3:7.0f} ms  {row['registers']} registers  "
        f"{row['spill_bytes']} B spilled  {shared} B shared"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", dest="folder", default="out/gpu")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--launch", choices=("plain", "managed"), default="plain")
    parser.add_argument("--opt-level", type=int, choices=range(4), default=3)
    parser.set_defaults(maker=by_tileir)
    parser.add_argument(
        "--tileiras", dest="maker", action="store_const", const=by_tileiras,
        help="compile with NVIDIA's compiler",
    )  # fmt: skip
    parser.add_argument(
        "--language", dest="maker", action="store_const", const=by_language,
        help="compile the source of the kernels, by our front end",
    )  # fmt: skip
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    programs, rows = [], []
    for name in [*case_names(), *perf_names()]:
        if options.only not in name:
            continue
        program, row = compile_case(name, options)
        print_row(row)
        rows.append(row)
        if program is not None:
            programs.append(program)
    write_bundle(folder / "cases.tileir", programs)
    (folder / "report.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(programs)} of {len(rows)} kernels compiled into {folder / 'cases.tileir'}")
    return 0 if len(programs) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
