"""The exceptions of this package: one tree, rooted in `TileError`.

Every error says where (a source location where there is one), what, and, where there is one,
what to do about it.
"""

from __future__ import annotations


class TileError(Exception):
    """Base of all errors.

    `reason` says what is wrong, `location` where (`file:line:col`, or a byte offset for
    bytecode), `remedy` what to do.
    """

    def __init__(self, reason: str, *, location: str | None = None, remedy: str | None = None):
        self.reason = reason
        self.location = location
        self.remedy = remedy
        text = f"{location}: {reason}" if location else reason
        super().__init__(f"{text}\n  {remedy}" if remedy else text)


class ParseError(TileError):
    """Text that is not valid Tile IR or MLIR."""


class BytecodeError(TileError):
    """Malformed Tile IR bytecode, or a module that the chosen version cannot hold."""


class VerificationError(TileError):
    """A module that breaks a rule of the dialect."""


class UnsupportedError(TileError):
    """Valid input that this compiler, or the chosen target, cannot handle."""


class ResourceError(TileError):
    """A kernel that needs more registers, shared memory or threads than there are."""


class ToolError(TileError):
    """An external tool (ptxas, a disassembler) is missing or failed."""


class CompileTimeout(TileError):
    """A compilation that took longer than was allowed."""


class CompilerCrash(TileError):
    """LLVM failed, or ended the compiler process: a bug of ours, reported as an exception.

    `kernel` is the name of the kernel, None if it is not known which of several; `details` is all
    that LLVM said; `report` is a file that holds it beside the module, in MLIR, and repeats the
    failure (None if it could not be written).
    """

    def __init__(
        self,
        reason: str,
        *,
        location: str | None = None,
        remedy: str | None = None,
        kernel: str | None = None,
        details: str = "",
        report: str | None = None,
    ):
        super().__init__(reason, location=location, remedy=remedy)
        self.kernel = kernel
        self.details = details
        self.report = report


class LaunchError(TileError):
    """Wrong arguments, grid or device for a launch."""


class CacheError(TileError):
    """A cache folder that cannot be used, or must not be."""


class ExecutionError(TileError):
    """Undefined or failing behaviour found while a kernel ran on the CPU."""
