"""External tools: where ptxas and the disassembler are found, and how they are run.

Each tool is looked for, in this order, as
1. the path given by the caller (`ptxas=`, `--ptxas`),
2. the path in `TILEIR_PTXAS` or `TILEIR_NVDISASM`,
3. the PyPI package (`nvidia-cuda-nvcc`, `nvidia-cuda-nvdisasm`),
4. a program on the PATH,
5. `$CUDA_HOME/bin`, then `/usr/local/cuda/bin`.

libdevice needs no search: the MLIR package contains it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tileir import trace
from tileir.compiler import standby
from tileir.compiler.allocations import large_allocations
from tileir.compiler.effort import effort_of
from tileir.errors import ToolError

_PACKAGES = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


def find_tool(name: str, path: str | None = None) -> Path:
    """The program `name` (ptxas or nvdisasm). Raises ToolError naming every place it is not in."""
    given = path or os.environ.get(f"TILEIR_{name.upper()}")
    if given:
        if not _is_program(Path(given)):
            raise ToolError(f"{name} is not at '{given}'", remedy="give the path of the program")
        return Path(given)
    tried = []
    for candidate in _candidates(name):
        if _is_program(candidate):
            return candidate
        tried.append(str(candidate))
    raise ToolError(
        f"no {name} found; looked at {', '.join(tried)}",
        remedy=f"pip install {_PACKAGES[name]}, or set TILEIR_{name.upper()}",
    )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _run(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end. Raises ToolError if the file is no program for this machine."""
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise _no_program(command[0], error) from None


def _no_program(tool: str | Path, error: OSError) -> ToolError:
    return ToolError(f"cannot run {tool}: {error.strerror}")


def _candidates(name: str) -> Iterator[Path]:
    for root in _package_roots():
        yield root / "bin" / name
    on_path = shutil.which(name)
    if on_path:
        yield Path(on_path)
    for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if root:
            yield Path(root) / "bin" / name


@functools.cache
def _package_roots() -> tuple[Path, ...]:
    """Folders of the CUDA packages from PyPI."""
    try:
        spec = find_spec("nvidia.cu13")
    except ImportError:
        return ()
    return tuple(map(Path, spec.submodule_search_locations or ())) if spec else ()


@dataclass(frozen=True)
class KernelReport:
    """What ptxas says of one kernel: registers per thread, bytes of spills and stack."""

    registers: int
    spill_bytes: int
    stack_bytes: int


@dataclass(frozen=True)
class Assembly:
    """A cubin, the report on each of its kernels, and what else ptxas had to say."""

    cubin: bytes
    reports: dict[str, KernelReport]
    messages: tuple[str, ...]


#: What a cubin begins with.
_ELF = b"\x7fELF"
#: Static shared memory beyond 48 KiB, which ptxas refuses before sm_90 unless told so.
_OPTIONS = ("--enable-extended-smem=true",)


def start_assembler(target: str, opt_level: int, ptxas: str | None = None) -> None:
    """Starts the ptxas that `assemble` will want, if there is one and none waits, while the PTX is
    made."""
    with contextlib.suppress(ToolError):
        standby.assembler.start(*_call(find_tool("ptxas", ptxas), target, opt_level))


def assemble(
    ptx: str,
    target: str,
    opt_level: int,
    ptxas: str | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> Assembly:
    """Assembles PTX for `target`, and runs `meanwhile` in this process, which only waits. Raises
    ToolError with the message, path and version of ptxas."""
    path = find_tool("ptxas", ptxas)
    call = _call(path, target, opt_level)
    with trace.slice("ptxas", "tool", opt_level=opt_level, target=target):
        try:
            tool = standby.assembler.take(*call)
        except OSError as error:
            raise _no_program(path, error) from None
        with tool:
            tool.feed(ptx.encode())
            standby.assembler.start(*call)  # for the next compilation
            meanwhile()
            code, cubin, report = tool.result()
    if code or not cubin.startswith(_ELF):
        first = (report or cubin.decode(errors="replace")).strip().splitlines()[:5]
        reason = "; ".join(first) or f"exit code {code}"
        raise ToolError(
            f"{path} ({tool_version(path)}) failed for {target}: {reason}",
            remedy="use a ptxas of CUDA 13.0 or newer (TILEIR_PTXAS)",
        )
    return Assembly(cubin, dict(_reports(report)), tuple(_messages(report)))


def _call(tool: Path, target: str, opt_level: int) -> tuple[list[str], dict[str, str]]:
    """The command that assembles standard input to standard output, and its environment."""
    options = [*effort_of(opt_level).ptxas, *_OPTIONS]
    command = [str(tool), f"-arch={target}", "-v", *options, "/dev/stdin", "-o", "/dev/stdout"]
    return command, large_allocations(os.environ)


@functools.cache
def tool_version(tool: Path) -> str:
    """`release 13.0, V13.0.88`, or what the program calls its version."""
    done = _run([tool, "--version"])
    match = re.search(r"release .*", done.stdout)
    return match[0] if match else "unknown version"


_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


def _reports(text: str) -> Iterator[tuple[str, KernelReport]]:
    name, stack, spills = "", 0, 0
    for line in text.splitlines():
        if match := _ENTRY.search(line):
            name = match[1]
        elif match := _STACK.search(line):
            stack, spills = int(match[1]), int(match[2]) + int(match[3])
        elif match := _REGISTERS.search(line):
            yield name, KernelReport(int(match[1]), spills, stack)


def _messages(text: str) -> Iterator[str]:
    """Warnings and performance remarks, without the report itself."""
    for line in text.splitlines():
        if "warning" in line.lower() or re.search(r"C\d{4}", line):
            yield line.strip()


def disassemble(cubin: bytes) -> str:
    """SASS of a cubin."""
    tool = find_tool("nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        with trace.slice("nvdisasm", "tool"):
            done = _run([tool, "-c", file.name])
    if done.returncode:
        raise ToolError(f"{tool} ({tool_version(tool)}) failed: {done.stderr.strip()}")
    return done.stdout
