"""A process that runs LLVM for us, because LLVM ends its process on errors.

    python -m tileir.compiler.worker

reads requests from standard input and answers on standard output, each message a length (8 bytes,
little endian) and a JSON header, followed by as many bytes of payload as the header says. A request
carries a module as MLIR bytecode and the step to run; the answer, the text it gave or an error.

`Worker` is the other end: it starts the process when first used and again after a crash.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from typing import IO, Any

from tileir.errors import CompilerCrash, TileError

_LENGTH_BYTES = 8


def _send(stream: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    text = json.dumps({**header, "payload": len(payload)}).encode()
    stream.write(len(text).to_bytes(_LENGTH_BYTES, "little") + text + payload)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message, None at the end of the stream."""
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    header = json.loads(stream.read(int.from_bytes(length, "little")))
    return header, stream.read(header["payload"])


# ---- the process ---------------------------------------------------------------------------------


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answers requests until their stream ends."""
    from mlir.ir import MLIRError

    from tileir.compiler import codegen
    from tileir.dialects import make_context
    from tileir.ir import Module

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
        self._lock = threading.Lock()

    def run(self, step: str, module: bytes) -> str:
        """Runs a step (`llvmir` or `ptx`) on a module given as MLIR bytecode.

        Raises TileError with LLVM's message, or CompilerCrash if the process ended.
        """
        with self._lock:
            process = self._running()
            assert process.stdin and process.stdout
            try:
                _send(process.stdin, {"step": step}, module)
                answer = _receive(process.stdout)
            except BrokenPipeError:
                answer = None
            if answer is None:
                raise self._crash(process)
        header, payload = answer
        if not header["ok"]:
            raise TileError(f"LLVM: {header['reason']}")
        return payload.decode()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tileir.compiler.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
            assert self._process.stdout
            if _receive(self._process.stdout) is None:
                raise self._crash(self._process)
        return self._process

    def _crash(self, process: subprocess.Popen[bytes]) -> CompilerCrash:
        assert process.stderr
        process.wait()
        said = process.stderr.read().decode(errors="replace").strip().splitlines()
        self._process = None
        message = next((line for line in said if "LLVM ERROR" in line or "error" in line), "")
        reason = message or (said[-1] if said else f"exit code {process.returncode}")
        return CompilerCrash(
            f"LLVM ended the compiler process: {reason}",
            remedy="this is a bug of tileir; please report it with the kernel",
        )

    def stop(self) -> None:
        """Ends the process, if it runs."""
        if self._process is not None and self._process.poll() is None:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.wait(timeout=5)
        self._process = None


_shared: Worker | None = None
_shared_lock = threading.Lock()


def shared_worker() -> Worker:
    """The worker of this process."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Worker()
            atexit.register(_shared.stop)
        return _shared


if __name__ == "__main__":
    main()
