"""Compiling in a process of its own: LLVM ends its process on errors, which must not be ours.

`Worker` starts the process (`worker_process`) when first used, and again after a crash.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

from tileir import trace
from tileir.compiler.worker_messages import (
    Header,
    Message,
    Step,
    TextStep,
    receive,
    send,
    unpack_error,
)
from tileir.errors import CompilerCrash, CompileTimeout, ParseError, TileError, ToolError

if TYPE_CHECKING:
    from tileir.compiler.output import Output
    from tileir.compiler.pipeline import Options

_PROCESS = "tileir.compiler.worker_process"
#: MLIR reads a file within so many seconds, and one more for so many bytes; some it reads for ever.
_CHECK_SECONDS = 10
_CHECK_BYTES_PER_SECOND = 100_000
#: Variables that the process does not get: what it has to tell comes with its answers.
_LOG_VARIABLES = ("TILEIR_TRACE", "TILEIR_LOG", "CT_LOG_LEVEL")


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

    def run(self, step: TextStep, module: bytes) -> str:
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

        request = {"name": name, "options": dataclasses.asdict(options), "ptxas": ptxas}
        stages: list[bytes] = []
        try:
            answer = self._call("compile", request, source, patience, on_stage=stages.append)
            return Output.unpack(*answer)
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
        patience = _CHECK_SECONDS + len(data) / _CHECK_BYTES_PER_SECOND
        try:
            self._call("check", {"name": name}, data, patience)
        except _Ended:
            raise ParseError("malformed MLIR bytecode", location=name) from None

    def _run(self, step: TextStep, module: bytes) -> str:
        try:
            return self._call(step, {}, module)[1].decode()
        except _Ended as end:
            raise _crash(end, module, "<nvvm>") from None

    def _blame(self, step: TextStep, module: bytes) -> None:
        """Runs a step on each of several kernels alone, until one fails."""
        from tileir.compiler.crash import kernels_alone

        for kernel in kernels_alone(module):
            self._run(step, kernel)

    def _call(
        self,
        step: Step,
        request: Header,
        payload: bytes,
        patience: float | None = None,
        on_stage: Callable[[bytes], object] = lambda module: None,
    ) -> Message:
        """The answer to a request. Raises the TileError that is the answer, or _Ended, also where
        there is none after `patience` seconds."""
        with self._lock:
            try:
                self._get_ready()
                with self._watched(patience):
                    header, answer = self._ask({"step": step, **request}, payload, on_stage)
            except BaseException:
                # Whatever interrupted us (Ctrl-C, say): a late answer must not meet the next
                # question.
                self._kill()
                raise
        if header["ok"]:
            if header["events"]:
                trace.merge(header["events"])
            return header, answer
        raise unpack_error(header, answer)

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

    def _ask(self, request: Header, payload: bytes, on_stage: Callable[[bytes], object]) -> Message:
        process = self._running()
        assert process.stdin and process.stdout and self._said
        before = self._said.seek(0, os.SEEK_END)
        try:
            send(process.stdin, {**request, "trace": trace.is_on()}, payload)
            answer = receive(process.stdout)
            while answer and "stage" in answer[0]:
                on_stage(answer[1])
                answer = receive(process.stdout)
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
            command = [sys.executable, "-P", "-m", _PROCESS]
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
        if receive(process.stdout) is None:
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
        f"cannot start the compiler process '{sys.executable} -m {_PROCESS}': {reason}",
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
