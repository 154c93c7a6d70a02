"""A process that compiles for others, because LLVM ends its process on errors.

    python -m tileir.compiler.worker_process

reads requests from standard input and answers on standard output (`worker_messages` says how). A
request carries a module and the step to run, which may be all of a compilation; the answer, what
it gave or an error. `tileir.compiler.worker` starts such processes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING

from tileir import trace
from tileir.compiler.worker_messages import (
    Header,
    Message,
    Step,
    TextStep,
    pack_error,
    receive,
    send,
)
from tileir.errors import CompilerCrash, TileError, ToolError

if TYPE_CHECKING:
    from tileir.compiler.output import Output
    from tileir.compiler.pipeline import Options


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers requests until their stream ends."""
    from tileir.dialects import prepare_context

    prepare_context(for_llvm=True)
    send(answers, {"ready": True})
    while (request := receive(requests)) is not None:
        header, payload = request
        _respond(header, payload, answers)
        # The next request will probably be of the same kind.
        prepare_context(for_llvm=True)
        if header["step"] == "compile":
            prepare_context()


def _respond(header: Header, payload: bytes, answers: IO[bytes]) -> None:
    """Sends the answer to a request, which may be an error."""
    try:
        with _recording(header["trace"]) as recorder:
            answer, contents = _STEPS[header["step"]](header, payload, answers)
        events = trace.pack(recorder.events) if recorder else None
        send(answers, {**answer, "ok": True, "events": events}, contents)
    except TileError as error:
        send(answers, *pack_error(error))
    except Exception as error:
        send(answers, *pack_error(_fault(error, header)))


def _recording(wanted: bool) -> AbstractContextManager[trace.Recorder | None]:
    return trace.recording() if wanted else contextlib.nullcontext()


def _fault(error: Exception, header: Header) -> CompilerCrash:
    """What an exception of our own code is told as."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return CompilerCrash(
        f"internal error: {type(error).__name__}: {error} ({where.filename}:{where.lineno})",
        location=header.get("name"),
        remedy="this is a bug of tileir; please report it",
        details="".join(traceback.format_exception(error)),
    )


# ---- steps: what an answer says, and its payload -------------------------------------------------


def _text(header: Header, payload: bytes, answers: IO[bytes]) -> Message:
    return {}, run_here(header["step"], payload).encode()


def _check(header: Header, payload: bytes, answers: IO[bytes]) -> Message:
    from tileir.mlir_parser import parse_checked_bytecode

    parse_checked_bytecode(payload, header["name"])
    return {}, b""


def _compile(header: Header, payload: bytes, answers: IO[bytes]) -> Message:
    """All of a compilation. The module that LLVM gets is sent ahead."""
    from tileir.compiler.build import build
    from tileir.compiler.pipeline import Options
    from tileir.compiler.toolchain import start_assembler
    from tileir.source import parse

    def to_ptx(nvvm: bytes) -> str:
        send(answers, {"stage": "nvvm"}, nvvm)
        return run_here("ptx", nvvm)

    options = Options(**header["options"])
    start_assembler(options.target, options.opt_level, header["ptxas"])
    output = build(parse(payload, name=header["name"]), options, to_ptx)
    return _assembled(output, options, header["ptxas"]).pack()


_STEPS: dict[Step, Callable[[Header, bytes, IO[bytes]], Message]] = {
    "llvmir": _text,
    "ptx": _text,
    "check": _check,
    "compile": _compile,
}


def _assembled(output: Output, options: Options, ptxas: str | None) -> Output:
    """The output with machine code, if there is a ptxas."""
    from tileir.compiler.build import facts, stopwatch
    from tileir.compiler.toolchain import assemble, find_tool

    try:
        find_tool("ptxas", ptxas)
    except ToolError:
        return output
    timings = dict(output.timings)
    with facts((info.name for info in output.kernels), options), stopwatch(timings, "cubin"):
        assembly = assemble(output.ptx, options.target, options.opt_level, ptxas)
    return dataclasses.replace(output, assembly=assembly, timings=timings)


def run_here(step: TextStep, module: bytes) -> str:
    """Runs a step on a module given as MLIR bytecode, in this process. Raises CompilerCrash."""
    from tileir.compiler import codegen
    from tileir.mlir_parser import parse_checked_bytecode

    run = {"llvmir": codegen.to_llvmir, "ptx": codegen.to_ptx}[step]
    with trace.slice("read module"):
        parsed = parse_checked_bytecode(module, "<nvvm>", for_llvm=True)
    with trace.slice("LLVM", step=step), parsed.context:
        return run(parsed)


# ---- the program ---------------------------------------------------------------------------------


def main() -> None:
    """Serves standard input and output, and ends with the process that has started this one."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what LLVM prints must not mix with the answers
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    serve(sys.stdin.buffer, answers)


def _end_with(parent: int) -> None:
    """Ends this process and what it has started soon after its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
