"""A compiled module: its stages, PTX, cubin and kernels."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tileir import logging, trace
from tileir.compiler.mlir_bytecode import copy, to_bytecode
from tileir.compiler.pipeline import MLIR_STAGES, STAGES, Options, passes_of
from tileir.compiler.worker import Step, run_here, shared_worker
from tileir.dialects import prepare_context
from tileir.dialects.diagnostics import RemarkCollector
from tileir.errors import TileError
from tileir.ir import IntegerAttr, Module, StringAttr

if TYPE_CHECKING:
    from tileir.compiler.toolchain import Assembly
    from tileir.runtime.metadata import Extents, HiddenParameter, KernelInfo


_Result = TypeVar("_Result")


class Program:
    """The kernels of one module, compiled for one target.

    ptx       PTX of all kernels
    cubin     machine code (assembled by ptxas when first asked for)
    kernels   what a launcher must know of each kernel, by name
    remarks   what the compiler has to say about its decisions
    timings   seconds that each stage took, as far as it has run
    """

    def __init__(self, source: Module, options: Options, isolate: bool, ptxas: str | None):
        self.options = options
        self.timings: dict[str, float] = {}
        self._source = source
        self._isolate = isolate
        self._ptxas = ptxas
        self._assembly: Assembly | None = None
        self._launch_facts: dict[str, _LaunchFacts] = {}
        if isolate:
            shared_worker().start()  # gets ready while we lower
        with self._facts(), trace.slice("compile", launch=options.launch):
            with RemarkCollector(source.context) as remarks:
                module = self._lower("nvvm", self.timings)
            self._remarks = tuple(remarks.texts)
            self._nvvm = to_bytecode(module)
            self.ptx = self._timed("ptx", lambda: self._run_llvm("ptx"))
        for remark in self._remarks:
            logging.tell("remarks", remark)
        logging.tell("ptx", self.ptx)

    # ---- results -----------------------------------------------------------------------------

    @property
    def cubin(self) -> bytes:
        """Machine code for the target. Raises ToolError without a ptxas."""
        return self._assembled().cubin

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """What a launcher must know of each kernel; registers once the cubin has been made."""
        from tileir.runtime.metadata import KernelInfo

        version = re.search(r"^\.version (\d+\.\d+)", self.ptx, re.MULTILINE)
        assert version, "PTX states its version"
        reports = self._assembly.reports if self._assembly else {}
        infos = {}
        for name, parameters in _entries(self._source):
            facts = self._launch_facts[name]
            report = reports.get(name)
            infos[name] = KernelInfo(
                name=name,
                parameters=parameters,
                block=(facts.threads, 1, 1),
                target=self.options.target,
                shared_bytes=facts.shared_bytes,
                launch=self.options.launch,
                grid=facts.grid,
                cluster=facts.cluster,
                hidden=facts.hidden,
                ptx_version=version[1],
                registers=report.registers if report else None,
                spill_bytes=report.spill_bytes if report else None,
                stack_bytes=report.stack_bytes if report else None,
            )
        return infos

    @property
    def remarks(self) -> tuple[str, ...]:
        """`file:line:col: remark: ...` of the passes, and once the cubin has been made, messages
        of ptxas on performance."""
        return (*self._remarks, *(self._assembly.messages if self._assembly else ()))

    def stage(self, name: str) -> str:
        """The program as text at one of `STAGES`. Raises ToolError if a tool for it is missing."""
        if name in MLIR_STAGES:
            return str(self._lower(name, {}))
        if name == "llvmir":
            return self._timed("llvmir", lambda: self._run_llvm("llvmir"))
        if name == "ptx":
            return self.ptx
        if name == "sass":
            from tileir.compiler.toolchain import disassemble

            cubin = self.cubin
            return self._timed("sass", lambda: disassemble(cubin))
        raise TileError(f"there is no stage '{name}'", remedy=f"choose one of {', '.join(STAGES)}")

    # ---- steps -------------------------------------------------------------------------------

    def _lower(self, last: str, timings: dict[str, float]) -> Module:
        """A copy of the source, lowered to a stage of MLIR."""
        from tileir.compiler.passes import run_passes

        module = copy(self._source)
        for stage in MLIR_STAGES:
            with _stopwatch(timings, stage):
                run_passes(module, passes_of(stage, self.options))
            if logging.wants("stages"):
                logging.tell("stages", f"{stage}\n{module}")
            if stage == "tile_gpu":
                self._launch_facts = dict(_launch_facts(module))
            if stage == last:
                break
        return module

    def _run_llvm(self, step: Step) -> str:
        if not self._isolate:
            return run_here(step, self._nvvm)
        return shared_worker().run(step, self._nvvm, meanwhile=prepare_context)

    def _assembled(self) -> Assembly:
        if self._assembly is None:
            self._assembly = self._timed("cubin", self._assemble)
        return self._assembly

    def _assemble(self) -> Assembly:
        from tileir.compiler.toolchain import assemble

        with self._facts():
            made = assemble(self.ptx, self.options.target, self.options.opt_level, self._ptxas)
        for message in made.messages:
            logging.tell("remarks", message)
        return made

    def _facts(self) -> AbstractContextManager[object]:
        """What every slice of this compilation says of it."""
        if not trace.is_on():
            return nullcontext()
        kernels = ",".join(name for name, _ in _entries(self._source))
        return trace.facts(
            kernel=kernels, target=self.options.target, opt_level=self.options.opt_level
        )

    def _timed(self, stage: str, run: Callable[[], _Result]) -> _Result:
        with _stopwatch(self.timings, stage):
            return run()


@contextmanager
def _stopwatch(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    with trace.slice(stage, "stage"):
        yield
    timings[stage] = time.perf_counter() - start


def _entries(source: Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names and parameter types of the entries, as `ptr<f16>` or `i32`."""
    from tileir.dialects.cuda_tile import TileType

    for top in source.body.operations:
        if top.operation.name != "cuda_tile.module":
            continue
        for op in top.operation.regions[0].blocks[0]:
            if op.operation.name == "cuda_tile.entry":
                arguments = op.operation.regions[0].blocks[0].arguments
                types = (TileType(a.type).element_type for a in arguments)
                name = StringAttr(op.operation.attributes["sym_name"]).value
                yield name, tuple(str(t).removeprefix("!cuda_tile.") for t in types)


@dataclass(frozen=True)
class _LaunchFacts:
    """What a launcher must know that is decided on the way to the stage tile_gpu."""

    threads: int
    shared_bytes: int
    grid: Extents
    cluster: Extents
    hidden: tuple[HiddenParameter, ...]


def _launch_facts(module: Module) -> Iterator[tuple[str, _LaunchFacts]]:
    from tileir.passes.allocate_shared_memory import SHARED_BYTES_ATTRIBUTE
    from tileir.passes.choose_num_warps import block_threads
    from tileir.passes.launch_contract import hidden_parameters, launch_cluster, launch_grid
    from tileir.passes.walk import kernels

    for kernel in kernels(module.operation):
        yield (
            StringAttr(kernel.attributes["sym_name"]).value,
            _LaunchFacts(
                threads=block_threads(kernel),
                shared_bytes=IntegerAttr(kernel.attributes[SHARED_BYTES_ATTRIBUTE]).value,
                grid=launch_grid(kernel),
                cluster=launch_cluster(kernel),
                hidden=hidden_parameters(kernel),
            ),
        )
