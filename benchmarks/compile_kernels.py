"""Compiles the programs of the benchmarks into bundles, by us and by tileiras; needs no GPU."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gemm_cases import Case, peers_of
from gemm_program import Gemm

import tileir
from tileir.runtime import KernelInfo, write_bundle

TARGET = "sm_90a"


def ours(programs: Iterable[Gemm], folder: Path) -> int:
    """Writes `managed.tileir` and `plain.tileir`; returns how many programs failed."""
    failed = 0
    for launch in ("managed", "plain"):
        compiled = []
        for gemm in programs:
            try:
                program = tileir.compile(gemm.text(), TARGET, launch=launch)
                assert program.cubin, "a cubin was made"
            except tileir.TileError as error:
                print(f"{gemm.name}: {str(error).splitlines()[0]}", file=sys.stderr)
                failed += 1
                continue
            info = program.kernels[gemm.name]
            spilled = f"  {info.spill_bytes} B spilled" if info.spill_bytes else ""
            print(f"{launch:<8} {gemm.name:<44} {info.registers} registers{spilled}", flush=True)
            compiled.append(program)
        write_bundle(folder / f"{launch}.tileir", compiled)
    return failed


def tileiras(found: list[Case], folder: Path, configurations: list[dict[str, Any]]) -> int:
    """Writes `tileiras.tileir`: kernels of NVIDIA's compiler for the same products."""
    programs = [
        peer
        for case in found
        if case.group not in ("sweep", "hints")
        for gemm in case.programs
        for peer in peers_of(gemm, configurations)
    ]
    compiled, failed = [], 0
    for gemm in dict.fromkeys(programs):
        try:
            compiled.append(_by_tileiras(gemm))
        except tileir.TileError as error:
            print(f"tileiras {gemm.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            failed += 1
    if compiled:
        write_bundle(folder / "tileiras.tileir", compiled)
    return failed


def _by_tileiras(gemm: Gemm) -> Any:
    tool = next(
        Path(root) / "bin/tileiras" for root in importlib.import_module("nvidia.cu13").__path__
    )
    module = tileir.parse(gemm.text())
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "case.tilebc", Path(folder) / "case.cubin"
        source.write_bytes(tileir.write_bytecode(module, version="13.3"))
        command = [tool, source, "-o", cubin, "--gpu-name", TARGET.rstrip("a"), "-O3"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise tileir.ToolError(f"tileiras: {done.stderr.strip()}")
        # One thread: the driver knows how many the cubin needs.
        info = KernelInfo(gemm.name, _parameters(gemm), (1, 1, 1), TARGET.rstrip("a"))
        return SimpleNamespace(cubin=cubin.read_bytes(), kernels={gemm.name: info})


def _parameters(gemm: Gemm) -> tuple[str, ...]:
    """The entry's parameters as our own compiler describes them."""
    kinds = []
    for _, element, rank in gemm.arrays():
        kinds += [f"ptr<{element}>", *["i32"] * (2 * rank)]
    return tuple(kinds)
