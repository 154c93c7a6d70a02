"""Runs kernels twice: traced, by the interpreter of the IR, and as the Python functions they are.

A kernel that sticks to what `PLAIN` has is ordinary Python, so that Python itself says what its
control flow must do.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any, Literal

import numpy as np
from lang_support import run

from tileir.lang.kernel import Kernel


def plain_names(block: list[int], grid: tuple[int, ...]) -> types.SimpleNamespace:
    """What `ct` means when a kernel is run by Python."""

    def load(array: np.ndarray, index: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
        box = tuple(slice(i * n, (i + 1) * n) for i, n in zip(index, shape, strict=True))
        return array[box].copy()

    def store(array: np.ndarray, index: Any, tile: Any) -> None:
        values = np.atleast_1d(np.asarray(tile))
        index = index if isinstance(index, tuple) else (index,)
        box = tuple(slice(i * n, (i + 1) * n) for i, n in zip(index, values.shape, strict=True))
        array[box] = values

    return types.SimpleNamespace(
        bid=lambda axis: block[axis],
        num_blocks=lambda axis: (*grid, 1, 1)[axis],
        load=load,
        store=store,
        full=lambda shape, value, dtype: np.full(shape, value, dtype),
        static_iter=lambda values: values,
        static_eval=lambda value: value,
        static_assert=lambda condition, message=None: None,
        int32=np.int32,
        float32=np.float32,
    )


def execute_plainly(kernel: Kernel, grid: tuple[int, ...], *arguments: Any) -> None:
    """Runs the kernel's function with Python, block after block."""
    block = [0, 0, 0]
    function = kernel.function
    names = {**function.__globals__, "ct": plain_names(block, grid)}

    def rebound(each: Any) -> Any:
        if not isinstance(each, types.FunctionType) or each.__module__ != function.__module__:
            return each
        wrapped = getattr(each, "__wrapped__", None)
        if wrapped is not None:
            return contextlib.contextmanager(rebound(wrapped))
        copy = types.FunctionType(
            each.__code__, names, each.__name__, each.__defaults__, each.__closure__
        )
        copy.__kwdefaults__ = each.__kwdefaults__
        return copy

    names.update({name: rebound(each) for name, each in list(names.items())})
    for number in np.ndindex(*grid):
        block[: len(grid)] = number
        rebound(function)(*arguments)


def check(
    kernel: Kernel,
    *arguments: Any,
    grid: tuple[int, ...] = (1,),
    backend: Literal["interp", "sim"] = "interp",
) -> None:
    """Asserts that the traced kernel writes what Python writes."""
    copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    run(kernel, grid, *copies, backend=backend)
    execute_plainly(kernel, grid, *arguments)
    for number, (got, expected) in enumerate(zip(copies, arguments, strict=True)):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(got, expected, err_msg=f"argument {number}")
