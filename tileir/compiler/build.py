"""The compiler proper: from a module of cuda_tile to PTX, and what a launcher must know."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir import logging, trace
from tileir.compiler.mlir_bytecode import copy, to_bytecode
from tileir.compiler.output import Output
from tileir.compiler.pipeline import MLIR_STAGES, Options, passes_of
from tileir.compiler.run_passes import run_passes
from tileir.dialects.diagnostics import RemarkCollector
from tileir.entries import entries
from tileir.garbage import collector_pause
from tileir.ir import IntegerAttr, Module, StringAttr
from tileir.runtime.metadata import KernelInfo

if TYPE_CHECKING:
    from tileir.runtime.metadata import Extents, HiddenParameter


def build(source: Module, options: Options, to_ptx: Callable[[bytes], str]) -> Output:
    """Compiles a module, which stays as it is. `to_ptx` makes PTX of a module at the stage nvvm,
    given as MLIR bytecode. Raises a TileError."""
    timings: dict[str, float] = {}
    parameters = entries(source)
    with facts(parameters, options), trace.slice("compile", launch=options.launch):
        with RemarkCollector(source.context) as remarks:
            module = copy(source)
            launch_facts = lower(module, "nvvm", options, timings)
        with stopwatch(timings, "ptx"):
            ptx = to_ptx(to_bytecode(module))
    version = re.search(r"^\.version (\d+\.\d+)", ptx, re.MULTILINE)
    assert version, "PTX states its version"
    infos = tuple(
        launch_facts[name].describe(name, types, options, version[1])
        for name, types in parameters.items()
    )
    return Output(ptx, infos, tuple(remarks.texts), timings)


@collector_pause
def lower(
    module: Module, last: str, options: Options, timings: dict[str, float] | None = None
) -> dict[str, LaunchFacts]:
    """Brings a module of cuda_tile to a stage of MLIR, in place. Returns what launchers must know,
    by kernel, if it went so far; `timings` gets seconds by stage, and the log the stages."""
    found: dict[str, LaunchFacts] = {}
    for stage in MLIR_STAGES:
        with stopwatch({} if timings is None else timings, stage):
            run_passes(module, passes_of(stage, options))
        if timings is not None and logging.wants("stages"):
            logging.tell("stages", f"{stage}\n{module}")
        if stage == "tile_gpu":
            found = dict(_launch_facts(module))
        if stage == last:
            break
    return found


@contextmanager
def stopwatch(timings: dict[str, float], stage: str) -> Iterator[None]:
    """Notes the seconds that a stage takes."""
    start = time.perf_counter()
    with trace.slice(stage, "stage"):
        yield
    timings[stage] = time.perf_counter() - start


def facts(kernels: Iterable[str], options: Options) -> AbstractContextManager[object]:
    """What every slice of a compilation says of it."""
    return trace.facts(kernel=",".join(kernels), target=options.target, opt_level=options.opt_level)


@dataclass(frozen=True)
class LaunchFacts:
    """What a launcher must know that is decided on the way to the stage tile_gpu."""

    threads: int
    shared_bytes: int
    grid: Extents
    cluster: Extents
    hidden: tuple[HiddenParameter, ...]

    def describe(
        self, name: str, parameters: tuple[str, ...], options: Options, ptx_version: str
    ) -> KernelInfo:
        return KernelInfo(
            name=name,
            parameters=parameters,
            block=(self.threads, 1, 1),
            target=options.target,
            shared_bytes=self.shared_bytes,
            launch=options.launch,
            grid=self.grid,
            cluster=self.cluster,
            hidden=self.hidden,
            ptx_version=ptx_version,
        )


def _launch_facts(module: Module) -> Iterator[tuple[str, LaunchFacts]]:
    from tileir.passes.allocate_shared_memory import SHARED_BYTES_ATTRIBUTE
    from tileir.passes.choose_num_warps import block_threads
    from tileir.passes.launch_contract import hidden_parameters, launch_cluster, launch_grid
    from tileir.passes.walk import kernels

    for kernel in kernels(module.operation):
        yield (
            StringAttr(kernel.attributes["sym_name"]).value,
            LaunchFacts(
                threads=block_threads(kernel),
                shared_bytes=IntegerAttr(kernel.attributes[SHARED_BYTES_ATTRIBUTE]).value,
                grid=launch_grid(kernel),
                cluster=launch_cluster(kernel),
                hidden=hidden_parameters(kernel),
            ),
        )
