"""What a worker process and its client (`worker_process`, `worker`) tell each other.

A message is a length (8 bytes, little endian) and a JSON header, followed by as many bytes of
payload as the header says. The process first says that it is ready. A request names a `Step`, and
its payload is a module; the answer is what the step gave, or an error. The answer to `compile`
comes after the module that LLVM gets, should LLVM end the process.
"""

from __future__ import annotations

import json
from typing import IO, Any, Literal

from tileir import errors
from tileir.errors import CompilerCrash, TileError

#: From a module at the stage nvvm to text.
TextStep = Literal["llvmir", "ptx"]
#: What a worker can be asked for: a text, all of a compilation, or whether MLIR can read a file.
Step = Literal["llvmir", "ptx", "compile", "check"]

Header = dict[str, Any]
Message = tuple[Header, bytes]

_LENGTH_BYTES = 8
_ERROR_FIELDS = ("reason", "location", "remedy")
_CRASH_FIELDS = (*_ERROR_FIELDS, "kernel", "report")


def send(stream: IO[bytes], header: Header, payload: bytes = b"") -> None:
    """Writes a message. Raises BrokenPipeError where the other side has ended."""
    text = json.dumps({**header, "payload": len(payload)}).encode()
    stream.write(len(text).to_bytes(_LENGTH_BYTES, "little") + text + payload)
    stream.flush()


def receive(stream: IO[bytes]) -> Message | None:
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


def pack_error(error: TileError) -> Message:
    """The answer that tells of an error."""
    if isinstance(error, CompilerCrash):
        crash = {name: getattr(error, name) for name in _CRASH_FIELDS}
        return {"ok": False, "crash": crash}, error.details.encode()
    fields = {name: getattr(error, name) for name in _ERROR_FIELDS}
    return {"ok": False, "error": fields, "type": type(error).__name__}, b""


def unpack_error(header: Header, payload: bytes) -> TileError:
    """The error that an answer tells of."""
    if "crash" in header:
        return CompilerCrash(**header["crash"], details=payload.decode())
    return getattr(errors, header["type"])(**header["error"])
