"""A process that runs LLVM for us, because LLVM ends its process on errors.

    python -m tileir.compiler.worker

reads requests from standard input and answers on standard output, each message a length (8 bytes,
little endian) and a JSON header, followed by as many bytes of payload as the header says. A request
carries a module and the step to run, which may be all of a compilation; the answer, what it gave or
an error.

`Worker` is the other end: it starts the process when first used and again after a crash.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Any, Literal

from tileir import errors, trace
from tileir.errors import CompilerCrash, CompileTimeout, ParseError, TileError, ToolError

if TYPE_CHECKING:
    from tileir.compiler.output import Output
    from tileir.compiler.pipeline import Options

#: From a module at the stage nvvm to text.
Step = Literal["llvmir", "ptx"]

_LENGTH_BYTES = 8
#: Seconds within which MLIR reads a file, and bytes a second beyond that; on some it never ends.
_PATIENCE = 10
_SLOWEST = 100_000
_LOG_VARIABLES = ("TILEIR_TRACE", "TILEIR_LOG", "CT_LOG_LEVEL")
_ERROR_FIELDS = ("reason", "location", "remedy")
_CRASH_FIELDS = (*_ERROR_FIELDS, "kernel", "report")


def _send(stream: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps({**header, "payload": len(payload)}).encode()
    stream.write(len(text).to_bytes(_LENGTH_BYTES, "little") + text + payload)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message, None where the stream ends before or within one."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(length, "little")
    text = stream.read(size)
    if len(text) < size:
        return None
    header = json.loads(text)
    payload = stream.read(header["payload"])
    return (header, payload) if len(payload) == header["payload"] else None


# ---- the process ---------------------------------------------------------------------------------


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers requests until their stream ends."""
    from tileir.dialects import prepare_context

    prepare_context(for_llvm=True)
    _send(answers, {"ready": True})
    while (message := _receive(requests)) is not None:
        header, payload = message
        try:
            with _recording(header["trace"]) as recorder:
                answer, text = _answer(header, payload, answers)
            events = trace.pack(recorder.events) if recorder else None
            _send(answers, {**answer, "ok": True, "events": events}, text)
        except CompilerCrash as crash:
            fields = {name: getattr(crash, name) for name in _CRASH_FIELDS}
            _send(answers, {"ok": False, "crash": fields}, crash.details.encode())
        except TileError as error:
            fields = {name: getattr(error, name) for name in _ERROR_FIELDS}
            _send(answers, {"ok": False, "error": fields, "type": type(error).__name__})
        except Exception as error:
            _send(
                answers,
                {"ok": False, "crash": _fault(error, header)},
                traceback.format_exc().encode(),
            )
        # The next request will probably be of the same kind.
        prepare_context(for_llvm=True)
        if header["step"] == "compile":
            prepare_context()


