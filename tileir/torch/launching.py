"""Launching a kernel on tensors, where they lie and on PyTorch's current stream there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from tileir.errors import LaunchError
from tileir.runtime.jit import launch as launch_on_stream

# While an operation is described (its outputs' shapes and types asked for), nothing is launched.
_describing: ContextVar[bool] = ContextVar("tileir_torch_describing", default=False)


@torch.compiler.disable(
    reason="a kernel is launched; put it into a function that is registered with tileir.torch.op"
)
def launch(
    grid: Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    programmatic_dependent_launch: bool = False,
) -> None:
    """Launches a kernel on a grid of up to three dimensions.

    Tensors among `args` lie on one device; there, the kernel is ordered on PyTorch's current
    stream; kernels on CPU tensors run where `tileir.lang.launch` runs those on NumPy arrays. The
    launch is invisible to autograd and `torch.compile`; wrap it in an `op` for those.

    Raises `LaunchError`: tensors of several devices, or tensors that `torch.compile` traces.
    """
    if _describing.get():
        return
    device = _device_of(args, kernel)
    on_gpu = device is not None and device.type == "cuda"
    launch_on_stream(
        torch.cuda.current_stream(device) if on_gpu else None,
        grid, kernel, args, programmatic_dependent_launch,
    )  # fmt: skip


def _device_of(args: Sequence[Any], kernel: Any) -> torch.device | None:
    """The device of the tensors, None if there are none."""
    device = None
    for argument in args:
        if not isinstance(argument, torch.Tensor):
            continue
        if isinstance(argument, FakeTensor):
            raise LaunchError(
                f"kernel '{_name(kernel)}' is launched on a tensor that torch.compile traces",
                remedy="launch it inside a function that is registered with tileir.torch.op",
            )
        if device is None:
            device = argument.device
        elif argument.device != device:
            raise LaunchError(
                f"kernel '{_name(kernel)}' takes tensors on {device} and {argument.device}",
                remedy="move them to one device",
            )
    return device


def _name(kernel: Any) -> str:
    return getattr(kernel, "name", getattr(kernel, "__name__", "kernel"))


@contextmanager
def describing() -> Iterator[None]:
    token = _describing.set(True)
    try:
        yield
    finally:
        _describing.reset(token)


def described(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` without its launches: what it returns has shape and type, but no contents."""

    @wraps(function)
    def describe(*args: Any, **kwargs: Any) -> Any:
        with describing():
            return function(*args, **kwargs)

    return describe
