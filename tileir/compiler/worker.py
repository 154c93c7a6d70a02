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
from typing import IO, Any

from tileir.errors import CompilerCrash, TileError

_LENGTH_BYTES = 8


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
    from tileir.compiler import codegen
    from tileir.dialects import make_context
    from tileir.ir import MLIRError, Module

    steps = {"llvmir": codegen.to_llvmir, "ptx": codegen.to_ptx}
    while (message := _receive(requests)) is not None:
        header, payload = message
        try:
            with make_context():
                text = steps[header["step"]](Module.parse(payload))
            _send(answers, {"ok": True}, text.encode())
        except (TileError, MLIRError, RuntimeError, ValueError) as error:
            _send(answers, {"ok": False, "reason": str(error)})


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what LLVM prints must not mix with the answers
    _send(answers, {"ready": True})
    serve(sys.stdin.buffer, answers)


# ---- the other end -------------------------------------------------------------------------------


class Worker:
    """One worker process. Calls from several threads take turns."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._lock = threading.Lock()

    def run(self, step: str, module: bytes) -> str:
        """Runs a step (`llvmir` or `ptx`) on a module given as MLIR bytecode.

        Raises TileError with LLVM's message, or CompilerCrash if the process ended.
        """
        with self._lock:
            try:
                header, payload = self._ask(step, module)
            except BaseException:
                # Whatever interrupted us (Ctrl-C, say): a late answer must not meet the next
                # question.
                self._kill()
                raise
        if not header["ok"]:
            raise TileError(f"LLVM: {header['reason']}")
        return payload.decode()

    def _ask(self, step: str, module: bytes) -> tuple[dict[str, Any], bytes]:
        process = self._running()
        assert process.stdin and process.stdout
        try:
            _send(process.stdin, {"step": step}, module)
            answer = _receive(process.stdout)
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise self._crash(process)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            # A file, since nobody would empty a pipe. `_kill` closes it.
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tileir.compiler.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
            assert self._process.stdout
            if _receive(self._process.stdout) is None:
                raise self._crash(self._process)
        return self._process

    def _crash(self, process: subprocess.Popen[bytes]) -> CompilerCrash:
        assert self._said is not None
        code = process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        message = next((line for line in said if "LLVM ERROR" in line or "error" in line), "")
        reason = message or (said[-1] if said else f"exit code {code}")
        return CompilerCrash(
            f"LLVM ended the compiler process: {reason}",
            remedy="this is a bug of tileir; please report it with the kernel",
        )

    def _kill(self) -> None:
        """Ends the process, whatever it does, and closes what leads to it."""
        process, self._process = self._process, None
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
