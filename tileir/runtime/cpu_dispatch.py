"""Launching kernels of the language on the CPU: the interpreter, or the simulator of PTX."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..errors import LaunchError
from ..signature import Signature
from .array_view import ArrayView, view
from .launch import normalize_grid
from .specialize import rule_of, specialize

_DEFAULT_TARGET = "sm_90a"
#: Runs a specialisation on a grid, with the words of its parameters; returns what it printed.
_Run = Callable[[tuple[int, int, int], Sequence[Any]], list[str]]
# Both run one kernel at a time: MLIR's contexts belong to one thread.
_running = threading.RLock()


class CpuDispatch:
    """Launches one kernel on the CPU; a launch is done when it returns.

    The interpreter runs the operations of the kernel with NumPy; the simulator compiles for
    `TILEIR_TARGET` (sm_90a) and runs the PTX. Both report undefined behaviour.
    """

    def __init__(self, kernel: Any, backend: Literal["interp", "sim"]):
        self.kernel = kernel
        self.backend = backend
        self.target = os.environ.get("TILEIR_TARGET") or _DEFAULT_TARGET
        self.rules = tuple(rule_of(info) for info in kernel.parameters)
        self._made: dict[Signature, _Run] = {}

    def launch(
        self, kernel: Any, stream: Any, grid: Any, args: Sequence[Any], programmatic: bool
    ) -> bool:
        """Runs the kernel. False if it is not the one that this is for."""
        if kernel is not self.kernel:
            return False
        extents = normalize_grid(grid)
        with _running:
            found = specialize(kernel.name, self.rules, args, self._view)
            run = self._made.get(found.signature)
            if run is None:
                make = self._interpreter if self.backend == "interp" else self._simulator
                run = self._made[found.signature] = make(found.signature)
            for line in run(extents, found.words):
                print(line)
        return True

    def _view(self, value: Any, name: str) -> ArrayView | None:
        array = view(value, name)
        if array is not None and not array.on_host:
            raise LaunchError(
                f"{name}: the array lies on a GPU, the kernel runs on the CPU "
                f"(TILEIR_BACKEND={self.backend})",
                remedy="TILEIR_BACKEND=cuda, or pass an array in host memory",
            )
        return array

    def _interpreter(self, signature: Signature) -> _Run:
        """The kernel translated to Python, once for all launches."""
        from ..interp import Interpreter

        module = self.kernel.trace(signature, self.target, breakpoints=True)
        interpreter = Interpreter(module)
        return lambda grid, words: interpreter.run(None, grid, words)

    def _simulator(self, signature: Signature) -> _Run:
        from ..compiler import compile
        from ..sim import Simulator
        from ..sim.arguments import typed

        module = self.kernel.trace(signature, self.target)
        program = compile(module, self.target, launch="plain", cache=False)
        (info,) = program.kernels.values()
        cluster = [extent for extent in info.cluster if isinstance(extent, int)]
        simulator = Simulator(program.ptx)
        return lambda grid, words: simulator.run(
            info.name, grid, info.block, typed(info.parameters, words),
            cluster=cluster, shared=info.dynamic_shared_bytes,
        ).printed  # fmt: skip
