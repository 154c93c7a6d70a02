"""The compiler: from a module of cuda_tile to PTX and cubin.

program = tileir.compile("matmul.tilebc", target="sm_90a")
program.stage("tile_gpu"), program.ptx, program.cubin, program.kernels["matmul"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tileir.compiler.cache import ProgramCache
from tileir.compiler.effort import FastCompile, choose_level
from tileir.compiler.pipeline import MLIR_STAGES, STAGES, Options
from tileir.errors import TileError

if TYPE_CHECKING:
    from tileir.compiler.parallel import CompilerPool, Request, compile_many
    from tileir.compiler.program import Program

_programs = ProgramCache()

__all__ = [
    "MLIR_STAGES",
    "STAGES",
    "CompilerPool",
    "Program",
    "Request",
    "compile",
    "compile_many",
    "translate",
]


def compile(
    source: Any,
    target: str = "sm_90a",
    opt_level: int = 3,
    *,
    launch: Literal["plain", "managed"] = "plain",
    fast_compile: FastCompile | None = None,
    isolate: bool = True,
    cache: bool = True,
    ptxas: str | None = None,
) -> Program:
    """Compiles Tile IR for a GPU.

    `source`: a path, text, Tile IR or MLIR bytecode, or an `mlir.ir.Module`, which stays as it
    is. `target`: `sm_80` to `sm_121a`; a bare name from sm_90 on means its `a` variant.
    `launch`: kernels compiled as `plain` have exactly the entry's parameters and grid, and any
    launcher can use them; `managed` ones may have more parameters, which `tileir.runtime` fills.
    `fast_compile`: `min`, `mid`, `max` are other names for the levels 2, 1, 0, which compile ever
    faster kernels that run ever slower (docs/compile-time.md).
    `isolate=False` runs LLVM in this process, which it ends on errors of its own. A program that
    this process has compiled before is returned again unless `cache=False`. `ptxas` is the path
    of the assembler, which runs when the cubin is first asked for.

    Raises a TileError: ParseError, VerificationError, UnsupportedError (an operation or target),
    ResourceError (shared memory), CompilerCrash.
    """
    from tileir.compiler.program import compile_here
    from tileir.compiler.target import Target
    from tileir.source import parse

    opt_level = choose_level(opt_level, fast_compile)
    if launch not in ("plain", "managed"):
        raise TileError(f"launch mode must be 'plain' or 'managed', not '{launch}'")
    options = Options(str(Target.parse(target)), opt_level, launch)

    def make() -> Program:
        return compile_here(parse(source), options, isolate, ptxas)

    if not cache:
        return make()
    return _programs.get(source, (options, isolate, ptxas), make)


def translate(
    source: Any,
    to: str,
    target: str = "sm_90a",
    opt_level: int = 3,
    *,
    launch: Literal["plain", "managed"] = "plain",
    fast_compile: FastCompile | None = None,
    ptxas: str | None = None,
) -> str | bytes:
    """Brings a module at any stage of MLIR to `llvmir`, `ptx`, `cubin` or `sass`.

    A module that has left `cuda_tile` keeps the target, optimisation level and launch mode that it
    records: `target`, `opt_level`, `fast_compile` and `launch` are for one that has not. `ptxas` is
    the path of the assembler.

    Raises a TileError: for a form that is none of the four, before anything else is done; what
    `compile` raises; ToolError where ptxas, or nvdisasm for `sass`, is missing or fails.
    """
    from tileir.compiler.translation import translate as run

    return run(source, to, Options(target, choose_level(opt_level, fast_compile), launch), ptxas)


def __getattr__(name: str) -> Any:
    if name == "Program":
        from tileir.compiler.program import Program

        return Program
    if name in ("CompilerPool", "Request", "compile_many"):
        from tileir.compiler import parallel

        return getattr(parallel, name)
    raise AttributeError(f"module 'tileir.compiler' has no attribute '{name}'")
