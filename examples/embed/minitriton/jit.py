"""Launching: a kernel is compiled once for each combination of argument types and constants."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tileir
from minitriton.compiler import Compiler, float16, float32, int32

_ELEMENTS = {np.dtype(np.float16): float16, np.dtype(np.float32): float32, np.dtype("i4"): int32}


class constexpr:
    """Annotation of a parameter that is part of the kernel: compiled for each value."""


class Jit:
    """A kernel: compiled for each combination of argument types and constants, then launched."""

    def __init__(self, function: Callable[..., None]):
        self.function = function
        self.signature = inspect.signature(function, eval_str=True)
        self._compiled: dict[Any, bytes] = {}

    def __getitem__(self, grid: Sequence[int]) -> Callable[..., list[str]]:
        return functools.partial(self.launch, grid)

    def launch(self, grid: Sequence[int], *args: Any, backend: Any = "interp", **named: Any) -> Any:
        bytecode, values = self._specialise(args, named)
        return tileir.run(bytecode, None, grid, values, backend=backend)

    def bytecode(self, *args: Any, **named: Any) -> bytes:
        """Tile IR bytecode of the kernel for arguments like these."""
        return self._specialise(args, named)[0]

    def _specialise(self, args: Any, named: Any) -> tuple[bytes, list[Any]]:
        given = self.signature.bind(*args, **named).arguments
        parameters = self.signature.parameters
        constants = {n: v for n, v in given.items() if parameters[n].annotation is constexpr}
        values = {n: v for n, v in given.items() if n not in constants}
        types = {name: _type_of(value) for name, value in values.items()}
        key = (*types.items(), *constants.items())
        if key not in self._compiled:
            self._compiled[key] = Compiler(self.function, types, constants).compile()
        return self._compiled[key], list(values.values())


jit = Jit


def _type_of(value: Any) -> tuple[str, bool]:
    """The element type of an argument, and whether it is an array of them."""
    if isinstance(value, np.ndarray):
        return _ELEMENTS[value.dtype], True
    return (float32 if isinstance(value, float) else int32), False
