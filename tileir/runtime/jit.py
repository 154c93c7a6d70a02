"""Launching kernels that are written in Python: `tileir.lang.launch`.

    launch(stream, (blocks, 1, 1), kernel, (a, b, out, 128))

The first launch of a specialisation compiles it, or finds it in the cache on disk; later ones take
about a microsecond before the driver is called.

`TILEIR_BACKEND` says where kernels run: `cuda`, `interp` (the interpreter) or `sim` (the simulator
of PTX). Without it they run on the GPU if there is one, and in the interpreter otherwise. It is
read when a kernel is launched for the first time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .. import trace
from ..errors import LaunchError
from . import nvtx
from .compiled import CompiledKernel, compile_kernel
from .disk_cache import warn_once

__all__ = ["CompiledKernel", "backend", "compile_kernel", "launch"]

_BACKENDS = ("cuda", "interp", "sim")

nvtx.attach()


def launch(
    stream: Any,
    grid: int | Sequence[int] | Callable[[Any], int | Sequence[int]],
    kernel: Any,
    args: Sequence[Any],
    programmatic_dependent_launch: bool = False,
) -> None:
    """Runs a kernel on a grid of up to three dimensions; for an autotuned kernel the grid may be a
    function of its configuration.

    `stream` is a stream of PyTorch, CuPy or Numba, a handle, or None for the default stream; the
    call returns when the kernel is queued there. `args` are the kernel's arguments in order:
    arrays of PyTorch, CuPy, Numba or JAX, or anything with DLPack or `__cuda_array_interface__`,
    on one device; numbers; tuples; lists of arrays. NumPy arrays and CPU tensors are copied to the
    device and back, and the call waits; on the CPU they are used where they are.

    `programmatic_dependent_launch` lets the kernel start before the one that precedes it on the
    stream has ended: it must wait for its results with `grid_dependency_control_wait`.

    Raises TileError: arguments, grid, compilation, the driver.
    """
    try:
        dispatcher = kernel._dispatcher
    except AttributeError:
        dispatcher = _dispatcher(kernel)
    if trace.is_on():
        with trace.slice(f"launch {kernel.name}", "launch", kernel=kernel.name, grid=grid):
            done = dispatcher.launch(kernel, stream, grid, args, programmatic_dependent_launch)
    else:
        done = dispatcher.launch(kernel, stream, grid, args, programmatic_dependent_launch)
    if done is False:
        # The object was copied from another kernel, together with that one's dispatcher.
        del kernel._dispatcher
        launch(stream, grid, kernel, args, programmatic_dependent_launch)


def _dispatcher(kernel: Any) -> Any:
    """What launches a kernel; kept in the kernel."""
    if not hasattr(kernel, "parameters") or not hasattr(kernel, "name"):
        raise LaunchError(
            f"launch() takes a kernel, not {getattr(kernel, '__name__', type(kernel).__name__)}",
            remedy="decorate the function with @ct.kernel",
        )
    chosen = backend()
    if chosen == "cuda":
        from .cuda_dispatch import Dispatch

        owner = Dispatch(kernel)
        dispatcher = owner.native
        if dispatcher is None:
            warn_once(
                "tileir's launcher is not built, so launches take 100 us instead of a few: "
                "install tileir with pip"
            )
            dispatcher = owner
    else:
        from .cpu_dispatch import CpuDispatch

        dispatcher = CpuDispatch(kernel, chosen)
    kernel._dispatcher = dispatcher
    return dispatcher


def backend() -> Any:
    """Where kernels run: `cuda`, `interp` or `sim`."""
    chosen = os.environ.get("TILEIR_BACKEND", "").strip().lower()
    if not chosen:
        return "cuda" if _has_gpu() else "interp"
    if chosen not in _BACKENDS:
        raise LaunchError(
            f"TILEIR_BACKEND is '{chosen}'", remedy=f"it can be {', '.join(_BACKENDS)}"
        )
    return chosen


@cache
def _has_gpu() -> bool:
    from .driver import cuda_driver

    try:
        cuda_driver().device()
    except LaunchError:
        return False
    return True
