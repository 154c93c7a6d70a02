"""tile-opt: runs passes on CUDA Tile IR and prints the result.

    tile-opt --canonicalize --cse kernel.mlir
    tile-opt --lower-to-nvvm --target=sm_90a matmul.tilebc
    tile-opt --pass-pipeline='builtin.module(convert-cuda-tile,canonicalize)' - < kernel.mlir

The input is text (also in the form that NVIDIA's disassembler prints), MLIR bytecode or Tile IR
bytecode. Apart from --lower-to-STAGE with its options (--target, --opt-level, --launch),
--load-passes and --remarks, this is MLIR's own driver, with all its options and passes.
"""

from __future__ import annotations

import ctypes
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tileir import trace
from tileir.compiler.effort import choose_level
from tileir.errors import TileError
from tileir.tools.command_line import STDIN, read_input, run_tool

_CHUNK_MARKER = re.compile(r"^// -----.*$", re.MULTILINE)

_OWN_OPTIONS = """\
OPTIONS of tile-opt:

  --lower-to-<stage>   Run the compiler up to a stage: {stages}
  --target=<gpu>       GPU that --lower-to-<stage> compiles for (default sm_90a)
  --opt-level=<0-3>    Optimisation level of --lower-to-<stage> (default 3)
  --fast-compile=<how> Other names of levels: min is 2, mid is 1, max is 0
  --launch=<mode>      Who starts the kernels of --lower-to-<stage>: plain, any launcher (default),
                       or managed, ours, which may pass further parameters
  --trace=<file>       Write a trace for Perfetto with a slice for each pass
  --load-passes=<file> Add the passes that a Python file defines
  --remarks            Report how work was divided and what would be faster, not only what is amiss
"""


_VALUED = ("--target", "--opt-level", "--fast-compile", "--launch", "--load-passes", "--trace")


@dataclass
class CommandLine:
    """Our options, taken out of the arguments; the driver gets the others."""

    target: str = "sm_90a"
    opt_level: int = 3
    fast_compile: str | None = None
    launch: Literal["plain", "managed"] = "plain"
    trace: str | None = None
    pass_files: list[str] = field(default_factory=list)
    lowers: bool = False
    wants_help: bool = False
    wants_remarks: bool = False
    others: list[str] = field(default_factory=list)

    def set(self, name: str, value: str) -> None:
        """Takes the value of one of our options. Raises TileError."""
        if name == "--target":
            self.target = value
        elif name == "--trace":
            self.trace = value
        elif name == "--load-passes":
            self.pass_files.append(value)
        elif name == "--opt-level":
            if value not in ("0", "1", "2", "3"):
                raise TileError(f"--opt-level must be 0 to 3, not '{value}'")
            self.opt_level = int(value)
        elif name == "--fast-compile":
            self.fast_compile = value
        elif value == "plain" or value == "managed":
            self.launch = value
        else:
            raise TileError(f"--launch must be plain or managed, not '{value}'")


def parse_command_line(arguments: Sequence[str]) -> CommandLine:
    result = CommandLine()
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        name = name if name.startswith("--") else f"-{name}"
        if name in _VALUED:
            result.set(name, value if equals else next(remaining, ""))
            continue
        if name == "--remarks":
            result.wants_remarks = True
            continue
        result.lowers |= name.startswith("--lower-to-") or "lower-to-" in value
        result.wants_help |= name in ("--help", "--help-hidden", "--help-list")
        if name.startswith("--lower-to-"):
            # Stages are called as dialects, with an underscore; names of passes have dashes.
            argument = argument.replace("_", "-")
        result.others.append(argument)
    result.opt_level = choose_level(result.opt_level, result.fast_compile)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else list(argv)
    if argv is None:
        # In `tile-opt ... | head` the driver ends quietly when its reader does.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    status = run_tool("tile-opt", lambda: run_traced(parse_command_line(arguments)))
    sys.stdout.flush()
    sys.stderr.flush()
    if argv is None:
        # The driver has destroyed its contexts; their Python wrappers must not do so again. What
        # is done at the end of a process does not run, therefore.
        if "tileir.trace_file" in sys.modules:
            sys.modules["tileir.trace_file"].write_process_trace()
        os._exit(status)
    return status


def run_traced(command_line: CommandLine) -> int:
    with trace.to_file(command_line.trace):
        return run(command_line)


def run(command_line: CommandLine) -> int:
    from tileir.dialects import register_passes
    from tileir.passes import REGISTRY

    if command_line.lowers and (stage := _text_stage(command_line)) is not None:
        return _translate(command_line, stage)
    register_passes(REGISTRY.values())
    if command_line.wants_remarks:
        from tileir.dialects.diagnostics import ask_for_explanations

        ask_for_explanations()
    if command_line.pass_files:
        from tileir.tools.pass_files import load_passes

        for path in command_line.pass_files:
            load_passes(path)
    if command_line.lowers or command_line.wants_help:
        stages = _register_lowerings(command_line)
        if command_line.wants_help:
            print(_OWN_OPTIONS.format(stages=", ".join(stages)), flush=True)
    return _run_driver(command_line.others)


