"""A process that runs LLVM for us, because LLVM ends its process on errors.

    python -m tileir.compiler.worker

reads requests from standard input and answers on standard output, each message a length (8 bytes,
little endian) and a JSON header, followed by as many bytes of payload as the header says. A request
carries a module as MLIR bytecode and the step to run; the answer, the text it gave or an error.

`Worker` is the other end: it starts the process when first used and again after a crash.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, Literal

from tileir import errors, trace
from tileir.errors import CompilerCrash, ParseError, TileError, ToolError

if TYPE_CHECKING:
    from tileir.ir import Context

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
    """Answers requests until their stream ends. Each has a context of its own, made before the
    request comes; the one before is destroyed after its answer has gone."""
    from tileir.dialects import make_context

    context = make_context()
    _send(answers, {"ready": True})
    while (message := _receive(requests)) is not None:
        header, payload = message
        try:
            answer, events = _traced_answer(header, payload, context)
            _send(answers, {"ok": True, "events": events}, answer.encode())
        except CompilerCrash as crash:
            fields = {name: getattr(crash, name) for name in _CRASH_FIELDS}
            _send(answers, {"ok": False, "crash": fields}, crash.details.encode())
        except TileError as error:
            fields = {name: getattr(error, name) for name in _ERROR_FIELDS}
            _send(answers, {"ok": False, "error": fields, "type": type(error).__name__})
        context = make_context()


def _traced_answer(
    header: dict[str, Any], payload: bytes, context: Context
) -> tuple[str, dict[str, Any] | None]:
    """The answer, and the slices of the work if the caller wants them."""
    if not header["trace"]:
        return _answer(header, payload, context), None
    with trace.recording() as recorder:
        answer = _answer(header, payload, context)
    return answer, trace.pack(recorder.events)


def _answer(header: dict[str, Any], payload: bytes, context: Context) -> str:
    if header["step"] != "check":
        return run_here(header["step"], payload, context)
    from tileir.mlir_parser import parse_checked_bytecode

    parse_checked_bytecode(payload, header["name"], context)
    return ""


def run_here(step: Step, module: bytes, context: Context | None = None) -> str:
    """Runs a step on a module given as MLIR bytecode, in this process. Raises CompilerCrash."""
    from tileir.compiler import codegen
    from tileir.mlir_parser import parse_checked_bytecode

    run = {"llvmir": codegen.to_llvmir, "ptx": codegen.to_ptx}[step]
    with trace.slice("read module"):
        parsed = parse_checked_bytecode(module, "<nvvm>", context)
    with trace.slice("LLVM", step=step), parsed.context:
        return run(parsed)


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what LLVM prints must not mix with the answers
    serve(sys.stdin.buffer, answers)


# ---- the other end -------------------------------------------------------------------------------


class _Ended(Exception):
    """The process ended with `code` instead of an answer, after it had `said` something."""

    def __init__(self, code: int, said: str):
        super().__init__(code, said)
        self.code = code
        self.said = said


class Worker:
    """One worker process. Calls from several threads take turns."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._said: IO[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the process, if it does not run; it gets ready meanwhile."""
        with self._lock:
            self._running()

    def run(self, step: Step, module: bytes, meanwhile: Callable[[], object] = lambda: None) -> str:
        """Runs a step on a module given as MLIR bytecode, and `meanwhile` here.

        Raises CompilerCrash where LLVM fails or the process ends, ToolError where it cannot start.
        """
        try:
            return self._run(step, module, meanwhile)
        except CompilerCrash as crash:
            if crash.kernel is None:
                self._blame(step, module)
            raise

    def check(self, data: bytes, name: str) -> None:
        """Reads MLIR bytecode. Raises ParseError or VerificationError."""
        try:
            self._call({"step": "check", "name": name}, data, _PATIENCE + len(data) / _SLOWEST)
        except _Ended:
            raise ParseError("malformed MLIR bytecode", location=name) from None

    def _run(
        self, step: Step, module: bytes, meanwhile: Callable[[], object] = lambda: None
    ) -> str:
        try:
            return self._call({"step": step}, module, meanwhile=meanwhile)
        except _Ended as end:
            raise _crash(end, module) from None

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
        meanwhile: Callable[[], object] = lambda: None,
    ) -> str:
        """The answer to a request. Raises the TileError that is the answer, or _Ended, also where
        there is none after `patience` seconds."""
        with self._lock:
            try:
                with self._watched(patience):
                    header, answer = self._ask(request, payload, meanwhile)
            except BaseException:
                # Whatever interrupted us (Ctrl-C, say): a late answer must not meet the next
                # question.
                self._kill()
                raise
        if header["ok"]:
            if header["events"]:
                trace.merge(header["events"])
            return answer.decode()
        if "crash" in header:
            raise CompilerCrash(**header["crash"], details=answer.decode())
        raise getattr(errors, header["type"])(**header["error"])

    @contextlib.contextmanager
    def _watched(self, patience: float | None) -> Iterator[None]:
        """Ends the process if it does not answer in time."""
        if patience is None:
            yield
            return
        timer = threading.Timer(patience, self._running().kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ask(
        self, request: dict[str, Any], payload: bytes, meanwhile: Callable[[], object]
    ) -> tuple[dict[str, Any], bytes]:
        process = self._running()
        assert process.stdin and process.stdout and self._said
        if not self._is_ready:
            self._await(process)
        before = self._said.seek(0, os.SEEK_END)
        try:
            _send(process.stdin, {**request, "trace": trace.is_on()}, payload)
            meanwhile()
            answer = _receive(process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise _Ended(process.wait(), self._words(before))
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            # A file, since nobody would empty a pipe.
            self._said = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by _kill)
            command = [sys.executable, "-m", "tileir.compiler.worker"]
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._said,
                    env=_environment(),
                )
            except OSError as error:
                raise _no_worker(str(error)) from None
        return self._process

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        """Waits until the process answers."""
        assert process.stdout
        if _receive(process.stdout) is None:
            code = process.wait()
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
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):  # what was not sent yet
                        stream.close()
        if self._said is not None:
            self._said.close()
            self._said = None

    def stop(self) -> None:
        """Ends the process, if it runs."""
        with self._lock:
            self._kill()


def _environment() -> dict[str, str]:
    """Our environment for the process, which imports what we import and leaves logs to us."""
    kept = {key: value for key, value in os.environ.items() if key not in _LOG_VARIABLES}
    return {**kept, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def _no_worker(reason: str) -> ToolError:
    return ToolError(
        f"cannot start the compiler process '{sys.executable} -m tileir.compiler.worker': {reason}",
        remedy="compile with isolate=False",
    )


def _crash(end: _Ended, module: bytes) -> CompilerCrash:
    from tileir.compiler.crash import failure_from_end
    from tileir.dialects import make_context
    from tileir.ir import Module

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
