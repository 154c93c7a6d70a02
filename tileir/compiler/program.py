"""A compiled module: its stages, PTX, cubin and kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tileir import logging
from tileir.compiler.output import Output
from tileir.compiler.pipeline import MLIR_STAGES, STAGES, Options
from tileir.compiler.worker import shared_worker
from tileir.compiler.worker_messages import TextStep
from tileir.compiler.worker_process import run_here
from tileir.errors import TileError

if TYPE_CHECKING:
    from tileir.compiler.toolchain import Assembly
    from tileir.ir import Module
    from tileir.runtime.metadata import KernelInfo


_Result = TypeVar("_Result")


class Program:
    """The kernels of one module, compiled for one target.

    ptx       PTX of all kernels
    cubin     machine code (assembled by ptxas when first asked for)
    kernels   what a launcher must know of each kernel, by name
    remarks   what the compiler has to say about its decisions
    timings   seconds that each stage took, as far as it has run
    """

    def __init__(
        self,
        source: Callable[[], Module],
        options: Options,
        output: Output,
        isolate: bool = True,
        ptxas: str | None = None,
    ):
        self.options = options
        self.timings = dict(output.timings)
        self.ptx = output.ptx
        self._source = source
        self._output = output
        self._isolate = isolate
        self._ptxas = ptxas
        for remark in output.remarks:
            logging.tell("remarks", remark)
        logging.tell("ptx", self.ptx)
        if output.assembly:
            _tell_messages(output.assembly)

    # ---- results -----------------------------------------------------------------------------

    @property
    def cubin(self) -> bytes:
        """Machine code for the target. Raises ToolError without a ptxas."""
        return self._assembled().cubin

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """What a launcher must know of each kernel; registers once the cubin has been made."""
        assembly = self._output.assembly
        reports = assembly.reports if assembly else {}
        return {
            info.name: replace(
                info,
                registers=reports[info.name].registers,
                spill_bytes=reports[info.name].spill_bytes,
                stack_bytes=reports[info.name].stack_bytes,
            )
            if info.name in reports
            else info
            for info in self._output.kernels
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """`file:line:col: remark: ...` of the passes, and once the cubin has been made, messages
        of ptxas on performance."""
        assembly = self._output.assembly
        return (*self._output.remarks, *(assembly.messages if assembly else ()))

    def stage(self, name: str) -> str:
        """The program as text at one of `STAGES`. Raises ToolError if a tool for it is missing."""
        if name in MLIR_STAGES:
            return str(self._lowered(name))
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

    def _lowered(self, stage: str) -> Module:
        """A copy of the source, at a stage of MLIR."""
        from tileir.compiler.build import lower
        from tileir.compiler.mlir_bytecode import copy

        module = copy(self._source())
        lower(module, stage, self.options)
        return module

    def _run_llvm(self, step: TextStep) -> str:
        from tileir.compiler.mlir_bytecode import to_bytecode

        nvvm = to_bytecode(self._lowered("nvvm"))
        return (shared_worker().run if self._isolate else run_here)(step, nvvm)

    def _assembled(self) -> Assembly:
        from tileir.compiler.build import facts

        assembly = self._output.assembly
        if assembly is None:
            with facts(self.kernels, self.options):
                assembly = self._timed("cubin", self._assemble)
            self._output = replace(self._output, assembly=assembly)
            _tell_messages(assembly)
        return assembly

    def _assemble(self) -> Assembly:
        from tileir.compiler.toolchain import assemble
        from tileir.dialects import prepare_context

        options = self.options
        # The next compilation will want a context.
        return assemble(self.ptx, options.target, options.opt_level, self._ptxas, prepare_context)

    def _timed(self, stage: str, run: Callable[[], _Result]) -> _Result:
        from tileir.compiler.build import stopwatch

        with stopwatch(self.timings, stage):
            return run()


def compile_here(
    source: Module, options: Options, isolate: bool = True, ptxas: str | None = None
) -> Program:
    """Compiles a module in this process, LLVM's part in the worker unless `isolate` is false."""
    from tileir.compiler.build import build
    from tileir.compiler.toolchain import start_assembler

    worker = shared_worker()
    if isolate:
        worker.start()  # gets ready while we lower
    start_assembler(options.target, options.opt_level, ptxas)

    def to_ptx(nvvm: bytes) -> str:
        return worker.run("ptx", nvvm) if isolate else run_here("ptx", nvvm)

    output = build(source, options, to_ptx)
    return Program(lambda: source, options, output, isolate, ptxas)


def _tell_messages(assembly: Assembly) -> None:
    for message in assembly.messages:
        logging.tell("remarks", message)
