"""Running a kernel, on the CPU or on a GPU, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import trace
from .entries import choose_entry
from .errors import LaunchError
from .runtime.launch import normalize_grid

if TYPE_CHECKING:
    from mlir import ir

Backend = Literal["interp", "sim", "cuda"]


def run(
    source: Any,
    kernel: str | None = None,
    grid: int | Sequence[int] = (1, 1, 1),
    args: Sequence[Any] = (),
    *,
    backend: Backend = "interp",
    target: str | None = None,
    opt_level: int = 3,
    check: bool = True,
    stream: Any = None,
    seed: int = 0,
    observers: Sequence[Any] = (),
) -> list[str]:
    """Runs `kernel` of `source` (whatever `parse` accepts) on a grid of tile blocks.

    `args` are the entry's parameters in order: NumPy arrays for pointers, written in place, and
    numbers for scalars; an array stands for the address of its first element, so strided and
    offset views work.  `kernel` may be left out if there is only one.

    `opt_level` is that of `tileir.compile`, for the backends that compile.

    backend "interp" interprets the tile operations with NumPy; "sim" compiles for `target` (sm_90a
    by default) and runs the PTX on the CPU, on a schedule that `seed` chooses, watched by
    `observers` (a `tileir.sim.Profile`, say). Both report undefined behaviour, unless `check` is
    false. "cuda" compiles for `target` (the current device's by
    default) and launches on `stream`, where arrays that already lie on the device are accepted
    too.

    Returns the lines that the kernel printed (on a GPU they go to standard output instead).
    Raises a `TileError`: bad source, bad arguments, undefined behaviour, no device.
    """
    from .source import parse

    module = parse(source)
    name = choose_entry(module, kernel)
    if backend == "interp":
        from .interp import run as interpret

        with trace.slice("launch", "launch", kernel=name, grid=grid, backend=backend):
            return interpret(module, name, normalize_grid(grid), list(args), check=check)
    if backend == "cuda":
        _launch(module, name, grid, args, target, opt_level, stream)
        return []
    if backend == "sim":
        target = target or "sm_90a"
        return _simulate(module, name, grid, args, target, opt_level, check, seed, observers)
    raise LaunchError(f"unknown backend '{backend}'", remedy="use 'interp', 'sim' or 'cuda'")


def _simulate(
    module: ir.Module,
    name: str,
    grid: int | Sequence[int],
    args: Sequence[Any],
    target: str,
    opt_level: int,
    check: bool,
    seed: int,
    observers: Sequence[Any],
) -> list[str]:
    from .compiler import compile
    from .sim import run as simulate
    from .sim.arguments import typed

    program = compile(module, target=target, opt_level=opt_level)
    info = program.kernels[name]
    # Kernels for any launcher say in numbers how large their clusters are.
    cluster = [extent for extent in info.cluster if isinstance(extent, int)]
    with trace.slice("launch", "launch", kernel=name, grid=grid, backend="sim"):
        result = simulate(
            program.ptx, name, grid, info.block, typed(info.parameters, args), cluster=cluster,
            shared=info.dynamic_shared_bytes, seed=seed, checks=check, observers=observers,
        )  # fmt: skip
    return result.printed


def _launch(
    module: ir.Module,
    name: str,
    grid: int | Sequence[int],
    args: Sequence[Any],
    target: str | None,
    opt_level: int,
    stream: Any,
) -> None:
    from .runtime import cuda_driver, load_program, native_target

    # The device is asked first: without one there is nothing to compile for.
    device = cuda_driver().device()
    from .compiler import compile

    target = target or native_target(device.capability)
    program = compile(module, target=target, opt_level=opt_level)
    load_program(program)[name].launch(grid, args, stream)
    if stream is None:
        cuda_driver().synchronize(0)  # what the kernel prints appears now
