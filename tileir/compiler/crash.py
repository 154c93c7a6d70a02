"""What we say when LLVM fails: which kernel, where, and a file with which the failure repeats.

LLVM tells of its failures in many ways: by diagnostics of MLIR, each with the whole module; by a
message on standard error and the end of the process; by a stack dump. A `CompilerCrash` holds the
first sentence. The rest goes into a report, which is a file of MLIR: `tile-translate` fails on it
in the same way.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tileir.compiler.locations import place
from tileir.compiler.mlir_bytecode import copy, to_bytecode
from tileir.dialects import make_context
from tileir.errors import CompilerCrash
from tileir.ir import Location, Module, Operation, StringAttr
from tileir.passes.walk import walk

#: The folder of reports; by default that of temporary files.
REPORT_FOLDER = "TILEIR_CRASH_DIR"
_LONGEST_REASON = 300
_LONGEST_DETAILS = 1 << 20

_CRASH_LINE = re.compile(r"(?:LLVM ERROR|fatal error|error): *(.*)|.*Assertion (`.*' failed)")
#: `Running pass 'X' on function '@kernel'`, `In function: kernel`.
_FUNCTION = re.compile(r"on function '@([\w$.]+)'|In function: ([\w$.]+)")


def failure_from_diagnostics(error: Any, module: Module) -> CompilerCrash:
    """The failure that an MLIRError of LLVM's translation tells of."""
    diagnostics = error.error_diagnostics
    if not diagnostics:
        return _failure(str(error).partition("\n")[0], str(error), module)
    first = diagnostics[0]
    kernel = next(_functions_at(module, first.location), None)
    return _failure(first.message, str(error), module, kernel, place(first.location))


def failure_before_llvm(code: int, said: str, name: str) -> CompilerCrash:
    """The failure of a process that compiled the source called `name` and ended in a pass."""
    return CompilerCrash(
        f"the compiler process ended: {_reason(code, said)}",
        location=name,
        remedy="this is a bug of tileir; please report it with the source",
        details=said,
    )


def failure_from_end(code: int, said: str, module: Module) -> CompilerCrash:
    """The failure of a process that ended with `code` after it had `said` something."""
    named = {name for match in _FUNCTION.finditer(said) for name in match.groups() if name}
    kernel = next((f for f in _functions(module) if _name(f) in named), None)
    return _failure(_reason(code, said), said, module, kernel)


def _reason(code: int, said: str) -> str:
    """The first line of what LLVM said that tells why, or how the process ended."""
    for line in said.splitlines():
        match = _CRASH_LINE.match(line)
        if match and (reason := match[1] or match[2]):
            return reason
    if code >= 0:
        return f"exit code {code}"
    how = f"signal {signal.Signals(-code).name}"
    return f"{how}, perhaps for want of memory" if code == -signal.SIGKILL else how


def _failure(
    reason: str,
    details: str,
    module: Module,
    function: Operation | None = None,
    location: str | None = None,
) -> CompilerCrash:
    functions = list(_functions(module))
    if function is None and len(functions) == 1:
        function = functions[0]
    who = "the kernels"
    if function is not None:
        who = f"kernel '{_name(function)}'"
        location = location or place(function.location)
    elif functions:
        who = f"one of the kernels {', '.join(map(_name, functions))}"
    report = _write_report(_name(function) if function else "kernels", details, module)
    remedy = "this is a bug of tileir; please report it"
    if report is not None:
        remedy += f" with {report}, which holds all that LLVM said and repeats the failure"
    short = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}..."
    return CompilerCrash(
        f"LLVM failed on {who}: {short}",
        location=location,
        remedy=remedy,
        kernel=_name(function) if function else None,
        details=details,
        report=report,
    )


def kernels_alone(module: bytes) -> Iterator[bytes]:
    """The kernels of a module (MLIR bytecode), each in a module without the others."""
    with make_context():
        whole = Module.parse(module)
        names = [_name(function) for function in _functions(whole)]
        for name in names if len(names) > 1 else ():
            part = copy(whole)
            for function in list(_functions(part)):
                if _name(function) != name:
                    function.erase()
            yield to_bytecode(part)


def _functions(module: Module) -> Iterator[Operation]:
    for op in walk(module.operation):
        if op.operation.name == "llvm.func" and len(op.operation.regions[0].blocks):
            yield op.operation


def _functions_at(module: Module, location: Location) -> Iterator[Operation]:
    """Functions with an operation at `location`."""
    for function in _functions(module):
        if any(op.operation.location == location for op in walk(function)):
            yield function


def _name(function: Operation) -> str:
    return StringAttr(function.attributes["sym_name"]).value


def _write_report(stem: str, details: str, module: Module) -> str | None:
    """Writes a report and returns its path; None if there is no place for it."""
    comment = "\n".join(f"//   {line}" for line in details[:_LONGEST_DETAILS].splitlines())
    text = (
        f"// A failure of LLVM in tileir {version('tileir')}. It repeats with\n"
        "//   tile-translate --mlir-to-ptx FILE\n"
        f"// LLVM said:\n{comment}\n{module.operation.get_asm(enable_debug_info=True)}\n"
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    folder = Path(os.environ.get(REPORT_FOLDER) or tempfile.gettempdir())
    path = folder / f"tileir-crash-{stem}-{digest}.mlir"
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError:
        return str(path)  # the same failure again
    except OSError:
        return None
    return str(path)