def _text_stage(command_line: CommandLine) -> str | None:
    """The stage of --lower-to-STAGE, if it is no MLIR."""
    from tileir.compiler.pipeline import TEXT_STAGES

    return next((s for s in TEXT_STAGES if f"--lower-to-{s}" in command_line.others), None)


def _translate(command_line: CommandLine, stage: str) -> int:
    """Stages that are text and not MLIR are the work of tile-translate."""
    from tileir.tools import tile_translate

    rest = [argument for argument in command_line.others if argument != f"--lower-to-{stage}"]
    options = [f"--mlir-to-{stage}", f"--target={command_line.target}"]
    options += [f"-O{command_line.opt_level}", f"--launch={command_line.launch}"]
    return tile_translate.run(tile_translate.make_parser().parse_args([*options, *rest]))


def _register_lowerings(command_line: CommandLine) -> list[str]:
    """Makes --lower-to-STAGE a pipeline of the driver. Returns the stages."""
    from tileir.compiler.pipeline import MLIR_STAGES, STAGES, Options, pipeline_text
    from tileir.dialects import register_pipeline

    options = Options(command_line.target, command_line.opt_level, command_line.launch)
    for stage in MLIR_STAGES:
        text = pipeline_text(stage, options)
        inner = text.removeprefix("builtin.module(").removesuffix(")")
        name = f"lower-to-{stage.replace('_', '-')}"
        register_pipeline(name, f"Compile up to the stage {stage}", inner)
    return list(STAGES)


class _Input(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_ssize_t)]


_PassWatch = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int)


class _PassSlices:
    """Slices of the driver's passes, which may run inside one another."""

    def __init__(self) -> None:
        self._open: list[Any] = []

    def __call__(self, name: bytes, ended: int) -> None:
        if ended:
            self._open.pop().__exit__(None, None, None)
        else:
            self._open.append(trace.slice(name.decode(), "pass").__enter__())


def _run_driver(arguments: list[str]) -> int:
    """Calls MLIR's driver. Raises what reading the input raised."""
    from tileir.dialects._native import function
    from tileir.dialects.python_pass import driver_owns_contexts

    driver_owns_contexts()
    kept: list[ctypes.Array[ctypes.c_char]] = []
    errors: list[BaseException] = []

    def read(name: bytes, result: ctypes.POINTER(_Input)) -> None:  # pyright: ignore[reportInvalidTypeForm]
        try:
            content = to_driver_input(name.decode())
        except BaseException as error:
            errors.append(error)
            return
        kept.append(ctypes.create_string_buffer(content, len(content) + 1))
        result[0] = _Input(ctypes.addressof(kept[0]), len(content))

    read_type = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.POINTER(_Input))
    opt_main = function(
        "tileirOptMain", ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), read_type,
        _PassWatch,
    )  # fmt: skip
    watch = _PassWatch(_PassSlices()) if trace.is_on() else _PassWatch()
    # Passes are Python: MLIR's threads would only wait for the interpreter's lock.
    # An operation may be a whole kernel; its place says enough.
    ours = ["--mlir-disable-threading"]
    if not any("mlir-print-op-on-diagnostic" in argument for argument in arguments):
        ours.append("--mlir-print-op-on-diagnostic=false")
    texts = ["tile-opt", *ours, *arguments]
    argv = (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))
    status = opt_main(len(texts), argv, read_type(read), watch)
    if errors:
        raise errors[0]
    return status


def to_driver_input(path: str) -> bytes:
    """The contents of a file as MLIR's driver reads them: text of a module, or MLIR bytecode.

    Chunks that `--split-input-file` separates are converted one by one; line numbers stay.
    """
    from tileir.source import MLIR_MAGIC, TILEIR_MAGIC

    content = read_input(path)
    if content.startswith(MLIR_MAGIC):
        from tileir.mlir_parser import check_bytecode

        check_bytecode(content, STDIN if path == "-" else path)
        return content
    if content.startswith(TILEIR_MAGIC):
        from tileir.bytecode import read_bytecode

        buffer = io.BytesIO()
        read_bytecode(content).operation.write_bytecode(buffer)
        return buffer.getvalue()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        name = STDIN if path == "-" else path
        raise TileError(
            f"{name} is neither text nor bytecode (byte {error.start} is no UTF-8)"
        ) from None
    return _wrap_chunks(text, STDIN if path == "-" else path).encode()


def _wrap_chunks(text: str, name: str) -> str:
    from tileir.mlir_parser import check_text
    from tileir.source import wrap_bare_contents

    check_text(text, name)
    result, start = "", 0
    for marker in [*_CHUNK_MARKER.finditer(text), None]:
        chunk = text[start : marker.start() if marker else len(text)]
        result += wrap_bare_contents(chunk) or chunk
        if marker:
            result += marker[0]
            start = marker.end()
    return result


if __name__ == "__main__":
    main()