def _fault(error: Exception, header: dict[str, Any]) -> dict[str, Any]:
    """The fields of the CompilerCrash that an exception of our own code becomes."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    return {
        "reason": f"internal error: {type(error).__name__}: {error} "
        f"({where.filename}:{where.lineno})",
        "location": header.get("name"),
        "remedy": "this is a bug of tileir; please report it",
    }


def _recording(wanted: bool) -> AbstractContextManager[trace.Recorder | None]:
    return trace.recording() if wanted else contextlib.nullcontext()


def _answer(
    header: dict[str, Any], payload: bytes, answers: IO[bytes]
) -> tuple[dict[str, Any], bytes]:
    """What an answer says, and its payload. A whole compilation first sends the module that LLVM
    gets, should LLVM end this process."""
    if header["step"] == "check":
        from tileir.mlir_parser import parse_checked_bytecode

        parse_checked_bytecode(payload, header["name"])
        return {}, b""
    if header["step"] == "compile":

        def to_ptx(nvvm: bytes) -> str:
            _send(answers, {"stage": "nvvm"}, nvvm)
            return run_here("ptx", nvvm)

        return _compile(header, payload, to_ptx)
    return {}, run_here(header["step"], payload).encode()


def _compile(
    header: dict[str, Any], payload: bytes, to_ptx: Callable[[bytes], str]
) -> tuple[dict[str, Any], bytes]:
    from tileir.compiler.build import build
    from tileir.compiler.pipeline import Options
    from tileir.compiler.toolchain import start_assembler
    from tileir.source import parse

    options = Options(**header["options"])
    start_assembler(options.target, options.opt_level, header["ptxas"])
    output = build(parse(payload, name=header["name"]), options, to_ptx)
    return assembled(output, options, header["ptxas"]).pack()


def assembled(output: Output, options: Options, ptxas: str | None) -> Output:
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


def run_here(step: Step, module: bytes) -> str:
    """Runs a step on a module given as MLIR bytecode, in this process. Raises CompilerCrash."""
    from tileir.compiler import codegen
    from tileir.mlir_parser import parse_checked_bytecode

    run = {"llvmir": codegen.to_llvmir, "ptx": codegen.to_ptx}[step]
    with trace.slice("read module"):
        parsed = parse_checked_bytecode(module, "<nvvm>", for_llvm=True)
    with trace.slice("LLVM", step=step), parsed.context:
        return run(parsed)


def main() -> None:
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


# ---- the other end -------------------------------------------------------------------------------


class _Ended(Exception):
    """The process ended with `code` instead of an answer, after it had `said` something."""

    def __init__(self, code: int, said: str):
        super().__init__(code, said)
        self.code = code
        self.said = said


class _Stopped(_Ended):
    """We ended the process because it took too long, or because nobody wants its answer."""


class Worker:
    """One worker process. Calls from several threads take turns."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._said: IO[bytes] | None = None
        self._was_stopped = False
        self._is_unwanted = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the process, if it does not run; it gets ready meanwhile."""
        with self._lock:
            self._running()

    def run(self, step: Step, module: bytes) -> str:
        """Runs a step on a module given as MLIR bytecode.

        Raises CompilerCrash where LLVM fails or the process ends, ToolError where it cannot start.
        """
        try:
            return self._run(step, module)
        except CompilerCrash as crash:
            if crash.kernel is None:
                self._blame(step, module)
            raise

    def compile(
        self, source: bytes, name: str, options: Options, ptxas: str | None, patience: float | None
    ) -> Output:
        """Compiles text or bytecode called `name`, up to machine code if there is a ptxas.

        Raises a TileError: CompileTimeout where it takes longer than `patience` seconds,
        CompilerCrash where the process ends, and what `tileir.compile` raises.
        """
        from tileir.compiler.output import Output

        request = {
            "step": "compile", "name": name, "options": dataclasses.asdict(options),
            "ptxas": ptxas,
        }  # fmt: skip
        stages: list[bytes] = []
        try:
            return Output.unpack(*self._call(request, source, patience, on_stage=stages.append))
        except CompilerCrash as crash:
            if crash.kernel is None and stages:
                self._blame("ptx", stages[-1])
            raise
        except _Stopped:
            if self._is_unwanted:
                raise TileError("the compilation was cancelled") from None
            raise CompileTimeout(
                f"compiling took longer than {patience:g} s", location=name
            ) from None
        except _Ended as end:
            raise _crash(end, stages[-1] if stages else None, name) from None

    def check(self, data: bytes, name: str) -> None:
        """Reads MLIR bytecode. Raises ParseError or VerificationError."""
        try:
            self._call({"step": "check", "name": name}, data, _PATIENCE + len(data) / _SLOWEST)
        except _Ended:
            raise ParseError("malformed MLIR bytecode", location=name) from None

    def _run(self, step: Step, module: bytes) -> str:
        try:
            return self._call({"step": step}, module)[1].decode()
        except _Ended as end:
            raise _crash(end, module, "<nvvm>") from None

    def _blame(self, step: Step, module: bytes) -> None:
        """Runs a step on each of several kernels alone, until one fails."""
        from tileir.compiler.crash import kernels_alone

        for kernel in kernels_alone(module):
            self._run(step, kernel)

    def _call(
        self,
        request: dict[str, Any],
        payload: bytes,
        patience: float | None = None,
        on_stage: Callable[[bytes], object] = lambda module: None,
    ) -> tuple[dict[str, Any], bytes]:
        """The answer to a request. Raises the TileError that is the answer, or _Ended, also where
        there is none after `patience` seconds."""
        with self._lock:
            try:
                self._get_ready()
                with self._watched(patience):
                    header, answer = self._ask(request, payload, on_stage)
            except BaseException:
                # Whatever interrupted us (Ctrl-C, say): a late answer must not meet the next
                # question.
                self._kill()
                raise
        if header["ok"]:
            if header["events"]:
                trace.merge(header["events"])
            return header, answer
        if "crash" in header:
            raise CompilerCrash(**header["crash"], details=answer.decode())
        raise getattr(errors, header["type"])(**header["error"])

    @contextlib.contextmanager
    def _watched(self, patience: float | None) -> Iterator[None]:
        """Ends the process if it does not answer in time."""
        if patience is None:
            yield
            return
        timer = threading.Timer(patience, self._end_process)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ask(
        self,
        request: dict[str, Any],
        payload: bytes,
        on_stage: Callable[[bytes], object],
    ) -> tuple[dict[str, Any], bytes]:
        process = self._running()
        assert process.stdin and process.stdout and self._said
        before = self._said.seek(0, os.SEEK_END)
        try:
            _send(process.stdin, {**request, "trace": trace.is_on()}, payload)
            answer = _receive(process.stdout)
            while answer and "stage" in answer[0]:
                on_stage(answer[1])
                answer = _receive(process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            kind = _Stopped if self._was_stopped else _Ended
            raise kind(process.wait(), self._words(before))
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            self._was_stopped = False
            # A file, since nobody would empty a pipe.
            self._said = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by _kill)
            command = [sys.executable, "-P", "-m", "tileir.compiler.worker"]
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._said,
                    env=_environment(),
                    process_group=0,  # Ctrl-C is for us; and it ends with what it has started
                )
            except OSError as error:
                raise _no_worker(str(error)) from None
        return self._process

    def _get_ready(self) -> None:
        """Waits until the process answers."""
        process = self._running()
        if self._is_unwanted:
            raise _Stopped(0, "")
        if self._is_ready:
            return
        assert process.stdout
        if _receive(process.stdout) is None:
            code = process.wait()
            if self._was_stopped:
                raise _Stopped(code, "")
            lines = self._words(0).strip().splitlines()
            raise _no_worker(lines[-1] if lines else f"exit code {code}")
        self._is_ready = True

    def _words(self, start: int) -> str:
        """What the process said on standard error, from a position on."""
        assert self._said
        self._said.seek(start)
        return self._said.read().decode(errors="replace")

    def _kill(self) -> None:
        """Ends the process, whatever it does, and closes what leads to it."""
        process, self._process = self._process, None
        self._is_ready = False
        if process is not None:
            _kill_group(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):  # what was not sent yet
                        stream.close()
        if self._said is not None:
            self._said.close()
            self._said = None

    def abandon(self) -> None:
        """Ends the process while another thread waits for it, for good."""
        self._is_unwanted = True
        self._end_process()

    def _end_process(self) -> None:
        self._was_stopped = True
        process = self._process
        if process is not None:
            _kill_group(process)

    def stop(self) -> None:
        """Ends the process, if it runs."""
        with self._lock:
            self._kill()


def _environment() -> dict[str, str]:
    """Our environment for the process, which imports what we import and leaves logs to us."""
    kept = {key: value for key, value in os.environ.items() if key not in _LOG_VARIABLES}
    return {**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a worker and the ptxas that it may have started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _no_worker(reason: str) -> ToolError:
    return ToolError(
        f"cannot start the compiler process '{sys.executable} -m tileir.compiler.worker': {reason}",
        remedy="compile with isolate=False",
    )


def _crash(end: _Ended, module: bytes | None, name: str) -> CompilerCrash:
    """What the end of the process means; `module` is what LLVM got, if it was so far."""
    from tileir.compiler.crash import failure_before_llvm, failure_from_end
    from tileir.dialects import make_context
    from tileir.ir import Module

    if module is None:
        return failure_before_llvm(end.code, end.said, name)
    with make_context():
        return failure_from_end(end.code, end.said, Module.parse(module))


_shared = Worker()


def _forget_parents_worker() -> None:
    """In a forked child: the worker belongs to the parent."""
    global _shared
    _shared = Worker()


os.register_at_fork(after_in_child=_forget_parents_worker)
atexit.register(lambda: _shared.stop())


def shared_worker() -> Worker:
    """The worker of this process."""
    return _shared


if __name__ == "__main__":
    main()
