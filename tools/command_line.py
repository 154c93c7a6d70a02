"""What the tools share: reading and writing files, and how errors end a program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tileir.errors import TileError, ToolError

STDIN = "<stdin>"
TRACE_HELP = "write a trace for Perfetto: a slice for each pass, LLVM, ptxas, launch"


def run_tool(name: str, body: Callable[[], int], trace: str | None = None) -> int:
    """Runs a tool's body; errors become diagnostics on stderr and exit code 1. `trace` is a file
    for a trace of the run.

    A diagnostic is `file:line:col: error: reason`, then the remedy if there is one.  With
    TILEIR_DEBUG=1 exceptions show their traceback.
    """
    if os.environ.get("TILEIR_DEBUG") == "1":
        return _traced(body, trace)
    try:
        return _traced(body, trace)
    except TileError as error:
        where = f"{error.location}: " if error.location else f"{name}: "
        print(f"{where}error: {error.reason}", file=sys.stderr)
        if error.remedy:
            print(f"  {error.remedy}", file=sys.stderr)
    except BrokenPipeError:
        # The reader went away, as in `tile-translate ... | head`; nothing is wrong with us.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    except RecursionError:
        print(f"{name}: error: the input is nested too deeply", file=sys.stderr)
    except MemoryError:
        print(f"{name}: error: out of memory", file=sys.stderr)
    except Exception as error:
        print(
            f"{name}: error: internal error: {type(error).__name__}: {error}\n"
            "  this is a bug in tileir; TILEIR_DEBUG=1 shows where",
            file=sys.stderr,
        )
    return 1


def _traced(body: Callable[[], int], path: str | None) -> int:
    if path is None:
        return body()
    from tileir import trace

    with trace.to_file(path):
        return body()


def read_input(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror}") from error


def write_output(path: str, content: str | bytes) -> None:
    """Writes text or bytes to a file, or to standard output for `-`."""
    data = content.encode() if isinstance(content, str) else content
    if path != "-":
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise ToolError(f"cannot write {path}: {error.strerror}") from error
        return
    if isinstance(content, bytes) and sys.stdout.isatty():
        raise ToolError("the output is binary and standard output a terminal", remedy="use -o FILE")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
